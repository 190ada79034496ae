#include "policy/prove.h"

const char *bound_prove(struct arena *arena, const struct bound_policy *bound)
{
    struct arena *scratch = arena_child(arena);
    const char *wrong = prove_paths(scratch, bound);
    if (wrong == NULL)
        wrong = prove_names(scratch, bound);
    if (wrong == NULL)
        wrong = prove_network(scratch, bound);
    wrong = wrong == NULL ? NULL : arena_strdup(arena, wrong);
    arena_destroy(scratch);
    return wrong;
}
