/* journal_store.h - the directory in which journals lie, and the turn: a thin layer below journal.h.
 *
 * journal_store_open is %LOCALAPPDATA%\sbx\journal (journal_store_win32.c). Unit tests keep one in memory,
 * which can fail at any step.
 */
#pragma once

#include "base/arena.h"
#include "runtime/windows/acl.h"

struct journal_file; /* open; holds the lock that says that its owner lives, until it is closed */

enum journal_lock { JOURNAL_TAKEN, JOURNAL_HELD, JOURNAL_GONE, JOURNAL_BROKEN };

/* All operations return ACL_OK or an error number of Windows, unless they say otherwise. */
struct journal_store {
    void *state; /* of the implementation */
    /* Names of all files in the directory. */
    uint32_t (*list)(const struct journal_store *store, struct arena *arena, struct acl_names *names);
    /* A new file of this name, its lock taken. */
    uint32_t (*create)(const struct journal_store *store, struct arena *arena, const char *name,
                       struct journal_file **file);
    /* Opens a file and takes its lock, unless its owner lives. */
    enum journal_lock (*take)(const struct journal_store *store, struct arena *arena, const char *name,
                              struct journal_file **file);
    /* All bytes of a file, whoever holds its lock. */
    uint32_t (*read)(const struct journal_store *store, struct arena *arena, const char *name,
                     struct buffer *bytes);
    /* Adds bytes at the end; on the disk when it returns if `flush`. */
    uint32_t (*append)(const struct journal_store *store, struct journal_file *file, const void *bytes,
                       size_t length, bool flush);
    /* Removes the file, or gives it another name, while its lock is held; and lets go. */
    uint32_t (*remove)(const struct journal_store *store, struct journal_file *file);
    uint32_t (*rename)(const struct journal_store *store, struct journal_file *file, const char *name);
    void (*close)(const struct journal_store *store, struct journal_file *file);
    /* The turn: one launcher of this user at a time. Waits; false after JOURNAL_PATIENCE. A launcher that
     * dies loses it. */
    bool (*turn_begin)(const struct journal_store *store);
    void (*turn_end)(const struct journal_store *store);
    /* 32 hexadecimal digits that no other run has. */
    bool (*name)(const struct journal_store *store, char name[33]);
};

enum { JOURNAL_PATIENCE = 30000 }; /* milliseconds */

/* Makes the directory, closed to everybody but the user, where it is missing; refuses one that another
 * user owns or that is a link. NULL with *error set. */
const struct journal_store *journal_store_open(struct arena *arena, const char **error);

/* The directory itself, "C:\Users\me\AppData\Local\sbx", which no command may read: see apply.h. NULL with
 * *error set. */
const char *journal_state_directory(struct arena *arena, const char **error);
