/* Looking at the machine: roots, the repository, the account, files; all in a directory made for the test. */
#include "policy/host.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    struct arena *arena;
    const char *top; /* canonical; everything happens below it */
    struct note_list notes;
    struct root_value repo, gitdir;
};

static int place_setup(void **state)
{
    char top[] = "/tmp/sbx-host-XXXXXX";
    struct arena *arena = arena_create(0);
    if (arena == NULL || mkdtemp(top) == NULL)
        return -1;
    struct place *place = arena_alloc(arena, sizeof *place);
    char *canonical = realpath(top, NULL);
    place->arena = arena;
    place->top = arena_strdup(arena, canonical);
    place->notes = note_list_in(arena);
    free(canonical);
    *state = place;
    return 0;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about, (void)type, (void)walk;
    return remove(path);
}

static int place_teardown(void **state)
{
    struct place *place = *state;
    nftw(place->top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_destroy(place->arena);
    return 0;
}

static const char *at(struct place *place, const char *path)
{
    return arena_format(place->arena, "%s/%s", place->top, path);
}

static const char *make_directory(struct place *place, const char *path)
{
    const char *whole = at(place, path);
    for (const char *slash = whole + strlen(place->top) + 1; (slash = strchr(slash, '/')) != NULL; slash++)
        mkdir(arena_copy(place->arena, whole, (size_t)(slash - whole)), 0755);
    if (mkdir(whole, 0755) != 0)
        assert_int_equal(errno, EEXIST);
    return whole;
}

static const char *make_file_of(struct place *place, const char *path, const char *bytes, size_t length)
{
    const char *slash = strrchr(path, '/'), *whole = at(place, path);
    if (slash != NULL)
        make_directory(place, arena_copy(place->arena, path, (size_t)(slash - path)));
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return whole;
}

static const char *make_file(struct place *place, const char *path, const char *text)
{
    return make_file_of(place, path, text, strlen(text));
}

static void find(struct place *place, const char *work)
{
    place->notes = note_list_in(place->arena);
    repository_find(place->arena, at(place, work), geteuid(), &place->repo, &place->gitdir, &place->notes);
}

static void assert_root(struct place *place, const struct root_value *root, const char *path)
{
    assert_int_equal(root->state, ROOT_BOUND);
    assert_string_equal(root->paths[0], at(place, path));
}

/* Repositories */

static void make_git(struct place *place, const char *directory)
{
    make_directory(place, arena_format(place->arena, "%s/objects", directory));
    make_directory(place, arena_format(place->arena, "%s/refs", directory));
    make_file(place, arena_format(place->arena, "%s/HEAD", directory), "ref: refs/heads/main\n");
}

/* A linked worktree `tree` of the repository `main`. */
static void make_worktree(struct place *place)
{
    make_git(place, "main/.git");
    make_file(place, "tree/.git",
              arena_format(place->arena, "gitdir: %s\n", at(place, "main/.git/worktrees/tree")));
    make_file(place, "main/.git/worktrees/tree/gitdir",
              arena_format(place->arena, "%s\n", at(place, "tree/.git")));
    make_file(place, "main/.git/worktrees/tree/commondir", "../..\n");
}

static void a_repository_is_found_from_below(void **state)
{
    struct place *place = *state;
    make_git(place, "r/.git");
    make_directory(place, "r/a/b");
    find(place, "r/a/b");
    assert_root(place, &place->repo, "r");
    assert_root(place, &place->gitdir, "r/.git");
    assert_int_equal(place->gitdir.count, 1);
    assert_int_equal(place->notes.count, 0);
}

static void without_a_repository_both_roots_are_unset(void **state)
{
    struct place *place = *state;
    make_directory(place, "w");
    find(place, "w");
    assert_int_equal(place->repo.count, 0);
    assert_int_equal(place->repo.state, ROOT_UNSET);
    assert_int_equal(place->gitdir.state, ROOT_UNSET);
}

static void a_linked_git_directory_does_not_count(void **state)
{
    struct place *place = *state;
    make_git(place, "elsewhere");
    make_directory(place, "w");
    assert_int_equal(symlink(at(place, "elsewhere"), at(place, "w/.git")), 0);
    find(place, "w");
    assert_int_equal(place->repo.state, ROOT_UNSET);
    assert_int_equal(place->notes.count, 1);
    assert_int_equal(place->notes.items[0].code, SBX177_GITDIR_UNSET);
}

static void a_fifo_named_git_neither_counts_nor_blocks(void **state)
{
    struct place *place = *state;
    make_directory(place, "w");
    assert_int_equal(mkfifo(at(place, "w/.git"), 0600), 0);
    find(place, "w");
    assert_int_equal(place->repo.state, ROOT_UNSET);
}

static void a_directory_that_others_can_write_does_not_count(void **state)
{
    struct place *place = *state;
    make_git(place, "w/.git");
    assert_int_equal(chmod(at(place, "w"), 0777), 0);
    find(place, "w");
    assert_int_equal(place->repo.state, ROOT_UNSET);
}

static void a_git_of_another_owner_does_not_count(void **state)
{
    struct place *place = *state;
    if (geteuid() != 0)
        skip();
    make_git(place, "w/.git");
    assert_int_equal(chown(at(place, "w/.git"), 12345, 12345), 0);
    find(place, "w");
    assert_int_equal(place->repo.state, ROOT_UNSET);
    assert_int_equal(chown(at(place, "w"), 12345, 12345), 0);
    find(place, "w");
    assert_int_equal(place->repo.state, ROOT_UNSET);
}

static void a_worktree_that_is_named_back_counts(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    find(place, "tree");
    assert_root(place, &place->repo, "tree");
    assert_root(place, &place->gitdir, "main/.git/worktrees/tree");
    assert_int_equal(place->gitdir.count, 2);
    assert_string_equal(place->gitdir.paths[1], at(place, "main/.git"));
    assert_int_equal(place->notes.count, 0);
}

static void relative_pointers_count_too(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    make_file(place, "tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    make_file(place, "main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    find(place, "tree");
    assert_int_equal(place->gitdir.count, 2);
}

static void pointer_ignored(struct place *place, const char *work)
{
    find(place, work);
    assert_root(place, &place->repo, work);
    assert_int_equal(place->gitdir.state, ROOT_UNSET);
    assert_int_equal(place->gitdir.count, 0);
    assert_int_equal(place->notes.count, 1);
}

static void a_worktree_that_is_not_named_back_does_not_count(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    make_directory(place, "other");
    make_file(place, "main/.git/worktrees/tree/gitdir",
              arena_format(place->arena, "%s\n", at(place, "other/.git")));
    pointer_ignored(place, "tree");
    make_file(place, "main/.git/worktrees/tree/gitdir",
              arena_format(place->arena, "%s\n", at(place, "tree")));
    pointer_ignored(place, "tree");
    unlink(at(place, "main/.git/worktrees/tree/gitdir"));
    pointer_ignored(place, "tree");
}

static void a_worktree_with_another_common_directory_does_not_count(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    make_file(place, "main/.git/worktrees/tree/commondir", "../../..\n");
    pointer_ignored(place, "tree");
}

static void a_worktree_of_what_is_no_git_directory_does_not_count(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    assert_int_equal(rmdir(at(place, "main/.git/objects")), 0);
    pointer_ignored(place, "tree");
}

static void hostile_pointers_are_ignored(void **state)
{
    struct place *place = *state;
    char *huge = arena_alloc(place->arena, 1 << 20);
    memset(huge, 'a', 1 << 20);
    memcpy(huge, "gitdir: /", 9);
    struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        {"", 0},
        {"\n", 1},
        {"gitdir: ", 8},
        {"gitdir: \n", 9},
        {"gitdir: .git\n", 13},
        {"gitdir: /\n", 10},
        {"gitdir: .\n", 10},
        {"gitdir: /etc\nx", 14},
        {"gitdir: /\0etc", 13},
        {huge, 1 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_file_of(place, "w/.git", cases[i].bytes, cases[i].length);
        pointer_ignored(place, "w");
    }
}

static void pointers_that_lead_to_each_other_end(void **state)
{
    struct place *place = *state;
    make_worktree(place);
    unlink(at(place, "main/.git/worktrees/tree/gitdir"));
    assert_int_equal(symlink("commondir", at(place, "main/.git/worktrees/tree/gitdir")), 0);
    pointer_ignored(place, "tree");
    unlink(at(place, "main/.git/worktrees/tree/gitdir"));
    assert_int_equal(mkfifo(at(place, "main/.git/worktrees/tree/gitdir"), 0600), 0);
    pointer_ignored(place, "tree");
    assert_int_equal(symlink("loop", at(place, "loop")), 0);
    make_file(place, "tree/.git", arena_format(place->arena, "gitdir: %s\n", at(place, "loop")));
    pointer_ignored(place, "tree");
}

static void a_submodule_of_a_repository_above_counts(void **state)
{
    struct place *place = *state;
    make_git(place, "r/.git");
    make_git(place, "r/.git/modules/sub");
    make_file(place, "r/sub/.git", "gitdir: ../.git/modules/sub\n");
    find(place, "r/sub");
    assert_root(place, &place->repo, "r/sub");
    assert_root(place, &place->gitdir, "r/.git/modules/sub");
    assert_int_equal(place->gitdir.count, 1);
}

static void a_submodule_of_another_repository_does_not_count(void **state)
{
    struct place *place = *state;
    make_git(place, "r/.git");
    make_git(place, "other/.git/modules/sub");
    make_file(place, "r/sub/.git", "gitdir: ../../other/.git/modules/sub\n");
    pointer_ignored(place, "r/sub");
    make_file(place, "r/sub/.git", "gitdir: ../.git\n");
    pointer_ignored(place, "r/sub");
}

/* Roots */

static struct bindings bind(struct place *place, const struct host_request *request)
{
    struct bindings bindings = {.command = "make"};
    place->notes = note_list_in(place->arena);
    host_bind(place->arena, request, &bindings, &place->notes);
    return bindings;
}

static void roots_come_from_the_environment(void **state)
{
    struct place *place = *state;
    struct variable environment[] = {{"HOME", make_directory(place, "home")},
                                     {"TMPDIR", make_directory(place, "tmp")},
                                     {"XDG_CACHE_HOME", at(place, "missing/cache")},
                                     {"XDG_DATA_HOME", "relative"}};
    struct host_request request = {.work = make_directory(place, "w"),
                                   .environment = environment,
                                   .environment_count = 4,
                                   .uid = geteuid()};
    struct bindings bindings = bind(place, &request);
    assert_root(place, &bindings.roots[ROOT_WORK], "w");
    assert_root(place, &bindings.roots[ROOT_HOME], "home");
    assert_root(place, &bindings.roots[ROOT_TMP], "tmp");
    assert_root(place, &bindings.roots[ROOT_CONFIG], "home/.config");
    assert_root(place, &bindings.roots[ROOT_CACHE], "missing/cache");
    assert_root(place, &bindings.roots[ROOT_DATA], "home/.local/share");
    assert_int_equal(bindings.roots[ROOT_REPO].state, ROOT_UNSET);
    assert_string_equal(bindings.command, "make");
    assert_true(bindings.environment_known);
    assert_int_equal(place->notes.errors, 0);
}

static void roots_are_canonical(void **state)
{
    struct place *place = *state;
    make_directory(place, "real/home");
    assert_int_equal(symlink("real", at(place, "link")), 0);
    struct variable environment[] = {{"HOME", at(place, "link/../link/home/")},
                                     {"TMPDIR", at(place, "link/none/./tmp/")},
                                     {"XDG_CACHE_HOME", at(place, "link/none/../cache")}};
    struct host_request request = {
        .work = at(place, "link"), .environment = environment, .environment_count = 3, .uid = geteuid()};
    struct bindings bindings = bind(place, &request);
    assert_root(place, &bindings.roots[ROOT_WORK], "real");
    assert_root(place, &bindings.roots[ROOT_HOME], "real/home");
    assert_root(place, &bindings.roots[ROOT_TMP], "real/none/tmp");
    /* What is missing cannot be left upward. */
    assert_int_equal(bindings.roots[ROOT_CACHE].state, ROOT_UNSET);
    assert_int_equal(place->notes.count, 1);
    assert_int_equal(place->notes.items[0].code, SBX176_ROOT_NOT_FOUND);
}

static void a_home_that_is_not_the_callers_is_refused(void **state)
{
    struct place *place = *state;
    struct variable environment[] = {{"HOME", "relative"}};
    struct host_request request = {
        .work = place->top, .environment = environment, .environment_count = 1, .uid = geteuid()};
    assert_non_null(bind(place, &request).roots[ROOT_HOME].refused);
    environment[0].value = at(place, "missing");
    assert_non_null(bind(place, &request).roots[ROOT_HOME].refused);
    environment[0].value = "";
    assert_non_null(bind(place, &request).roots[ROOT_HOME].refused);
    environment[0].value = make_directory(place, "home");
    assert_null(bind(place, &request).roots[ROOT_HOME].refused);
    request.uid = geteuid() + 1;
    struct bindings bindings = bind(place, &request);
    assert_non_null(bindings.roots[ROOT_HOME].refused);
    assert_int_equal(bindings.roots[ROOT_CONFIG].state, ROOT_UNSET);
}

static void given_roots_override(void **state)
{
    struct place *place = *state;
    struct variable given[] = {{"WORK", make_directory(place, "w")},
                               {"GITDIR", make_directory(place, "g1")},
                               {"GITDIR", make_directory(place, "g2")},
                               {"CACHE", make_directory(place, "c")}};
    struct host_request request = {
        .work = "/", .given_roots = given, .given_root_count = 4, .uid = geteuid()};
    struct bindings bindings = bind(place, &request);
    assert_root(place, &bindings.roots[ROOT_WORK], "w");
    assert_root(place, &bindings.roots[ROOT_CACHE], "c");
    assert_root(place, &bindings.roots[ROOT_GITDIR], "g1");
    assert_int_equal(bindings.roots[ROOT_GITDIR].count, 2);
    assert_int_equal(place->notes.errors, 0);
    /* A managed layer is not moved by what the caller gives. */
    if (bindings.managed_roots[ROOT_CACHE].count > 0)
        assert_string_not_equal(bindings.managed_roots[ROOT_CACHE].paths[0], at(place, "c"));
}

static void given_roots_that_cannot_be_are_errors(void **state)
{
    struct place *place = *state;
    make_directory(place, "w");
    struct variable wrong[] = {
        {"WORK", "w"}, {"WORK", at(place, "missing")}, {"NOTHING", "/"}, {"env", "/"}, {"", "/"}};
    struct host_request request = {.work = place->top, .given_root_count = 1, .uid = geteuid()};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        request.given_roots = &wrong[i];
        bind(place, &request);
        assert_int_equal(place->notes.errors, 1);
        assert_int_equal(place->notes.items[0].code, SBX175_GIVEN_ROOT);
    }
    struct variable twice[] = {{"WORK", at(place, "w")}, {"WORK", at(place, "w")}};
    request.given_roots = twice;
    request.given_root_count = 2;
    bind(place, &request);
    assert_int_equal(place->notes.errors, 1);
}

static void managed_layers_use_the_home_of_the_account(void **state)
{
    struct place *place = *state;
    struct variable environment[] = {{"HOME", make_directory(place, "home")}};
    struct host_request request = {
        .work = place->top, .environment = environment, .environment_count = 1, .uid = geteuid()};
    struct bindings bindings = bind(place, &request);
    const char *home = account_home(place->arena, geteuid());
    if (home == NULL) {
        assert_int_equal(bindings.managed_roots[ROOT_HOME].state, ROOT_UNSET);
    } else {
        assert_int_equal(bindings.managed_roots[ROOT_HOME].state, ROOT_BOUND);
        assert_string_not_equal(bindings.managed_roots[ROOT_HOME].paths[0], at(place, "home"));
    }
    assert_string_equal(bindings.managed_roots[ROOT_WORK].paths[0], place->top);
}

/* The account */

static void the_superuser_has_a_home(void **state)
{
    struct place *place = *state;
    const char *home = account_home(place->arena, 0);
    assert_non_null(home);
    assert_int_equal(home[0], '/');
}

static void an_unknown_account_has_none(void **state)
{
    struct place *place = *state;
    assert_null(account_home(place->arena, 3999999999u));
}

/* Environment and files */

static void the_environment_is_sorted_and_names_are_unique(void **state)
{
    struct place *place = *state;
    char *entries[] = {"B=2", "A=1", "B=3", "=C", "broken", "AA=", NULL}, **before = environ;
    environ = entries;
    struct variable_list list = host_environment(place->arena);
    environ = before;
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].name, "A");
    assert_string_equal(list.items[1].name, "AA");
    assert_string_equal(list.items[1].value, "");
    assert_string_equal(list.items[2].name, "B");
    assert_string_equal(list.items[2].value, "2");
}

static void regular_files_are_read_up_to_the_limit(void **state)
{
    struct place *place = *state;
    const char *path = make_file_of(place, "f", "ab\0cd", 5), *error = NULL;
    size_t length = 0;
    const char *bytes = file_read(place->arena, path, 5, &length, &error);
    assert_int_equal(length, 5);
    assert_memory_equal(bytes, "ab\0cd", 6);
    assert_null(file_read(place->arena, path, 4, &length, &error));
    assert_non_null(strstr(error, "larger than 4 bytes"));
    bytes = file_read(place->arena, make_file(place, "empty", ""), 0, &length, &error);
    assert_string_equal(bytes, "");
}

static void special_files_are_refused(void **state)
{
    struct place *place = *state;
    const char *error = NULL;
    size_t length;
    assert_int_equal(mkfifo(at(place, "fifo"), 0600), 0);
    const char *cases[] = {at(place, "fifo"), place->top, "/dev/zero", at(place, "missing")};
    const char *reasons[] = {"not a regular file", "is a directory", "not a regular file", "cannot open"};
    for (size_t i = 0; i < 4; i++) {
        assert_null(file_read(place->arena, cases[i], 100, &length, &error));
        assert_non_null(strstr(error, reasons[i]));
    }
    assert_null(file_read(place->arena, at(place, "\x1b[2J"), 100, &length, &error));
    assert_null(strchr(error, '\x1b'));
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_repository_is_found_from_below),
        PLACE_TEST(without_a_repository_both_roots_are_unset),
        PLACE_TEST(a_linked_git_directory_does_not_count),
        PLACE_TEST(a_fifo_named_git_neither_counts_nor_blocks),
        PLACE_TEST(a_directory_that_others_can_write_does_not_count),
        PLACE_TEST(a_git_of_another_owner_does_not_count),
        PLACE_TEST(a_worktree_that_is_named_back_counts),
        PLACE_TEST(relative_pointers_count_too),
        PLACE_TEST(a_worktree_that_is_not_named_back_does_not_count),
        PLACE_TEST(a_worktree_with_another_common_directory_does_not_count),
        PLACE_TEST(a_worktree_of_what_is_no_git_directory_does_not_count),
        PLACE_TEST(hostile_pointers_are_ignored),
        PLACE_TEST(pointers_that_lead_to_each_other_end),
        PLACE_TEST(a_submodule_of_a_repository_above_counts),
        PLACE_TEST(a_submodule_of_another_repository_does_not_count),
        PLACE_TEST(roots_come_from_the_environment),
        PLACE_TEST(roots_are_canonical),
        PLACE_TEST(a_home_that_is_not_the_callers_is_refused),
        PLACE_TEST(given_roots_override),
        PLACE_TEST(given_roots_that_cannot_be_are_errors),
        PLACE_TEST(managed_layers_use_the_home_of_the_account),
        PLACE_TEST(the_superuser_has_a_home),
        PLACE_TEST(an_unknown_account_has_none),
        PLACE_TEST(the_environment_is_sorted_and_names_are_unique),
        PLACE_TEST(regular_files_are_read_up_to_the_limit),
        PLACE_TEST(special_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
