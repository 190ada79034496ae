/* host_roots.h - the part of finding roots that is the same on every system. Private to policy/ and to the
 * launcher of Windows.
 */
#pragma once

#include "policy/host.h"

struct host_roots {
    struct arena *arena;
    const struct host_request *request;
    struct bindings *bindings;
    struct note_list *notes;
};

/* The canonical `path` as a root's value; `given`: what it was before. */
struct root_value host_bound_to(struct arena *arena, const char *path, const char *given);

/* Sets `root` to the absolute `path`, whose end may be missing; unset with a note if it cannot be
 * resolved. */
void host_root_set(struct host_roots *roots, enum root root, const char *path);

/* Sets the roots of the request's --root. What cannot be used is an error note. */
void host_given_set(struct host_roots *roots);

/* Sets the roots of the repository around $WORK that are not given. */
void host_repository_set(struct host_roots *roots);
