#include "policy/prove.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "base/vector.h"
#include "policy/names.h"
#include "policy/prove_table.h"

#include <string.h>

/* One class of names; what each layer closes is kept by exact name, patterns apart. */
struct name_class {
    enum rule_kind grant, set, deny, limit; /* set: RULE_KINDS if the class has none */
    const char *what;
    bool (*decide)(const struct bound_policy *bound, const char *name);
};

static const struct name_class classes[] = {
    {RULE_GRANT_ENV, RULE_SET_ENV, RULE_DENY_ENV, RULE_LIMIT_ENV, "variable", bound_env},
    {RULE_GRANT_SERVICE, RULE_KINDS, RULE_DENY_SERVICE, RULE_LIMIT_SERVICE, "service", bound_service},
};

struct pattern_list {
    const struct rule **items;
    uint32_t count, capacity;
};

struct prover {
    struct arena *arena;
    const struct bound_policy *bound;
    const struct prove_rules *rules;
    const struct name_class *class;
    struct prove_table *table;     /* the exact names */
    struct pattern_list *patterns; /* of each space: the others */
    bool *limited;                 /* of each layer */
    enum system system;
};

/* Spaces: what a layer denies, what its list has, and what a policy sets. */
static uint32_t deny_space(uint32_t layer)
{
    return 3 * layer;
}

static uint32_t list_space(uint32_t layer)
{
    return 3 * layer + 1;
}

static uint32_t set_space(uint32_t layer)
{
    return 3 * layer + 2;
}

/* On Windows a name is the same in either case. */
static const char *one_case(const struct prover *prover, const char *name)
{
    if (prover->system != SYSTEM_WINDOWS)
        return name;
    char *lower = arena_strdup(prover->arena, name);
    for (char *at = lower; *at != '\0'; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at + ('a' - 'A') : *at);
    return lower;
}

static uint64_t hash_name(const char *name)
{
    return prove_hash_add(prove_hash_start(), name, strlen(name));
}

static void add_to(struct prover *prover, uint32_t space, const struct rule *rule)
{
    const char *name = one_case(prover, rule->name);
    if (rule->kind != RULE_SET_ENV && strchr(name, '*') != NULL)
        VECTOR_PUSH(prover->arena, &prover->patterns[space], rule);
    else
        prove_table_put(prover->table, space, name, strlen(name), hash_name(name));
}

static bool space_has(const struct prover *prover, uint32_t space, const char *name)
{
    const char *key = one_case(prover, name);
    if (prove_table_get(prover->table, space, key, strlen(key), hash_name(key)) != PROVE_NONE)
        return true;
    for (uint32_t i = 0; i < prover->patterns[space].count; i++)
        if (names_match(prover->patterns[space].items[i]->name, name, prover->system))
            return true;
    return false;
}

static void collect(struct prover *prover)
{
    for (uint32_t i = 0; i < prover->rules->count; i++) {
        const struct bound_rule *bound_rule = prover->rules->items[i];
        const struct rule *rule = bound_rule->rule;
        if (rule->kind == prover->class->limit)
            prover->limited[rule->layer] = true;
        if (bound_rule->dropped || rule->nothing)
            continue;
        if (rule->kind == prover->class->deny)
            add_to(prover, deny_space(rule->layer), rule);
        else if (rule->kind == prover->class->limit)
            add_to(prover, list_space(rule->layer), rule);
        else if (rule->kind == prover->class->set)
            add_to(prover, set_space(rule->layer), rule);
    }
}

/* A name that the pattern covers: each * becomes `filling`. */
static const char *witness(struct arena *arena, const char *pattern, const char *filling)
{
    struct buffer name = buffer_in(arena);
    buffer_string(&name, "");
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '*')
            buffer_string(&name, filling);
        else
            buffer_byte(&name, *pattern);
    }
    return name.bytes;
}

static const char *check_name(const struct prover *prover, const char *name)
{
    const struct policy *policy = prover->bound->policy;
    if (!prover->class->decide(prover->bound, name))
        return NULL;
    for (uint32_t layer = 0; layer < policy->layer_count; layer++) {
        bool managed = policy->layers[layer].kind == LAYER_MANAGED;
        bool set = !managed && space_has(prover, set_space(layer), name);
        bool denied = !set && space_has(prover, deny_space(layer), name);
        bool outside = managed && prover->limited[layer] && !space_has(prover, list_space(layer), name);
        if (denied || outside)
            return arena_format(prover->arena, "%s %s is more than layer \"%s\" allows", prover->class->what,
                                escape_string(prover->arena, name), policy->layers[layer].name);
    }
    return NULL;
}

static const char *prove_class(struct arena *arena, const struct bound_policy *bound,
                               const struct prove_rules *rules, const struct name_class *class)
{
    uint32_t layers = bound->policy->layer_count;
    struct prover prover = {
        .arena = arena,
        .bound = bound,
        .rules = rules,
        .class = class,
        .table = prove_table_create(arena, 0),
        .patterns = arena_array(arena, (size_t)layers * 3, sizeof *prover.patterns),
        .limited = arena_array(arena, layers, sizeof *prover.limited),
        .system = class->grant == RULE_GRANT_ENV ? bound->bindings.system : SYSTEM_LINUX,
    };
    collect(&prover);
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rule *rule = rules->items[i]->rule;
        if (rule->kind != class->grant && rule->kind != class->set)
            continue;
        const char *wrong = check_name(&prover, witness(arena, rule->name, ""));
        if (wrong == NULL && strchr(rule->name, '*') != NULL)
            wrong = check_name(&prover, witness(arena, rule->name, "X"));
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* ---- switches and amounts ---- */

static const char *prove_switches(const struct bound_policy *bound, const struct prove_rules *rules)
{
    bool permitted = true;
    for (uint32_t layer = 0; layer < bound->policy->layer_count; layer++) {
        bool permits = bound->policy->layers[layer].kind != LAYER_MANAGED;
        for (uint32_t i = 0; i < rules->count && !permits; i++)
            permits =
                rules->items[i]->rule->kind == RULE_PERMIT_BYPASS && rules->items[i]->rule->layer == layer;
        permitted = permitted && permits;
    }
    for (uint32_t i = 0; i < rules->count; i++) {
        enum rule_kind kind = rules->items[i]->rule->kind;
        if (kind == RULE_DENY_SCRATCH && bound_scratch(bound))
            return "scratch is open although a layer denies it";
        permitted = permitted && kind != RULE_DENY_BYPASS;
    }
    return bound_bypass(bound) && !permitted ? "bypass is open although a layer closes it" : NULL;
}

static const char *prove_amounts(struct arena *arena, const struct bound_policy *bound,
                                 const struct prove_rules *rules)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rule *rule = rules->items[i]->rule;
        if (rule->kind != RULE_LIMIT_PROCESSES && rule->kind != RULE_LIMIT_FILES &&
            rule->kind != RULE_LIMIT_MEMORY && rule->kind != RULE_LIMIT_TIME)
            continue;
        uint64_t amount = bound_limit(bound, rule->kind);
        if (!rules->items[i]->dropped && (amount == 0 || amount > rule->amount))
            return arena_format(arena, "%s does not hold", rule_text(arena, rule));
    }
    return NULL;
}

const char *prove_names(struct arena *arena, const struct bound_policy *bound,
                        const struct prove_rules *rules)
{
    const char *wrong = prove_switches(bound, rules);
    if (wrong == NULL)
        wrong = prove_amounts(arena, bound, rules);
    for (size_t i = 0; i < sizeof classes / sizeof *classes && wrong == NULL; i++)
        wrong = prove_class(arena, bound, rules, &classes[i]);
    return wrong;
}
