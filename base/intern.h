/* intern.h - a pool of strings in which equal bytes have one address, so that names compare by pointer. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

struct intern_pool;

/* A pool in `arena`, sized for about `expected` strings (0: unknown). */
struct intern_pool *intern_create(struct arena *arena, size_t expected);

/* The one NUL-terminated copy of `length` bytes; lives as long as the arena. Average O(length). */
const char *intern(struct intern_pool *pool, const char *bytes, size_t length);
const char *intern_string(struct intern_pool *pool, const char *string);

/* The copy if the bytes are in the pool, else NULL. Adds nothing. */
const char *intern_find(const struct intern_pool *pool, const char *bytes, size_t length);

/* A hash of `length` bytes, for other tables keyed by bytes: good in all its bits. */
uint64_t hash_bytes(const char *bytes, size_t length);
