/* bind.h - what the parts of binding share: the job, and the paths that a root stands for. Private to
 * policy/. */
#pragma once

#include "policy/bound.h"

/* What a path is used for decides how much of a root's value may be dropped. */
enum path_use { USE_GRANT, USE_DENY, USE_EXCEPT, USE_LIMIT, USE_EXPECT };

/* One path that a root stands for, and what it was before its links were resolved (NULL: the same). */
struct path_text {
    const char *path, *given;
};

struct path_texts {
    struct path_text *items;
    uint32_t count, capacity;
};

/* What was said of a root that cannot be used. */
struct root_error {
    bool said;
    enum code code;
    uint32_t note; /* its index */
    uint32_t more; /* rules for which the same would have to be said */
};

struct binder {
    struct arena *arena;
    const struct policy *policy;
    const struct bindings *bindings;
    struct note_list *notes;
    struct root_error *errors; /* by root */
};

/* Whether `rule` belongs to a managed layer. */
bool binder_is_managed(const struct binder *binder, const struct rule *rule);

/* The value of `root` for the layer of `rule`; $REPO and $GITDIR are unset where $REPO would be too wide. */
const struct root_value *binder_root(const struct binder *binder, const struct rule *rule, enum root root);

/* Whether `path` is /, a drive's root, $HOME or a directory above $HOME, as the layer of `rule` knows it. */
bool binder_is_wide(const struct binder *binder, const struct rule *rule, const char *path);

/* Appends the paths that $env.NAME of `path` stands for in `rule` and returns whether it is unset,
 * symbolic ("$env.NAME" is appended then) or bound. What is dropped gets a note. */
enum root_state binder_environment(const struct binder *binder, const struct rule *rule,
                                   const struct policy_path *path, enum path_use use, struct path_texts *out);

/* The bound paths of `path`, of the rule's own or of one that is asked about as if `rule` had it. Empty,
 * mostly with a note, if there are none. */
struct bound_paths {
    struct bound_path *items;
    uint32_t count, capacity;
};
void binder_paths(const struct binder *binder, const struct rule *rule, const struct policy_path *path,
                  enum path_use use, struct bound_paths *out);

/* `path` without empty and "." components; ".." takes away what stands before it, and is reported in
 * *climbs. `top` is what it cannot climb over: bytes at the start of `path`. */
const char *binder_normalised(struct arena *arena, const char *path, size_t top, bool *climbs);

/* Queues a note about `rule`; `help` may be NULL. */
void binder_note(const struct binder *binder, enum code code, const struct rule *rule, const char *text,
                 const char *help);

/* Whether the directory `path` is `below` or above it, by whole components. */
bool path_is_above(const char *path, const char *below);

/* Whether `path` is / or a drive's root. */
bool path_is_top(const char *path);
