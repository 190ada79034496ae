#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int compare(const struct sort_item *a, const struct sort_item *b)
{
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : a->length < b->length ? -1 : a->length > b->length;
}

static void check_sorted(struct sort_item *items, uint32_t count)
{
    struct arena *arena = arena_create(0);
    uint8_t *seen = arena_array(arena, count, sizeof *seen);
    for (uint32_t i = 0; i < count; i++)
        items[i].number = i;
    sort_bytes(arena, items, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(seen[items[i].number]++, 0);
        int order = i == 0 ? -1 : compare(&items[i - 1], &items[i]);
        assert_true(order < 0 || (order == 0 && items[i - 1].number < items[i].number));
    }
    arena_destroy(arena);
}

static void short_strings_and_zeros_sort_as_memcmp_does(void **state)
{
    static const char bytes[] = "ab\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0c\xff\x80";
    struct sort_item items[400];
    uint32_t count = 0;
    (void)state;
    sort_bytes(NULL, items, 0);
    for (uint32_t start = 0; start < sizeof bytes - 1; start++)
        for (uint32_t length = 0; start + length < sizeof bytes; length++)
            items[count++] = (struct sort_item){.bytes = bytes + start, .length = length};
    check_sorted(items, count);
}

static void many_strings_that_begin_alike_sort_as_memcmp_does(void **state)
{
    enum { MANY = 20000, LONGEST = 40 };
    struct arena *arena = arena_create(0);
    struct sort_item *items = arena_array(arena, MANY, sizeof *items);
    uint32_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        char *text = arena_alloc(arena, LONGEST + 1);
        uint32_t length = 0;
        while (length < LONGEST && random % 29 != 0) {
            random = random * 1664525 + 1013904223;
            text[length++] = random >> 24 < 200 ? '/' : (char)(random >> 28);
        }
        random += i * 2654435761u + 1;
        items[i] = (struct sort_item){.bytes = text, .length = length};
    }
    check_sorted(items, MANY);
    check_sorted(items, MANY);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_strings_and_zeros_sort_as_memcmp_does),
        cmocka_unit_test(many_strings_that_begin_alike_sort_as_memcmp_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
