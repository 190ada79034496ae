#include "runtime/gather.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

enum level gather_level(const struct gather *gather, const char *path)
{
    return bound_level(gather->bound, path, strlen(path));
}

bool rule_denies(const struct bound_rule *rule)
{
    return !rule->dropped && rule->at.path != NULL &&
           (rule->holds_as_deny_write || rule->rule->kind == RULE_DENY);
}

void gather_repeat(struct gather *gather, uint32_t from, const char *path, const char *because)
{
    struct bound_rule rule = gather->bound->rules.items[from];
    rule.at = (struct bound_path){.path = path};
    rule.because = because;
    VECTOR_PUSH(gather->bound->arena, &gather->bound->rules, rule);
}

const char *gather_rule(const struct gather *gather, const struct bound_rule *rule)
{
    if (rule->itself)
        return arena_format(gather->arena, "the sandbox's own %s",
                            escape_string(gather->arena, rule->at.path));
    return escape_string(gather->arena, bound_rule_text(gather->arena, rule));
}
