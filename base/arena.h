/* arena.h - memory that is freed in one call: one arena per job (a compilation, a launch, a loaded policy).
 *
 * Allocation never returns NULL. When memory runs out the arena's job ends: control jumps to the `jmp_buf` that was
 * given to arena_on_exhausted, whose owner frees the arena and reports the error; without one the process aborts.
 * Not thread-safe; give each thread its own arena.
 */
#pragma once

#include "base/attributes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena;

/* A new arena, or NULL when out of memory. `expected` is a hint: the bytes that the job will need (0: unknown). */
struct arena *arena_create(size_t expected);

/* A new arena for a part of `parent`'s job, such as scratch memory: freed with the parent at the latest, and running out of
 * memory goes where the parent's does. */
struct arena *arena_child(struct arena *parent);

/* Makes `orphan`, which arena_create made and another thread may have filled, a child of `parent`. */
void arena_adopt(struct arena *parent, struct arena *orphan);

/* Frees everything ever allocated from `arena`, and the arena. NULL is allowed. */
void arena_destroy(struct arena *arena);

/* Where allocation failure goes; NULL takes it away again. */
void arena_on_exhausted(struct arena *arena, jmp_buf *handler);

/* `size` zeroed bytes, aligned for any type. */
SBX_MALLOC void *arena_alloc(struct arena *arena, size_t size);

/* `count` zeroed elements of `size` bytes; an overflowing product counts as out of memory. */
SBX_MALLOC void *arena_array(struct arena *arena, size_t count, size_t size);

/* A block that grows: `wanted` bytes that begin with the `size` bytes at `memory` (NULL if `size` is 0) and are zeroed
 * behind them. Stays in place where it is the last block handed out and there is room; `memory` must not be used any
 * more. */
void *arena_grow(struct arena *arena, void *memory, size_t size, size_t wanted);

/* A NUL-terminated copy of `length` bytes. */
SBX_MALLOC char *arena_copy(struct arena *arena, const char *bytes, size_t length);

/* A NUL-terminated copy of a C string. */
SBX_MALLOC char *arena_strdup(struct arena *arena, const char *string);

/* Two C strings as one. */
SBX_MALLOC char *arena_join(struct arena *arena, const char *first, const char *second);

/* printf into the arena. */
SBX_MALLOC char *arena_format(struct arena *arena, const char *format, ...) SBX_PRINTF(2, 3);
SBX_MALLOC char *arena_vformat(struct arena *arena, const char *format, va_list arguments) SBX_PRINTF(2, 0);

/* Bytes handed out so far, for statistics and benchmarks. */
size_t arena_used(const struct arena *arena);
