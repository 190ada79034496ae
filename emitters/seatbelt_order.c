#include "emitters/seatbelt_order.h"

#include "base/vector.h"
#include "policy/fold.h"

#include <stdlib.h>
#include <string.h>

enum { CONDITION_LIMIT = 100 };

/* Wide places before those that usually lie in them. */
static int root_rank(const char *root)
{
    static const char *const order[] = {
        "ACCOUNT_HOME", "HOME", "ACCOUNT_CONFIG", "CONFIG", "ACCOUNT_DATA", "DATA",   "ACCOUNT_CACHE",
        "CACHE",        "TMP",  "REPO",           "WORK",   "SUBMODULES",   "GITDIR", "GITDIRS"};
    for (int i = 0; root != NULL && i < (int)(sizeof order / sizeof *order); i++)
        if (strcmp(order[i], root) == 0)
            return i + 1;
    return 0;
}

static const char *key_of(struct arena *arena, struct place place)
{
    char folded[FOLD_CAPACITY];
    const char *path = place_canonical(arena, place).rest;
    ptrdiff_t length = fold_text(path, strlen(path), folded, sizeof folded);
    return length == FOLD_TOO_LONG ? path : arena_copy(arena, folded, (size_t)length);
}

static int compare(const void *a, const void *b)
{
    const struct placed_grant *first = a, *second = b;
    int ranks = root_rank(first->place.root) - root_rank(second->place.root);
    if (ranks != 0)
        return ranks;
    int paths = strcmp(first->key, second->key);
    if (paths != 0)
        return paths;
    /* At one path the lower level holds, so it comes last. */
    int levels = (int)second->bound->rule->level - (int)first->bound->rule->level;
    return levels != 0 ? levels : first->bound < second->bound ? -1 : first->bound > second->bound;
}

void grants_sort(struct profile *profile, struct placed_grants *grants)
{
    for (uint32_t i = 0; i < grants->count; i++)
        grants->items[i].key = key_of(profile->arena, grants->items[i].place);
    if (grants->count > 1)
        qsort(grants->items, grants->count, sizeof *grants->items, compare);
}

/* ---- conditions ---- */

static bool same_root(const struct placed_grant *a, const struct placed_grant *b)
{
    return (a->place.root == NULL) == (b->place.root == NULL) &&
           (a->place.root == NULL || strcmp(a->place.root, b->place.root) == 0);
}

static bool covers(const struct placed_grant *above, const struct placed_grant *below)
{
    size_t length = strlen(above->key);
    return strncmp(above->key, below->key, length) == 0 &&
           (below->key[length] == '/' || below->key[length] == '\0');
}

static bool is_of_later_root(const struct placed_grant *grant, const struct placed_grant *other)
{
    return root_rank(other->place.root) > root_rank(grant->place.root);
}

/* Whether a grant of the same root and level lies above, so that what is said of that one says enough. Those
 * above stand before it. */
static void mark_covered(const struct placed_grants *grants, bool *covered)
{
    uint32_t last[2] = {UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < grants->count; i++) {
        const struct placed_grant *grant = &grants->items[i];
        uint32_t *top = &last[grant->bound->rule->level == LEVEL_WRITE];
        covered[i] = *top != UINT32_MAX && same_root(&grants->items[*top], grant) &&
                     covers(&grants->items[*top], grant);
        if (!covered[i])
            *top = i;
    }
}

static void put_condition(struct buffer *out, const struct placed_grant *grant, const char *relation,
                          const struct placed_grant *other)
{
    buffer_string(out, "; requires: ");
    place_quote(out, grant->place);
    buffer_format(out, " %s ", relation);
    place_quote(out, other->place);
    buffer_byte(out, '\n');
}

static void refuse(struct profile *profile)
{
    profile->failed = true;
    note_add(
        profile->request->notes,
        (struct note){.code = SBX309_TOO_MANY_CONDITIONS,
                      .text = "where the roots lie in each other, too many grants would need another order",
                      .help = "give the roots: --root WORK=DIRECTORY and so on"});
}

/* The grants of one level that none of their root and level covers, in order. */
static struct placed_grants tops_of(struct profile *profile, const struct placed_grants *grants,
                                    enum level level)
{
    bool *covered = arena_array(profile->arena, grants->count, sizeof *covered);
    struct placed_grants tops = {0};
    mark_covered(grants, covered);
    for (uint32_t i = 0; i < grants->count; i++)
        if (!covered[i] && grants->items[i].bound->rule->level == level)
            VECTOR_PUSH(profile->arena, &tops, grants->items[i]);
    return tops;
}

void grants_conditions(struct profile *profile, const struct placed_grants *grants, struct buffer *out)
{
    struct placed_grants tops[] = {[LEVEL_READ] = tops_of(profile, grants, LEVEL_READ),
                                   [LEVEL_WRITE] = tops_of(profile, grants, LEVEL_WRITE)};
    uint32_t later[] = {[LEVEL_READ] = 0, [LEVEL_WRITE] = 0}, count = 0;
    for (uint32_t i = 0; i < grants->count; i++) {
        const struct placed_grant *first = &grants->items[i];
        enum level other = first->bound->rule->level == LEVEL_WRITE ? LEVEL_READ : LEVEL_WRITE;
        /* What stands before the end of this grant's root stands before that of every later one. */
        while (later[other] < tops[other].count && !is_of_later_root(first, &tops[other].items[later[other]]))
            later[other]++;
        for (uint32_t j = later[other]; j < tops[other].count; j++) {
            if (count++ == CONDITION_LIMIT) {
                refuse(profile);
                return;
            }
            if (other == LEVEL_WRITE)
                put_condition(out, &tops[other].items[j], "not-at-or-above", first);
            else
                put_condition(out, first, "not-below", &tops[other].items[j]);
        }
    }
}
