#include "runtime/expectations.h"

#include "base/escape.h"

#include <string.h>

static const char *expectation_argument(const struct bound_rule *bound_rule)
{
    return bound_rule->at.path != NULL ? bound_rule->at.path : bound_rule->rule->name;
}

static bool holds(const struct rule *rule, const struct decision *decision)
{
    return rule->allow ? decision->verdict == VERDICT_ALLOW : decision->verdict == VERDICT_DENY;
}

bool expectations_hold(struct arena *arena, const struct bound_policy *bound, bool denials_only,
                       struct note_list *notes)
{
    bool good = true;

    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *item = &bound->rules.items[i];
        const char *argument = expectation_argument(item), *error = NULL;
        if (item->rule == NULL || item->rule->kind != RULE_EXPECT || item->dropped || argument == NULL ||
            (denials_only && item->rule->allow))
            continue;
        const struct decision *decision =
            bound_decide(arena, bound, item->rule->operation, argument, strlen(argument), &error);
        if (decision != NULL && holds(item->rule, decision))
            continue;
        const struct bound_rule *why = decision == NULL ? NULL : decision->reasons[0].rule;
        const char *effect = decision == NULL ? error : decision->reasons[0].effect;
        note_add(notes, (struct note){.code = SBX417_EXPECTATION,
                                      .rule = item->rule,
                                      .text = arena_format(
                                          arena, "%s does not hold for %s: %s%s%s",
                                          rule_text(arena, item->rule), escape_string(arena, argument),
                                          why == NULL ? "" : bound_statement_text(arena, bound->policy, why),
                                          why == NULL ? "" : " ", effect)});
        good = false;
    }
    return good;
}
