#include "emitters/windows_environment.h"

#include "base/vector.h"
#include "emitters/windows_write.h"

#include <stdlib.h>
#include <string.h>

struct names {
    const char **items;
    uint32_t count, capacity;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the rules of one kind in one layer, or in all (-1); sorted, each once. */
static struct names names_of(const struct emit_request *request, enum rule_kind kind, int64_t layer)
{
    struct names names = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *rule = &request->bound->rules.items[i];
        if (!rule->dropped && rule->rule->kind == kind && !rule->rule->nothing && rule->rule->name != NULL &&
            (layer < 0 || rule->rule->layer == layer))
            VECTOR_PUSH(request->arena, &names, rule->rule->name);
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    for (uint32_t i = 0; i < names.count; i++)
        if (kept == 0 || strcmp(names.items[kept - 1], names.items[i]) != 0)
            names.items[kept++] = names.items[i];
    names.count = kept;
    return names;
}

static void put_names(struct buffer *out, const char *indent, const char *element, const struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        buffer_format(out, "%s<%s", indent, element);
        xml_attribute(out, "name", names->items[i]);
        buffer_string(out, "/>\n");
    }
}

static bool has_limit(const struct bound_policy *bound, uint32_t layer)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (!bound->rules.items[i].dropped && bound->rules.items[i].rule->kind == RULE_LIMIT_ENV &&
            bound->rules.items[i].rule->layer == layer)
            return true;
    return false;
}

static void put_limits(const struct emit_request *request, struct buffer *out)
{
    for (uint32_t layer = 0; layer < request->policy->layer_count; layer++) {
        if (!has_limit(request->bound, layer))
            continue;
        struct names names = names_of(request, RULE_LIMIT_ENV, layer);
        buffer_string(out, names.count > 0 ? "    <limit>\n" : "    <limit/>\n");
        put_names(out, "      ", "keep", &names);
        buffer_string(out, names.count > 0 ? "    </limit>\n" : "");
    }
}

/* What the policy sets and managed layers leave: the environment of a caller who has none. */
static bool put_sets(const struct emit_request *request, struct buffer *out)
{
    struct bound_policy alone = *request->bound;
    alone.bindings.environment_count = 0;
    struct variable_list sets = bound_environment(request->arena, &alone, request->notes);
    bool held = true;
    for (uint32_t i = 0; i < sets.count; i++) {
        const struct variable *variable = &sets.items[i];
        if (!xml_can_hold(variable->value)) {
            note_add(
                request->notes,
                (struct note){.code = SBX313_WINDOWS_PATH,
                              .text = arena_format(request->arena,
                                                   "the value of %s holds a character that XML has none for",
                                                   variable->name)});
            held = false;
        }
        buffer_string(out, "    <set");
        xml_attribute(out, "name", variable->name);
        xml_attribute(out, "value", variable->value);
        buffer_string(out, "/>\n");
    }
    return held;
}

bool windows_write_environment(const struct emit_request *request, struct buffer *out)
{
    struct names keep = names_of(request, RULE_GRANT_ENV, 0), drop = names_of(request, RULE_DENY_ENV, -1);
    buffer_string(out, "  <environment>\n");
    put_names(out, "    ", "keep", &keep);
    put_names(out, "    ", "drop", &drop);
    put_limits(request, out);
    bool held = put_sets(request, out);
    buffer_string(out, "  </environment>\n");
    return held;
}
