/* name_map.h - from names (any bytes) to the rules that speak of exactly that name, in the order in which
 * they were added.
 *
 * Built once, then only read; a look-up costs O(length) and allocates nothing. Private to policy/.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct name_map;

/* An empty map; `ignore_case`: names compare without ASCII case. */
struct name_map *name_map_create(struct arena *arena, bool ignore_case);

/* Adds rule number `rule` under a name whose bytes must live as long as the map. */
void name_map_add(struct name_map *map, const char *name, size_t length, uint32_t rule);

/* The rules under a name, one after the other: start with name_map_find and go on while there is a link.
 *
 *   for (uint32_t link = name_map_find(map, name, length); link != 0; link = name_map_next(map, link))
 *       use(name_map_rule(map, link));
 */
uint32_t name_map_find(const struct name_map *map, const char *name, size_t length);
uint32_t name_map_next(const struct name_map *map, uint32_t link);
uint32_t name_map_rule(const struct name_map *map, uint32_t link);
