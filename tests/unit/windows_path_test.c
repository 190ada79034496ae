#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "emitters/windows_spec.h"

static void what_windows_takes_is_no_problem(void **state)
{
    static const char *const good[] = {
        "C:\\",        "c:\\a",        "C:\\a b\\c.d",    "$WORK",     "$WORK\\a\\b",   "$HOME\\.ssh",
        "$GITDIRS\\x", "D:\\NULL",     "C:\\COM",         "C:\\COM10", "C:\\CONFIG.in", "C:\\auxiliary",
        "C:\\a.NUL",   "C:\\\xc3\xa9", "C:\\LPT\xc2\xb4", "C:\\a~1",   "$SUBMODULES",   "C:\\$Recycle.Bin"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (windows_path_problem(good[i]) != NULL)
            fail_msg("%s %s", good[i], windows_path_problem(good[i]));
}

static void what_windows_does_not_take_is_named(void **state)
{
    static const char *const bad[][2] = {
        {"", "neither"},
        {"a\\b", "neither"},
        {"\\a", "neither"},
        {"\\\\server\\share", "neither"},
        {"\\\\?\\C:\\a", "neither"},
        {"CC:\\a", "neither"},
        {"1:\\a", "neither"},
        {"$work\\a", "neither"},
        {"$WORKS\\a", "neither"},
        {"$env.X\\a", "neither"},
        {"$", "neither"},
        {"C:", "current directory"},
        {"C:\\a\\", "empty"},
        {"C:\\\\a", "empty"},
        {"$WORK\\", "empty"},
        {"C:\\a:stream", "stream"},
        {"C:\\a::$DATA", "stream"},
        {"C:\\a.", "dot or a blank"},
        {"C:\\a \\b", "dot or a blank"},
        {"C:\\..\\b", "dot or a blank"},
        {"$WORK\\.\\b", "dot or a blank"},
        {"C:\\a*", "character that no name"},
        {"C:\\a?b", "character that no name"},
        {"C:\\a/b", "character that no name"},
        {"C:\\<a>", "character that no name"},
        {"C:\\a|b", "character that no name"},
        {"C:\\\"a\"", "character that no name"},
        {"C:\\a\nb", "control"},
        {"C:\\a\x7f", "control"},
        {"C:\\a\xc2\x85", "control"},
        {"C:\\a\xef\xbf\xbf", "control"},
        {"C:\\a\xff", "UTF-8"},
        {"C:\\\xed\xa0\x80", "UTF-8"},
        {"C:\\nul", "device"},
        {"C:\\a\\NUL.txt", "device"},
        {"C:\\NUL .txt", "device"},
        {"C:\\con.a.b", "device"},
        {"C:\\prn\\x", "device"},
        {"C:\\Aux", "device"},
        {"C:\\com1", "device"},
        {"C:\\LPT9.x", "device"},
        {"C:\\COM\xc2\xb2", "device"},
        {"C:\\conin$", "device"},
        {"C:\\CONOUT$.log", "device"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *problem = windows_path_problem(bad[i][0]);
        if (problem == NULL || strstr(problem, bad[i][1]) == NULL)
            fail_msg("%s: %s", bad[i][0], problem != NULL ? problem : "no problem");
    }
}

static void a_path_has_a_limit(void **state)
{
    static char path[32002] = "C:\\";
    (void)state;
    memset(path + 3, 'a', sizeof path - 4);
    assert_non_null(windows_path_problem(path));
    path[32000] = '\0';
    assert_null(windows_path_problem(path));
}

static void short_names_are_known(void **state)
{
    static const struct {
        const char *path;
        bool is_short;
    } cases[] = {
        {"C:\\PROGRA~1", true}, {"C:\\a\\LONG~12.TXT\\b", true},
        {"$WORK\\A~1.B", true}, {"C:\\a~1.html", false},
        {"C:\\file~", false},   {"C:\\verylongname~1", false},
        {"C:\\~1", true},       {"C:\\a~1b", false},
        {"C:\\12345", false},   {"C:\\1~", false},
        {"$WORK", false},       {"C:\\a.b~1", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (windows_path_looks_short(cases[i].path) != cases[i].is_short)
            fail_msg("%s", cases[i].path);
}

static void nothing_is_granted_at_what_belongs_to_windows(void **state)
{
    static const char *const closed[] = {
        "C:\\",
        "d:\\",
        "$HOME",
        "$CONFIG",
        "$CACHE",
        "$DATA",
        "$HOME\\AppData",
        "$HOME\\appdata\\LOCAL",
        "$HOME\\AppData\\LocalLow",
        "$HOME\\AppData\\Roaming",
        "C:\\WINDOWS",
        "E:\\Windows",
        "C:\\Program Files",
        "C:\\program files (x86)",
        "C:\\ProgramData",
        "C:\\Users",
        "C:\\Users\\me",
        "C:\\users\\me\\AppData",
        "C:\\Users\\me\\AppData\\Roaming",
    };
    static const char *const open[] = {
        "C:\\a",
        "$WORK",
        "$TMP",
        "$REPO",
        "$HOME\\x",
        "$HOME\\AppData\\Local\\x",
        "$CONFIG\\git",
        "C:\\Users\\me\\x",
        "C:\\Users\\me\\AppData\\Local\\Programs",
        "C:\\Windows2",
        "C:\\src\\Windows",
        "C:\\Program Files\\Git",
    };
    (void)state;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (!windows_path_is_protected(closed[i]))
            fail_msg("%s is not protected", closed[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (windows_path_is_protected(open[i]))
            fail_msg("%s is protected", open[i]);
}

static void windows_has_directories_of_its_own(void **state)
{
    (void)state;
    assert_true(windows_path_is_of_system("C:\\WINDOWS"));
    assert_true(windows_path_is_of_system("D:\\windows\\System32\\cmd.exe"));
    assert_true(windows_path_is_of_system("C:\\Program Files (x86)\\x"));
    assert_false(windows_path_is_of_system("C:\\"));
    assert_false(windows_path_is_of_system("C:\\ProgramData\\x"));
    assert_false(windows_path_is_of_system("C:\\WindowsApps"));
    assert_false(windows_path_is_of_system("C:\\a\\Windows"));
    assert_false(windows_path_is_of_system("$WORK\\Windows"));
}

static void names_compare_without_case(void **state)
{
    (void)state;
    assert_true(windows_path_equal("C:\\Users\\ME", "c:\\users\\me"));
    assert_true(windows_path_equal("C:\\\xc3\x84", "C:\\\xc3\xa4"));
    assert_true(windows_path_equal("C:\\\xd0\x96", "C:\\\xd0\xb6"));
    assert_false(windows_path_equal("C:\\a", "C:\\b"));
    assert_false(windows_path_equal("C:\\a", "C:\\a\\b"));
    assert_false(windows_path_equal("$WORK\\a", "$HOME\\a"));
    /* NTFS keeps these apart, though Unicode folds them. */
    assert_false(windows_path_equal("C:\\\xc4\xb1", "C:\\I"));
    assert_false(windows_path_equal("C:\\\xc5\xbf", "C:\\s"));
    assert_false(windows_path_equal("C:\\stra\xc3\x9f"
                                    "e",
                                    "C:\\strasse"));
}

static void a_directory_covers_itself_and_what_is_below(void **state)
{
    (void)state;
    assert_true(windows_path_covers("C:\\a", "c:\\A"));
    assert_true(windows_path_covers("C:\\a", "C:\\A\\b\\c"));
    assert_true(windows_path_covers("C:\\", "C:\\x"));
    assert_true(windows_path_covers("C:\\", "C:\\"));
    assert_true(windows_path_covers("$WORK", "$WORK\\x"));
    assert_false(windows_path_covers("C:\\a", "C:\\ab"));
    assert_false(windows_path_covers("C:\\a\\b", "C:\\a"));
    assert_false(windows_path_covers("C:\\", "D:\\x"));
    assert_false(windows_path_covers("$GITDIR", "$GITDIRS\\x"));
}

static void what_lies_below_follows_at_once(void **state)
{
    static const char *const sorted[] = {"$HOME",      "$HOME\\.ssh", "$WORK",    "C:\\",    "C:\\A",
                                         "C:\\a\\B",   "C:\\a\\b\\c", "c:\\A\\c", "C:\\a !", "C:\\a-b",
                                         "C:\\a-b\\c", "C:\\AB",      "D:\\"};
    (void)state;
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
        for (size_t j = 0; j < sizeof sorted / sizeof *sorted; j++) {
            int order = windows_path_compare(sorted[i], sorted[j]);
            if ((order < 0) != (i < j) || (order > 0) != (i > j))
                fail_msg("%s and %s: %d", sorted[i], sorted[j], order);
        }
}

static void the_model_writes_slashes(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    assert_string_equal(windows_path_from_model(arena, "C:/a/b"), "C:\\a\\b");
    assert_string_equal(windows_path_from_model(arena, "C:"), "C:\\");
    assert_string_equal(windows_path_from_model(arena, "C:/"), "C:\\");
    assert_string_equal(windows_path_from_model(arena, "$WORK/a"), "$WORK\\a");
    assert_null(windows_path_from_model(arena, "C:/a\\b"));
    assert_string_equal(windows_path_to_model(arena, "C:\\a\\b"), "C:/a/b");
    assert_string_equal(windows_path_to_model(arena, "$WORK\\a"), "$WORK/a");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_windows_takes_is_no_problem),
        cmocka_unit_test(what_windows_does_not_take_is_named),
        cmocka_unit_test(a_path_has_a_limit),
        cmocka_unit_test(short_names_are_known),
        cmocka_unit_test(nothing_is_granted_at_what_belongs_to_windows),
        cmocka_unit_test(windows_has_directories_of_its_own),
        cmocka_unit_test(names_compare_without_case),
        cmocka_unit_test(a_directory_covers_itself_and_what_is_below),
        cmocka_unit_test(what_lies_below_follows_at_once),
        cmocka_unit_test(the_model_writes_slashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
