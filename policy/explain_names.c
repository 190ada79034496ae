#include "policy/explain.h"
#include "policy/index.h"
#include "policy/names.h"
#include "policy/network.h"

/* What a name's rules do, by their kind. */
struct effects {
    enum rule_kind grant, deny, limit;
    const char *grants, *denies, *limits;
};

static const struct effects variable_effects = {
    RULE_GRANT_ENV, RULE_DENY_ENV,  RULE_LIMIT_ENV,
    "lets it in",   "keeps it out", "limits variables to its list",
};

static const struct effects service_effects = {
    RULE_GRANT_SERVICE, RULE_DENY_SERVICE, RULE_LIMIT_SERVICE,
    "opens it",         "closes it",       "limits services to its list",
};

static void add_default(const struct bound_policy *bound, struct entry_list *list)
{
    if (list->count == 0)
        explain_default(bound, list);
}

static bool is_managed(const struct bound_policy *bound, const struct bound_rule *rule)
{
    return bound->policy->layers[rule->rule->layer].kind == LAYER_MANAGED;
}

static void explain_name(const struct bound_policy *bound, struct name_rules rules,
                         const struct effects *effects, bool set, struct entry_list *list)
{
    struct name_rules again = rules;
    for (const struct bound_rule *rule; (rule = names_next(&again)) != NULL;) {
        enum rule_kind kind = rule->rule->kind;
        /* A `set` beats the grants and denies of its own policy. */
        bool beaten = set && !is_managed(bound, rule);
        if (kind == RULE_SET_ENV)
            explain_add(list, (struct entry){LEVEL_WRITE, RANK_GRANT, rule, "sets it"});
        else if (kind == effects->grant && !beaten)
            explain_add(list, (struct entry){LEVEL_WRITE, RANK_GRANT, rule, effects->grants});
        else if (kind == effects->deny && !beaten)
            explain_add(list, (struct entry){LEVEL_NONE, RANK_DENY, rule, effects->denies});
    }
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (names_outside_limit(rules, effects->limit, layer))
            explain_limit(bound, effects->limit, layer,
                          (struct entry){LEVEL_NONE, RANK_LIMIT, NULL, effects->limits}, list);
    explain_sort(list);
    add_default(bound, list);
}

void explain_env(const struct bound_policy *bound, const char *name, struct entry_list *list)
{
    explain_name(bound, names_of_variable(bound, name), &variable_effects, names_set(bound, name) != NULL,
                 list);
}

void explain_service(const struct bound_policy *bound, const char *name, struct entry_list *list)
{
    explain_name(bound, names_of_service(bound, name), &service_effects, false, list);
}

/* ---- network ---- */

struct network_story {
    struct entry_list *list;
    bool near;
};

enum { COVER_SURELY = COVER_NAME | COVER_ADDRESS | COVER_ASSUMED };

static bool known(const struct entry_list *list, const struct bound_rule *rule)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].rule == rule)
            return true;
    return false;
}

static void tell_connection(void *context, const struct bound_rule *rule, unsigned cover)
{
    struct network_story *story = context;
    struct entry entry = {.rule = rule};
    enum rule_kind kind = rule->rule->kind;
    bool sure = (cover & COVER_SURELY) != 0;
    if (kind == RULE_LIMIT_NETWORK || known(story->list, rule))
        return;
    if (kind == RULE_DENY_NETWORK && (cover & COVER_UNLIKELY) != 0)
        return;
    entry.rank = kind == RULE_DENY_NETWORK ? RANK_DENY : RANK_GRANT;
    if (kind == RULE_DENY_NETWORK) {
        entry.leaves = sure ? LEVEL_NONE : LEVEL_READ;
        entry.effect = sure ? "denies it" : "denies it if the name leads to its addresses";
    } else if ((cover & COVER_ADDRESS) != 0) {
        entry.leaves = LEVEL_WRITE;
        entry.effect = "grants it";
    } else if ((cover & COVER_NAME) != 0) {
        entry.leaves = story->near ? LEVEL_READ : LEVEL_WRITE;
        entry.effect = story->near ? "grants the name, not a loopback or lan address" : "grants it";
    } else {
        entry.leaves = LEVEL_READ;
        entry.effect = "grants it if the name leads to its addresses";
    }
    explain_add(story->list, entry);
}

struct list_question {
    uint32_t layer;
    unsigned cover;
};

static void look_at_list(void *context, const struct bound_rule *rule, unsigned cover)
{
    struct list_question *question = context;
    if (rule->rule->kind == RULE_LIMIT_NETWORK && rule->rule->layer == question->layer)
        question->cover |= cover;
}

static void add_network_lists(const struct bound_policy *bound, const struct endpoint *endpoint,
                              struct entry_list *list)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++) {
        struct list_question question = {.layer = layer};
        if (bound->index->layers[layer].has[RULE_LIMIT_NETWORK] == 0)
            continue;
        network_visit_rules(bound, endpoint, NULL, look_at_list, &question);
        bool possible = (question.cover & COVER_POSSIBLE) != 0;
        if ((question.cover & COVER_SURELY) == 0)
            explain_limit(bound, RULE_LIMIT_NETWORK, layer,
                          (struct entry){possible ? LEVEL_READ : LEVEL_NONE, RANK_LIMIT, NULL,
                                         possible ? "limits the network to a list that may hold the address"
                                                  : "limits the network to its list"},
                          list);
    }
}

static bool is_near(const struct endpoint *endpoint)
{
    if (!endpoint->has_address)
        return network_name_is_local(endpoint->name);
    enum address_class class = address_class(endpoint->address);
    return class == ADDRESS_LOOPBACK || class == ADDRESS_LAN;
}

void explain_connect(const struct bound_policy *bound, const struct endpoint *endpoint,
                     struct entry_list *list)
{
    struct endpoint split[ADDRESS_MEANINGS];
    uint32_t count = network_endpoints(endpoint, split);
    for (uint32_t i = 0; i < count; i++) {
        struct network_story story = {.list = list, .near = is_near(&split[i])};
        network_visit_rules(bound, &split[i], endpoint->has_address ? endpoint->address : NULL,
                            tell_connection, &story);
        add_network_lists(bound, &split[i], list);
    }
    explain_sort(list);
    add_default(bound, list);
}

static void tell_listening(void *context, const struct bound_rule *rule, unsigned cover)
{
    bool denies = rule->rule->kind == RULE_DENY_LISTEN;
    (void)cover;
    explain_add(context, (struct entry){denies ? LEVEL_NONE : LEVEL_WRITE, denies ? RANK_DENY : RANK_GRANT,
                                        rule, denies ? "denies it" : "grants it"});
}

void explain_listen(const struct bound_policy *bound, const struct endpoint *endpoint,
                    struct entry_list *list)
{
    network_visit_listen(bound, endpoint, tell_listening, list);
    explain_sort(list);
    add_default(bound, list);
}
