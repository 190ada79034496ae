/* build_names.h - the names that `let` defines and which file sees which. */
#pragma once

#include "base/diagnostic.h"
#include "policy/policy.h"

/* A `let`: a name for a list of paths. An empty list means that the `let` had an error, which was
 * reported. */
struct definition {
    const char *name; /* interned */
    const struct policy_path *paths;
    uint32_t count;
    struct span at;
};

/* Definitions by name. All zero is an empty table. */
struct name_table {
    const struct definition **slots;
    uint32_t count, capacity;
};

/* The definition of the `length` bytes at `name`, or NULL. */
const struct definition *name_find(const struct name_table *table, const char *name, size_t length);

/* Adds a definition whose name the table does not have. */
void name_add(struct arena *arena, struct name_table *table, const struct definition *definition);

/* The root called by the `length` bytes at `name` (WORK, HOME, ...), or ROOTS. */
enum root root_named(const char *name, size_t length);

/* The nearest root or defined name to `word`, or NULL. */
const char *name_nearest(struct arena *arena, const struct name_table *table, const char *word);
