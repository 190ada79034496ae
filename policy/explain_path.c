#include "policy/explain.h"

#include "base/vector.h"
#include "policy/question.h"

#include <stdlib.h>

static const char *const default_effect = "closed by default";
static const char *const left_effect = "the managed layer leaves it to the policy";

void explain_add(struct entry_list *list, struct entry entry)
{
    VECTOR_PUSH(list->arena, list, entry);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (left->leaves != right->leaves)
        return left->leaves < right->leaves ? -1 : 1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->rule > right->rule) - (left->rule < right->rule);
}

void explain_sort(struct entry_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_entries);
}

static bool is_known(const struct entry_list *list, const struct bound_rule *rule)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].rule == rule)
            return true;
    return false;
}

void explain_limit(const struct bound_policy *bound, enum rule_kind kind, uint32_t layer, struct entry entry,
                   struct entry_list *list)
{
    const struct rule_numbers *numbers = &bound->index->kinds[kind];
    entry.rule = &bound->rules.items[bound->index->layers[layer].has[kind] - 1];
    if (!is_known(list, entry.rule))
        explain_add(list, entry);
    for (uint32_t i = 0; i < numbers->count && entry.rule->rule->nothing; i++) {
        const struct bound_rule *rule = &bound->rules.items[numbers->items[i]];
        struct entry other = entry;
        other.rule = rule;
        if (rule->rule->nothing && rule->rule->layer == layer && !is_known(list, rule))
            explain_add(list, other);
    }
}

bool explain_only_narrows(const struct bound_policy *bound)
{
    return bound->policy->layers[0].kind == LAYER_MANAGED;
}

void explain_default(const struct bound_policy *bound, struct entry_list *list)
{
    const char *effect = explain_only_narrows(bound) ? "a managed layer alone opens nothing" : default_effect;
    explain_add(list, (struct entry){LEVEL_NONE, RANK_DEFAULT, NULL, effect});
}

/* ---- denies ---- */

enum closes { CLOSES_LEVEL, CLOSES_EXEC, CLOSES_SOCKET };

static void add_deny(struct entry_list *list, const struct bound_rule *rule, enum closes what)
{
    enum rule_kind kind = bound_rule_kind(rule);
    struct entry entry = {.rank = RANK_DENY, .rule = rule};
    if (what == CLOSES_LEVEL && kind == RULE_DENY) {
        entry.leaves = bound_rule_level(rule);
        entry.effect = entry.leaves == LEVEL_NONE ? "caps at none" : "caps at read";
    } else if (what == CLOSES_EXEC && kind == RULE_DENY_EXEC) {
        entry.effect = "stops execution";
    } else if (what == CLOSES_SOCKET && (kind == RULE_DENY || kind == RULE_DENY_SOCKET)) {
        entry.effect = "closes the socket";
    } else {
        return;
    }
    explain_add(list, entry);
}

static void add_denies_at(const struct bound_policy *bound, const struct mark *mark,
                          const struct question *question, uint32_t depth, enum closes what,
                          struct entry_list *list)
{
    const struct decision_index *index = bound->index;
    for (uint32_t i = mark->first_rule; i != 0; i = index->links.items[i - 1].next) {
        const struct bound_rule *rule = &bound->rules.items[index->links.items[i - 1].rule];
        if (!rule->at.pattern && rule->except_count == 0)
            add_deny(list, rule, what);
    }
    for (uint32_t i = mark->first_test; i != 0; i = index->tests.items[i - 1].next) {
        const struct test *test = &index->tests.items[i - 1];
        if (index_applies(index, test, question, depth))
            add_deny(list, &bound->rules.items[test->rule], what);
    }
}

static void add_denies(const struct bound_policy *bound, const struct question *question, enum closes what,
                       struct entry_list *list)
{
    const struct decision_index *index = bound->index;
    const struct trie_path *cut = index->folds ? &question->fold : &question->exact;
    if (question->too_long)
        explain_add(list, (struct entry){.rank = RANK_DEFAULT, .effect = "no name can be that long"});
    for (uint32_t layer = 0; layer < index->layer_count; layer++) {
        uint32_t node = index->layers[layer].close;
        for (uint32_t depth = 0;; depth++) {
            node = trie_child(index->trie, node, cut, depth);
            if (node == TRIE_NONE)
                break;
            add_denies_at(bound, &index->marks[node], question, depth + 1, what, list);
        }
    }
}

/* ---- grants ---- */

static void add_grants_at(const struct bound_policy *bound, const struct mark *mark, bool automatic,
                          struct entry_list *list)
{
    const struct decision_index *index = bound->index;
    for (uint32_t i = mark->first_rule; i != 0; i = index->links.items[i - 1].next) {
        const struct bound_rule *rule = &bound->rules.items[index->links.items[i - 1].rule];
        if (bound_rule_kind(rule) == RULE_GRANT && rule->rule->automatic == automatic)
            explain_add(list, (struct entry){
                                  .leaves = rule->rule->level,
                                  .rule = rule,
                                  .effect = rule->rule->level == LEVEL_WRITE ? "grants write" : "grants read",
                              });
    }
}

/* The configured grants of the longest path, or else every automatic grant that gives the most. */
static void add_grants(const struct bound_policy *bound, uint32_t layer, struct question *question,
                       struct entry_list *list)
{
    const struct decision_index *index = bound->index;
    struct opened opened = index_opened(index, layer, question);
    const struct mark *configured = NULL;
    uint32_t node = index->layers[layer].open;
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question->exact, depth);
        if (node == TRIE_NONE)
            break;
        const struct mark *mark = &index->marks[node];
        if (mark->configured != 0)
            configured = mark;
        if (opened.configured == 0 && mark->automatic == opened.automatic && mark->automatic != 0)
            add_grants_at(bound, mark, true, list);
    }
    if (configured != NULL)
        add_grants_at(bound, configured, false, list);
}

static void add_lists(const struct bound_policy *bound, uint32_t layer, struct question *question,
                      struct entry_list *list)
{
    const uint32_t *has = bound->index->layers[layer].has;
    uint8_t bits = index_opened(bound->index, layer, question).bits;
    if (has[RULE_LIMIT_READ] != 0 && (bits & (MARK_LIMIT_READ | MARK_LIMIT_WRITE)) == 0)
        explain_limit(bound, RULE_LIMIT_READ, layer,
                      (struct entry){LEVEL_NONE, RANK_LIMIT, NULL, "limits reading to its list"}, list);
    if (has[RULE_LIMIT_WRITE] != 0 && (bits & MARK_LIMIT_WRITE) == 0)
        explain_limit(bound, RULE_LIMIT_WRITE, layer,
                      (struct entry){LEVEL_READ, RANK_LIMIT, NULL, "limits writing to its list"}, list);
}

/* Among automatic grants the highest decides, so those below it took no part. */
static void drop_lower_grants(struct entry_list *list)
{
    enum level highest = LEVEL_NONE;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].leaves > highest)
            highest = list->items[i].leaves;
    for (uint32_t i = 0; i < list->count; i++)
        if (!list->items[i].rule->rule->automatic || list->items[i].leaves == highest)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static bool starts_closed(const struct entry_list *list)
{
    return list->count > 0 && list->items[0].leaves == LEVEL_NONE;
}

void explain_level(const struct bound_policy *bound, struct question *question, struct entry_list *list)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (bound->index->layers[layer].kind == LAYER_POLICY)
            add_grants(bound, layer, question, list);
    drop_lower_grants(list);
    bool granted = list->count > 0;
    add_denies(bound, question, CLOSES_LEVEL, list);
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (bound->index->layers[layer].kind == LAYER_MANAGED)
            add_lists(bound, layer, question, list);
    explain_sort(list);
    /* Without a grant a policy opens nothing, unless a deny says so more plainly. */
    if (explain_only_narrows(bound)) {
        if (list->count == 0)
            explain_add(list, (struct entry){LEVEL_WRITE, RANK_DEFAULT, NULL, left_effect});
    } else if (!granted && !starts_closed(list)) {
        explain_add(list, (struct entry){LEVEL_NONE, RANK_DEFAULT, NULL, default_effect});
        explain_sort(list);
    }
}

void explain_exec(const struct bound_policy *bound, const char *path, size_t length, struct entry_list *list)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    add_denies(bound, &question, CLOSES_EXEC, list);
    explain_sort(list);
}

/* ---- sockets ---- */

static void add_socket_grants(const struct bound_policy *bound, uint32_t layer, struct question *question,
                              struct entry_list *list)
{
    const struct decision_index *index = bound->index;
    uint32_t node = index->layers[layer].open;
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question->exact, depth);
        if (node == TRIE_NONE)
            return;
        for (uint32_t i = index->marks[node].first_rule; i != 0; i = index->links.items[i - 1].next) {
            const struct bound_rule *rule = &bound->rules.items[index->links.items[i - 1].rule];
            if (bound_rule_kind(rule) == RULE_GRANT_SOCKET)
                explain_add(list, (struct entry){LEVEL_WRITE, RANK_GRANT, rule, "grants the socket"});
        }
    }
}

static void add_socket_lists(const struct bound_policy *bound, uint32_t layer, struct question *question,
                             struct entry_list *list)
{
    const uint32_t *has = bound->index->layers[layer].has;
    uint8_t bits = index_opened(bound->index, layer, question).bits;
    if (has[RULE_LIMIT_WRITE] != 0 && (bits & MARK_LIMIT_WRITE) == 0)
        explain_limit(bound, RULE_LIMIT_WRITE, layer,
                      (struct entry){LEVEL_NONE, RANK_LIMIT, NULL, "limits writing to its list"}, list);
    if (has[RULE_LIMIT_SOCKET] != 0 && (bits & MARK_LIMIT_SOCKET) == 0)
        explain_limit(bound, RULE_LIMIT_SOCKET, layer,
                      (struct entry){LEVEL_NONE, RANK_LIMIT, NULL, "limits sockets to its list"}, list);
}

void explain_socket(const struct bound_policy *bound, const char *path, size_t length,
                    struct entry_list *list)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (bound->index->layers[layer].kind == LAYER_POLICY)
            add_socket_grants(bound, layer, &question, list);
    bool granted = list->count > 0;
    uint32_t grants = list->count;
    add_denies(bound, &question, CLOSES_SOCKET, list);
    for (uint32_t i = grants; i < list->count; i++)
        list->items[i].leaves = LEVEL_NONE;
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (bound->index->layers[layer].kind == LAYER_MANAGED)
            add_socket_lists(bound, layer, &question, list);
    explain_sort(list);
    if (!granted && !starts_closed(list))
        explain_default(bound, list);
}
