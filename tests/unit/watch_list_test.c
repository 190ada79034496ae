/* Everything is watched that the host could change so that the command could do more, and nothing else. */
#include "runtime/watch_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

static struct arena *arena;

static int arena_open(void **state)
{
    (void)state;
    arena = arena_create(0);
    return 0;
}

static int arena_close(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct watch_list list_of(const struct plan_place *places, uint32_t count, const struct facts *facts)
{
    struct plan plan = plan_make(arena, &(struct plan_input){.places = places, .place_count = count});
    return watch_list_make(arena, &plan, facts);
}

/* "mask /w/a read /w/b in /w" */
static const char *text_of(const struct watch_list *list)
{
    static const char *const words[] = {
        [WATCH_MASK] = "mask", [WATCH_READ] = "read", [WATCH_PIN] = "pin", [WATCH_LINK] = "link"};
    struct buffer text = buffer_in(arena);
    buffer_string(&text, "");
    for (uint32_t i = 0; i < list->count; i++)
        buffer_format(&text, "%s %s ", words[list->items[i].kind], list->items[i].path);
    buffer_string(&text, "in");
    for (uint32_t i = 0; i < list->directories.count; i++)
        buffer_format(&text, " %s", list->directories.items[i]);
    return text.bytes;
}

static void masks_and_what_is_read_only_where_one_may_write_are_watched(void **state)
{
    (void)state;
    const struct plan_place places[] = {
        {.path = "/w", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
        {.path = "/w/env", .level = LEVEL_NONE, .kind = ENTRY_FILE},
        {.path = "/w/conf", .level = LEVEL_READ, .kind = ENTRY_FILE},
        {.path = "/w/hook", .level = LEVEL_READ, .kind = ENTRY_EMPTY},
        {.path = "/r", .level = LEVEL_READ, .kind = ENTRY_DIRECTORY},
        {.path = "/r/env", .level = LEVEL_NONE, .kind = ENTRY_FILE},
        {.path = "/r/mine", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
    };
    struct watch_list list = list_of(places, COUNT(places), &(struct facts){0});
    assert_string_equal(text_of(&list), "mask /r/env read /w/conf mask /w/env read /w/hook in /r /w");
}

static void every_directory_on_the_way_is_watched_once(void **state)
{
    (void)state;
    const struct plan_place places[] = {
        {.path = "/h/w", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
        {.path = "/h/w/a/b/one", .level = LEVEL_NONE, .kind = ENTRY_FILE},
        {.path = "/h/w/a/b/two", .level = LEVEL_NONE, .kind = ENTRY_FILE},
        {.path = "/h/w/a/c", .level = LEVEL_NONE, .kind = ENTRY_DIRECTORY},
        {.path = "/h/w/z", .level = LEVEL_NONE, .kind = ENTRY_FILE},
    };
    struct watch_list list = list_of(places, COUNT(places), &(struct facts){0});
    assert_string_equal(text_of(&list), "pin /h/w/a pin /h/w/a/b mask /h/w/a/b/one mask /h/w/a/b/two "
                                        "mask /h/w/a/c mask /h/w/z in /h/w /h/w/a /h/w/a/b");
}

static void the_way_begins_at_the_outermost_of_the_hosts_mounts(void **state)
{
    (void)state;
    const struct plan_place places[] = {
        {.path = "/h", .level = LEVEL_READ, .kind = ENTRY_DIRECTORY},
        {.path = "/h/u/w", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
        {.path = "/h/u/w/env", .level = LEVEL_NONE, .kind = ENTRY_FILE},
        {.path = "/h/m", .level = LEVEL_NONE, .kind = ENTRY_DIRECTORY},
        {.path = "/h/m/in", .level = LEVEL_READ, .kind = ENTRY_DIRECTORY},
        {.path = "/h/m/in/env", .level = LEVEL_NONE, .kind = ENTRY_FILE},
    };
    struct watch_list list = list_of(places, COUNT(places), &(struct facts){0});
    /* What is shown in a mask hangs on a directory of the sandbox's own. */
    assert_string_equal(text_of(&list),
                        "mask /h/m mask /h/m/in/env mask /h/u/w/env in /h /h/m/in /h/u /h/u/w");
}

static void links_that_a_deny_relies_on_are_watched_where_they_are_seen(void **state)
{
    (void)state;
    const struct plan_place places[] = {
        {.path = "/r", .level = LEVEL_READ, .kind = ENTRY_DIRECTORY},
        {.path = "/r/v1/key", .level = LEVEL_NONE, .kind = ENTRY_FILE},
    };
    struct plan_link links[] = {{"/r/now", "v1"}, {"/elsewhere/now", "/r"}};
    struct watch_list list = list_of(
        places, COUNT(places), &(struct facts){.relied_links = links, .relied_link_count = COUNT(links)});
    assert_string_equal(text_of(&list), "link /r/now mask /r/v1/key in /r /r/v1");
    assert_string_equal(list.items[0].text, "v1");
}

static void where_nothing_is_lower_nothing_is_watched(void **state)
{
    (void)state;
    const struct plan_place places[] = {
        {.path = "/w", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
        {.path = "/r", .level = LEVEL_READ, .kind = ENTRY_DIRECTORY},
        {.path = "/r/w", .level = LEVEL_WRITE, .kind = ENTRY_DIRECTORY},
        {.path = "/closed/env", .level = LEVEL_NONE, .kind = ENTRY_FILE},
    };
    struct watch_list list = list_of(places, COUNT(places), &(struct facts){0});
    assert_string_equal(text_of(&list), "in");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(masks_and_what_is_read_only_where_one_may_write_are_watched,
                                        arena_open, arena_close),
        cmocka_unit_test_setup_teardown(every_directory_on_the_way_is_watched_once, arena_open, arena_close),
        cmocka_unit_test_setup_teardown(the_way_begins_at_the_outermost_of_the_hosts_mounts, arena_open,
                                        arena_close),
        cmocka_unit_test_setup_teardown(links_that_a_deny_relies_on_are_watched_where_they_are_seen,
                                        arena_open, arena_close),
        cmocka_unit_test_setup_teardown(where_nothing_is_lower_nothing_is_watched, arena_open, arena_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
