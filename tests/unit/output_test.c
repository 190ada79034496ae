/* A file is replaced as a whole or stays as it was, whatever stands in its way. */
#include "compiler/output.h"

#include <cmocka.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/sbx-output-XXXXXX";
static struct arena *arena;

static int enter_folder(void **state)
{
    (void)state;
    arena = arena_create(0);
    umask(027);
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)state;
    arena_destroy(arena);
    return chdir("/");
}

static void assert_holds(const char *name, const char *expected)
{
    char bytes[256] = {0};
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(bytes, expected);
}

static uint32_t count_entries(void)
{
    uint32_t count = 0;
    DIR *directory = opendir(".");
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void a_new_file_takes_the_umask(void **state)
{
    (void)state;
    struct stat status;
    assert_null(output_replace(arena, "new", "one", 3));
    assert_holds("new", "one");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_null(output_replace(arena, "script", "#!/bin/sh\n", 10));
    assert_int_equal(stat("script", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0750);
}

static void an_old_file_is_replaced(void **state)
{
    (void)state;
    assert_null(output_replace(arena, "./old", "first", 5));
    assert_null(output_replace(arena, "./old", "2nd", 3));
    assert_holds("old", "2nd");
}

static void a_link_is_refused_and_left_alone(void **state)
{
    (void)state;
    static const char *const targets[] = {"target", "nowhere", "/proc/self/fd/1", "."};
    assert_null(output_replace(arena, "target", "kept", 4));
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct stat status;
        assert_int_equal(symlink(targets[i], "link"), 0);
        uint32_t before = count_entries();
        const char *problem = output_replace(arena, "link", "new", 3);
        assert_non_null(problem);
        assert_non_null(strstr(problem, "symbolic link"));
        assert_int_equal(lstat("link", &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(count_entries(), before);
        assert_int_equal(unlink("link"), 0);
    }
    assert_holds("target", "kept");
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("directory", 0755), 0);
    assert_int_equal(mkfifo("fifo", 0644), 0);
    uint32_t before = count_entries();
    assert_non_null(output_replace(arena, "directory", "x", 1));
    assert_non_null(output_replace(arena, "fifo", "x", 1));
    assert_non_null(output_replace(arena, "missing/file", "x", 1));
    assert_non_null(output_replace(arena, "directory/", "x", 1));
    assert_non_null(output_replace(arena, "new/file", "x", 1));
    assert_non_null(output_replace(arena, "/dev/null", "x", 1));
    assert_int_equal(count_entries(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_takes_the_umask),
        cmocka_unit_test(an_old_file_is_replaced),
        cmocka_unit_test(a_link_is_refused_and_left_alone),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
