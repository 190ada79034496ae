/* show.h - what `sbxc show` collects, for its two forms. Private to show*.c. */
#pragma once

#include "compiler/session.h"

struct showing {
    struct session *session;
    struct buffer *out;
    const struct policy *policy;
    const struct bound_policy *bound;
    struct region_list regions;
};

/* Whether the rule was written in a text (not added for a service, a link or the policy's own files), and
 * says something that the other rules of its statement do not. */
bool show_is_written(const struct policy *policy, const struct bound_rule *bound);

/* Whether a managed file is shown alone: it opens nothing, and what is shown is what it leaves. */
bool show_only_narrows(const struct policy *policy);

/* Who says it: "policy", a preset's name, a managed layer's name, or "itself" for the policy's own files. */
const char *show_source(const struct policy *policy, const struct bound_rule *bound);

/* The classes that are lists of rules, in the order in which they are shown. */
struct show_class {
    const char *member, *title;
    enum rule_kind grant, deny, limit; /* RULE_KINDS: it has none */
};
extern const struct show_class show_classes[]; /* a NULL member ends it */

/* "grant", "deny" or "limit" if `rule` belongs to the class, else NULL. */
const char *show_effect(const struct show_class *class, const struct rule *rule);

void show_json(const struct showing *showing);
void show_text(const struct showing *showing);
