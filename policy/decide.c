#include "policy/bound.h"
#include "policy/question.h"

enum level level_min(enum level a, enum level b)
{
    return a < b ? a : b;
}

/* What a person configured decides wherever it covers; what was discovered fills the gaps (language.md 4). */
static enum level granted(struct opened opened)
{
    uint8_t decides = opened.configured != 0 ? opened.configured : opened.automatic;
    return decides == 0 ? LEVEL_NONE : (enum level)(decides - 1);
}

/* A list of what may be written is also one of what may be read (language.md 5). */
static enum level permitted(const struct layer_tries *layer, struct opened opened)
{
    if (layer->has[RULE_LIMIT_READ] != 0 && (opened.bits & (MARK_LIMIT_READ | MARK_LIMIT_WRITE)) == 0)
        return LEVEL_NONE;
    if (layer->has[RULE_LIMIT_WRITE] != 0 && (opened.bits & MARK_LIMIT_WRITE) == 0)
        return LEVEL_READ;
    return LEVEL_WRITE;
}

static enum level layer_level(const struct bound_policy *bound, uint32_t layer, struct question *question)
{
    const struct layer_tries *tries = &bound->index->layers[layer];
    struct opened opened = index_opened(bound->index, layer, question);
    enum level allowed = tries->kind == LAYER_POLICY ? granted(opened) : permitted(tries, opened);
    if (allowed == LEVEL_NONE)
        return LEVEL_NONE;
    return level_min(allowed, index_closed(bound, layer, question).cap);
}

enum level question_level(const struct bound_policy *bound, struct question *question)
{
    enum level level = bound->index->layer_count > 0 ? LEVEL_WRITE : LEVEL_NONE;
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        level = level_min(level, layer_level(bound, layer, question));
    return level;
}

enum level bound_level(const struct bound_policy *bound, const char *path, size_t length)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    return question_level(bound, &question);
}

enum level bound_layer_level(const struct bound_policy *bound, uint32_t layer, const char *path,
                             size_t length)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    return layer_level(bound, layer, &question);
}

/* At a path that may be read. */
static bool leaves_exec(const struct bound_policy *bound, struct question *question)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (index_closed(bound, layer, question).exec)
            return false;
    return true;
}

bool question_exec(const struct bound_policy *bound, struct question *question)
{
    return question_level(bound, question) >= LEVEL_READ && leaves_exec(bound, question);
}

bool bound_exec(const struct bound_policy *bound, const char *path, size_t length)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    return question_exec(bound, &question);
}

/* A socket is closed by whatever keeps its path from being written, and by lists that leave it out
 * (language.md 6). */
static bool layer_leaves_socket(const struct bound_policy *bound, uint32_t layer, struct question *question)
{
    const struct layer_tries *tries = &bound->index->layers[layer];
    struct opened opened = index_opened(bound->index, layer, question);
    struct closed closed = index_closed(bound, layer, question);
    if (closed.socket || closed.cap < LEVEL_WRITE)
        return false;
    if (tries->kind == LAYER_POLICY)
        return (opened.bits & MARK_GRANT_SOCKET) != 0;
    return (tries->has[RULE_LIMIT_WRITE] == 0 || (opened.bits & MARK_LIMIT_WRITE) != 0) &&
           (tries->has[RULE_LIMIT_SOCKET] == 0 || (opened.bits & MARK_LIMIT_SOCKET) != 0);
}

bool question_socket(const struct bound_policy *bound, struct question *question)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (!layer_leaves_socket(bound, layer, question))
            return false;
    return bound->index->layer_count > 0;
}

bool bound_socket(const struct bound_policy *bound, const char *path, size_t length)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    return question_socket(bound, &question);
}

struct bound_answer bound_answer(const struct bound_policy *bound, const char *path, size_t length)
{
    struct question question;
    index_ask(bound->index, path, length, &question);
    enum level level = question_level(bound, &question);
    return (struct bound_answer){.level = level,
                                 .exec = level >= LEVEL_READ && leaves_exec(bound, &question),
                                 .socket = question_socket(bound, &question)};
}
