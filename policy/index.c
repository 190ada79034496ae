#include "policy/index.h"

#include "base/intern.h"
#include "base/vector.h"
#include "policy/fold.h"

#include <string.h>

/* Exceptions are shared between the rules of a statement: one trie for each list, found by its address. */
struct except_tries {
    struct except_trie {
        const struct bound_path *list;
        uint32_t count, root;
    } * slots;
    uint32_t mask;
};

struct builder {
    const struct bound_policy *bound;
    struct decision_index *index;
    uint32_t mark_capacity;
    struct except_tries excepts;
};

enum rule_kind bound_rule_kind(const struct bound_rule *rule)
{
    return rule->holds_as_deny_write ? RULE_DENY : rule->rule->kind;
}

enum level bound_rule_level(const struct bound_rule *rule)
{
    return rule->holds_as_deny_write ? LEVEL_READ : rule->rule->level;
}

bool bound_rule_has_path(const struct bound_rule *rule)
{
    return rule->at.path != NULL && rule->rule->kind != RULE_EXPECT;
}

static bool kind_closes(enum rule_kind kind)
{
    return kind == RULE_DENY || kind == RULE_DENY_EXEC || kind == RULE_DENY_SOCKET;
}

static struct mark *mark_of(struct builder *builder, uint32_t node)
{
    struct decision_index *index = builder->index;
    if (node >= builder->mark_capacity)
        index->marks = vector_reserve(builder->bound->arena, index->marks, &builder->mark_capacity,
                                      (size_t)node + 1, sizeof *index->marks);
    return &index->marks[node];
}

static uint32_t insert_path(struct builder *builder, uint32_t root, const char *path, size_t length,
                            bool fold)
{
    struct trie *trie = builder->index->trie;
    char buffer[FOLD_CAPACITY];
    ptrdiff_t size = fold ? fold_text(path, length, buffer, sizeof buffer) : FOLD_TOO_LONG;
    if (size == FOLD_TOO_LONG)
        return trie_insert(trie, root, path, length);
    return trie_insert(trie, root, arena_copy(builder->bound->arena, buffer, (size_t)size), (size_t)size);
}

/* The node that a bound path hangs on: its own, or that of a pattern's fixed prefix. */
static uint32_t insert_bound(struct builder *builder, uint32_t root, const struct bound_path *at, bool fold)
{
    if (!at->pattern)
        return insert_path(builder, root, at->path, strlen(at->path), fold);
    const char *prefix = pattern_plain(builder->bound->arena, at->path, pattern_fixed_prefix(at->path));
    return insert_path(builder, root, prefix, strlen(prefix), fold);
}

static void add_test(struct builder *builder, uint32_t node, struct test test)
{
    struct mark *mark = mark_of(builder, node);
    test.next = mark->first_test;
    VECTOR_PUSH(builder->bound->arena, &builder->index->tests, test);
    mark->first_test = builder->index->tests.count;
}

static const struct pattern *compile(struct builder *builder, const struct bound_path *at, bool fold)
{
    if (!at->pattern)
        return NULL;
    builder->index->has_patterns = true;
    return pattern_compile(builder->bound->arena, at->path, fold);
}

/* Names of exceptions always compare by bytes: folding them would lift the deny for more names than were
 * written. */
static uint32_t build_except(struct builder *builder, const struct bound_rule *rule)
{
    uint32_t root = trie_root(builder->index->trie);
    for (uint32_t i = 0; i < rule->except_count; i++) {
        const struct bound_path *at = &rule->except[i];
        uint32_t node = insert_bound(builder, root, at, false);
        if (node == TRIE_NONE)
            continue;
        if (at->pattern)
            add_test(builder, node, (struct test){.pattern = compile(builder, at, false)});
        else
            mark_of(builder, node)->bits |= MARK_EXCEPT;
    }
    return root;
}

static struct except_trie *except_slot(const struct except_tries *tries, const struct bound_rule *rule)
{
    uint32_t at = (uint32_t)hash_bytes((const char *)&rule->except, sizeof rule->except);
    while (tries->slots[at & tries->mask].list != NULL) {
        const struct except_trie *known = &tries->slots[at & tries->mask];
        if (known->list == rule->except && known->count == rule->except_count)
            break;
        at++;
    }
    return &tries->slots[at & tries->mask];
}

static uint32_t except_root(struct builder *builder, const struct bound_rule *rule)
{
    if (rule->except_count == 0)
        return TRIE_NONE;
    struct except_trie *slot = except_slot(&builder->excepts, rule);
    if (slot->list == NULL)
        *slot = (struct except_trie){rule->except, rule->except_count, build_except(builder, rule)};
    return slot->root;
}

static void add_deny(struct builder *builder, uint32_t node, uint32_t number)
{
    const struct bound_rule *rule = &builder->bound->rules.items[number];
    if (rule->at.pattern || rule->except_count > 0) {
        add_test(builder, node,
                 (struct test){.rule = number,
                               .except_root = except_root(builder, rule),
                               .pattern = compile(builder, &rule->at, builder->index->folds)});
        return;
    }
    struct mark *mark = mark_of(builder, node);
    enum rule_kind kind = bound_rule_kind(rule);
    uint8_t lowered = (uint8_t)(LEVEL_WRITE - bound_rule_level(rule));
    if (kind == RULE_DENY_EXEC)
        mark->bits |= MARK_DENY_EXEC;
    else if (kind == RULE_DENY_SOCKET)
        mark->bits |= MARK_DENY_SOCKET;
    else if (lowered > mark->lowered)
        mark->lowered = lowered;
}

static void add_grant(struct decision_index *index, struct mark *mark, const struct rule *rule)
{
    uint8_t level = (uint8_t)(rule->level + 1);
    if (!rule->automatic && mark->configured != 0 && mark->configured != level)
        index->grants_meet = true;
    if (rule->automatic && level > mark->automatic)
        mark->automatic = level;
    if (!rule->automatic && (mark->configured == 0 || level < mark->configured))
        mark->configured = level;
}

static uint8_t opening_bit(enum rule_kind kind)
{
    return (uint8_t)(kind == RULE_LIMIT_READ     ? MARK_LIMIT_READ
                     : kind == RULE_LIMIT_WRITE  ? MARK_LIMIT_WRITE
                     : kind == RULE_LIMIT_SOCKET ? MARK_LIMIT_SOCKET
                     : kind == RULE_GRANT_SOCKET ? MARK_GRANT_SOCKET
                                                 : 0);
}

static void add_path_rule(struct builder *builder, uint32_t number)
{
    const struct bound_rule *rule = &builder->bound->rules.items[number];
    struct decision_index *index = builder->index;
    const struct layer_tries *layer = &index->layers[rule->rule->layer];
    enum rule_kind kind = bound_rule_kind(rule);
    bool closes = kind_closes(kind);
    uint32_t node =
        insert_bound(builder, closes ? layer->close : layer->open, &rule->at, closes && index->folds);
    if (node == TRIE_NONE)
        return;
    if (closes)
        add_deny(builder, node, number);
    else if (kind == RULE_GRANT)
        add_grant(index, mark_of(builder, node), rule->rule);
    struct mark *mark = mark_of(builder, node);
    mark->bits |= opening_bit(kind);
    VECTOR_PUSH(builder->bound->arena, &index->links, (struct rule_link){number, mark->first_rule});
    mark->first_rule = index->links.count;
}

/* Rules of the env and service classes. */
static void add_name_rule(struct builder *builder, uint32_t number)
{
    struct decision_index *index = builder->index;
    const struct rule *rule = builder->bound->rules.items[number].rule;
    bool variable = rule->kind == RULE_GRANT_ENV || rule->kind == RULE_DENY_ENV ||
                    rule->kind == RULE_SET_ENV || rule->kind == RULE_LIMIT_ENV;
    bool service = rule->kind == RULE_GRANT_SERVICE || rule->kind == RULE_DENY_SERVICE ||
                   rule->kind == RULE_LIMIT_SERVICE;
    if ((!variable && !service) || rule->name == NULL || rule->nothing)
        return;
    if (rule->kind != RULE_SET_ENV && strchr(rule->name, '*') != NULL)
        VECTOR_PUSH(builder->bound->arena, variable ? &index->variable_patterns : &index->service_patterns,
                    number);
    else
        name_map_add(variable ? index->variables : index->services, rule->name, strlen(rule->name), number);
}

static void build_layers(struct builder *builder)
{
    const struct policy *policy = builder->bound->policy;
    struct decision_index *index = builder->index;
    index->layers = arena_array(builder->bound->arena, policy->layer_count, sizeof *index->layers);
    index->layer_count = policy->layer_count;
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        struct layer_tries *layer = &index->layers[i];
        layer->kind = policy->layers[i].kind;
        layer->open = trie_root(index->trie);
        layer->close = index->folds ? trie_root(index->trie) : layer->open;
    }
}

static struct except_tries except_tries_for(struct arena *arena, const struct bound_policy *bound)
{
    uint32_t lists = 1, size = 8;
    for (uint32_t i = 0; i < bound->rules.count; i++)
        lists += bound->rules.items[i].except_count > 0;
    while (size < 2 * (uint64_t)lists)
        size *= 2;
    return (struct except_tries){arena_array(arena, size, sizeof(struct except_trie)), size - 1};
}

/* A managed layer opens nothing, whatever a file that no compiler checked may say. */
static bool opens_nothing(const struct bound_policy *bound, const struct bound_rule *rule)
{
    static const enum rule_kind opening[] = {
        RULE_GRANT,   RULE_GRANT_SOCKET,  RULE_GRANT_NETWORK, RULE_GRANT_LISTEN,  RULE_GRANT_ENV,
        RULE_SET_ENV, RULE_GRANT_SERVICE, RULE_GRANT_SYSCALL, RULE_GRANT_SCRATCH, RULE_GRANT_BYPASS,
    };
    if (bound->policy->layers[rule->rule->layer].kind != LAYER_MANAGED || rule->holds_as_deny_write)
        return false;
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++)
        if (rule->rule->kind == opening[i])
            return true;
    return false;
}

struct decision_index *index_build(const struct bound_policy *bound)
{
    struct decision_index *index = arena_alloc(bound->arena, sizeof *index);
    struct builder builder = {.bound = bound, .index = index};

    index->folds = bound->bindings.system != SYSTEM_LINUX;
    index->trie = trie_create(bound->arena, bound->rules.count);
    VECTOR_RESERVE(bound->arena, &index->links, bound->rules.count);
    mark_of(&builder, bound->rules.count);
    index->variables = name_map_create(bound->arena, bound->bindings.system == SYSTEM_WINDOWS);
    index->services = name_map_create(bound->arena, false);
    builder.excepts = except_tries_for(bound->arena, bound);
    build_layers(&builder);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        uint32_t *has = &index->layers[rule->rule->layer].has[rule->rule->kind];
        if (*has == 0 || rule->rule->nothing)
            *has = i + 1;
        if (rule->dropped || opens_nothing(bound, rule))
            continue;
        VECTOR_PUSH(bound->arena, &index->kinds[bound_rule_kind(rule)], i);
        if (bound_rule_has_path(rule))
            add_path_rule(&builder, i);
        add_name_rule(&builder, i);
    }
    mark_of(&builder, trie_nodes(index->trie) - 1);
    return index;
}
