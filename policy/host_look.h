/* host_look.h - what lies at a path of this machine: the little that finding repositories asks, on POSIX
 * and on Windows. Private to policy/ and to the launcher of Windows, which has its own host_look.c
 * (runtime/windows/look.c).
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum look_kind { LOOK_MISSING, LOOK_UNKNOWN, LOOK_FILE, LOOK_DIRECTORY, LOOK_LINK, LOOK_OTHER };

enum { LOOK_SYSTEM = 0 }; /* the owner that is root, or Windows and its administrators */

struct look {
    enum look_kind kind;
    uint32_t owner;      /* a user's number; LOOK_SYSTEM */
    bool open;           /* whether everybody may write it */
    const char *problem; /* of LOOK_UNKNOWN: why */
};

/* The number of who runs this process. */
uint32_t look_user(void);

/* Of a link at the end of `path` the link itself. */
struct look look_at(struct arena *arena, const char *path);

/* What is behind all links. */
struct look look_behind(struct arena *arena, const char *path);

/* The directory `path`, no link, and what is called `name` in it, both seen in one moment. False if there
 * is no such directory or nothing of that name. */
bool look_into(struct arena *arena, const char *path, const char *name, struct look *holder,
               struct look *inside);

/* The regular file at `path`, no link, of fewer than `limit` bytes: its bytes with a NUL behind them, their
 * number in *length. NULL if there is no such file. */
char *look_text(struct arena *arena, const char *path, size_t limit, size_t *length, struct look *file);

struct look_names {
    const char **items;
    uint32_t count, capacity;
};

/* The names of the directories in the directory `path`, in no order; links are none. LOOK_DIRECTORY, or
 * what is there that cannot be listed. */
enum look_kind look_directories(struct arena *arena, const char *path, struct look_names *names);
