#include "compiler/build_except.h"

#include "base/vector.h"
#include "policy/pattern.h"

#include <string.h>

/* A typing mistake is found in any policy that a person writes; what is larger may take its time elsewhere. */
enum { COMPARISONS_LIMIT = 100000 };

struct denied_paths {
    const struct policy_path **items;
    uint32_t count, capacity;
};

struct checking {
    struct builder *builder;
    struct denied_paths denied; /* by the unit of one `use` and what it uses itself */
    bool *visited;              /* by index of unit */
    uint64_t comparisons;
};

/* --- whether two paths can meet ------------------------------------------------------------------------- */

/* The part of a path before its first sign, escapes taken away. */
static const char *fixed_part(struct arena *arena, const struct policy_path *path)
{
    return path->pattern ? pattern_plain(arena, path->rest, pattern_fixed_prefix(path->rest)) : path->rest;
}

static bool is_at_or_below(const char *path, const char *top)
{
    size_t length = strlen(top);
    return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Below one root: whether one covers the other, or something that the other covers. */
static bool meet_below_root(struct arena *arena, const struct policy_path *a, const struct policy_path *b)
{
    const char *one = fixed_part(arena, a), *other = fixed_part(arena, b);
    if (is_at_or_below(one, other) && (!b->pattern || a->pattern))
        return true;
    if (is_at_or_below(other, one) && (!a->pattern || b->pattern))
        return true;
    if (a->pattern == b->pattern)
        return false;
    const struct policy_path *pattern = a->pattern ? a : b, *plain = a->pattern ? b : a;
    return is_at_or_below(fixed_part(arena, pattern), plain->rest) ||
           (is_at_or_below(plain->rest, fixed_part(arena, pattern)) &&
            pattern_covers(pattern_compile(arena, pattern->rest, false), plain->rest, strlen(plain->rest)));
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool has_component(const char *path, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = path; length > 0 && (at = strstr(at, name)) != NULL; at++)
        if (at > path && at[-1] == '/' && (at[length] == '/' || at[length] == '\0'))
            return true;
    return false;
}

/* Where the directories of $CONFIG, $CACHE and $DATA usually lie, and where Git keeps its own. */
static bool leads_to_other_roots(const char *rest)
{
    static const char *const names[] = {".config", ".cache", ".local", "Library", "AppData", ".git", NULL};
    for (const char *const *name = names; *name != NULL; name++)
        if (has_component(rest, *name))
            return true;
    return rest[0] == '\0';
}

/* Two roots may be one place, or one may lie in the other; the names in their paths then have something in
 * common. An absolute path may be anywhere. */
static bool meet_across_roots(struct arena *arena, const struct policy_path *a, const struct policy_path *b)
{
    if (a->root == ROOT_SLASH || a->root == ROOT_DRIVE)
        return true;
    const char *one = fixed_part(arena, a), *other = fixed_part(arena, b);
    return leads_to_other_roots(one) || has_component(one, last_component(other)) ||
           has_component(other, last_component(one));
}

static bool meet(struct arena *arena, const struct policy_path *except, const struct policy_path *denied)
{
    bool same_root =
        except->root == denied->root && (except->name == NULL || strcmp(except->name, denied->name) == 0);
    if (same_root)
        return meet_below_root(arena, except, denied);
    bool absolute = denied->root == ROOT_SLASH || denied->root == ROOT_DRIVE;
    return !absolute && meet_across_roots(arena, except, denied);
}

/* --- the check ------------------------------------------------------------------------------------------ */

static void collect(struct checking *checking, const struct unit *unit)
{
    if (checking->visited[unit->index] || unit->prepared == NULL)
        return;
    checking->visited[unit->index] = true;
    const struct prepared *prepared = unit->prepared;
    for (uint32_t i = 0; i < prepared->rules.count; i++)
        if (rule_takes_except(&prepared->rules.items[i]))
            VECTOR_PUSH(checking->builder->arena, &checking->denied, &prepared->rules.items[i].path);
    for (uint32_t i = 0; i < prepared->uses.count; i++)
        collect(checking, prepared->uses.items[i].unit);
}

static const char *nearest_denied(struct checking *checking, const char *text)
{
    struct arena *arena = checking->builder->arena;
    const char **texts = arena_array(arena, (size_t)checking->denied.count + 1, sizeof *texts);
    for (uint32_t i = 0; i < checking->denied.count; i++)
        texts[i] = path_text(arena, checking->denied.items[i]);
    texts[checking->denied.count] = NULL;
    return nearest_word(text, texts);
}

/* The words of the `except` that `path` may stand for: its own, where each word is one path. */
static struct span except_span(const struct prepared_use *use, uint32_t path)
{
    const struct word_list *words = &use->statement->except;
    if (words->count == use->except->count)
        return words->items[path].span;
    struct span all = words->items[0].span;
    all.end = words->items[words->count - 1].span.end;
    return all;
}

static void check_path(struct checking *checking, const struct prepared_use *use, uint32_t index)
{
    struct arena *arena = checking->builder->arena;
    const struct policy_path *except = &use->except->items[index];
    checking->comparisons += checking->denied.count;
    for (uint32_t i = 0; i < checking->denied.count; i++)
        if (meet(arena, except, checking->denied.items[i]))
            return;
    const char *text = path_text(arena, except);
    const char *nearest = nearest_denied(checking, text);
    build_error(
        checking->builder, SBX149_EXCEPT_MEETS_NOTHING, except_span(use, index),
        arena_format(arena, "what is used denies nothing at %s, so this exception lifts nothing", text),
        nearest != NULL ? arena_format(arena, "did you mean %s?", nearest)
                        : "an exception lifts denies of what is used; to open a path, grant it");
}

static void check_use(struct checking *checking, const struct prepared_use *use)
{
    memset(checking->visited, 0, checking->builder->load->unit_count * sizeof *checking->visited);
    checking->denied.count = 0;
    collect(checking, use->unit);
    for (uint32_t i = 0; i < use->except->count; i++)
        if (checking->comparisons + checking->denied.count <= COMPARISONS_LIMIT)
            check_path(checking, use, i);
}

void except_check(struct builder *builder)
{
    const struct load *load = builder->load;
    struct checking checking = {.builder = builder};
    checking.visited = arena_array(builder->arena, load->unit_count, sizeof *checking.visited);
    for (uint32_t i = 0; i < load->unit_count; i++) {
        const struct prepared *prepared = load->units[i]->prepared;
        for (uint32_t k = 0; prepared != NULL && k < prepared->uses.count; k++)
            if (prepared->uses.items[k].except != NULL && load->units[i]->preset == NULL)
                check_use(&checking, &prepared->uses.items[k]);
    }
}
