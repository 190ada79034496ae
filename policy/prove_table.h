/* prove_table.h - numbers for byte strings in numbered spaces: what the proof looks things up in.
 *
 * It knows nothing of tries and name maps, so that the proof shares no code with the decisions that it
 * checks. Private to policy/. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

struct prove_table;

enum { PROVE_NONE = UINT32_MAX };

struct prove_table *prove_table_create(struct arena *arena, uint32_t expected);

/* A hash that can go on: that of a path is made of that of the path above it and of its last component. */
uint64_t prove_hash_start(void);
uint64_t prove_hash_add(uint64_t hash, const char *bytes, size_t length);

/* The number of a string in a space: 0, 1, 2, ... over all spaces, in the order in which they come. The
 * bytes must live on; `hash` is that of the bytes, by the same steps for the same bytes. */
uint32_t prove_table_put(struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash);

/* The same if it is there, else PROVE_NONE. */
uint32_t prove_table_get(const struct prove_table *table, uint32_t space, const char *bytes, size_t length,
                         uint64_t hash);
