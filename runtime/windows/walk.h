/* walk.h - going through all that lies below a directory, without following a link on the way: one is opened
 * as it is, and lists nothing.
 *
 * Others may move things meanwhile: what turns out to lie elsewhere is not touched.
 */
#pragma once

#include "runtime/windows/acl.h"

struct walk_directory {
    const char *path;
    const void *carried; /* what `visit` gave it */
};

/* One directory that is open for ACL_LIST, and the names in it: looks at each, and calls walk_push for
 * those that are directories to go on with. `arena` lasts for this call. NULL, or why to stop. */
typedef const char *walk_visit(void *context, struct arena *arena, struct acl_object *directory,
                               const struct acl_identity *identity, const void *carried,
                               const struct acl_names *names);

struct walk {
    const struct acl_operations *acl;
    struct arena *arena;
    walk_visit *visit;
    /* A directory cannot be opened or listed: NULL to go on. */
    const char *(*closed)(void *context, const char *path, const void *carried, uint32_t code);
    void *context;
    struct {
        struct walk_directory *items;
        uint32_t count, capacity;
    } todo;
};

/* Walks from the directory at `path`. NULL, or the reason for which a call stopped it. */
const char *walk_run(struct walk *walk, const char *path, const void *carried);

/* Goes on with the directory `path` later; the string is copied. */
void walk_push(struct walk *walk, const char *path, const void *carried);
