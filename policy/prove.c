#include "policy/prove.h"

const char *bound_prove(struct arena *arena, const struct bound_policy *bound)
{
    const char *wrong = prove_paths(arena, bound);
    if (wrong == NULL)
        wrong = prove_names(arena, bound);
    if (wrong == NULL)
        wrong = prove_network(arena, bound);
    return wrong;
}
