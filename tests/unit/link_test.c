/* Where paths lead: links of every kind, their limits, and what cannot be seen. */
#include "runtime/link.h"

#include "tests/unit/temporary.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct place {
    char top[PATH_MAX];
    struct arena *arena;
};

static int place_open(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    place->arena = arena_create(0);
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

static const struct resolved *find(struct place *place, const char *rest)
{
    return resolver_find(resolver_create(place->arena), below(place->top, rest));
}

static void a_path_without_links_is_its_own_end(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "a");
    make_file(place->top, "a/f", "x");
    const struct resolved *found = find(place, "a/f");
    assert_int_equal(found->kind, ENTRY_FILE);
    assert_string_equal(found->path, below(place->top, "a/f"));
    assert_string_equal(found->ancestor, found->path);
    assert_int_equal(found->link_count, 0);
    assert_int_equal(find(place, "a")->kind, ENTRY_DIRECTORY);
}

static void links_are_recorded_with_their_own_place(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "a");
    make_directory(place->top, "a/b");
    make_file(place->top, "a/b/f", "x");
    make_link(place->top, "to-a", "a");
    make_link(place->top, "a/up", "../a/./b/");
    make_link(place->top, "end", below(place->top, "to-a/up/f"));
    const struct resolved *found = find(place, "end");
    assert_int_equal(found->kind, ENTRY_FILE);
    assert_string_equal(found->path, below(place->top, "a/b/f"));
    assert_int_equal(found->link_count, 3);
    assert_string_equal(found->links[0].path, below(place->top, "end"));
    assert_string_equal(found->links[0].directory, place->top);
    assert_string_equal(found->links[1].path, below(place->top, "to-a"));
    assert_string_equal(found->links[1].text, "a");
    assert_string_equal(found->links[2].path, below(place->top, "a/up"));
    assert_string_equal(found->links[2].directory, below(place->top, "a"));
}

static void a_missing_end_names_its_deepest_ancestor(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "a");
    make_link(place->top, "l", "a/none");
    const struct resolved *found = find(place, "l/x/y");
    assert_int_equal(found->kind, ENTRY_MISSING);
    assert_string_equal(found->path, below(place->top, "a/none/x/y"));
    assert_string_equal(found->ancestor, below(place->top, "a"));
    assert_false(found->under_file);
    assert_false(found->impossible);
}

static void below_a_file_nothing_exists(void **state)
{
    struct place *place = *state;
    make_file(place->top, "f", "x");
    const struct resolved *found = find(place, "f/x");
    assert_int_equal(found->kind, ENTRY_MISSING);
    assert_true(found->under_file);
    assert_string_equal(found->ancestor, below(place->top, "f"));
}

static void a_parent_of_a_missing_name_cannot_be_judged(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "a");
    make_link(place->top, "l", "none/../a");
    assert_int_equal(find(place, "l")->kind, ENTRY_UNKNOWN);
    assert_int_equal(find(place, "l")->error, ENOENT);
}

static void loops_and_farms_end(void **state)
{
    struct place *place = *state;
    make_link(place->top, "l0", "l1");
    make_link(place->top, "l1", "l0");
    assert_int_equal(find(place, "l0")->error, ELOOP);

    make_directory(place->top, "end");
    char name[16], text[16];
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "n%d", i);
        snprintf(text, sizeof text, "n%d", i - 1);
        make_link(place->top, name, i == 1 ? "end" : text);
    }
    assert_int_equal(find(place, "n40")->kind, ENTRY_DIRECTORY);
    assert_int_equal(find(place, "n40")->link_count, 40);
    assert_int_equal(find(place, "n41")->error, ELOOP);
}

static void a_link_to_the_root_leads_there(void **state)
{
    struct place *place = *state;
    make_link(place->top, "root", "/");
    make_link(place->top, "above", "/../../..");
    assert_string_equal(find(place, "root")->path, "/");
    assert_string_equal(find(place, "above")->path, "/");
    assert_string_equal(find(place, "root/tmp")->path, "/tmp");
}

static void names_of_any_bytes_are_names(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "\xff\n\x1b[31m");
    make_link(place->top, "l", "\xff\n\x1b[31m");
    assert_string_equal(find(place, "l")->path, below(place->top, "\xff\n\x1b[31m"));
}

static void names_too_long_to_exist_are_missing_for_good(void **state)
{
    struct place *place = *state;
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct resolved *found = find(place, name);
    assert_int_equal(found->kind, ENTRY_MISSING);
    assert_true(found->impossible);
}

static void special_files_are_other(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo(below(place->top, "fifo"), 0600), 0);
    assert_int_equal(find(place, "fifo")->kind, ENTRY_OTHER);
    assert_false(find(place, "fifo")->socket);
}

static void processes_are_not_looked_into(void **state)
{
    struct place *place = *state;
    struct resolver *resolver = resolver_create(place->arena);
    const struct resolved *found = resolver_find(resolver, "/proc/self/root/etc");
    assert_true(found->process);
    assert_string_equal(found->path, "/proc/self/root/etc");
    assert_int_equal(found->link_count, 0);
    assert_ptr_equal(found, resolver_find(resolver, "/proc/self/root/etc"));
}

/* Root searches every directory, so this looks with the eyes of another user. */
static void a_directory_without_search_cannot_be_judged(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "closed");
    make_directory(place->top, "closed/a");
    chmod(place->top, 0755);
    chmod(below(place->top, "closed"), 0);
    uid_t uid = geteuid();
    if (uid == 0)
        assert_int_equal(seteuid(65534), 0);
    const struct resolved *found = find(place, "closed/a");
    const struct resolved *closed = find(place, "closed");
    if (uid == 0)
        assert_int_equal(seteuid(0), 0);
    chmod(below(place->top, "closed"), 0755);
    assert_int_equal(found->kind, ENTRY_UNKNOWN);
    assert_int_equal(found->error, EACCES);
    assert_string_equal(found->ancestor, below(place->top, "closed"));
    assert_int_equal(closed->kind, ENTRY_DIRECTORY);
}

static void directories_open_without_links_only(void **state)
{
    struct place *place = *state;
    make_directory(place->top, "a");
    make_directory(place->top, "a/b");
    make_link(place->top, "l", "a");
    int directory = directory_open(below(place->top, "a/b"), O_RDONLY);
    assert_true(directory >= 0);
    close(directory);
    assert_int_equal(directory_open(below(place->top, "l"), O_RDONLY), -1);
    assert_int_equal(directory_open(below(place->top, "l/b"), O_RDONLY), -1);
}

static void paths_cover_whole_components(void **state)
{
    (void)state;
    assert_true(path_covers("/", "/"));
    assert_true(path_covers("/", "/a"));
    assert_true(path_covers("/a", "/a/b"));
    assert_true(path_covers("/a", "/a"));
    assert_false(path_covers("/a", "/ab"));
    assert_false(path_covers("/a/b", "/a"));
}

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % limit;
}

/* A directory, a file or a link somewhere in the tree. Its text is made of few names, so that links meet. */
static void random_entry(struct place *place, uint32_t *seed)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const steps[] = {"a", "b", "c", "d", "..", ".", "a/", "none"};
    char path[64] = "", text[2 * PATH_MAX] = "";
    for (uint32_t i = 1 + random_below(seed, 3); i > 0; i--)
        snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", names[random_below(seed, 4)],
                 i > 1 ? "/" : "");
    uint32_t kind = random_below(seed, 6);
    if (kind < 3) {
        if (kind == 0)
            snprintf(text, sizeof text, "%s/", place->top);
        for (uint32_t i = 1 + random_below(seed, 3); i > 0; i--)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", steps[random_below(seed, 8)],
                     i > 1 ? "/" : "");
        if (symlink(text, below(place->top, path)) != 0)
            return;
    } else if (kind < 5) {
        mkdir(below(place->top, path), 0755);
    } else {
        close(open(below(place->top, path), O_CREAT | O_EXCL | O_WRONLY, 0644));
    }
}

/* The C library is asked the same; it follows links by name. The two may differ on one thing: a link to a
 * file with a slash at its end leads nowhere, but whoever denies it means the file. */
static void random_trees_resolve_as_the_system_resolves_them(void **state)
{
    struct place *place = *state;
    uint32_t seed = 20261130, found = 0, looped = 0, missing = 0;
    for (int tree = 0; tree < 300; tree++) {
        struct resolver *resolver = resolver_create(place->arena);
        for (int i = 0; i < 14; i++)
            random_entry(place, &seed);
        for (int i = 0; i < 60; i++) {
            char path[PATH_MAX + 8], real[PATH_MAX];
            snprintf(path, sizeof path, "%s/%c/%c/%c", place->top, "abcd"[i % 4], "abcd"[i / 4 % 4],
                     "abcd"[i / 16]);
            errno = 0;
            bool exists = realpath(path, real) != NULL;
            int error = errno;
            const struct resolved *resolved = resolver_find(resolver, path);
            if (exists) {
                assert_true(resolved->kind != ENTRY_MISSING && resolved->kind != ENTRY_UNKNOWN);
                assert_string_equal(resolved->path, real);
                found++;
            } else if (error == ELOOP) {
                assert_int_equal(resolved->error, ELOOP);
                looped++;
            } else {
                bool slash = error == ENOTDIR && resolved->kind == ENTRY_FILE;
                assert_true(resolved->kind == ENTRY_MISSING || resolved->error == ENOENT || slash);
                missing++;
            }
        }
        temporary_remove(place->top);
        assert_int_equal(mkdir(place->top, 0755), 0);
    }
    assert_true(found > 100 && looped > 100 && missing > 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, place_close)
    const struct CMUnitTest tests[] = {
        TEST(a_path_without_links_is_its_own_end),
        TEST(links_are_recorded_with_their_own_place),
        TEST(a_missing_end_names_its_deepest_ancestor),
        TEST(below_a_file_nothing_exists),
        TEST(a_parent_of_a_missing_name_cannot_be_judged),
        TEST(loops_and_farms_end),
        TEST(a_link_to_the_root_leads_there),
        TEST(names_of_any_bytes_are_names),
        TEST(names_too_long_to_exist_are_missing_for_good),
        TEST(special_files_are_other),
        TEST(processes_are_not_looked_into),
        TEST(a_directory_without_search_cannot_be_judged),
        TEST(directories_open_without_links_only),
        TEST(random_trees_resolve_as_the_system_resolves_them),
        TEST(paths_cover_whole_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
