/* windows_meant.h - what a policy means for an operation at a place on a machine of Windows: what the oracles of specifications
 * have in common.
 */
#pragma once

#include "base/vector.h"
#include "emitters/windows_fixture.h"
#include "emitters/windows_rights.h"
#include "policy/bound.h"

#include <string.h>

struct question {
    const struct machine *machine; /* each test's own */
    const struct windows_tree *tree;
    const struct windows_node *node, *bare;
    const char *path; /* of the model */
    bool made;        /* a placeholder: it is nobody's program */
    enum windows_tier tier;
    enum windows_operation operation;
    struct windows_token token;
};

static inline enum level level_at(const struct bound_policy *bound, const char *path)
{
    return bound_level(bound, path, strlen(path));
}

static inline enum level level_around(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? bound_level(bound, path, (size_t)(slash - path)) : LEVEL_NONE;
}

static inline bool may_run(const struct bound_policy *bound, const struct question *question)
{
    size_t length = strlen(question->path);
    return question->node->directory ? bound_level(bound, question->path, length) >= LEVEL_READ
                                     : bound_exec(bound, question->path, length);
}

/* Whether something below the place that is there may not be written, so that it has to stay where it is. */
static inline bool holds_lower(const struct bound_policy *bound, const struct question *question)
{
    const struct windows_tree *tree = question->tree;
    for (uint32_t i = 0; i < tree->count; i++)
        if (windows_path_covers(question->node->path, tree->items[i]->path) &&
            level_at(bound, windows_path_to_model(tree->arena, tree->items[i]->path)) < LEVEL_WRITE)
            return true;
    return false;
}

/* Whether the operation takes the place away from where it is. */
static inline bool removes(const struct question *question)
{
    return question->operation == WINDOWS_OPERATION_DELETE || question->operation == WINDOWS_OPERATION_RENAME;
}

/* Whether the policy forbids it, to be taken away as an AppContainer holds that. */
static inline bool is_closed(const struct bound_policy *bound, const struct question *question)
{
    enum level level = level_at(bound, question->path);
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level < LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level < LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        return !question->made && !may_run(bound, question);
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        return level_around(bound, question->path) < LEVEL_WRITE || holds_lower(bound, question);
    case WINDOWS_OPERATION_CHANGE_DACL:
        return level < LEVEL_WRITE || question->tier == WINDOWS_APPCONTAINER;
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

/* Whether the policy gives it, but for pins. */
static inline bool is_open(const struct bound_policy *bound, const struct question *question)
{
    enum level level = level_at(bound, question->path);
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level >= LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level == LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        return !question->made && bound_exec(bound, question->path, strlen(question->path));
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        return level == LEVEL_WRITE && level_around(bound, question->path) == LEVEL_WRITE;
    case WINDOWS_OPERATION_CHANGE_DACL:
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

/* Whether Windows gives it to such a token anyway, where the denies leave `left` of the place. */
static inline bool is_given_anyway(const struct bound_policy *closing, const struct question *question,
                                   enum level left)
{
    if (!windows_may(&question->token, question->bare, question->operation, WINDOWS_LOOSE))
        return false;
    if (question->operation == WINDOWS_OPERATION_EXECUTE)
        return may_run(closing, question);
    return left >= (question->operation == WINDOWS_OPERATION_READ ? LEVEL_READ : LEVEL_WRITE);
}

/* ---- parts of a policy ---- */

/* The policy without its rules, to get some of them and be sealed. */
static inline struct bound_policy *without_rules(const struct bound_policy *bound)
{
    struct bound_policy *copy = arena_alloc(bound->arena, sizeof *copy);
    *copy = *bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    return copy;
}

/* Opens every drive, so that only denies close anything. */
static inline void open_drives(struct bound_policy *bound)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    VECTOR_PUSH(bound->arena, &bound->rules, (struct bound_rule){.rule = &everything, .at.path = "C:"});
    VECTOR_PUSH(bound->arena, &bound->rules, (struct bound_rule){.rule = &everything, .at.path = "D:"});
}
