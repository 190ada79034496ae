/* acl.h - the operations on objects of a file system that applying, journalling and reverting are made of.
 *
 * acl_windows() is the machine. acl_memory.h is a tree in memory for unit tests on any system; acl_sidecar.h,
 * in the build for tests alone, takes files from the machine and keeps their descriptors beside it, because
 * Wine does not keep them.
 *
 * Nothing here follows a link or junction at the end of a path, and nothing reaches any object but the one
 * that is open: no descriptor of another is touched, whatever an entry says of inheritance (spread.h carries
 * entries on). An operation returns ACL_OK or the error number of Windows; those that callers tell apart have
 * names.
 */
#pragma once

#include "emitters/windows_descriptor.h"

enum { ACL_OK = 0, ACL_MISSING = 2, ACL_DENIED = 5, ACL_NOT_EMPTY = 145, ACL_EXISTS = 183 };
enum { ACL_ID_SIZE = 16 };

/* What an object is opened for, beside reading its attributes and its descriptor. */
enum {
    ACL_WRITE = 1,       /* write_entries */
    ACL_WRITE_LABEL = 2, /* write_label */
    ACL_LIST = 4,        /* list: of a directory */
    ACL_REMOVE = 8       /* rename, remove */
};

struct acl_object; /* open; its identity cannot change meanwhile */

struct acl_identity {
    const char *volume;      /* "\\?\Volume{...}\" */
    uint8_t id[ACL_ID_SIZE]; /* with the volume: this object, whatever it is called */
    bool directory;
    bool link;        /* a link, a junction or a mount point: leads elsewhere */
    uint32_t links;   /* names that it has */
    const char *path; /* where it is now, "C:\a\b", links of the path resolved */
};

struct acl_names {
    const char **items;
    uint32_t count, capacity;
};

/* All strings and results lie in the arena that is given. */
struct acl_operations {
    void *state; /* of the implementation */
    uint32_t (*open)(const struct acl_operations *acl, struct arena *arena, const char *path, unsigned access,
                     struct acl_object **object);
    /* By identity, wherever the object has been moved to on its volume. ACL_MISSING: it is gone. */
    uint32_t (*open_id)(const struct acl_operations *acl, struct arena *arena,
                        const struct acl_identity *identity, unsigned access, struct acl_object **object);
    uint32_t (*identify)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                         struct acl_identity *identity);
    /* Owner, group, DACL and label. */
    uint32_t (*read)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                     struct windows_descriptor *descriptor);
    /* The DACL of `descriptor` with its control flags; owner, group and label are left alone. */
    uint32_t (*write_entries)(const struct acl_operations *acl, struct arena *arena,
                              struct acl_object *object, const struct windows_descriptor *descriptor);
    /* The label of `descriptor`; none if it has none. */
    uint32_t (*write_label)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                            const struct windows_descriptor *descriptor);
    /* Names of what lies in a directory, in no order. */
    uint32_t (*list)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                     struct acl_names *names);
    /* A new directory (`content` NULL) or file at `path`, open for ACL_WRITE | ACL_REMOVE, and
     * ACL_WRITE_LABEL if that is allowed; ACL_EXISTS if anything is there. It has the DACL of `first` from its
     * first moment; NULL: what it inherits. */
    uint32_t (*make)(const struct acl_operations *acl, struct arena *arena, const char *path,
                     const char *content, const struct windows_descriptor *first, struct acl_object **object);
    /* Another name in the same directory; ACL_EXISTS if it is taken. */
    uint32_t (*rename)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                       const char *path);
    /* Removes a directory in which nothing is, or a file with one name that holds exactly `content`;
     * ACL_NOT_EMPTY otherwise. */
    uint32_t (*remove)(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                       const char *content);
    void (*close)(const struct acl_operations *acl, struct acl_object *object);
};

/* The file systems of this machine, by handles (acl_win32.c); in the build for tests those of
 * acl_sidecar.h. */
const struct acl_operations *acl_windows(struct arena *arena);

bool acl_identity_same(const struct acl_identity *a, const struct acl_identity *b);

/* Whether `path`, which identify gave, is that of `directory` or lies below it. */
bool acl_path_covers(const char *directory, const char *path);

/* What an error number means, in `arena`. */
const char *acl_error(struct arena *arena, uint32_t code);
