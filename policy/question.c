#include "policy/question.h"

void index_ask(const struct decision_index *index, const char *path, size_t length, struct question *question)
{
    if (length > 0 && path[length - 1] == '/')
        length--;
    question->path = path;
    question->length = length;
    question->too_long = !trie_cut(index->trie, path, length, index->has_patterns, &question->exact);
    if (!index->folds)
        return;
    ptrdiff_t size = fold_text(path, length, question->buffer, sizeof question->buffer);
    question->too_long = question->too_long || size == FOLD_TOO_LONG;
    question->folded_length = question->too_long ? 0 : (size_t)size;
    question->too_long = !trie_cut(index->trie, question->buffer, question->folded_length,
                                   index->has_patterns, &question->fold) ||
                         question->too_long;
}

struct opened index_opened(const struct decision_index *index, uint32_t layer,
                           const struct question *question)
{
    struct opened opened = {0};
    uint32_t node = index->layers[layer].open;
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question->exact, depth);
        if (node == TRIE_NONE)
            return opened;
        const struct mark *mark = &index->marks[node];
        if (mark->configured != 0)
            opened.configured = mark->configured;
        if (mark->automatic > opened.automatic)
            opened.automatic = mark->automatic;
        opened.bits |= mark->bits;
    }
}

/* Whether a pattern that hangs at a node `depth` components below its root covers the path. */
static bool pattern_applies(const struct decision_index *index, const struct pattern *pattern,
                            const struct question *question, uint32_t depth)
{
    const struct pattern_path exact = {question->path, question->exact.ends, question->exact.total};
    if (!index->folds)
        return pattern_covers_cut(pattern, &exact, NULL, depth);
    const struct pattern_path folded = {question->buffer, question->fold.ends, question->fold.total};
    return pattern_covers_cut(pattern, &exact, &folded, depth);
}

static bool is_excepted(const struct decision_index *index, uint32_t root, const struct question *question)
{
    uint32_t node = root;
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question->exact, depth);
        if (node == TRIE_NONE)
            return false;
        const struct mark *mark = &index->marks[node];
        if ((mark->bits & MARK_EXCEPT) != 0)
            return true;
        for (uint32_t i = mark->first_test; i != 0; i = index->tests.items[i - 1].next)
            if (pattern_applies(index, index->tests.items[i - 1].pattern, question, depth + 1))
                return true;
    }
}

bool index_applies(const struct decision_index *index, const struct test *test,
                   const struct question *question, uint32_t depth)
{
    return (test->pattern == NULL || pattern_applies(index, test->pattern, question, depth)) &&
           (test->except_root == TRIE_NONE || !is_excepted(index, test->except_root, question));
}

static void apply_deny(struct closed *closed, const struct bound_rule *rule)
{
    enum rule_kind kind = bound_rule_kind(rule);
    if (kind == RULE_DENY_EXEC)
        closed->exec = true;
    else if (kind == RULE_DENY_SOCKET)
        closed->socket = true;
    else
        closed->cap = level_min(closed->cap, bound_rule_level(rule));
}

/* What the denies at one node do; `depth` counts the components on the way to it. */
static void apply_mark(const struct bound_policy *bound, struct closed *closed, const struct mark *mark,
                       const struct question *question, uint32_t depth)
{
    const struct decision_index *index = bound->index;
    closed->cap = level_min(closed->cap, (enum level)(LEVEL_WRITE - mark->lowered));
    closed->exec = closed->exec || (mark->bits & MARK_DENY_EXEC) != 0;
    closed->socket = closed->socket || (mark->bits & MARK_DENY_SOCKET) != 0;
    for (uint32_t i = mark->first_test; i != 0; i = index->tests.items[i - 1].next) {
        const struct test *test = &index->tests.items[i - 1];
        if (index_applies(index, test, question, depth))
            apply_deny(closed, &bound->rules.items[test->rule]);
    }
}

struct closed index_closed(const struct bound_policy *bound, uint32_t layer, const struct question *question)
{
    const struct decision_index *index = bound->index;
    const struct trie_path *cut = index->folds ? &question->fold : &question->exact;
    struct closed closed = {.cap = LEVEL_WRITE};
    uint32_t node = index->layers[layer].close;

    if (question->too_long)
        return (struct closed){.cap = LEVEL_NONE, .exec = true, .socket = true};
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, cut, depth);
        if (node == TRIE_NONE)
            return closed;
        apply_mark(bound, &closed, &index->marks[node], question, depth + 1);
    }
}
