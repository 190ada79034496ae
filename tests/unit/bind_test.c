#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "build_policy.h"
#include "policy/bound.h"

/* A host in a table: what each path resolves to, and whether that is a directory. */
struct place {
    const char *path, *canonical;
    bool directory;
};

static const struct place places[] = {
    {"/usr/bin", "/usr/bin", true},
    {"/bin", "/usr/bin", true},
    {"/opt/t", "/opt/t", true},
    {"/opt/f", "/opt/f", false},
    {"/proc/1", "/proc/1", true},
    {"/run/x", "/run/x", true},
    {"/dev", "/dev", true},
    {"/link", "/opt/t", true},
    {"/", "/", true},
    {"/home/me", "/home/me", true},
    {"/home", "/home", true},
    {"/runner", "/runner", true},
    {"/w/tools", "/w/tools", true},
    {"/home/me/go", "/home/me/go", true},
    {"/up/../opt/t", "/opt/t", true},
    {"/opt", "/opt", true},
};

static const struct place *place_of(const char *path)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].path, path) == 0)
            return &places[i];
    return NULL;
}

static const char *table_canonical(void *context, struct arena *arena, const char *path)
{
    (void)context;
    (void)arena;
    return place_of(path) != NULL ? place_of(path)->canonical : NULL;
}

static bool table_is_directory(void *context, const char *path)
{
    (void)context;
    return place_of(path) != NULL && place_of(path)->directory;
}

static const struct host_view table_host = {NULL, table_canonical, table_is_directory};

struct job {
    struct arena *arena;
    struct bindings bindings;
    struct note_list notes;
    struct variable_list environment;
};

static struct job job_on(enum system system)
{
    struct job job = {.arena = arena_create(0), .bindings = build_bindings(system)};
    job.notes = note_list_in(job.arena);
    job.bindings.host = &table_host;
    return job;
}

static void set_variable(struct job *job, const char *name, const char *value)
{
    VECTOR_PUSH(job->arena, &job->environment, (struct variable){name, value});
    job->bindings.environment = job->environment.items;
    job->bindings.environment_count = job->environment.count;
}

static void set_root(struct job *job, enum root root, const char *path)
{
    const char **paths = arena_alloc(job->arena, sizeof *paths);
    *paths = path;
    job->bindings.roots[root] = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
}

static struct bound_policy *bind_in(struct job *job, const char *const *lines)
{
    job->notes = note_list_in(job->arena);
    struct bound_policy *bound =
        policy_bind(job->arena, build_policy(job->arena, lines), &job->bindings, &job->notes);
    bound_seal(bound, NULL);
    return bound;
}

/* Compares the bound paths of the rules, with blanks between. */
static void expect_paths(struct job *job, const char *const *lines, const char *paths)
{
    struct bound_policy *bound = bind_in(job, lines);
    struct buffer got = buffer_in(job->arena);
    buffer_string(&got, "");
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].at.path != NULL)
            buffer_format(&got, "%s%s", got.length > 0 ? " " : "", bound->rules.items[i].at.path);
    assert_string_equal(paths, got.bytes);
}

/* Compares the codes of the notes. */
static void expect_notes(const struct job *job, const char *codes)
{
    struct buffer got = buffer_in(job->arena);
    buffer_string(&got, "");
    for (uint32_t i = 0; i < job->notes.count; i++)
        buffer_format(&got, "%s%d%s", i > 0 ? " " : "", (int)job->notes.items[i].code,
                      job->notes.items[i].severity == SEVERITY_ERROR ? "!" : "");
    assert_string_equal(codes, got.bytes);
}

static void roots_become_their_paths(void **state)
{
    static const char *const gitdirs[] = {"/r/.git/worktrees/x", "/r/.git"};
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.roots[ROOT_GITDIR] = (struct root_value){.state = ROOT_BOUND, .paths = gitdirs, .count = 2};
    job.bindings.roots[ROOT_TMP].state = ROOT_SYMBOLIC;
    expect_paths(&job,
                 LINES("grant write $WORK/a", "grant read ~", "grant write $GITDIR/objects", "deny $TMP/x/",
                       "deny C:/x", "grant read /opt"),
                 "/w/a /home/me /r/.git/worktrees/x/objects /r/.git/objects $TMP/x /opt");
    expect_notes(&job, "");
    set_root(&job, ROOT_WORK, "/");
    expect_paths(&job, LINES("deny $WORK/a", "deny $WORK"), "/a /");
    arena_destroy(job.arena);
}

static void signs_in_a_root_are_no_signs(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_root(&job, ROOT_WORK, "/w/[a]*");
    expect_paths(&job, LINES("deny $WORK/*.pem", "grant write $WORK/x"), "/w/\\[a\\]\\*/*.pem /w/[a]*/x");
    struct bound_policy *bound =
        bind_in(&job, LINES("grant write $WORK", "deny $WORK/*.pem except $WORK/ok*"));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/w/[a]*/k.pem", 13));
    assert_int_equal(LEVEL_WRITE, bound_level(bound, "/w/[a]*/ok.pem", 14));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/w/ab/k.pem", 11));
    arena_destroy(job.arena);
}

static void an_unset_root_means_what_its_user_means(void **state)
{
    static const struct {
        const char *line, *notes;
        enum root unset;
    } cases[] = {
        {"grant write $CACHE/x", "150", ROOT_CACHE},
        {"auto grant write $CACHE", "150", ROOT_CACHE},
        {"grant socket $DATA/s", "150", ROOT_DATA},
        {"deny $CONFIG/x", "151!", ROOT_CONFIG},
        {"deny exec $TMP/x", "151!", ROOT_TMP},
        {"deny socket $WORK/x", "151!", ROOT_WORK},
        {"deny $REPO/x", "150", ROOT_REPO},
        {"deny write $GITDIR/hooks", "150", ROOT_GITDIR},
        {"grant write $GITDIR", "150", ROOT_GITDIR},
        {"deny $env.NOPE", "150", ROOT_REPO},
        {"grant read $env.NOPE", "150", ROOT_REPO},
        {"grant read ~/x", "153!", ROOT_HOME},
        {"deny ~/x", "153!", ROOT_HOME},
        {"deny /a except ~/x", "153!", ROOT_HOME},
        {"deny /a except $CACHE/x", "165", ROOT_CACHE},
        {"expect deny $REPO/x", "164", ROOT_REPO},
        {"expect deny ~/x", "164", ROOT_HOME},
        {"grant read $WORK/x", "", ROOT_HOME},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_on(SYSTEM_LINUX);
        job.bindings.roots[cases[i].unset] = (struct root_value){.state = ROOT_UNSET};
        bind_in(&job, LINES(cases[i].line));
        expect_notes(&job, cases[i].notes);
        arena_destroy(job.arena);
    }
}

static void a_refused_home_is_refused_where_it_is_used(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.roots[ROOT_HOME].refused = "belongs to someone else";
    expect_paths(&job, LINES("grant read ~/x", "grant read $CACHE"), "/home/me/.cache");
    expect_notes(&job, "153!");
    assert_non_null(strstr(job.notes.items[0].text, "belongs to someone else"));
    arena_destroy(job.arena);
}

static void managed_layers_use_the_account(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    static const char *const account = "/home/account";
    (void)state;
    job.bindings.managed_roots[ROOT_HOME].paths = &account;
    expect_paths(&job, LINES("grant read ~/x", "managed m", "deny ~/x", "limit read to $WORK/y"),
                 "/home/me/x /home/account/x /w/y");
    job.bindings.managed_roots[ROOT_HOME].state = ROOT_UNSET;
    bind_in(&job, LINES("grant read ~/x", "managed m", "deny ~/x"));
    expect_notes(&job, "153!");
    job.bindings.roots[ROOT_REPO].state = ROOT_UNSET;
    bind_in(&job,
            LINES("grant read /x", "managed m", "deny $REPO/x", "limit read to $REPO/y", "deny $env.PATH"));
    expect_notes(&job, "152! 158!"); /* one for the root */
    arena_destroy(job.arena);
}

static void wide_bindings_are_refused_or_dropped(void **state)
{
    static const struct {
        const char *line;
        enum root root;
        const char *path, *notes;
    } cases[] = {
        {"grant write $WORK", ROOT_WORK, "/", "154!"},
        {"grant read $WORK", ROOT_WORK, "/home/me", "154!"},
        {"grant read $WORK", ROOT_WORK, "/home", "154!"},
        {"grant read $WORK", ROOT_WORK, "/home/me/w", ""},
        {"grant read $WORK", ROOT_WORK, "/home/m", ""},
        {"grant read $WORK/x", ROOT_WORK, "/", ""},
        {"deny $WORK", ROOT_WORK, "/", ""},
        {"auto grant write $TMP", ROOT_TMP, "/", "155"},
        {"grant write $CONFIG", ROOT_CONFIG, "/home/me", "154!"},
        {"auto grant write $CACHE", ROOT_CACHE, "/home/me", "155"},
        {"grant socket $DATA", ROOT_DATA, "/home", "154!"},
        {"grant read ~", ROOT_HOME, "/home/me", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_on(SYSTEM_LINUX);
        set_root(&job, cases[i].root, cases[i].path);
        struct bound_policy *bound = bind_in(&job, LINES(cases[i].line));
        expect_notes(&job, cases[i].notes);
        assert_int_equal(cases[i].notes[0] == '\0', bound->rules.count);
        arena_destroy(job.arena);
    }
}

static void a_wide_repository_is_none(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_root(&job, ROOT_REPO, "/home/me");
    set_root(&job, ROOT_GITDIR, "/home/me/.git");
    expect_paths(&job, LINES("grant read $REPO", "grant write $GITDIR", "deny $REPO/x"), "");
    expect_notes(&job, "163 150 150 150");
    arena_destroy(job.arena);
}

static void a_wide_managed_limit_is_refused(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    static const char *const account = "/srv/account";
    (void)state;
    set_root(&job, ROOT_WORK, "/srv");
    bind_in(&job, LINES("grant read /x", "managed m", "limit write to $WORK"));
    expect_notes(&job, "");
    job.bindings.managed_roots[ROOT_HOME].paths = &account;
    bind_in(&job, LINES("grant read /x", "managed m", "limit write to nothing", "limit write to $WORK"));
    expect_notes(&job, "156!");
    set_root(&job, ROOT_TMP, "/");
    struct bound_policy *bound = bind_in(&job, LINES("grant read /x", "managed m", "limit read to nothing",
                                                     "limit read to $TMP", "limit read to $WORK/x"));
    expect_notes(&job, "156!");
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/x", 2));
    arena_destroy(job.arena);
}

static void granted_lists_lose_what_is_no_tool_directory(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(
        &job, "PATH",
        ":/usr/bin:rel:/missing:/opt/f:/proc/1:/run/x:/dev:/runner:/:/home:/home/me:/opt/t:/opt/t/:");
    expect_paths(&job, LINES("auto grant read $env.PATH"), "/usr/bin /runner /opt/t");
    expect_notes(&job, "157 157 157 157 157 157 157 155 155 155 157");
    /* CP-11: below the list nothing is too wide */
    set_variable(&job, "GOPATH", "/:/home/me/go");
    expect_paths(&job, LINES("grant read $env.GOPATH/bin"), "/bin /home/me/go/bin");
    expect_notes(&job, "");
    arena_destroy(job.arena);
}

static void a_link_in_a_list_is_kept_with_its_name(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "PATH", "/bin");
    struct bound_policy *bound = bind_in(&job, LINES("auto grant read $env.PATH"));
    assert_int_equal(1, bound->rules.count);
    assert_string_equal("/usr/bin", bound->rules.items[0].at.path);
    assert_string_equal("/bin", bound->rules.items[0].at.given);
    arena_destroy(job.arena);
}

static void other_variables_are_one_path(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "JAVA_HOME", "/opt/t:/usr/bin");
    set_variable(&job, "GOROOT", "/opt/t");
    set_variable(&job, "CARGO_HOME", "/home/me");
    set_variable(&job, "EMPTY", "");
    expect_paths(&job, LINES("grant read $env.JAVA_HOME"), ""); /* CP-13 */
    expect_notes(&job, "157");
    expect_paths(&job, LINES("grant read $env.GOROOT/lib"), "/opt/t/lib");
    expect_paths(&job, LINES("grant read $env.CARGO_HOME"), "");
    expect_notes(&job, "154!");
    expect_paths(&job, LINES("auto grant read $env.CARGO_HOME"), "");
    expect_notes(&job, "155");
    expect_paths(&job, LINES("grant read $env.EMPTY"), "");
    expect_notes(&job, "157");
    arena_destroy(job.arena);
}

static void denied_lists_keep_every_spelling(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "PATH", "/bin:tools:./a//b/:/missing:/opt/f::/up/../opt/t:../out:/bin");
    expect_paths(&job, LINES("deny write $env.PATH"),
                 "/usr/bin /bin /w/tools /w/a/b /missing /opt/f /opt/t /out");
    expect_notes(&job, "157");
    job.bindings.roots[ROOT_WORK].state = ROOT_SYMBOLIC;
    set_variable(&job, "GOPATH", "rel:../up");
    expect_paths(&job, LINES("deny $env.GOPATH/x"), "$WORK/rel/x");
    expect_notes(&job, "151!");
    job.bindings.roots[ROOT_WORK].state = ROOT_UNSET;
    bind_in(&job, LINES("deny $env.GOPATH/x"));
    expect_notes(&job, "151! 151!");
    arena_destroy(job.arena);
}

static void an_exception_by_a_variable_lifts_only_what_is_there(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "PATH", "rel:/missing:/opt/t:/");
    struct bound_policy *bound = bind_in(&job, LINES("grant read /opt", "deny /opt except $env.PATH"));
    expect_notes(&job, "157 157 155");
    assert_int_equal(LEVEL_READ, bound_level(bound, "/opt/t/x", 8));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/opt/u", 6));
    arena_destroy(job.arena);
}

static void without_a_host_items_are_taken_as_written(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.host = NULL;
    job.bindings.environment_known = false;
    set_variable(&job, "PATH", "/a:/b/:rel:/c/../d:/proc:/a");
    expect_paths(&job, LINES("grant read $env.PATH", "grant read $env.GOPATH/x", "deny $env.NOPE"),
                 "/a /b $env.GOPATH/x $env.NOPE");
    expect_notes(&job, "157 157 157");
    arena_destroy(job.arena);
}

static void windows_lists_have_their_own_form(void **state)
{
    struct job job = job_on(SYSTEM_WINDOWS);
    (void)state;
    job.bindings.host = NULL;
    set_root(&job, ROOT_WORK, "D:/w");
    set_root(&job, ROOT_HOME, "C:/Users/me");
    set_variable(&job, "Path", "C:\\Tools\\bin;d:/x;\\\\server\\share;C:rel;C:\\;E:\\a:b");
    expect_paths(&job, LINES("grant read $env.PATH"), "C:/Tools/bin D:/x E:/a:b");
    expect_notes(&job, "157 157 155");
    expect_paths(&job, LINES("deny /x", "deny C:/y", "grant read C:/Users except $WORK"), "C:/y C:/Users");
    arena_destroy(job.arena);
}

static void a_path_has_at_most_4096_bytes(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    char *rest = arena_alloc(job.arena, 4097);
    (void)state;
    memset(rest, 'x', 4096);
    rest[0] = '/';
    expect_paths(&job, LINES(arena_format(job.arena, "grant read %s", rest)), rest);
    bind_in(&job, LINES(arena_format(job.arena, "deny $WORK%s", rest)));
    expect_notes(&job, "166!");
    arena_destroy(job.arena);
}

static void rules_of_a_command_hold_for_that_command(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    const char *const *lines = LINES("grant read /a", "@cmd=git grant read /g", "@windows grant read /x");
    (void)state;
    expect_paths(&job, lines, "/a");
    job.bindings.command = "git";
    expect_paths(&job, lines, "/a /g");
    job.bindings.command = "npm";
    expect_paths(&job, lines, "/a");
    arena_destroy(job.arena);
}

/* ---- names ---- */

static void variables_follow_the_language(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    struct bound_policy *bound = bind_in(&job, LINES("grant env CI", "grant env NODE_*", "deny env *_TOKEN",
                                                     "set env NODE_TOKEN=x", "grant env *x*y"));
    assert_true(bound_env(bound, "CI"));
    assert_false(bound_env(bound, "ci"));
    assert_true(bound_env(bound, "NODE_ENV"));
    assert_true(bound_env(bound, "NODE_"));
    assert_false(bound_env(bound, "NODE"));
    assert_false(bound_env(bound, "NODE_A_TOKEN"));
    assert_true(bound_env(bound, "NODE_TOKEN"));
    assert_true(bound_env(bound, "axbxcy"));
    assert_false(bound_env(bound, "axbxc"));
    assert_false(bound_env(bound, "HOME"));

    bound = bind_in(&job, LINES("grant env *", "set env LD_X=1", "managed m", "deny env LD_*",
                                "limit env to nothing", "limit env to C*", "limit env to LD_*"));
    assert_true(bound_env(bound, "CI"));
    assert_false(bound_env(bound, "LD_X"));
    assert_false(bound_env(bound, "HOME"));
    bound = bind_in(&job, LINES("grant env A", "managed m", "limit env to nothing"));
    assert_false(bound_env(bound, "A"));
    arena_destroy(job.arena);
}

static void names_ignore_case_on_windows(void **state)
{
    struct job job = job_on(SYSTEM_WINDOWS);
    (void)state;
    job.bindings.host = NULL;
    struct bound_policy *bound = bind_in(&job, LINES("grant env Path", "grant env node_*", "deny env *_Token",
                                                     "managed m", "deny env SECRET"));
    assert_true(bound_env(bound, "PATH"));
    assert_true(bound_env(bound, "NODE_ENV"));
    assert_false(bound_env(bound, "NODE_TOKEN"));
    assert_false(bound_env(bound, "secret"));
    bind_in(&job, LINES("set env Path=a", "set env PATH=b", "set env X=1", "set env X=1"));
    expect_notes(&job, "162!");
    job.bindings.system = SYSTEM_LINUX;
    bind_in(&job, LINES("set env Path=a", "set env PATH=b", "set env X=1"));
    expect_notes(&job, "");
    bind_in(&job, LINES("set env A=1", "set env a=1", "set env A=2"));
    expect_notes(&job, "162!");
    arena_destroy(job.arena);
}

static void the_environment_is_what_passes_and_what_is_set(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "Z", "z");
    set_variable(&job, "A", "old");
    set_variable(&job, "SECRET", "s");
    set_variable(&job, "LD_X", "l");
    struct bound_policy *bound =
        bind_in(&job, LINES("grant env Z", "grant env LD_X", "set env A=new", "set env LD_Y=y",
                            "set env A=new", "managed m", "deny env LD_*"));
    struct note_list notes = note_list_in(job.arena);
    struct variable_list list = bound_environment(job.arena, bound, &notes);
    assert_int_equal(2, list.count);
    assert_string_equal("A", list.items[0].name);
    assert_string_equal("new", list.items[0].value);
    assert_string_equal("Z", list.items[1].name);
    assert_int_equal(1, notes.count);
    assert_int_equal(SBX161_SET_REMOVED, notes.items[0].code);
    arena_destroy(job.arena);
}

static void services_switches_and_amounts(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    struct bound_policy *bound =
        bind_in(&job, LINES("grant service gpu", "grant service dbus", "deny service dbus", "grant scratch",
                            "grant bypass", "limit processes to 512", "limit memory to 100"));
    assert_true(bound_service(bound, "gpu"));
    assert_false(bound_service(bound, "dbus"));
    assert_false(bound_service(bound, "audio"));
    assert_true(bound_scratch(bound));
    assert_true(bound_bypass(bound));
    assert_int_equal(512, bound_limit(bound, RULE_LIMIT_PROCESSES));
    assert_int_equal(0, bound_limit(bound, RULE_LIMIT_TIME));

    const char *const *lines =
        LINES("grant service gpu", "grant service audio", "grant scratch", "grant bypass", "limit files to 9",
              "managed m", "permit bypass", "limit service to nothing", "limit service to a*",
              "limit files to 5", "managed n", "permit bypass");
    bound = bind_in(&job, lines);
    assert_false(bound_service(bound, "gpu"));
    assert_true(bound_service(bound, "audio"));
    assert_true(bound_bypass(bound));
    assert_int_equal(5, bound_limit(bound, RULE_LIMIT_FILES));
    bound = bind_in(&job, LINES("grant bypass", "managed m", "permit bypass", "managed n")); /* CP-26 */
    assert_false(bound_bypass(bound));
    bound = bind_in(&job, LINES("managed m", "permit bypass"));
    assert_false(bound_bypass(bound));
    bound = bind_in(&job, LINES("grant scratch", "managed m", "deny scratch"));
    assert_false(bound_scratch(bound));
    arena_destroy(job.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_become_their_paths),
        cmocka_unit_test(signs_in_a_root_are_no_signs),
        cmocka_unit_test(an_unset_root_means_what_its_user_means),
        cmocka_unit_test(a_refused_home_is_refused_where_it_is_used),
        cmocka_unit_test(managed_layers_use_the_account),
        cmocka_unit_test(wide_bindings_are_refused_or_dropped),
        cmocka_unit_test(a_wide_repository_is_none),
        cmocka_unit_test(a_wide_managed_limit_is_refused),
        cmocka_unit_test(granted_lists_lose_what_is_no_tool_directory),
        cmocka_unit_test(a_link_in_a_list_is_kept_with_its_name),
        cmocka_unit_test(other_variables_are_one_path),
        cmocka_unit_test(denied_lists_keep_every_spelling),
        cmocka_unit_test(an_exception_by_a_variable_lifts_only_what_is_there),
        cmocka_unit_test(without_a_host_items_are_taken_as_written),
        cmocka_unit_test(windows_lists_have_their_own_form),
        cmocka_unit_test(a_path_has_at_most_4096_bytes),
        cmocka_unit_test(rules_of_a_command_hold_for_that_command),
        cmocka_unit_test(variables_follow_the_language),
        cmocka_unit_test(names_ignore_case_on_windows),
        cmocka_unit_test(the_environment_is_what_passes_and_what_is_set),
        cmocka_unit_test(services_switches_and_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
