/* prove.h - the parts of bound_prove (bound.h). Each returns NULL or what is wrong, in `arena`. Private to
 * policy/. */
#pragma once

#include "policy/bound.h"

/* The rules that speak of no path. */
struct prove_rules {
    const struct bound_rule **items;
    uint32_t count, capacity;
};

/* Levels, execution and sockets, at every path that a rule or an exception names and at one new name below
 * it. */
const char *prove_paths(struct arena *arena, const struct bound_policy *bound);

/* Variables, services, switches and amounts. */
const char *prove_names(struct arena *arena, const struct bound_policy *bound,
                        const struct prove_rules *rules);

/* Connections: at least one for every grant, port range and protocol. */
const char *prove_network(struct arena *arena, const struct bound_policy *bound,
                          const struct prove_rules *rules);
