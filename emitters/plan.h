/* plan.h - the ordered mount operations that make a policy's view of the file system on Linux.
 *
 * A plan knows no bubblewrap: bubblewrap's arguments are made from it (bwrap.h), and another engine can carry
 * it out. The new root starts as an empty directory that is read-only at the end. Operations are carried out
 * in order; sources are paths of the host, seen before any operation.
 */
#pragma once

#include "policy/bound.h"

enum entry_kind {
    ENTRY_UNKNOWN,
    ENTRY_DIRECTORY,
    ENTRY_FILE,
    ENTRY_OTHER /* socket, FIFO, device */,
    ENTRY_MISSING,
    ENTRY_EMPTY /* a placeholder that is shown as an empty file, readable as the level says */
};

/* A place of the policy and what is there on the host. For text artifacts everything is ENTRY_UNKNOWN. A
 * missing place is left out: whatever has to hold there needs a placeholder first, and is then a file or a
 * directory. */
struct plan_place {
    const char *path; /* absolute, canonical: no component is a symbolic link */
    enum level level;
    enum entry_kind kind;
    bool directory; /* hint for ENTRY_UNKNOWN: the rule ends in '/' */
    bool socket; /* a granted Unix socket: bound writable whatever the level says, which stays none or read */
};

/* A symbolic link that exists on the host outside every granted directory and must be seen inside (/bin ->
 * usr/bin). */
struct plan_link {
    const char *path, *target; /* target as the host's link says */
};

struct plan_input {
    const struct plan_place *places; /* in any order; a place may repeat the level of what surrounds it */
    uint32_t place_count;
    const struct plan_link *links;
    uint32_t link_count;
    bool scratch;
    const char *temporary;             /* $TMP if known and not /tmp: hidden too under scratch; else NULL */
    const char *const *proc_read_only; /* top-level entries of /proc to cover: "sys", "pressure", ... */
    uint32_t proc_read_only_count;
};

enum plan_kind {
    PLAN_BIND_READ, /* path from source, read-only, with all mounts below */
    PLAN_BIND_WRITE,
    PLAN_MASK_DIRECTORY, /* an empty directory, mode 0000; 0111 where something below is shown (mode says) */
    PLAN_MASK_FILE,      /* an empty regular file, mode 0000 or 0444 (placeholders), read-only */
    PLAN_SCRATCH,        /* a private writable tmpfs, mode 1777 */
    PLAN_DIRECTORY,      /* mkdir in the new root */
    PLAN_LINK,           /* a symbolic link in the new root */
    PLAN_DEV,            /* a minimal /dev with own pts; PLAN_SCRATCH on its shm and PLAN_SEAL follow */
    PLAN_PROC,           /* a new procfs of the new process namespace */
    PLAN_SEAL,           /* makes the mount at path read-only, not what is mounted below it */
    PLAN_BIND_DEVICE,    /* like PLAN_BIND_WRITE, and device nodes at or below path can be opened */
};

struct plan_operation {
    enum plan_kind kind;
    const char *path;
    const char *source; /* of binds; NULL: the same as path. Of PLAN_LINK: the link's text */
    bool optional;      /* a missing source leaves the operation out (text artifacts only) */
    uint32_t mode;      /* of masks, PLAN_SCRATCH and PLAN_DIRECTORY */
};

struct plan {
    struct plan_operation *items;
    uint32_t count, capacity;
    /* Places that are not shown because the sandbox has its own: the host's /dev or /proc would undo it. */
    struct {
        struct plan_skipped {
            const char *path, *reason;
        } * items;
        uint32_t count, capacity;
    } skipped;
};

/* Builds the plan: closed base, /dev and /proc, scratch, then places from shallow to deep, each mask sealed
 * after what is shown below it, pins for every directory between a writable area's top and a place below it
 * that is lower (so that no rename moves it, language.md 7), and at last the root sealed. Never mounts what a
 * parent's mount already gives. */
struct plan plan_make(struct arena *arena, const struct plan_input *input);

/* One line per operation for --dry-run, paths escaped. */
void plan_print(struct buffer *buffer, const struct plan *plan);

/* Orders paths by bytes with '/' lowest, so that what lies below a path comes right after it. */
int plan_path_compare(const char *a, const char *b);
