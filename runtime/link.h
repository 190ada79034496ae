/* link.h - where a path leads on this host: every symbolic link on the way, and what is at its end.
 *
 * Paths are walked from / by descriptor, component by component, and links are followed by hand, so that
 * what was checked is what was opened. Nothing is created and no directory is listed.
 */
#pragma once

#include "emitters/plan.h"

#include <fcntl.h>
#include <sys/types.h>

/* To go on from a directory, where the system can tell that from listing it. */
#ifdef O_PATH
#define OPEN_TO_LOOK O_PATH
#else
#define OPEN_TO_LOOK O_RDONLY
#endif

struct passed_link {
    const char *path;      /* its own place: a canonical directory and the link's name */
    const char *directory; /* the canonical directory that holds it */
    const char *text;      /* where it says that it leads */
};

struct resolved {
    const char *path; /* canonical; of a missing end: the canonical ancestor and what follows it */
    const char
        *ancestor; /* the deepest existing entry on the way, canonical; `path` itself where it exists */
    enum entry_kind kind; /* never ENTRY_UNKNOWN unless `error` says why it cannot be judged */
    int error;            /* errno: EACCES, ELOOP, ...; 0 otherwise */
    bool under_file;      /* ENTRY_MISSING, and `ancestor` is no directory */
    bool impossible;      /* ENTRY_MISSING, and no such name can ever be created */
    bool process;         /* at or below /proc, which the command gets fresh: not looked into */
    bool socket;
    dev_t device; /* these five of an end that exists */
    ino_t inode;
    nlink_t hard_links;
    mode_t mode;
    uid_t owner;
    const struct passed_link *links; /* in the order passed */
    uint32_t link_count;
};

struct remote;
struct resolver;

/* A resolver keeps what it found for as long as its arena lives: facts are one moment's. */
struct resolver *resolver_create(struct arena *arena);

/* From now on the file systems in `remote` (may be NULL) are asked before they are looked at; what lies
 * behind one that does not answer is ENTRY_UNKNOWN with ETIMEDOUT. */
void resolver_ask(struct resolver *resolver, struct remote *remote);

/* Where `path` (absolute, normalised) leads. Never NULL; the same path gives the same answer. */
const struct resolved *resolver_find(struct resolver *resolver, const char *path);

/* Finds out where `path` leads, for resolver_find: link.c, on macOS macos_link.c. */
const struct resolved *link_resolve(struct arena *arena, struct remote *remote, const char *path);

/* Opens the directory `path` (absolute, canonical) with `flags` added to O_DIRECTORY | O_CLOEXEC, following
 * no link anywhere. -1 with errno (ELOOP or ENOTDIR where a link stands). */
int directory_open(const char *path, int flags);

/* The directory that holds `path` ("/" for "/a"), in `arena`. */
const char *path_parent(struct arena *arena, const char *path);

/* Whether `path` is `top` or lies below it. */
bool path_covers(const char *top, const char *path);
