#include "compiler/dump.h"

#include "base/escape.h"

#include <string.h>

static const char *conditions(struct arena *arena, const struct rule *rule)
{
    static const char *const systems[SYSTEMS] = {"linux", "macos", "windows"};
    struct buffer out = buffer_in(arena);
    buffer_string(&out, "");
    for (uint32_t i = 0; rule->systems != SYSTEM_ALL && i < SYSTEMS; i++)
        if ((rule->systems & 1u << i) != 0)
            buffer_format(&out, "%s%s", out.length == 0 ? "  when os " : ", ", systems[i]);
    for (uint32_t i = 0; rule->commands != NULL && i < rule->commands->count; i++)
        buffer_format(&out, "%s%s", i == 0 ? "  when command " : ", ",
                      escape_string(arena, rule->commands->names[i]));
    return out.bytes;
}

static const char *place(struct arena *arena, const struct policy *policy, const struct rule *rule)
{
    if (rule->origin.source >= policy->source_count)
        return "-";
    return arena_format(arena, "%s:%u", escape_string(arena, policy->sources[rule->origin.source].name),
                        rule->origin.line);
}

static void dump_policy(struct buffer *out, const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        buffer_format(out, "%-16s %-24s %s%s\n", escape_string(out->arena, rule_layer_name(policy, rule)),
                      place(out->arena, policy, rule), rule_text(out->arena, rule),
                      conditions(out->arena, rule));
    }
}

static void dump_bound_rule(struct buffer *out, const struct policy *policy, const struct bound_rule *bound)
{
    buffer_format(out, "%-24s %s", place(out->arena, policy, bound->rule),
                  rule_text(out->arena, bound->rule));
    if (bound->at.path != NULL)
        buffer_format(out, "  -> %s", escape_string(out->arena, bound->at.path));
    for (uint32_t i = 0; i < bound->except_count; i++)
        buffer_format(out, "%s%s", i == 0 ? " except " : ", ",
                      escape_string(out->arena, bound->except[i].path));
    if (bound->because != NULL)
        buffer_format(out, "  (%s)", bound->because);
    buffer_string(out, bound->dropped ? "  (left out)\n" : "\n");
}

static int dump_bound(struct session *session, const struct policy *policy)
{
    static const char *const levels[] = {"none", "read", "write"};
    struct bindings bindings;
    session_bindings(session, session->system, true, &bindings);
    const struct bound_policy *bound = session_bind(session, policy, &bindings, false);
    if (bound == NULL)
        return session->exit;
    for (uint32_t i = 0; i < bound->rules.count; i++)
        dump_bound_rule(&session->out, policy, &bound->rules.items[i]);
    struct region_list regions = bound_regions(session->arena, bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++)
        buffer_format(&session->out, "%-6s %s\n", levels[regions.items[i].level],
                      escape_string(session->arena, regions.items[i].path));
    return EXIT_DONE;
}

int dump(struct session *session, const struct policy *policy)
{
    const char *stage = session->options.dump;
    const struct compilation *compilation = session->compilation;
    if (compilation->failure != NULL || compilation->diagnostics.errors > 0)
        return EXIT_WRONG;
    if (strcmp(stage, "syntax") == 0)
        syntax_print(&session->out, compilation->layers[0].load->units[0]->syntax);
    else if (strcmp(stage, "policy") == 0)
        dump_policy(&session->out, policy);
    else
        return dump_bound(session, policy);
    return EXIT_DONE;
}
