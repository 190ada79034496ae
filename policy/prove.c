#include "policy/prove.h"

#include "base/vector.h"

/* Most rules speak of paths, and are looked at once. */
static struct prove_rules other_rules(struct arena *arena, const struct bound_policy *bound)
{
    struct prove_rules others = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].at.path == NULL)
            VECTOR_PUSH(arena, &others, &bound->rules.items[i]);
    return others;
}

const char *bound_prove(struct arena *arena, const struct bound_policy *bound)
{
    struct arena *scratch = arena_child(arena);
    const char *wrong = prove_paths(scratch, bound);
    struct prove_rules others = other_rules(scratch, bound);
    if (wrong == NULL)
        wrong = prove_names(scratch, bound, &others);
    if (wrong == NULL)
        wrong = prove_network(scratch, bound, &others);
    wrong = wrong == NULL ? NULL : arena_strdup(arena, wrong);
    arena_destroy(scratch);
    return wrong;
}
