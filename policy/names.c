#include "policy/names.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/index.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static unsigned char byte_on(enum system system, char byte)
{
    bool upper = byte >= 'A' && byte <= 'Z';
    return (unsigned char)(upper && system == SYSTEM_WINDOWS ? byte + ('a' - 'A') : byte);
}

bool names_match(const char *pattern, const char *name, enum system system)
{
    const char *retry = NULL, *retry_name = NULL;
    while (*name != '\0' || *pattern != '\0') {
        if (*pattern == '*') {
            retry = ++pattern;
            retry_name = name;
        } else if (*name != '\0' && byte_on(system, *pattern) == byte_on(system, *name)) {
            pattern++;
            name++;
        } else if (retry != NULL && *retry_name != '\0') {
            pattern = retry;
            name = ++retry_name;
        } else {
            return false;
        }
    }
    return true;
}

bool names_equal(const char *a, const char *b, enum system system)
{
    while (*a != '\0' && byte_on(system, *a) == byte_on(system, *b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* ---- the rules of a name ---- */

struct name_rules names_of_variable(const struct bound_policy *bound, const char *name)
{
    return (struct name_rules){bound, name, true, name_map_find(bound->index->variables, name, strlen(name)),
                               0};
}

struct name_rules names_of_service(const struct bound_policy *bound, const char *name)
{
    return (struct name_rules){bound, name, false, name_map_find(bound->index->services, name, strlen(name)),
                               0};
}

const struct bound_rule *names_next(struct name_rules *rules)
{
    const struct decision_index *index = rules->bound->index;
    const struct bound_rule *all = rules->bound->rules.items;
    const struct name_map *map = rules->variable ? index->variables : index->services;
    const struct rule_numbers *patterns =
        rules->variable ? &index->variable_patterns : &index->service_patterns;
    enum system system = rules->variable ? rules->bound->bindings.system : SYSTEM_LINUX;

    if (rules->link != 0) {
        const struct bound_rule *rule = &all[name_map_rule(map, rules->link)];
        rules->link = name_map_next(map, rules->link);
        return rule;
    }
    while (rules->pattern < patterns->count) {
        const struct bound_rule *rule = &all[patterns->items[rules->pattern++]];
        if (names_match(rule->rule->name, rules->name, system))
            return rule;
    }
    return NULL;
}

static bool is_managed(const struct bound_policy *bound, const struct bound_rule *rule)
{
    return bound->policy->layers[rule->rule->layer].kind == LAYER_MANAGED;
}

bool names_outside_limit(struct name_rules rules, enum rule_kind kind, uint32_t layer)
{
    if (rules.bound->index->layers[layer].has[kind] == 0)
        return false;
    for (const struct bound_rule *rule; (rule = names_next(&rules)) != NULL;)
        if (rule->rule->kind == kind && rule->rule->layer == layer)
            return false;
    return true;
}

static bool outside_any_limit(struct name_rules rules, enum rule_kind kind)
{
    for (uint32_t layer = 0; layer < rules.bound->index->layer_count; layer++)
        if (names_outside_limit(rules, kind, layer))
            return true;
    return false;
}

/* ---- variables ---- */

const struct bound_rule *names_set(const struct bound_policy *bound, const char *name)
{
    struct name_rules rules = names_of_variable(bound, name);
    for (const struct bound_rule *rule; (rule = names_next(&rules)) != NULL;)
        if (rule->rule->kind == RULE_SET_ENV)
            return rule;
    return NULL;
}

bool names_left_by_managed(const struct bound_policy *bound, const char *name)
{
    struct name_rules rules = names_of_variable(bound, name);
    if (outside_any_limit(rules, RULE_LIMIT_ENV))
        return false;
    for (const struct bound_rule *rule; (rule = names_next(&rules)) != NULL;)
        if (rule->rule->kind == RULE_DENY_ENV && is_managed(bound, rule))
            return false;
    return true;
}

static bool passes_in(const struct bound_policy *bound, const char *name)
{
    struct name_rules rules = names_of_variable(bound, name);
    bool granted = false;
    for (const struct bound_rule *rule; (rule = names_next(&rules)) != NULL;) {
        if (rule->rule->kind == RULE_DENY_ENV)
            return false;
        granted = granted || rule->rule->kind == RULE_GRANT_ENV;
    }
    return granted;
}

bool bound_env(const struct bound_policy *bound, const char *name)
{
    return names_left_by_managed(bound, name) && (names_set(bound, name) != NULL || passes_in(bound, name));
}

/* One name's sets stand together, whether its case counts or not. */
static int compare_sets(const void *a, const void *b)
{
    const struct rule *left = *(const struct rule *const *)a, *right = *(const struct rule *const *)b;
    int names = strcasecmp(left->name, right->name);
    if (names == 0)
        names = strcmp(left->name, right->name);
    return names != 0 ? names : (left > right) - (left < right);
}

void names_check_sets(const struct bound_policy *bound, struct note_list *notes)
{
    struct {
        const struct rule **items;
        uint32_t count, capacity;
    } sets = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].rule->kind == RULE_SET_ENV)
            VECTOR_PUSH(bound->arena, &sets, bound->rules.items[i].rule);
    if (sets.count > 1)
        qsort(sets.items, sets.count, sizeof *sets.items, compare_sets);
    for (uint32_t i = 1; i < sets.count; i++) {
        const struct rule *first = sets.items[i - 1], *second = sets.items[i];
        if (names_equal(first->name, second->name, bound->bindings.system) &&
            strcmp(first->value, second->value) != 0)
            note_add(notes, (struct note){.code = SBX162_SETS_DIFFER,
                                          .rule = second,
                                          .text = arena_format(bound->arena, "%s and %s cannot both hold",
                                                               rule_text(bound->arena, first),
                                                               rule_text(bound->arena, second)),
                                          .help = "keep one of the two lines"});
    }
}

static int compare_variables(const void *a, const void *b)
{
    return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

static void add_sets(struct arena *arena, const struct bound_policy *bound, struct variable_list *list,
                     struct note_list *notes)
{
    const struct rule_numbers *sets = &bound->index->kinds[RULE_SET_ENV];
    for (uint32_t i = 0; i < sets->count; i++) {
        const struct bound_rule *set = &bound->rules.items[sets->items[i]];
        if (names_set(bound, set->rule->name) != set)
            continue;
        if (names_left_by_managed(bound, set->rule->name))
            VECTOR_PUSH(arena, list, (struct variable){set->rule->name, set->rule->value});
        else if (notes != NULL)
            note_add(notes, (struct note){.code = SBX161_SET_REMOVED,
                                          .rule = set->rule,
                                          .text = arena_format(notes->arena, "a managed layer removes %s",
                                                               rule_text(notes->arena, set->rule))});
    }
}

struct variable_list bound_environment(struct arena *arena, const struct bound_policy *bound,
                                       struct note_list *notes)
{
    struct variable_list list = {0};
    for (uint32_t i = 0; i < bound->bindings.environment_count; i++) {
        const struct variable *variable = &bound->bindings.environment[i];
        if (names_set(bound, variable->name) == NULL && bound_env(bound, variable->name))
            VECTOR_PUSH(arena, &list, *variable);
    }
    add_sets(arena, bound, &list, notes);
    if (list.count > 1)
        qsort(list.items, list.count, sizeof *list.items, compare_variables);
    return list;
}

/* ---- services, switches, amounts ---- */

bool bound_service(const struct bound_policy *bound, const char *name)
{
    struct name_rules rules = names_of_service(bound, name);
    bool granted = false;
    if (outside_any_limit(rules, RULE_LIMIT_SERVICE))
        return false;
    for (const struct bound_rule *rule; (rule = names_next(&rules)) != NULL;) {
        if (rule->rule->kind == RULE_DENY_SERVICE)
            return false;
        granted = granted || rule->rule->kind == RULE_GRANT_SERVICE;
    }
    return granted;
}

/* Whether something grants with a rule of kind `grant` and no layer has one of kind `deny`. */
static bool is_switched_on(const struct bound_policy *bound, enum rule_kind grant, enum rule_kind deny)
{
    return bound->index->kinds[grant].count > 0 && bound->index->kinds[deny].count == 0;
}

bool bound_scratch(const struct bound_policy *bound)
{
    return is_switched_on(bound, RULE_GRANT_SCRATCH, RULE_DENY_SCRATCH);
}

bool bound_bypass(const struct bound_policy *bound)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (bound->index->layers[layer].kind == LAYER_MANAGED &&
            bound->index->layers[layer].has[RULE_PERMIT_BYPASS] == 0)
            return false;
    return is_switched_on(bound, RULE_GRANT_BYPASS, RULE_DENY_BYPASS);
}

uint64_t bound_limit(const struct bound_policy *bound, enum rule_kind kind)
{
    const struct rule_numbers *limits = &bound->index->kinds[kind];
    uint64_t smallest = 0;
    for (uint32_t i = 0; i < limits->count; i++) {
        uint64_t amount = bound->rules.items[limits->items[i]].rule->amount;
        if (smallest == 0 || amount < smallest)
            smallest = amount;
    }
    return smallest;
}
