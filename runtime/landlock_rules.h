/* landlock_rules.h - the Landlock rules that say once more what a plan's mounts say: a second wall behind
 * them. */
#pragma once

#include "runtime/facts.h"
#include "runtime/landlock.h"

struct landlock_rules {
    struct landlock_rule *items;
    uint32_t count, capacity;
    const char *none; /* why there are none, or NULL */
};

/* One rule for the root (its directories can be listed, and hold what the mounts show) and for the top of
 * each area; an area inside another that gives as much needs none. What is denied inside an area is held
 * by its mask alone. No rules where the policy opens mount(2), which every such rule would refuse. */
struct landlock_rules landlock_rules_of(struct arena *arena, const struct bound_policy *bound,
                                        const struct plan *plan, const struct facts *facts);

/* The rules that take the place of the plan where no mount can be made: the areas alone, /proc for
 * reading, and the devices that every program needs. */
struct landlock_rules landlock_rules_alone(struct arena *arena, const struct plan *plan,
                                           const struct facts *facts);

/* The operations that close something inside what is open around it, which no such rule can. */
const struct plan_operation **landlock_left_open(struct arena *arena, const struct plan *plan,
                                                 uint32_t *count);
