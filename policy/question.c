#include "policy/question.h"

static void ask(const struct decision_index *index, const char *path, size_t length, uint32_t known,
                struct question *question)
{
    question->path = path;
    question->length = length;
    question->too_long =
        !trie_cut_on(index->trie, path, length, index->has_patterns, known, &question->exact);
    if (!index->folds)
        return;
    ptrdiff_t size = fold_text(path, length, question->buffer, sizeof question->buffer);
    question->too_long = question->too_long || size == FOLD_TOO_LONG;
    question->folded_length = question->too_long ? 0 : (size_t)size;
    question->too_long = !trie_cut(index->trie, question->buffer, question->folded_length,
                                   index->has_patterns, &question->fold) ||
                         question->too_long;
}

static size_t without_slash(const char *path, size_t length)
{
    return length > 0 && path[length - 1] == '/' ? length - 1 : length;
}

void index_ask(const struct decision_index *index, const char *path, size_t length, struct question *question)
{
    question->way.root = TRIE_NONE;
    question->way.count = 0;
    ask(index, path, without_slash(path, length), 0, question);
}

/* How many named components of the question's path `path` begins with. */
static uint32_t shared_components(const struct question *question, const char *path, size_t length)
{
    size_t shorter = length < question->length ? length : question->length, same = 0;
    uint32_t count = 0;
    while (same < shorter && path[same] == question->path[same])
        same++;
    while (count < question->exact.count) {
        uint32_t end = question->exact.ends[count];
        if (end > same || (end < length && path[end] != '/'))
            break;
        count++;
    }
    return count;
}

void index_ask_next(const struct decision_index *index, const char *path, size_t length,
                    struct question *question)
{
    length = without_slash(path, length);
    uint32_t shared = shared_components(question, path, length);
    if (question->way.count > shared)
        question->way.count = shared;
    ask(index, path, length, shared, question);
}

struct opened index_opened(const struct decision_index *index, uint32_t layer, struct question *question)
{
    struct opened opened = {0};
    struct trie_way *way = &question->way;
    trie_walk(index->trie, index->layers[layer].open, &question->exact, way);
    for (uint32_t depth = 0; depth < way->count; depth++) {
        const struct mark *mark = &index->marks[way->nodes[depth]];
        if (mark->configured != 0)
            opened.configured = mark->configured;
        if (mark->automatic > opened.automatic)
            opened.automatic = mark->automatic;
        opened.bits |= mark->bits;
    }
    return opened;
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

struct closed index_closed(const struct bound_policy *bound, uint32_t layer, struct question *question)
{
    const struct decision_index *index = bound->index;
    struct closed closed = {.cap = LEVEL_WRITE};
    uint32_t node = index->layers[layer].close;

    if (question->too_long)
        return (struct closed){.cap = LEVEL_NONE, .exec = true, .socket = true};
    if (!index->folds) {
        /* What opens and what closes hang in one trie. */
        const struct trie_way *way = &question->way;
        trie_walk(index->trie, node, &question->exact, &question->way);
        for (uint32_t depth = 0; depth < way->count; depth++)
            apply_mark(bound, &closed, &index->marks[way->nodes[depth]], question, depth + 1);
        return closed;
    }
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question->fold, depth);
        if (node == TRIE_NONE)
            return closed;
        apply_mark(bound, &closed, &index->marks[node], question, depth + 1);
    }
}
