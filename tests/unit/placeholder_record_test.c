/* What a record names is removed only where it still is what a launcher put there, and a record is nobody else's. */
#include "runtime/placeholder_record.h"

#include "tests/unit/temporary.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MARKED = S_ISVTX | 0644 };

struct place {
    char top[PATH_MAX];
    struct arena *arena;
    const char *state;
};

static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->arena = arena_create(0);
    temporary_make(place->top);
    place->state = arena_strdup(place->arena, below(place->top, "state"));
    make_directory(place->top, "state");
    make_directory(place->top, "state/placeholders");
    *state = place;
    return 0;
}

static int place_close(void **state)
{
    struct place *place = *state;
    temporary_remove(place->top);
    arena_destroy(place->arena);
    free(place);
    return 0;
}

static bool exists(const struct place *place, const char *rest)
{
    struct stat status;
    return lstat(below(place->top, rest), &status) == 0;
}

static void make_marked(const struct place *place, const char *rest)
{
    make_file(place->top, rest, "");
    assert_int_equal(chmod(below(place->top, rest), MARKED), 0);
}

/* A record of a dead run that ends in `rest`, with its NUL or without. */
static void make_record(const struct place *place, const char *rest, bool whole)
{
    const char *path = below(place->top, rest);
    int file =
        open(below(place->state, "placeholders/dead"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ssize_t length = (ssize_t)strlen(path) + whole;
    assert_true(file >= 0 && write(file, path, (size_t)length) == length && close(file) == 0);
}

static void recover(const struct place *place)
{
    placeholders_recover(place->arena, place->state);
}

static void what_a_dead_run_left_is_removed(void **state)
{
    const struct place *place = *state;
    make_marked(place, "file");
    make_record(place, "file", true);
    recover(place);
    assert_false(exists(place, "file"));
    assert_false(exists(place, "state/placeholders/dead"));
}

static void a_link_to_what_was_left_stays(void **state)
{
    const struct place *place = *state;
    make_marked(place, "other");
    make_link(place->top, "file", "other");
    make_record(place, "file", true);
    recover(place);
    assert_true(exists(place, "file") && exists(place, "other"));
}

static void what_has_a_second_name_stays(void **state)
{
    const struct place *place = *state;
    make_marked(place, "file");
    assert_int_equal(mknod(below(place->top, "socket"), S_IFSOCK | MARKED, 0), 0);
    assert_int_equal(link(below(place->top, "file"), below(place->top, "file~")), 0);
    assert_int_equal(link(below(place->top, "socket"), below(place->top, "socket~")), 0);
    make_record(place, "file", true);
    make_record(place, "socket", true);
    recover(place);
    assert_true(exists(place, "file") && exists(place, "socket"));
}

static void what_belongs_to_another_stays(void **state)
{
    const struct place *place = *state;
    if (geteuid() != 0)
        return; /* only root can give files away */
    make_marked(place, "file");
    assert_int_equal(chown(below(place->top, "file"), 65534, 65534), 0);
    assert_int_equal(chmod(below(place->top, "file"), MARKED), 0);
    make_record(place, "file", true);
    recover(place);
    assert_true(exists(place, "file"));
}

static void a_path_that_was_being_written_was_not_made_yet(void **state)
{
    const struct place *place = *state;
    make_marked(place, "file");
    make_record(place, "file", false);
    recover(place);
    assert_true(exists(place, "file"));
}

static void a_record_that_names_no_path_is_settled(void **state)
{
    const struct place *place = *state;
    int file = open(below(place->state, "placeholders/dead"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0 && write(file, "file", 5) == 5 && close(file) == 0);
    recover(place);
    assert_false(exists(place, "state/placeholders/dead"));
}

static void a_record_too_large_to_be_one_is_not_read(void **state)
{
    const struct place *place = *state;
    make_file(place->top, "state/placeholders/dead", "");
    assert_int_equal(truncate(below(place->state, "placeholders/dead"), ((off_t)16 << 20) + 1), 0);
    recover(place);
    assert_true(exists(place, "state/placeholders/dead"));
}

static void records_elsewhere_are_not_read(void **state)
{
    const struct place *place = *state;
    make_marked(place, "file");
    make_record(place, "file", true);
    assert_int_equal(rename(below(place->state, "placeholders"), below(place->top, "elsewhere")), 0);
    make_link(place->top, "state/placeholders", "../elsewhere");
    recover(place);
    assert_true(exists(place, "file") && exists(place, "elsewhere/dead"));
}

/* Of a socket nobody can hold a lock: the other run's record alone speaks for it. */
static void what_a_living_run_names_stays(void **state)
{
    const struct place *place = *state;
    struct placeholder_record living = placeholder_record_begin(place->arena, place->state, "living");
    const char *path = arena_strdup(place->arena, below(place->top, "socket"));
    assert_int_equal(mknod(path, S_IFSOCK | MARKED, 0), 0);
    assert_true(placeholder_record_add(&living, path));
    make_record(place, "socket", true);
    recover(place);
    assert_true(exists(place, "socket"));
    placeholder_record_end(&living, true);
    make_record(place, "socket", true);
    recover(place);
    assert_false(exists(place, "socket"));
}

static void a_record_is_new_and_the_callers_alone(void **state)
{
    const struct place *place = *state;
    struct placeholder_record record = placeholder_record_begin(place->arena, place->state, "own");
    struct placeholder_record again = placeholder_record_begin(place->arena, place->state, "own");
    struct stat status;
    mode_t before = umask(0);
    assert_true(placeholder_record_add(&record, "/x"));
    umask(before);
    assert_int_equal(stat(below(place->state, "placeholders/own"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_false(placeholder_record_add(&again, "/x"));
    assert_int_equal(errno, EEXIST);
    placeholder_record_end(&record, true);
    placeholder_record_end(&again, false);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(what_a_dead_run_left_is_removed),
        TEST(a_link_to_what_was_left_stays),
        TEST(what_has_a_second_name_stays),
        TEST(what_belongs_to_another_stays),
        TEST(a_path_that_was_being_written_was_not_made_yet),
        TEST(a_record_that_names_no_path_is_settled),
        TEST(a_record_too_large_to_be_one_is_not_read),
        TEST(records_elsewhere_are_not_read),
        TEST(what_a_living_run_names_stays),
        TEST(a_record_is_new_and_the_callers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
