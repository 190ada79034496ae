#include "runtime/managed_list.h"

#include <string.h>

static bool rule_uses(const struct rule *rule, const char *name)
{
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strcmp(root_names[root], name) == 0)
            return rule_uses_root(rule, root);
    return false;
}

/* Whoever calls must not move the ground on which a managed layer stands (language.md 5). */
bool managed_roots_are_free(struct arena *arena, const struct policy *policy, const struct variable *roots,
                            uint32_t count, struct note_list *notes)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < policy->rule_count; j++) {
            const struct rule *rule = &policy->rules[j];
            const char *name = roots[i].name;
            if (policy->layers[rule->layer].kind != LAYER_MANAGED || !rule_uses(rule, name))
                continue;
            note_add(
                notes,
                (struct note){.code = SBX406_MANAGED_ROOT,
                              .rule = rule,
                              .text = arena_format(arena, "--root %s: a managed policy uses $%s", name, name),
                              .help = strcmp(name, "WORK") == 0 ? "start sbx-launch in that directory instead"
                                                                : "leave the option out"});
            return false;
        }
    return true;
}
