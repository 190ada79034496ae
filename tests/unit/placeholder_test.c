/* Placeholders appear where a denied path is missing and leave nothing behind but what somebody used. */
#include "runtime/placeholder.h"

#include "tests/unit/temporary.h"

#include <signal.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct place {
    char top[PATH_MAX];
    struct arena *arena;
    struct note_list notes;
    struct missing_path missing[8];
    struct facts facts;
};

static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->arena = arena_create(0);
    place->notes = note_list_in(place->arena);
    place->facts.missing = place->missing;
    temporary_make(place->top);
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

static void want(struct place *place, const char *ancestor, const char *rest, bool directory)
{
    place->missing[place->facts.missing_count++] = (struct missing_path){
        .path = arena_strdup(place->arena, below(place->top, rest)),
        .ancestor = arena_strdup(place->arena, *ancestor == '\0' ? place->top : below(place->top, ancestor)),
        .directory = directory,
        .content = "",
    };
}

static struct placeholder_set *make(struct place *place)
{
    struct placeholder_record none = placeholder_record_begin(place->arena, NULL, "none");
    return placeholders_make(place->arena, &place->facts, &none, &place->notes);
}

static bool exists(const struct place *place, const char *rest)
{
    struct stat status;
    return lstat(below(place->top, rest), &status) == 0;
}

static void what_is_made_is_removed_again(void **state)
{
    struct place *place = *state;
    want(place, "", "a/b/file", false);
    want(place, "", "a/b/directory", true);
    want(place, "", "commondir", false);
    place->missing[2].content = ".\n";
    struct placeholder_set *set = make(place);
    assert_non_null(set);
    struct stat status;
    assert_int_equal(stat(below(place->top, "a/b/file"), &status), 0);
    assert_true(S_ISREG(status.st_mode) && status.st_size == 0);
    assert_int_equal(stat(below(place->top, "a/b/directory"), &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(stat(below(place->top, "commondir"), &status), 0);
    assert_int_equal(status.st_size, 2);
    placeholders_remove(set);
    assert_false(exists(place, "a"));
    assert_false(exists(place, "commondir"));
    placeholders_remove(set);
    placeholders_remove(NULL);
}

static void a_directory_hides_itself_from_git_and_goes_with_what_it_holds(void **state)
{
    struct place *place = *state;
    want(place, "", "a/hidden", true);
    want(place, "", "used", true);
    place->missing[0].content = place->missing[1].content = "*\n";
    struct placeholder_set *set = make(place);
    assert_non_null(set);
    struct stat status;
    assert_int_equal(stat(below(place->top, "a/hidden/.gitignore"), &status), 0);
    assert_int_equal(status.st_size, 2);
    make_file(place->top, "used/new", "");
    placeholders_remove(set);
    assert_false(exists(place, "a"));
    assert_true(exists(place, "used/new"));
}

static void what_was_used_stays(void **state)
{
    struct place *place = *state;
    want(place, "", "a/file", false);
    want(place, "", "b/file", false);
    want(place, "", "full", true);
    struct placeholder_set *set = make(place);
    make_file(place->top, "a/file", "mine");
    make_file(place->top, "full/new", "");
    placeholders_remove(set);
    assert_true(exists(place, "a/file"));
    assert_true(exists(place, "full/new"));
    assert_false(exists(place, "b"));
}

static void a_replaced_placeholder_is_not_removed(void **state)
{
    struct place *place = *state;
    want(place, "", "file", false);
    struct placeholder_set *set = make(place);
    make_file(place->top, "other", "");
    assert_int_equal(rename(below(place->top, "other"), below(place->top, "file")), 0);
    placeholders_remove(set);
    assert_true(exists(place, "file"));
}

static void a_linked_placeholder_is_not_removed(void **state)
{
    struct place *place = *state;
    want(place, "", "file", false);
    struct placeholder_set *set = make(place);
    assert_int_equal(link(below(place->top, "file"), below(place->top, "second")), 0);
    placeholders_remove(set);
    assert_true(exists(place, "file"));
}

/* Makes a file and a directory, changes them by `change`, and expects both to be there still afterwards. */
static void both_stay(struct place *place, void (*change)(const struct place *place))
{
    want(place, "", "file", false);
    want(place, "", "directory", true);
    struct placeholder_set *set = make(place);
    assert_non_null(set);
    change(place);
    placeholders_remove(set);
    assert_true(exists(place, "file"));
    assert_true(exists(place, "directory"));
}

static void change_modes(const struct place *place)
{
    assert_int_equal(chmod(below(place->top, "file"), 0600), 0);
    assert_int_equal(chmod(below(place->top, "directory"), 0700), 0);
}

static void what_got_another_mode_is_not_removed(void **state)
{
    both_stay(*state, change_modes);
}

static void change_owners(const struct place *place)
{
    assert_int_equal(chown(below(place->top, "file"), 65534, (gid_t)-1), 0);
    assert_int_equal(chown(below(place->top, "directory"), 65534, (gid_t)-1), 0);
}

static void change_groups(const struct place *place)
{
    assert_int_equal(chown(below(place->top, "file"), (uid_t)-1, 65534), 0);
    assert_int_equal(chown(below(place->top, "directory"), (uid_t)-1, 65534), 0);
}

/* Only root can give files away. */
static void what_got_another_owner_is_not_removed(void **state)
{
    if (geteuid() == 0)
        both_stay(*state, change_owners);
}

static void what_got_another_group_is_not_removed(void **state)
{
    if (geteuid() == 0)
        both_stay(*state, change_groups);
}

/* As alike as others can be. */
static void put_others(const struct place *place)
{
    struct stat status;
    assert_int_equal(stat(below(place->top, "file"), &status), 0);
    const struct timespec times[] = {status.st_atim, status.st_mtim};
    assert_int_equal(rename(below(place->top, "file"), below(place->top, "file~")), 0);
    assert_int_equal(rename(below(place->top, "directory"), below(place->top, "directory~")), 0);
    make_file(place->top, "file", "");
    make_directory(place->top, "directory");
    assert_int_equal(chmod(below(place->top, "file"), status.st_mode & 07777), 0);
    assert_int_equal(chmod(below(place->top, "directory"), 01755), 0);
    assert_int_equal(utimensat(AT_FDCWD, below(place->top, "file"), times, 0), 0);
}

static void what_looks_the_same_is_not_removed(void **state)
{
    both_stay(*state, put_others);
}

static void what_was_touched_is_not_removed(void **state)
{
    struct place *place = *state;
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};
    want(place, "", "file", false);
    struct placeholder_set *set = make(place);
    assert_int_equal(utimensat(AT_FDCWD, below(place->top, "file"), times, 0), 0);
    placeholders_remove(set);
    assert_true(exists(place, "file"));
}

static void a_failure_leaves_nothing_behind(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "real");
    make_link(place->top, "real/in-the-way", "/");
    want(place, "", "a/b/file", false);
    want(place, "real", "real/in-the-way/x", false);
    assert_null(make(place));
    assert_int_equal(place->notes.errors, 1);
    assert_int_equal(place->notes.items[0].code, SBX463_PLACEHOLDER_FAILED);
    assert_false(exists(place, "a"));
}

static void nothing_is_made_through_a_link(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "real");
    make_link(place->top, "link", "real");
    want(place, "link", "link/file", false);
    assert_null(make(place));
    assert_false(exists(place, "real/file"));
}

static void what_appeared_meanwhile_is_refused(void **state)
{
    struct place *place = *state;
    want(place, "", "file", false);
    make_file(place->top, "file", "");
    assert_null(make(place));
    assert_true(exists(place, "file"));
}

static void directories_of_others_are_refused(void **state)
{
    struct place *place = *state;
    if (geteuid() == 0) {
        make_directory(place->top, "theirs");
        assert_int_equal(chown(below(place->top, "theirs"), 65534, 65534), 0);
        want(place, "theirs", "theirs/file", false);
    } else {
        place->missing[place->facts.missing_count++] =
            (struct missing_path){.path = "/sbx-test-file", .ancestor = "/", .content = ""};
    }
    assert_null(make(place));
    assert_non_null(strstr(place->notes.items[0].text, "belongs to another user"));
}

/* Another run, which finds `rest` there already. */
static struct placeholder_set *join(struct place *place, const char *rest)
{
    struct plan_place there = {.path = arena_strdup(place->arena, below(place->top, rest)),
                               .kind = ENTRY_EMPTY,
                               .level = LEVEL_NONE};
    struct facts facts = {.places = &there, .place_count = 1};
    struct placeholder_record none = placeholder_record_begin(place->arena, NULL, "none");
    struct placeholder_set *set = placeholders_make(place->arena, &facts, &none, &place->notes);
    assert_non_null(set);
    return set;
}

static void without_records_a_lock_tells_of_another_run(void **state)
{
    struct place *place = *state;
    want(place, "", "file", false);
    struct placeholder_set *first = make(place), *second = join(place, "file");
    placeholders_remove(first);
    assert_true(exists(place, "file"));
    placeholders_remove(second);
    assert_false(exists(place, "file"));
}

/* Reads what a Git would, until it finds an empty file. */
static void read_for_ever(const char *path)
{
    char byte;
    for (;;) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && read(file, &byte, 1) == 0)
            _exit(1);
        if (file >= 0)
            close(file);
    }
}

static void what_git_reads_is_never_there_in_part(void **state)
{
    struct place *place = *state;
    want(place, "", "d", true);
    place->missing[0].content = "*\n";
    const char *path = arena_strdup(place->arena, below(place->top, "d/.gitignore"));
    pid_t reader = fork();
    if (reader == 0)
        read_for_ever(path);
    for (int i = 0; i < 3000; i++) {
        struct placeholder_set *set = make(place);
        assert_non_null(set);
        placeholders_remove(set);
    }
    int status = 0;
    kill(reader, SIGTERM);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_true(WIFSIGNALED(status));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(what_is_made_is_removed_again),
        TEST(what_was_used_stays),
        TEST(what_git_reads_is_never_there_in_part),
        TEST(a_directory_hides_itself_from_git_and_goes_with_what_it_holds),
        TEST(a_replaced_placeholder_is_not_removed),
        TEST(a_linked_placeholder_is_not_removed),
        TEST(what_got_another_mode_is_not_removed),
        TEST(what_got_another_owner_is_not_removed),
        TEST(what_got_another_group_is_not_removed),
        TEST(what_looks_the_same_is_not_removed),
        TEST(what_was_touched_is_not_removed),
        TEST(a_failure_leaves_nothing_behind),
        TEST(nothing_is_made_through_a_link),
        TEST(what_appeared_meanwhile_is_refused),
        TEST(without_records_a_lock_tells_of_another_run),
        TEST(directories_of_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
