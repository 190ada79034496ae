#include "compiler/build.h"

#include "base/vector.h"
#include "compiler/place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct span span_of(const struct builder *builder, const struct rule *rule)
{
    const struct load *load = builder->load;
    uint32_t source = load->units[rule->origin.source]->source;
    return place_span(load->sources, source, rule->origin.line, rule->origin.column);
}

/* Whether some system and some command let both hold. */
static bool meet(const struct rule *a, const struct rule *b)
{
    if ((a->systems & b->systems) == 0)
        return false;
    if (a->commands == NULL || b->commands == NULL)
        return true;
    for (uint32_t i = 0, j = 0; i < a->commands->count && j < b->commands->count;) {
        int order = strcmp(a->commands->names[i], b->commands->names[j]);
        if (order == 0)
            return true;
        i += order < 0 ? 1 : 0;
        j += order > 0 ? 1 : 0;
    }
    return false;
}

/* --- set ------------------------------------------------------------------------------------------------ */

static int compare_sets(const void *a, const void *b)
{
    const struct rule *first = *(const struct rule *const *)a, *second = *(const struct rule *const *)b;
    int order = strcasecmp(first->name, second->name);
    if (order == 0)
        order = strcmp(first->name, second->name);
    return order != 0 ? order : strcmp(first->value, second->value);
}

static bool sets_conflict(const struct rule *a, const struct rule *b)
{
    /* On Windows names of variables ignore case. */
    bool windows = (a->systems & b->systems & 1u << SYSTEM_WINDOWS) != 0;
    bool same_name = windows ? strcasecmp(a->name, b->name) == 0 : strcmp(a->name, b->name) == 0;
    return same_name && strcmp(a->value, b->value) != 0 && meet(a, b);
}

static void report_sets(struct builder *builder, const struct rule *first, const struct rule *second)
{
    diagnostic_add(
        builder->diagnostics,
        (struct diagnostic){
            .code = SBX144_SET_TWICE,
            .at = span_of(builder, second),
            .more = {{span_of(builder, first), "first set here"}},
            .text = arena_format(builder->arena, "%s is set to two different values", second->name),
            .help = "keep one of the two, or put each under a `when` of its own",
        });
}

/* `sets` of one name in any case: reports the first two that conflict. */
static void check_one_name(struct builder *builder, const struct rule *const *sets, uint32_t count)
{
    const struct rule **kept = arena_array(builder->arena, count, sizeof *kept);
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rule *last = kept_count > 0 ? kept[kept_count - 1] : NULL;
        if (last != NULL && compare_sets(&last, &sets[i]) == 0 && last->systems == sets[i]->systems &&
            last->commands == sets[i]->commands)
            continue;
        for (uint32_t j = 0; j < kept_count; j++) {
            if (sets_conflict(kept[j], sets[i])) {
                report_sets(builder, kept[j], sets[i]);
                return;
            }
        }
        kept[kept_count++] = sets[i];
    }
}

static void check_sets(struct builder *builder, const struct rule **sets, uint32_t count)
{
    if (count > 1)
        qsort(sets, count, sizeof *sets, compare_sets);
    for (uint32_t start = 0, end = 0; start < count; start = end) {
        while (end < count && strcasecmp(sets[start]->name, sets[end]->name) == 0)
            end++;
        check_one_name(builder, sets + start, end - start);
    }
}

/* --- scratch -------------------------------------------------------------------------------------------- */

static bool is_temporary(const struct policy_path *path)
{
    return (path->root == ROOT_TMP && path->rest[0] == '\0') ||
           (path->root == ROOT_SLASH && strcmp(path->rest, "/tmp") == 0);
}

/* Whether the grant, which meets no scratch before this one, meets it: that is reported. */
static bool check_scratch(struct builder *builder, const struct rule *scratch, const struct rule *grant)
{
    bool met = meet(scratch, grant);
    if (met)
        diagnostic_add(
            builder->diagnostics,
            (struct diagnostic){
                .code = SBX113_SCRATCH_TMP,
                .at = span_of(builder, grant),
                .more = {{span_of(builder, scratch), "scratch is granted here"}},
                .text = "scratch takes the place of the temporary directory, so this grant cannot hold",
                .help = "leave one of the two out, or grant a place below the temporary directory",
            });
    return met;
}

/* -------------------------------------------------------------------------------------------------------- */

struct rule_pointers {
    const struct rule **items;
    uint32_t count, capacity;
};

void build_check(struct builder *builder)
{
    struct rule_pointers sets = {0}, scratches = {0}, temporaries = {0};
    for (uint32_t i = 0; i < builder->rules.count; i++) {
        const struct rule *rule = &builder->rules.items[i];
        if (rule->kind == RULE_SET_ENV)
            VECTOR_PUSH(builder->arena, &sets, rule);
        else if (rule->kind == RULE_GRANT_SCRATCH)
            VECTOR_PUSH(builder->arena, &scratches, rule);
        else if (rule->kind == RULE_GRANT && is_temporary(&rule->path))
            VECTOR_PUSH(builder->arena, &temporaries, rule);
    }
    check_sets(builder, sets.items, sets.count);
    for (uint32_t i = 0; i < temporaries.count; i++)
        for (uint32_t j = 0; j < scratches.count; j++)
            if (check_scratch(builder, scratches.items[j], temporaries.items[i]))
                break;
}
