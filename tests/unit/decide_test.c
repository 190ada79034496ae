#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "build_policy.h"
#include "policy/bound.h"

enum { MOST = 12 };

struct level_case {
    const char *name;
    const char *lines[MOST];
    const char *answers[MOST]; /* "LEVEL PATH" */
};

static struct bound_policy *bind_with(struct arena *arena, const char *const *lines,
                                      const struct bindings *bindings, struct note_list *notes)
{
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), bindings, notes);
    bound_seal(bound, notes);
    return bound;
}

static const struct bound_policy *bind_lines(struct arena *arena, const char *const *lines,
                                             enum system system)
{
    struct bindings bindings = build_bindings(system);
    struct note_list notes = note_list_in(arena);
    const struct bound_policy *bound = bind_with(arena, lines, &bindings, &notes);
    for (uint32_t i = 0; i < notes.count; i++)
        if (notes.items[i].severity == SEVERITY_ERROR)
            fail_msg("%s", notes.items[i].text);
    return bound;
}

static const char *const level_names[] = {"none", "read", "write"};

static void check_levels(const struct level_case *cases, size_t count, enum system system)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        const struct bound_policy *bound = bind_lines(arena, cases[i].lines, system);
        for (size_t at = 0; at < MOST && cases[i].answers[at] != NULL; at++) {
            const char *path = strchr(cases[i].answers[at], ' ') + 1;
            const char *level = level_names[bound_level(bound, path, strlen(path))];
            if (strncmp(level, cases[i].answers[at], strlen(level)) != 0)
                fail_msg("%s: %s is %s, not %s", cases[i].name, path, level, cases[i].answers[at]);
        }
        arena_destroy(arena);
    }
}

static const struct level_case linux_cases[] = {
    {"CP-01 closed by default", {"grant read /other"}, {"none /x", "none /", "none /othe", "none /otherx"}},
    {"CP-02 read inside write",
     {"grant write /p", "grant read /p/secrets"},
     {"write /p/a", "read /p/secrets/a", "read /p/secrets", "write /p/secretsx"}},
    {"CP-03 write inside read",
     {"grant read /p", "grant write /p/out"},
     {"write /p/out/a", "read /p/a", "read /p"}},
    {"CP-04 a deny beats a broader grant",
     {"grant write /p", "deny /p/.env"},
     {"none /p/.env", "none /p/.env/x", "write /p/.envx", "write /p"}},
    {"CP-05 MX-06 a deny beats a deeper grant",
     {"grant write /p/c", "deny /p"},
     {"none /p/c", "none /p/c/d", "none /p"}},
    {"CP-06 one path, two levels", {"grant write /p", "grant read /p"}, {"read /p", "read /p/a"}},
    {"CP-06 in the other order", {"grant read /p", "grant write /p"}, {"read /p/a"}},
    {"CP-07 a tool directory yields",
     {"grant write $WORK", "auto grant read $WORK/.venv/bin"},
     {"write /w/.venv/bin", "write /w/.venv/bin/x"}},
    {"CP-08 what a person marked read-only stays so",
     {"grant write $WORK", "grant read $WORK/.venv", "auto grant write $WORK/.venv/bin"},
     {"read /w/.venv/bin/x"}},
    {"CP-09 a deny survives an automatic grant",
     {"auto grant write /opt/t", "deny /opt/t"},
     {"none /opt/t/bin"}},
    {"CP-10 the highest automatic grant counts",
     {"auto grant write /a", "auto grant read /a/b", "auto grant read /c", "auto grant write /c/d"},
     {"write /a/b/c", "read /c/x", "write /c/d"}},
    {"automatic grants fill gaps only",
     {"grant read /a/b", "auto grant write /a", "auto grant write /a/b/c"},
     {"write /a/x", "read /a/b/x", "read /a/b/c"}},
    {"MX-03 granted and denied at one path", {"grant write /a", "deny /a"}, {"none /a", "none /a/b"}},
    {"MX-04 a final slash changes nothing", {"grant write /data/", "deny /data"}, {"none /data/x"}},
    {"MX-05 whole components", {"grant write /workspace"}, {"none /workspace2/f", "write /workspace/f"}},
    {"OS-06 read in write", {"grant read /s/f", "grant write /s"}, {"read /s/f", "write /s/g"}},
    {"OS-07 a baseline must not widen", {"grant read /s", "auto grant write /s"}, {"read /s", "read /s/x"}},
    {"deny write caps at read",
     {"grant write /w", "deny write /w/.github"},
     {"read /w/.github/x", "read /w/.github", "write /w/x"}},
    {"deny write grants nothing", {"deny write /w"}, {"none /w/x"}},
    {"an except lifts its own deny only",
     {"grant write /w", "deny /w/a except /w/a/b", "deny write /w/a/b/c"},
     {"none /w/a/x", "write /w/a/b", "write /w/a/b/d", "read /w/a/b/c/d", "none /w/a"}},
    {"an except does not lift another deny of the same path",
     {"grant write /w", "deny /w/a except /w/a/b", "deny /w/a except /w/a/c"},
     {"none /w/a/b", "none /w/a/c", "none /w/a/x"}},
    {"an except above the deny lifts it whole",
     {"grant write /w", "deny /w/a/b except /w/a"},
     {"write /w/a/b", "write /w/a/b/c"}},
    {"an except elsewhere does nothing",
     {"grant write /w", "deny /w/a except /w/b"},
     {"none /w/a", "write /w/b"}},
    {"patterns",
     {"grant write $WORK", "deny $WORK/**/*.pem except $WORK/tests/fixtures"},
     {"none /w/a.pem", "none /w/d/a.pem/x", "write /w/tests/fixtures/a.pem", "none /w/tests/a.pem",
      "write /w/a.pemx"}},
    {"a pattern as exception",
     {"grant write /w", "deny /w/s except /w/s/*.pub"},
     {"none /w/s/key", "write /w/s/key.pub", "write /w/s/key.pub/x", "none /w/s/d/key.pub", "none /w/s"}},
    {"a pattern with a pattern as exception",
     {"grant write /w", "deny write /w/**/gen except /w/**/gen/[a-c]*"},
     {"read /w/x/gen", "read /w/x/gen/d", "write /w/x/gen/b1/x", "write /w/x"}},
    {"the slash itself",
     {"grant write /a", "deny / except /a/b"},
     {"none /a", "none /a/c", "write /a/b", "none /"}},
    {"bytes are bytes", {"grant read /w/\xff", "deny /w/\xff/A"}, {"read /w/\xff/a", "none /w/\xff/A"}},
    {"denies add up",
     {"grant write /w", "deny write /w", "deny /w/a", "deny write /w/a/b"},
     {"read /w/x", "none /w/a/b"}},
    {"a drive belongs to Windows",
     {"grant write /w", "deny C:/w", "grant read D:/x"},
     {"write /w/x", "none D:/x"}},
    {"a rule of another system is left out", {"grant write /w", "@windows deny /w"}, {"write /w"}},
    {"a rule of another command is left out", {"grant read /w", "@cmd=git grant write /w/g"}, {"read /w/g"}},
};

static void levels_follow_the_language(void **state)
{
    (void)state;
    check_levels(linux_cases, sizeof linux_cases / sizeof *linux_cases, SYSTEM_LINUX);
}

static const struct level_case managed_cases[] = {
    {"a managed layer that says nothing takes nothing",
     {"grant write /w", "managed a"},
     {"write /w", "none /x"}},
    {"a managed deny",
     {"grant write /w", "managed a", "deny /w/s", "deny write /w/t"},
     {"none /w/s", "read /w/t/x", "write /w/u"}},
    {"limit write caps at read outside",
     {"grant write /w", "grant write /x", "managed a", "limit write to /w/a"},
     {"write /w/a/b", "read /w/b", "read /x"}},
    {"limit read caps at none outside",
     {"grant write /w", "grant read /x", "managed a", "limit read to /w"},
     {"write /w/a", "none /x"}},
    {"what may be written may be read",
     {"grant write /w", "grant write /x", "grant read /y", "managed a", "limit read to /y",
      "limit write to /x"},
     {"none /w", "write /x", "read /y"}},
    {"lists of one layer add up",
     {"grant write /", "managed a", "limit write to /a", "limit write to /b"},
     {"write /a", "write /b", "read /c"}},
    {"lists of two layers narrow",
     {"grant write /", "managed a", "limit write to /a", "managed b", "limit write to /a/b"},
     {"read /a", "write /a/b", "read /a/c"}},
    {"CP-29 a limit to nothing", {"grant write /w", "managed a", "limit write to nothing"}, {"read /w"}},
    {"a limit whose list is of another system holds",
     {"grant write /w", "managed a", "limit read to nothing", "limit read to C:/x"},
     {"none /w"}},
    {"CP-27 lists cover by path",
     {"grant write /a", "grant write /a/b", "managed m", "limit write to /a"},
     {"write /a", "write /a/b/c"}},
    {"CP-31 denies of all layers add up",
     {"grant write /", "deny /z", "managed a", "deny /x", "managed b", "deny /y"},
     {"none /x", "none /y", "none /z", "write /q"}},
    {"a managed grant opens nothing",
     {"grant read /w", "managed a", "grant write /w", "auto grant write /x"},
     {"read /w", "none /x"}},
    {"a managed except lifts its own deny only",
     {"grant write /w", "deny /w/a", "managed a", "deny /w except /w/a"},
     {"none /w/a", "none /w/b"}},
};

static void managed_layers_only_narrow(void **state)
{
    (void)state;
    check_levels(managed_cases, sizeof managed_cases / sizeof *managed_cases, SYSTEM_LINUX);
}

static const struct level_case macos_cases[] = {
    {"MX-26 case variants of a deny",
     {"grant write /w", "deny /w/.git"},
     {"none /w/.GiT", "none /w/.git/x", "write /w/.gitx", "none /W/.git"}},
    {"grants compare by bytes", {"grant write /w/A"}, {"none /w/a", "write /w/A"}},
    {"an except compares by bytes",
     {"grant write /w", "deny /w/s except /w/s/Open"},
     {"none /w/s/open", "write /w/s/Open", "none /w/S/Open"}},
    {"both normalisation forms",
     {"grant write /w", "deny /w/\xc3\xa9", "deny /w/o\xcc\x88"},
     {"none /w/\xc3\xa9", "none /w/e\xcc\x81", "none /w/E\xcc\x81/x", "none /w/\xc3\xb6",
      "none /w/\xc3\x96"}},
    {"patterns fold too",
     {"grant write /w", "deny /w/Src/*.PEM"},
     {"none /w/src/a.pem", "none /w/SRC/a.Pem", "write /w/src/a.txt"}},
    {"a name that no file system can hold", {"grant write /w", "deny /w/a"}, {"write /w/b"}},
};

static void denies_fold_on_macos(void **state)
{
    (void)state;
    check_levels(macos_cases, sizeof macos_cases / sizeof *macos_cases, SYSTEM_MACOS);
}

static void a_path_that_cannot_be_folded_is_closed(void **state)
{
    static char path[20000];
    struct arena *arena = arena_create(0);
    (void)state;
    memset(path, 'x', sizeof path);
    memcpy(path, "/w/", 3);
    const char *const *lines = LINES("grant write /w");
    assert_int_equal(LEVEL_NONE, bound_level(bind_lines(arena, lines, SYSTEM_MACOS), path, sizeof path));
    assert_int_equal(LEVEL_WRITE, bound_level(bind_lines(arena, lines, SYSTEM_LINUX), path, sizeof path));
    arena_destroy(arena);
}

static void drives_are_roots_on_windows(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound =
        bind_lines(arena, LINES("grant write C:/w", "deny C:/w/s", "grant write /x"), SYSTEM_WINDOWS);
    assert_int_equal(LEVEL_WRITE, bound_level(bound, "C:/w/a", 6));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "C:/w/S/a", 8));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "D:/w/a", 6));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/x", 2));
    arena_destroy(arena);
}

static bool may_exec(const struct bound_policy *bound, const char *path)
{
    return bound_exec(bound, path, strlen(path));
}

static void exec_needs_read_and_no_deny_exec(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound =
        bind_lines(arena,
                   LINES("grant read /b", "deny exec /b/sudo", "deny /b/s", "deny exec /b/t except /b/t/ok",
                         "managed a", "deny exec /b/*.sh"),
                   SYSTEM_LINUX);
    assert_true(may_exec(bound, "/b/ls"));
    assert_false(may_exec(bound, "/b/sudo"));
    assert_false(may_exec(bound, "/b/s/x"));
    assert_false(may_exec(bound, "/c"));
    assert_false(may_exec(bound, "/b/t/no"));
    assert_true(may_exec(bound, "/b/t/ok"));
    assert_false(may_exec(bound, "/b/x.sh"));
    assert_int_equal(LEVEL_READ, bound_level(bound, "/b/sudo", 7));
    arena_destroy(arena);
}

static bool may_use(const struct bound_policy *bound, const char *path)
{
    return bound_socket(bound, path, strlen(path));
}

static void sockets_are_closed_by_whatever_closes_their_path(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(
        arena,
        LINES("grant write /w", "grant socket /w/s", "grant socket /r", "deny /w/s/a", "deny write /w/s/b",
              "deny socket /w/s/c", "deny socket /w/s/*.old", "grant read /r"),
        SYSTEM_LINUX);
    assert_false(may_use(bound, "/w/x"));
    assert_true(may_use(bound, "/w/s/ok"));
    assert_true(may_use(bound, "/r/x"));
    assert_false(may_use(bound, "/w/s/a"));
    assert_false(may_use(bound, "/w/s/b/x"));
    assert_false(may_use(bound, "/w/s/c"));
    assert_false(may_use(bound, "/w/s/x.old"));
    assert_int_equal(LEVEL_WRITE, bound_level(bound, "/w/s/c", 6));

    bound = bind_lines(arena,
                       LINES("grant socket /w", "managed a", "limit write to /w/a", "limit socket to /w/a/s"),
                       SYSTEM_LINUX);
    assert_false(may_use(bound, "/w/b"));
    assert_false(may_use(bound, "/w/a/b"));
    assert_true(may_use(bound, "/w/a/s"));
    bound = bind_lines(arena, LINES("grant socket /w", "managed a", "limit socket to nothing"), SYSTEM_LINUX);
    assert_false(may_use(bound, "/w/b"));
    bound = bind_lines(arena, LINES("grant socket /w", "managed a", "limit read to /x"), SYSTEM_LINUX);
    assert_true(may_use(bound, "/w/b"));
    arena_destroy(arena);
}

static void rules_may_be_dropped_added_and_turned_before_sealing(void **state)
{
    struct arena *arena = arena_create(0);
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    (void)state;
    struct bound_policy *bound =
        bind_with(arena, LINES("grant write /w", "grant read /w/a", "grant write /x", "grant socket /w"),
                  &bindings, &notes);
    bound->rules.items[1].holds_as_deny_write = true;
    bound->rules.items[2].dropped = true;
    bound_add_itself(bound, "/w/project.sbx", "the policy file");
    bound_seal(bound, NULL);
    assert_int_equal(LEVEL_READ, bound_level(bound, "/w/a", 4));
    assert_false(bound_socket(bound, "/w/a", 4));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/x", 2));
    assert_int_equal(LEVEL_READ, bound_level(bound, "/w/project.sbx", 14));
    assert_false(bound_socket(bound, "/w/project.sbx", 14));
    assert_true(bound_socket(bound, "/w/s", 4));
    arena_destroy(arena);
}

static void one_layer_can_be_asked_alone(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(
        arena, LINES("grant write /w", "managed a", "deny write /w/a", "managed b", "limit read to /w/a"),
        SYSTEM_LINUX);
    assert_int_equal(LEVEL_WRITE, bound_layer_level(bound, 0, "/w/a", 4));
    assert_int_equal(LEVEL_READ, bound_layer_level(bound, 1, "/w/a", 4));
    assert_int_equal(LEVEL_WRITE, bound_layer_level(bound, 2, "/w/a", 4));
    assert_int_equal(LEVEL_NONE, bound_layer_level(bound, 2, "/w/b", 4));
    assert_int_equal(LEVEL_READ, bound_level(bound, "/w/a", 4));
    arena_destroy(arena);
}

static void notes_say_where_grants_meet(void **state)
{
    struct arena *arena = arena_create(0);
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    (void)state;
    bind_with(arena,
              LINES("grant read $CACHE", "auto grant write $CACHE/npm", "auto grant read $CACHE/pip",
                    "grant write $DATA", "grant read ~/.local/share", "grant write /a", "grant read /a/b"),
              &bindings, &notes);
    assert_int_equal(2, notes.count);
    assert_int_equal(SBX159_AUTOMATIC_GRANT_HIGHER, notes.items[0].code);
    assert_non_null(strstr(notes.items[0].help, "grant write $CACHE/npm"));
    assert_int_equal(2, notes.items[0].rule->origin.line);
    assert_int_equal(SBX160_GRANTS_MEET, notes.items[1].code);
    assert_non_null(strstr(notes.items[1].help, "grant write $DATA"));
    assert_int_equal(0, notes.errors);
    arena_destroy(arena);
}

static void many_exceptions_stay_exact(void **state)
{
    enum { COUNT = 3000 };
    struct arena *arena = arena_create(0);
    struct rule *rules = arena_array(arena, 2, sizeof *rules);
    struct policy_path *paths = arena_array(arena, COUNT, sizeof *paths);
    struct path_list list = {paths, COUNT};
    struct layer layer = {.kind = LAYER_POLICY, .name = "policy"};
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        paths[i] = (struct policy_path){.root = ROOT_WORK, .rest = arena_format(arena, "/d/%d", i)};
    rules[0] = (struct rule){.kind = RULE_GRANT,
                             .systems = SYSTEM_ALL,
                             .level = LEVEL_WRITE,
                             .path = {.root = ROOT_WORK, .rest = ""}};
    rules[1] = (struct rule){
        .kind = RULE_DENY, .systems = SYSTEM_ALL, .path = {.root = ROOT_WORK, .rest = "/d"}, .except = &list};
    struct policy policy = {
        .arena = arena, .layers = &layer, .layer_count = 1, .rules = rules, .rule_count = 2};
    struct bound_policy *bound = policy_bind(arena, &policy, &bindings, &notes);
    bound_seal(bound, NULL);
    for (int i = 0; i < 2 * COUNT; i++) {
        const char *path = arena_format(arena, "/w/d/%d/x", i);
        assert_int_equal(i < COUNT ? LEVEL_WRITE : LEVEL_NONE, bound_level(bound, path, strlen(path)));
    }
    arena_destroy(arena);
}

static void check_regions(const struct bound_policy *bound, const char *const *extra, uint32_t extra_count,
                          const char *const *expected)
{
    struct region_list list = bound_regions(bound->arena, bound, extra, extra_count);
    for (uint32_t i = 0; i < list.count; i++) {
        const char *line =
            arena_format(bound->arena, "%s %s %u", level_names[list.items[i].level], list.items[i].path,
                         list.items[i].why != NULL ? list.items[i].why->rule->origin.line : 0);
        if (expected[i] == NULL || strcmp(line, expected[i]) != 0)
            fail_msg("region %u is %s, not %s", i, line, expected[i] != NULL ? expected[i] : "none");
    }
    if (expected[list.count] != NULL)
        fail_msg("missing %s", expected[list.count]);
}

static void regions_are_minimal_and_sorted(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound =
        bind_lines(arena,
                   LINES("grant write /w", "grant read /w/a-b", "grant read /w/a",
                         "deny /w/a/s except /w/a/s/t", "grant write /w/x", "deny /nowhere",
                         "auto grant write /w/q", "deny /w/**/*.pem", "grant write /w/k.pem"),
                   SYSTEM_LINUX);
    check_regions(bound, NULL, 0,
                  LINES("write /w 1", "read /w/a 3", "none /w/a/s 4", "read /w/a/s/t 3", "read /w/a-b 2",
                        "none /w/k.pem 8"));
    check_regions(bound, LINES("/w/z/m.pem", "/w/z"), 2,
                  LINES("write /w 1", "read /w/a 3", "none /w/a/s 4", "read /w/a/s/t 3", "read /w/a-b 2",
                        "none /w/k.pem 8", "none /w/z/m.pem 8"));
    bound = bind_lines(arena, LINES("grant read /a", "deny / except /a", "managed m", "limit read to /a/b"),
                       SYSTEM_LINUX);
    check_regions(bound, NULL, 0, LINES("read /a/b 1"));
    bound = bind_lines(arena,
                       LINES("grant read /a", "grant read /a/c", "managed m", "limit read to nothing",
                             "limit read to /", "deny /a/b"),
                       SYSTEM_LINUX);
    check_regions(bound, NULL, 0, LINES("read /a 1", "none /a/b 5"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_follow_the_language),
        cmocka_unit_test(managed_layers_only_narrow),
        cmocka_unit_test(denies_fold_on_macos),
        cmocka_unit_test(a_path_that_cannot_be_folded_is_closed),
        cmocka_unit_test(drives_are_roots_on_windows),
        cmocka_unit_test(exec_needs_read_and_no_deny_exec),
        cmocka_unit_test(sockets_are_closed_by_whatever_closes_their_path),
        cmocka_unit_test(rules_may_be_dropped_added_and_turned_before_sealing),
        cmocka_unit_test(one_layer_can_be_asked_alone),
        cmocka_unit_test(notes_say_where_grants_meet),
        cmocka_unit_test(many_exceptions_stay_exact),
        cmocka_unit_test(regions_are_minimal_and_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
