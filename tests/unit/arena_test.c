#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 3, SMALLEST = 1000, LARGEST = 24 * 1024 * 1024 };

static uint32_t *grown(struct arena *arena, uint32_t *block, size_t from, size_t to)
{
    block = arena_grow(arena, block, from * sizeof *block, to * sizeof *block);
    for (size_t i = from; i < to; i++)
        assert_int_equal(block[i], 0);
    return block;
}

static void blocks_keep_their_bytes_while_they_grow(void **state)
{
    struct arena *arena = arena_create(0);
    uint32_t *blocks[BLOCKS] = {0};
    (void)state;
    for (size_t old = 0, count = SMALLEST; count * sizeof **blocks <= LARGEST;
         old = count, count += count / 2 + 3) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            blocks[i] = grown(arena, blocks[i], old, count);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            for (size_t at = old; at < count; at++)
                blocks[i][at] = (uint32_t)at * 7 + i;
        }
        memset(arena_alloc(arena, 100), 0xFF, 100);
        for (uint32_t i = 0; i < BLOCKS; i++)
            for (size_t at = 0; at < count; at++)
                if (blocks[i][at] != (uint32_t)at * 7 + i)
                    fail_msg("block %u differs at %zu of %zu", i, at, count);
    }
    arena_destroy(arena);
}

static void memory_that_comes_back_is_zero(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct arena *child = arena_child(arena), *orphan = arena_create(0), *below = arena_child(orphan);
        struct arena *arenas[] = {child, orphan, below};
        for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) {
            unsigned char *bytes = arena_alloc(arenas[i], 50000);
            for (int at = 0; at < 50000; at++)
                assert_int_equal(bytes[at], 0);
            memset(bytes, 0xFF, 50000);
        }
        arena_destroy(below);
        arena_adopt(arena, orphan);
        arena_destroy(child);
        if (round % 2 == 0)
            arena_destroy(orphan);
    }
    arena_destroy(arena);
}

static void what_was_adopted_ends_where_its_parent_does(void **state)
{
    struct arena *arena = arena_create(0), *orphan = arena_create(0);
    jmp_buf own, parents;
    (void)state;
    arena_on_exhausted(orphan, &own);
    arena_on_exhausted(arena, &parents);
    if (setjmp(own) != 0)
        fail_msg("the thread that filled it is gone");
    arena_adopt(arena, orphan);
    if (setjmp(parents) == 0) {
        (void)arena_alloc(orphan, SIZE_MAX);
        fail_msg("there is no such memory");
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_their_bytes_while_they_grow),
        cmocka_unit_test(memory_that_comes_back_is_zero),
        cmocka_unit_test(what_was_adopted_ends_where_its_parent_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
