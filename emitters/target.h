/* target.h - the table of targets: what `sbxc -t` offers. One line a target. */
#pragma once

#include "base/buffer.h"
#include "emitters/control.h"

/* What an emitter gets. Strings are for headers: nothing here may carry a date or an absolute build path. */
struct emit_request {
    struct arena *arena;
    const struct policy *policy;
    const struct bound_policy *bound; /* sealed; roots symbolic where not given */
    const char *version;              /* of sbxc */
    const char *architecture;         /* "x86_64" or "aarch64", for seccomp */
    const char *output_name; /* OUT without its directory, e.g. "policy.sh"; "" for standard output */
    const struct rule *const *accepted; /* CONTROLS entries; NULL for targets without a table */
    struct note_list *notes;
};

struct target {
    const char *name, *suffix;
    int system;   /* enum system that it means, or -1: any */
    int controls; /* enum control_target whose table is checked, or -1: none of its own */
    /* Appends the artifact to `out`; false with error notes if it cannot be made. Codes 300-349 mean that the
     * target cannot hold the policy (exit 3), 350-399 that the call lacks something (exit 2): see
     * target_exit. */
    bool (*emit)(const struct emit_request *request, struct buffer *out);
};

extern const struct target targets[]; /* ends with a NULL name */
const struct target *target_named(const char *name);
const struct target *target_for_suffix(const char *file_name);

/* The exit status of sbxc for an error note's code: 3 for 300-349, else 2. */
int target_exit(enum code code);
