/* Walks: complete and without links, also when several threads share one; limits and interruptions end them. */
#include "runtime/tree.h"

#include "runtime/findings.h"

#include "tests/unit/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DIRECTORIES = 120, FILES = 100 }; /* more than one thread is started for */

struct place {
    char top[PATH_MAX];
    struct findings findings;
    struct tree_walk walk;
    uint64_t stop_at; /* entries */
};

/* The state is the depth. */
static enum tree_answer visit(void *context, const struct tree_entry *entry)
{
    struct place *place = context;
    uint32_t depth = *(const uint32_t *)entry->state + 1;
    *(uint32_t *)entry->below = depth;
    if (!findings_add(&place->findings, entry->path, (struct finding){.number = depth, .type = entry->type}))
        return TREE_FAIL;
    return TREE_DESCEND;
}

static bool closed(void *context, const char *path, const void *state, int error)
{
    struct place *place = context;
    (void)state;
    return findings_add(&place->findings, path, (struct finding){.error = error});
}

static bool stop(void *keeper, uint64_t entries)
{
    const struct place *place = keeper;
    return entries >= place->stop_at;
}

static int admit(void *keeper, const char *path)
{
    (void)keeper;
    return strcmp(strrchr(path, '/'), "/d7") == 0 ? ETIMEDOUT : 0;
}

static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    temporary_make(place->top);
    for (int i = 0; i < DIRECTORIES; i++) {
        char name[64];
        snprintf(name, sizeof name, "d%d", i);
        make_directory(place->top, name);
        for (int j = 0; j < FILES; j++) {
            snprintf(name, sizeof name, "d%d/f%d", i, j);
            make_file(place->top, name, "");
        }
    }
    make_link(place->top, "d3/up", "..");
    findings_begin(&place->findings);
    place->walk = (struct tree_walk){.context = place,
                                     .keeper = place,
                                     .state_size = sizeof(uint32_t),
                                     .visit = visit,
                                     .closed = closed,
                                     .remaining = UINT64_MAX};
    *state = place;
    return 0;
}

static int place_close(void **state)
{
    struct place *place = *state;
    findings_end(&place->findings);
    temporary_remove(place->top);
    free(place);
    return 0;
}

static enum tree_end walk(struct place *place)
{
    uint32_t depth = 0;
    enum tree_end end = tree_visit(&place->walk, place->top, &depth);
    findings_sort(&place->findings);
    return end;
}

static void threads_together_see_each_entry_once(void **state)
{
    struct place *place = *state;
    assert_int_equal(walk(place), TREE_DONE);
    assert_int_equal(place->findings.count, DIRECTORIES * (FILES + 1) + 1);
    for (size_t i = 0; i < place->findings.count; i++) {
        const struct finding *finding = &place->findings.items[i];
        assert_int_equal(finding->number, finding->type == DT_DIR ? 1 : 2);
        if (i > 0)
            assert_true(strcmp(place->findings.items[i - 1].path, finding->path) < 0);
    }
}

static void a_limit_of_entries_ends_it_and_counts_over_all_calls(void **state)
{
    struct place *place = *state;
    place->walk.remaining = DIRECTORIES * (FILES + 1) + 1;
    assert_int_equal(walk(place), TREE_DONE);
    assert_int_equal(place->walk.remaining, 0);
    assert_int_equal(walk(place), TREE_TOO_MANY);
    place->walk.remaining = DIRECTORIES * (FILES + 1);
    assert_int_equal(walk(place), TREE_TOO_MANY);
}

/* Once where threads are at work, once where a single directory keeps the calling thread busy. */
static void whoever_waits_can_end_it(void **state)
{
    struct place *place = *state;
    place->walk.stop = stop;
    place->stop_at = UINT64_MAX;
    assert_int_equal(walk(place), TREE_DONE);
    for (int i = 0; i < 9000; i++) {
        char name[64];
        snprintf(name, sizeof name, "d5/more%d", i);
        make_file(place->top, name, "");
    }
    place->stop_at = 1;
    assert_int_equal(tree_visit(&place->walk, below(place->top, "d5"), &(uint32_t){0}), TREE_STOPPED);
}

static void what_is_not_admitted_is_closed(void **state)
{
    struct place *place = *state;
    uint32_t refused = 0;
    place->walk.admit = admit;
    assert_int_equal(walk(place), TREE_DONE);
    for (size_t i = 0; i < place->findings.count; i++) {
        assert_null(strstr(place->findings.items[i].path, "/d7/"));
        refused += place->findings.items[i].error == ETIMEDOUT;
    }
    assert_int_equal(refused, 1);
    assert_int_equal(place->findings.count, DIRECTORIES * (FILES + 1) + 1 - FILES + 1);
}

static void a_start_that_is_gone_holds_nothing(void **state)
{
    struct place *place = *state;
    assert_int_equal(tree_visit(&place->walk, below(place->top, "none"), &(uint32_t){0}), TREE_DONE);
    assert_int_equal(place->findings.count, 0);
}

#define TREE_TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(threads_together_see_each_entry_once),
        TREE_TEST(a_limit_of_entries_ends_it_and_counts_over_all_calls),
        TREE_TEST(whoever_waits_can_end_it),
        TREE_TEST(what_is_not_admitted_is_closed),
        TREE_TEST(a_start_that_is_gone_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
