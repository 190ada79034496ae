/* machine.h - what binding needs to know of this machine: the counterpart of policy/host.h for Windows.
 *
 * Roots come from Windows' known folders, never from variables, which whoever calls may choose. Paths are those of the
 * model: "C:/a/b", canonical (links and junctions resolved, names as they are on the disk).
 */
#pragma once

#include "policy/bound.h"

struct machine_request {
    const char *work;                   /* the command's working directory, or NULL: the current one */
    const struct variable *given_roots; /* --root NAME=PATH, name without '$', PATH as Windows writes it */
    uint32_t given_root_count;
    const struct variable *environment; /* machine_environment's */
    uint32_t environment_count;
};

/* Fills `bindings` (system, roots of the policy and of managed layers, environment, host view); `command` stays as the
 * caller set it. What could not be found is unset with a note; a --root that is no absolute path of something that
 * exists is an error note. */
void machine_bind(struct arena *arena, const struct machine_request *request, struct bindings *bindings,
                  struct note_list *notes);

/* The variables of this process, names in byte order, without those that hold no valid text or begin with '='. */
struct variable_list machine_environment(struct arena *arena);

/* The canonical form of `path` ("C:\\a\\b", "C:/a/b" or relative to the current directory), whose end may be missing:
 * its deepest existing ancestor is resolved. NULL if it lies on no drive, holds a name that Windows reads otherwise than
 * it stands there, or cannot be looked at. */
const char *machine_canonical(struct arena *arena, const char *path);

/* The same of what exists, or NULL. */
const char *machine_resolve(struct arena *arena, const char *path);

/* Whether `path` is a directory. */
bool machine_is_directory(const char *path);

/* Directories of Windows and of this user at which nothing may be granted, wherever they are here: as canonical model
 * paths. */
struct machine_paths {
    const char **items;
    uint32_t count, capacity;
};
struct machine_paths machine_guarded(struct arena *arena);

/* Whether `when command` rules for `command` hold (language.md 6): the search in `path` (a PATH value, or NULL) finds it
 * where `bound`, made as if they held, lets the command write nothing. */
bool machine_command_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                             const char *path);
