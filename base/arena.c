#include "base/arena.h"

#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SMALLEST = 64 * 1024, CHUNK_LARGEST = HUGE_PAGE, ALIGNMENT = 16 };
/* A block from this size on has a chunk of its own, which can go when the block has to move. */
enum { BLOCK_LARGE = 512 * 1024 };

struct chunk {
    struct chunk *next;
    size_t size, used;
};

struct arena {
    struct chunk *chunks;
    struct chunk *spare; /* of the topmost arena: what destroyed children have left */
    jmp_buf *exhausted;
    size_t used, next_size; /* next_size: of the next chunk with its head */
    struct arena *parent, *children, *sibling;
};

static size_t aligned(size_t size)
{
    return (size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
}

static char *chunk_memory(struct chunk *chunk)
{
    return (char *)chunk + aligned(sizeof *chunk);
}

static SBX_NORETURN void exhausted(const struct arena *arena)
{
    while (arena->exhausted == NULL && arena->parent != NULL)
        arena = arena->parent;
    if (arena->exhausted != NULL)
        longjmp(*arena->exhausted, 1);
    abort();
}

/* A chunk of at least `whole` bytes, its own head among them. Pages of the system's are zero without being touched,
 * which calloc cannot promise; but calloc is what the address sanitizer watches. */
static struct chunk *chunk_create(size_t whole)
{
    whole = (whole + (SMALL_PAGE - 1)) & ~(size_t)(SMALL_PAGE - 1);
    struct chunk *chunk = SBX_SANITIZED ? calloc(1, whole) : pages_create(whole);
    if (chunk == NULL)
        return NULL;
    chunk->size = whole - aligned(sizeof *chunk);
    return chunk;
}

static void chunk_destroy(struct chunk *chunk)
{
    if (SBX_SANITIZED)
        free(chunk);
    else
        pages_destroy(chunk, aligned(sizeof *chunk) + chunk->size);
}

static void chunks_destroy(struct chunk *chunk)
{
    for (struct chunk *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        chunk_destroy(chunk);
    }
}

static struct arena *topmost(struct arena *arena)
{
    while (arena->parent != NULL)
        arena = arena->parent;
    return arena;
}

/* Small jobs make many small arenas, and memory that was touched before costs less than new memory: chunks stay with
 * the topmost arena, as zeros. The address sanitizer shall see who uses memory that is gone. */
static void chunk_spare(struct arena *top, struct chunk *chunk)
{
    if (SBX_SANITIZED || chunk->size >= BLOCK_LARGE) {
        chunk_destroy(chunk);
        return;
    }
    memset(chunk_memory(chunk), 0, chunk->used);
    chunk->used = 0;
    chunk->next = top->spare;
    top->spare = chunk;
}

/* A spare chunk with room for `size` bytes, or NULL. */
static struct chunk *spare_take(struct arena *top, size_t size)
{
    for (struct chunk **link = &top->spare; *link != NULL; link = &(*link)->next) {
        struct chunk *chunk = *link;
        if (chunk->size < size)
            continue;
        *link = chunk->next;
        return chunk;
    }
    return NULL;
}

struct arena *arena_create(size_t expected)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->next_size = expected > CHUNK_SMALLEST ? aligned(expected) : CHUNK_SMALLEST;
    return arena;
}

struct arena *arena_child(struct arena *parent)
{
    struct arena *child = arena_create(0);
    if (child == NULL)
        exhausted(parent);
    arena_adopt(parent, child);
    return child;
}

void arena_adopt(struct arena *parent, struct arena *orphan)
{
    struct chunk **end = &topmost(parent)->spare;
    while (*end != NULL)
        end = &(*end)->next;
    *end = orphan->spare;
    orphan->spare = NULL;
    orphan->exhausted = NULL;
    orphan->parent = parent;
    orphan->sibling = parent->children;
    parent->children = orphan;
}

static void leave_parent(const struct arena *arena)
{
    if (arena->parent == NULL)
        return;
    struct arena **link = &arena->parent->children;
    while (*link != arena)
        link = &(*link)->sibling;
    *link = arena->sibling;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->children != NULL)
        arena_destroy(arena->children);
    struct arena *top = topmost(arena);
    for (struct chunk *chunk = arena->chunks, *next; chunk != NULL && top != arena; chunk = next) {
        next = chunk->next;
        chunk_spare(top, chunk);
    }
    if (top == arena) {
        chunks_destroy(arena->chunks);
        chunks_destroy(arena->spare);
    }
    leave_parent(arena);
    free(arena);
}

void arena_on_exhausted(struct arena *arena, jmp_buf *handler)
{
    arena->exhausted = handler;
}

/* A chunk with room for `size` bytes. One that they fill goes behind the current chunk, whose rest is still used. */
static struct chunk *chunk_add(struct arena *arena, size_t size)
{
    size_t head = aligned(sizeof(struct chunk)), room = arena->next_size - head;
    bool fills = size >= BLOCK_LARGE || size > room;
    if (size > SIZE_MAX - head - SMALL_PAGE)
        exhausted(arena);
    struct chunk *chunk = fills ? NULL : spare_take(topmost(arena), size), **link = &arena->chunks;
    bool fresh = chunk == NULL;
    if (fresh)
        chunk = chunk_create(fills ? size + head : arena->next_size);
    if (chunk == NULL)
        exhausted(arena);
    if (fills && arena->chunks != NULL)
        link = &arena->chunks->next;
    chunk->next = *link;
    *link = chunk;
    if (!fills && fresh && arena->next_size < CHUNK_LARGEST)
        arena->next_size *= 2;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        exhausted(arena);
    size = aligned(size == 0 ? 1 : size);
    struct chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size)
        chunk = chunk_add(arena, size);
    void *memory = chunk_memory(chunk) + chunk->used;
    chunk->used += size;
    arena->used += size;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        exhausted(arena);
    return arena_alloc(arena, count * size);
}

static bool is_last(const struct arena *arena, const char *memory, size_t size)
{
    return arena->chunks != NULL && memory + size == chunk_memory(arena->chunks) + arena->chunks->used;
}

/* The link to the chunk that a block has to itself, or NULL. */
static struct chunk **chunk_of_large(struct arena *arena, const char *memory, size_t size)
{
    struct chunk **link = &arena->chunks;
    while (*link != NULL && (chunk_memory(*link) != memory || (*link)->used != size))
        link = &(*link)->next;
    return size >= BLOCK_LARGE && *link != NULL ? link : NULL;
}

/* Makes room for `size` bytes in a chunk by moving its pages, which neither copies nor clears them. False where the
 * system cannot do that. */
static bool chunk_stretch(struct chunk **link, size_t size)
{
    size_t head = aligned(sizeof **link), old = head + (*link)->size;
    size_t whole = (head + size + (SMALL_PAGE - 1)) & ~(size_t)(SMALL_PAGE - 1);
    struct chunk *moved = SBX_SANITIZED || whole < HUGE_PAGE ? NULL : pages_stretch(*link, old, whole);
    if (moved == NULL)
        return false;
    moved->size = whole - head;
    moved->used = size;
    *link = moved;
    return true;
}

void *arena_grow(struct arena *arena, void *memory, size_t size, size_t wanted)
{
    size_t whole = aligned(size), more = wanted > whole ? aligned(wanted - whole) : 0;
    if (memory == NULL || wanted > SIZE_MAX - ALIGNMENT)
        return arena_alloc(arena, wanted);
    if (is_last(arena, memory, whole) && arena->chunks->size - arena->chunks->used >= more) {
        arena->chunks->used += more;
        arena->used += more;
        return memory;
    }
    struct chunk **link = chunk_of_large(arena, memory, whole);
    if (link != NULL && chunk_stretch(link, aligned(wanted))) {
        arena->used += aligned(wanted);
        return chunk_memory(*link);
    }
    void *moved = arena_alloc(arena, wanted);
    memcpy(moved, memory, size);
    if ((link = chunk_of_large(arena, memory, whole)) != NULL) {
        struct chunk *old = *link;
        *link = old->next;
        chunk_destroy(old);
    }
    return moved;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length)
{
    if (length == SIZE_MAX)
        exhausted(arena);
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return arena_copy(arena, string, strlen(string));
}

char *arena_join(struct arena *arena, const char *first, const char *second)
{
    size_t length = strlen(first), more = strlen(second);
    char *joined = arena_alloc(arena, length + more + 1);
    memcpy(joined, first, length);
    memcpy(joined + length, second, more);
    return joined;
}

char *arena_vformat(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        exhausted(arena);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vformat(arena, format, arguments);
    va_end(arguments);
    return text;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
