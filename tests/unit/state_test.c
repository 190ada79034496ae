/* The state directory is the caller's own, as what is made in it. */
#include "runtime/state.h"
#include "runtime/turn.h"

#include "tests/unit/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct place {
    char top[PATH_MAX];
    struct arena *arena;
    mode_t mask;
};

/* Without the caller's mask, so that what is asked for is what comes. */
static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->arena = arena_create(0);
    temporary_make(place->top);
    place->mask = umask(0);
    *state = place;
    return 0;
}

static int place_close(void **state)
{
    struct place *place = *state;
    umask(place->mask);
    temporary_remove(place->top);
    arena_destroy(place->arena);
    free(place);
    return 0;
}

static mode_t mode_of(const struct place *place, const char *rest)
{
    struct stat status;
    assert_int_equal(lstat(below(place->top, rest), &status), 0);
    return status.st_mode & 07777;
}

static bool opens(const struct place *place, const char *rest)
{
    int directory = state_open(place->arena, below(place->top, rest));
    if (directory >= 0)
        close(directory);
    return directory >= 0;
}

static void what_is_missing_is_made_for_the_caller_alone(void **state)
{
    const struct place *place = *state;
    assert_true(opens(place, "a/b/state"));
    assert_int_equal(mode_of(place, "a"), 0700);
    assert_int_equal(mode_of(place, "a/b"), 0700);
    assert_int_equal(mode_of(place, "a/b/state"), 0700);
}

static void what_others_may_write_is_none(void **state)
{
    const struct place *place = *state;
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    make_directory(place->top, "state");
    assert_true(opens(place, "state"));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(below(place->top, "state"), modes[i]), 0);
        assert_false(opens(place, "state"));
    }
}

static void what_is_anothers_is_none(void **state)
{
    const struct place *place = *state;
    if (geteuid() != 0)
        return; /* only root can give it away */
    make_directory(place->top, "state");
    assert_int_equal(chown(below(place->top, "state"), 65534, 65534), 0);
    assert_false(opens(place, "state"));
}

static void a_link_is_none(void **state)
{
    const struct place *place = *state;
    make_directory(place->top, "elsewhere");
    make_link(place->top, "state", "elsewhere");
    assert_false(opens(place, "state"));
}

static int turn_of(const struct place *place)
{
    struct note_list notes = note_list_in(place->arena);
    return turn_begin(place->arena, below(place->top, "state"), place->top, &notes);
}

static void a_turn_is_the_callers_alone(void **state)
{
    const struct place *place = *state;
    int turn = turn_of(place);
    assert_true(turn >= 0);
    assert_int_equal(mode_of(place, "state/turn"), 0600);
    turn_end(turn);
}

static void a_turn_follows_no_link(void **state)
{
    const struct place *place = *state;
    struct stat status;
    make_directory(place->top, "state");
    make_link(place->top, "state/turn", "../elsewhere");
    turn_end(turn_of(place));
    assert_int_not_equal(lstat(below(place->top, "elsewhere"), &status), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_made_for_the_caller_alone),
        TEST(what_others_may_write_is_none),
        TEST(what_is_anothers_is_none),
        TEST(a_link_is_none),
        TEST(a_turn_is_the_callers_alone),
        TEST(a_turn_follows_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
