/* names.h - rules that speak of names: environment variables, services, and the switches scratch and bypass.
 *
 * The decisions are declared in bound.h; this is what the rest of policy/ needs of them. */
#pragma once

#include "policy/bound.h"

/* Whether `name` matches `pattern`, in which * stands for any run; ignores ASCII case on Windows. Cost: at
 * most the product of the lengths. */
bool names_match(const char *pattern, const char *name, enum system system);

/* Whether two names of variables are one on `system`. */
bool names_equal(const char *a, const char *b, enum system system);

/* Queues an error for every variable that rules which hold together set to different values. */
void names_check_sets(const struct bound_policy *bound, struct note_list *notes);

/* The rules of the env or service class that speak of a name, one after the other. */
struct name_rules {
    const struct bound_policy *bound;
    const char *name;
    bool variable;
    uint32_t link, pattern;
};
struct name_rules names_of_variable(const struct bound_policy *bound, const char *name);
struct name_rules names_of_service(const struct bound_policy *bound, const char *name);

/* The next rule, or NULL after the last. */
const struct bound_rule *names_next(struct name_rules *rules);

/* The `set` of the policy for a variable, or NULL. */
const struct bound_rule *names_set(const struct bound_policy *bound, const char *name);

/* Whether managed denies and limits leave a variable to the policy. */
bool names_left_by_managed(const struct bound_policy *bound, const char *name);

/* Whether a list of `kind` (RULE_LIMIT_ENV or RULE_LIMIT_SERVICE) of `layer` leaves out what `rules`
 * speaks of. */
bool names_outside_limit(struct name_rules rules, enum rule_kind kind, uint32_t layer);
