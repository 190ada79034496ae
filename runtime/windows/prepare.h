/* prepare.h - from the command line to the specification: everything that a launch knows before it changes
 * anything. */
#pragma once

#include "runtime/windows/resolve.h"

struct prepare_request {
    const char *policy;           /* POLICY.bin or POLICY.xml as given */
    const char *chdir;            /* --chdir, or NULL */
    const struct variable *roots; /* --root, names without '$' */
    uint32_t root_count;
    const char *const *managed; /* --managed */
    uint32_t managed_count;
    const char *command; /* as called; NULL with --dry-run */
    const char *state;   /* the launcher's own directory for journals and records, "C:\a\b", or NULL */
};

struct windows_prepared {
    const char *policy_path;          /* "C:\a\b", canonical */
    const char *work, *directory;     /* $WORK, and where the command starts: "C:\a\b", canonical */
    struct variable_list environment; /* of the caller */
    struct managed_list managed;
    struct bindings bindings;
    const struct own_path
        *own; /* the policy and its sources, managed policies, the launcher's programs, its records */
    uint32_t own_count;
    struct resolved_spec resolved;
};

/* False with error notes. */
bool windows_prepare(struct arena *arena, const struct prepare_request *request,
                     struct windows_prepared *prepared, struct note_list *notes);
