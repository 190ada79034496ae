/* cgroup_find_test.c - where a control group can be made, by tables and files in place of the kernel's. */
#include "runtime/cgroup_find.h"

#include "base/buffer.h"

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

struct files {
    struct arena *arena;
    char top[64];
};

static int files_make(void **state)
{
    struct files *files = calloc(1, sizeof *files);

    files->arena = arena_create(0);
    snprintf(files->top, sizeof files->top, "/tmp/sbx-cgroup-XXXXXX");
    assert_non_null(mkdtemp(files->top));
    *state = files;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int files_remove(void **state)
{
    struct files *files = *state;

    nftw(files->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_destroy(files->arena);
    free(files);
    return 0;
}

static const char *below(const struct files *files, const char *path)
{
    return arena_format(files->arena, "%s%s", files->top, path);
}

static void put(const struct files *files, const char *group, const char *name, const char *text)
{
    FILE *file = fopen(arena_format(files->arena, "%s%s/%s", files->top, group, name), "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A group of version 2 as the kernel shows it. */
static void put_group(const struct files *files, const char *group, const char *hands_down)
{
    assert_int_equal(mkdir(below(files, group), 0755), 0);
    put(files, group, "cgroup.type", "domain\n");
    put(files, group, "cgroup.controllers", "cpu memory pids\n");
    put(files, group, "cgroup.subtree_control", hands_down);
    put(files, group, "cgroup.procs", "");
    put(files, group, "memory.max", "max\n");
    put(files, group, "pids.max", "max\n");
    put(files, group, "cpu.max", "max 100000\n");
    put(files, group, "cpuset.cpus", "\n");
}

static struct cgroup_view view_of_2(const struct files *files, const char *root, const char *own)
{
    return (struct cgroup_view){
        .mounts = arena_format(files->arena,
                               "22 1 0:5 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                               "30 22 0:26 %s %s rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
                               root, files->top),
        .own = arena_format(files->arena, "0::%s\n", own)};
}

/* Where it is found below the top; NULL if nowhere, with a reason. */
static const char *find(const struct files *files, const struct cgroup_view *view,
                        enum cgroup_controller controller, int version)
{
    struct cgroup_place place = {0};
    const char *why = NULL;

    if (!cgroup_find(files->arena, view, controller, &place, &why)) {
        assert_non_null(why);
        return NULL;
    }
    assert_int_equal(place.version, version);
    assert_memory_equal(place.parent, files->top, strlen(files->top));
    return place.parent + strlen(files->top);
}

static void version_1_is_the_launchers_own_group(void **state)
{
    const struct files *files = *state;
    mkdir(below(files, "/pids"), 0755);
    mkdir(below(files, "/memory"), 0755);
    mkdir(below(files, "/memory/job"), 0755);
    struct cgroup_view view = {
        .mounts = arena_format(files->arena,
                               "31 22 0:27 / %s/pids rw - cgroup cgroup rw,pids\n"
                               "32 22 0:28 /docker/1 %s/memory rw - cgroup cgroup rw,memory\n"
                               "33 22 0:29 / %s/unified rw - cgroup2 cgroup2 rw\n",
                               files->top, files->top, files->top),
        .own = "9:name=systemd:/\n8:pids:/\n4:memory:/docker/1/job\n0::/\n"};
    assert_string_equal(find(files, &view, CGROUP_PIDS, 1), "/pids");
    assert_string_equal(find(files, &view, CGROUP_MEMORY, 1), "/memory/job");
    const char *const *points = cgroup_mounts(files->arena, &view);
    assert_string_equal(points[2], below(files, "/unified"));
    assert_null(points[3]);
    /* Its group lies outside of what is mounted here. */
    view.own = "8:pids:/../other\n4:memory:/docker/12\n0::/\n";
    assert_null(find(files, &view, CGROUP_PIDS, 1));
    assert_null(find(files, &view, CGROUP_MEMORY, 1));
}

static void version_2_is_the_own_group_if_it_hands_down(void **state)
{
    const struct files *files = *state;
    put_group(files, "/own", "memory pids\n");
    put_group(files, "/own/cpus", "cpu\n");
    struct cgroup_view view = view_of_2(files, "/", "/own");
    assert_string_equal(find(files, &view, CGROUP_PIDS, 2), "/own");
    assert_string_equal(find(files, &view, CGROUP_MEMORY, 2), "/own");
    /* The mount shows a part of the hierarchy only. */
    view = view_of_2(files, "/machine", "/machine/own");
    assert_string_equal(find(files, &view, CGROUP_PIDS, 2), "/own");
    view = view_of_2(files, "/machine", "/machinery/own");
    assert_null(find(files, &view, CGROUP_PIDS, 2));
}

static void version_2_may_be_one_above(void **state)
{
    const struct files *files = *state;
    put_group(files, "/job", "pids\n");
    put_group(files, "/job/inner", "");
    put_group(files, "/job/inner/leaf", "");
    struct cgroup_view view = view_of_2(files, "/", "/job/inner/leaf");
    assert_string_equal(find(files, &view, CGROUP_PIDS, 2), "/job");
    /* Nobody hands memory down. */
    assert_null(find(files, &view, CGROUP_MEMORY, 2));
}

static void a_limited_group_is_not_left(void **state)
{
    static const char *const limits[][2] = {{"memory.max", "1073741824\n"}, {"pids.max", "100\n"},
                                            {"cpu.max", "50000 100000\n"},  {"cpuset.cpus", "0-1\n"},
                                            {"memory.high", "4096\n"},      {"memory.swap.max", "0\n"}};
    const struct files *files = *state;
    put_group(files, "/job", "pids memory\n");
    put_group(files, "/job/leaf", "");
    struct cgroup_view view = view_of_2(files, "/", "/job/leaf");
    assert_non_null(find(files, &view, CGROUP_PIDS, 2));
    assert_false(cgroup_own_is_limited(files->arena, &view));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        put(files, "/job/leaf", limits[i][0], limits[i][1]);
        assert_null(find(files, &view, CGROUP_PIDS, 2));
        assert_true(cgroup_own_is_limited(files->arena, &view));
        put(files, "/job/leaf", limits[i][0], "max\n");
    }
    assert_non_null(find(files, &view, CGROUP_PIDS, 2));
}

static void systemds_slices_are_left_to_it(void **state)
{
    const struct files *files = *state;
    put_group(files, "/user", "pids\n");
    put_group(files, "/user/app.slice", "pids\n");
    put_group(files, "/user/app.slice/shell.scope", "");
    struct cgroup_view view = view_of_2(files, "/", "/user/app.slice/shell.scope");
    assert_null(find(files, &view, CGROUP_PIDS, 2));
    /* Delegate=yes: what it runs moved into a group below. */
    put(files, "/user/app.slice/shell.scope", "cgroup.subtree_control", "pids\n");
    put_group(files, "/user/app.slice/shell.scope/leaf", "");
    view = view_of_2(files, "/", "/user/app.slice/shell.scope/leaf");
    assert_string_equal(find(files, &view, CGROUP_PIDS, 2), "/user/app.slice/shell.scope");
}

static void only_the_machines_root_group_is_told_to_hand_down(void **state)
{
    const struct files *files = *state;
    put(files, "", "cgroup.controllers", "cpu memory\n");
    put(files, "", "cgroup.subtree_control", "");
    put(files, "", "cgroup.procs", "");
    put_group(files, "/job", "");
    struct cgroup_view view = view_of_2(files, "/", "/job");
    assert_null(find(files, &view, CGROUP_PIDS, 2));
    assert_string_equal(find(files, &view, CGROUP_MEMORY, 2), "");
    char told[16] = "";
    FILE *file = fopen(below(files, "/cgroup.subtree_control"), "r");
    assert_non_null(file);
    assert_non_null(fgets(told, sizeof told, file));
    fclose(file);
    assert_string_equal(told, "+memory");
    /* In a container the root that is seen has a type, and is another's to divide. */
    put(files, "", "cgroup.subtree_control", "");
    put(files, "", "cgroup.type", "domain\n");
    assert_null(find(files, &view, CGROUP_MEMORY, 2));
}

static void without_control_groups_there_is_a_reason(void **state)
{
    const struct files *files = *state;
    struct cgroup_view view = {.mounts = "22 1 0:5 / / rw - ext4 /dev/sda1 rw\n", .own = ""};
    struct cgroup_place place;
    const char *why = NULL;
    assert_false(cgroup_find(files->arena, &view, CGROUP_PIDS, &place, &why));
    assert_string_equal(why, "no control groups are mounted here");
    view = (struct cgroup_view){.mounts = "", .own = "nonsense\n:\n1\n"};
    assert_false(cgroup_find(files->arena, &view, CGROUP_MEMORY, &place, &why));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, files_make, files_remove)
    const struct CMUnitTest tests[] = {
        TEST(version_1_is_the_launchers_own_group),
        TEST(version_2_is_the_own_group_if_it_hands_down),
        TEST(version_2_may_be_one_above),
        TEST(a_limited_group_is_not_left),
        TEST(systemds_slices_are_left_to_it),
        TEST(only_the_machines_root_group_is_told_to_hand_down),
        TEST(without_control_groups_there_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
