#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "build_policy.h"
#include "emitters/control.h"
#include "policy/bound.h"

struct job {
    struct arena *arena;
    struct bindings bindings;
    struct note_list notes;
    struct variable_list environment;
};

static struct job job_on(enum system system)
{
    struct job job = {.arena = arena_create(0), .bindings = build_bindings(system)};
    job.bindings.environment_known = true;
    return job;
}

static void set_variable(struct job *job, const char *name, const char *value)
{
    VECTOR_PUSH(job->arena, &job->environment, (struct variable){name, value});
    job->bindings.environment = job->environment.items;
    job->bindings.environment_count = job->environment.count;
}

static struct bound_policy *bind_in(struct job *job, const char *const *lines)
{
    job->notes = note_list_in(job->arena);
    struct bound_policy *bound =
        policy_bind(job->arena, build_policy(job->arena, lines), &job->bindings, &job->notes);
    bound_seal(bound, NULL);
    return bound;
}

/* Compares the paths of the rules of one kind that services brought. */
static void expect_brought(struct job *job, const char *const *lines, enum rule_kind kind, const char *paths)
{
    struct bound_policy *bound = bind_in(job, lines);
    struct buffer got = buffer_in(job->arena);
    buffer_string(&got, "");
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->service == NULL || rule->rule->kind != kind)
            continue;
        assert_string_equal("service", rule->because);
        buffer_format(&got, "%s%s", got.length > 0 ? " " : "",
                      rule->at.path != NULL ? rule->at.path : rule->rule->name);
    }
    assert_string_equal(paths, got.bytes);
}

static bool socket_open(const struct bound_policy *bound, const char *path)
{
    return bound_socket(bound, path, strlen(path));
}

static void a_grant_opens_what_the_service_is_made_of(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/run//agent/./s");
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_SOCKET, "/run/agent/s");
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_ENV, "SSH_AUTH_SOCK");
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_DENY_SOCKET, "");
    expect_brought(&job, LINES("grant service gpu"), RULE_GRANT_SOCKET, "");
    const struct bound_policy *bound = bind_in(&job, LINES("grant service gpu"));
    assert_int_equal(LEVEL_WRITE, bound_level(bound, "/dev/dri/card0", 14));
    assert_int_equal(LEVEL_WRITE, bound_level(bound, "/dev/nvidiactl", 14));
    assert_int_equal(LEVEL_NONE, bound_level(bound, "/dev/sda", 8));
    arena_destroy(job.arena);
}

static void values_that_lead_nowhere_open_nothing(void **state)
{
    static const char *const values[] = {"", "agent", "./agent", "/", "//", "/run/../s", "/.."};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct job job = job_on(SYSTEM_LINUX);
        set_variable(&job, "SSH_AUTH_SOCK", values[i]);
        expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_SOCKET, "");
        assert_int_equal(0, job.notes.count);
        arena_destroy(job.arena);
    }
}

static void addresses_are_read(void **state)
{
    static const struct {
        const char *value, *paths;
    } cases[] = {
        {"unix:path=/run/user/7/bus", "/run/user/7/bus"},
        {"unix:path=/run/bus,guid=12", "/run/bus"},
        {"unix:guid=12,path=/a%20b;unix:path=/c", "/a b /c"},
        {"unix:abstract=/tmp/x", ""},
        {"tcp:host=localhost,port=1", ""},
        {"unix:path=/a%00b", ""},
        {"unix:path=/a%2", "/a%2"},
        {"unix:path=", ""},
        {"", ""},
        {";;", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_on(SYSTEM_LINUX);
        set_variable(&job, "DBUS_SESSION_BUS_ADDRESS", cases[i].value);
        expect_brought(&job, LINES("grant service dbus"), RULE_GRANT_SOCKET, cases[i].paths);
        arena_destroy(job.arena);
    }
    struct job job = job_on(SYSTEM_LINUX);
    set_variable(&job, "PULSE_SERVER", "{12}unix:/run/p unix:/q /r tcp:h");
    expect_brought(&job, LINES("grant service audio"), RULE_GRANT_SOCKET, "/run/p /q /r");
    arena_destroy(job.arena);
}

static void displays_are_read(void **state)
{
    static const struct {
        const char *name, *value, *paths;
    } cases[] = {
        {"DISPLAY", ":0", "/tmp/.X11-unix/X0"},
        {"DISPLAY", ":12.1", "/tmp/.X11-unix/X12"},
        {"DISPLAY", "unix:3", "/tmp/.X11-unix/X3"},
        {"DISPLAY", "localhost:10.0", ""},
        {"DISPLAY", ":", ""},
        {"DISPLAY", ":../x", ""},
        {"WAYLAND_DISPLAY", "wayland-1", "/run/u/wayland-1"},
        {"WAYLAND_DISPLAY", "/w/s", "/w/s"},
        {"WAYLAND_DISPLAY", "../s", ""},
        {"WAYLAND_DISPLAY", "..", ""},
        {"WAYLAND_DISPLAY", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_on(SYSTEM_LINUX);
        set_variable(&job, "XDG_RUNTIME_DIR", "/run/u");
        set_variable(&job, cases[i].name, cases[i].value);
        expect_brought(&job, LINES("grant service display"), RULE_GRANT_SOCKET, cases[i].paths);
        expect_brought(&job, LINES("grant service clipboard"), RULE_GRANT_SOCKET, cases[i].paths);
        arena_destroy(job.arena);
    }
}

static void a_deny_closes_whoever_grants(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/s/a");
    set_variable(&job, "XDG_RUNTIME_DIR", "/run/u");
    const struct bound_policy *bound =
        bind_in(&job, LINES("grant service ssh-agent", "deny service ssh-agent", "grant socket /s",
                            "grant socket /tmp", "grant env SSH_AUTH_SOCK"));
    assert_false(socket_open(bound, "/s/a"));
    assert_true(socket_open(bound, "/s/b"));
    assert_false(socket_open(bound, "/tmp/ssh-XXXX/agent.7"));
    assert_true(socket_open(bound, "/tmp/ssh-XXXX/other"));
    assert_false(bound_env(bound, "SSH_AUTH_SOCK"));
    bound = bind_in(&job, LINES("deny service dbus", "grant env XDG_RUNTIME_DIR", "grant socket /run"));
    assert_true(bound_env(bound, "XDG_RUNTIME_DIR"));
    assert_false(socket_open(bound, "/run/user/7/bus"));
    assert_false(socket_open(bound, "/run/dbus/system_bus_socket"));
    arena_destroy(job.arena);
}

static void managed_limits_close_what_they_leave_out(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/s/a");
    set_variable(&job, "DOCKER_HOST", "unix:///s/d");
    const char *const *lines = LINES("grant service ssh-agent", "grant service docker", "grant socket /s",
                                     "managed m", "limit service to nothing", "limit service to ssh-agent");
    const struct bound_policy *bound = bind_in(&job, lines);
    assert_int_equal(0, job.notes.errors);
    assert_true(socket_open(bound, "/s/a"));
    assert_false(socket_open(bound, "/s/d"));
    assert_true(bound_env(bound, "SSH_AUTH_SOCK"));
    assert_false(bound_env(bound, "DOCKER_HOST"));
    bound = bind_in(
        &job, LINES("grant service ssh-agent", "grant socket /s", "managed m", "limit service to nothing"));
    assert_false(socket_open(bound, "/s/a"));
    bound = bind_in(&job, LINES("grant socket /s", "managed m", "deny service docker"));
    assert_true(socket_open(bound, "/s/a"));
    assert_false(socket_open(bound, "/s/d"));
    arena_destroy(job.arena);
}

static void both_homes_are_closed(void **state)
{
    static const char *const account[] = {"/home/account"};
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.managed_roots[ROOT_HOME] =
        (struct root_value){.state = ROOT_BOUND, .paths = account, .count = 1};
    const char *const *lines = LINES("grant socket /home", "managed m", "deny service gpg-agent");
    const struct bound_policy *bound = bind_in(&job, lines);
    assert_false(socket_open(bound, "/home/account/.gnupg/S.gpg-agent"));
    assert_false(socket_open(bound, "/home/me/.gnupg/S.gpg-agent"));
    assert_true(socket_open(bound, "/home/other/.gnupg/S.gpg-agent"));
    job.bindings.managed_roots[ROOT_HOME] = (struct root_value){.state = ROOT_UNSET};
    bound = bind_in(&job, lines);
    assert_int_equal(0, job.notes.errors);
    assert_false(socket_open(bound, "/home/me/.gnupg/S.gpg-agent"));
    arena_destroy(job.arena);
}

static void denies_of_paths_and_variables_win(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/s/a");
    const struct bound_policy *bound =
        bind_in(&job, LINES("grant service ssh-agent", "deny /s", "deny env SSH_*", "grant service gh",
                            "deny $CONFIG/gh"));
    assert_false(socket_open(bound, "/s/a"));
    assert_false(bound_env(bound, "SSH_AUTH_SOCK"));
    assert_true(bound_env(bound, "GH_TOKEN"));
    assert_false(bound_env(bound, "GITLAB_TOKEN"));
    arena_destroy(job.arena);
}

static void an_unknown_environment_stays_symbolic(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.environment_known = false;
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_SOCKET, "$env.SSH_AUTH_SOCK");
    expect_brought(&job, LINES("grant service git-credentials"), RULE_GRANT,
                   "/home/me/.git-credentials /home/me/.config/git/credentials");
    arena_destroy(job.arena);
}

static void other_systems_have_no_mapping_of_linux(void **state)
{
    struct job job = job_on(SYSTEM_WINDOWS);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/s/a");
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_SOCKET, "");
    arena_destroy(job.arena);
}

static void macos_has_a_mapping_of_its_own(void **state)
{
    struct job job = job_on(SYSTEM_MACOS);
    (void)state;
    set_variable(&job, "SSH_AUTH_SOCK", "/s/a");
    expect_brought(&job, LINES("grant service ssh-agent"), RULE_GRANT_SOCKET, "/s/a");
    expect_brought(&job, LINES("grant service dbus"), RULE_GRANT_SOCKET, "");
    struct bound_policy *bound = bind_in(&job, LINES("grant socket /private/tmp", "deny service ssh-agent"));
    assert_false(socket_open(bound, "/private/tmp/com.apple.launchd.a1/Listeners"));
    assert_true(socket_open(bound, "/private/tmp/other"));
    arena_destroy(job.arena);
}

static void a_home_that_cannot_be_trusted_is_told_once(void **state)
{
    struct job job = job_on(SYSTEM_LINUX);
    (void)state;
    job.bindings.roots[ROOT_HOME] = (struct root_value){.state = ROOT_UNSET};
    bind_in(&job, LINES("grant service gpg-agent"));
    assert_int_equal(1, job.notes.count);
    assert_int_equal(SBX153_HOME_REFUSED, job.notes.items[0].code);
    arena_destroy(job.arena);
}

static void every_service_of_the_table_is_one_of_the_language(void **state)
{
#define SERVICE(service, use, place, variable, text) service,
    static const char *const services[] = {
#include "policy/services.def"
#include "policy/services_macos.def"
    };
#undef SERVICE
    (void)state;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        bool found = false;
        for (int j = 0; service_names[j] != NULL; j++)
            found = found || strcmp(service_names[j], services[i]) == 0;
        assert_true(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_opens_what_the_service_is_made_of),
        cmocka_unit_test(values_that_lead_nowhere_open_nothing),
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(displays_are_read),
        cmocka_unit_test(a_deny_closes_whoever_grants),
        cmocka_unit_test(managed_limits_close_what_they_leave_out),
        cmocka_unit_test(both_homes_are_closed),
        cmocka_unit_test(denies_of_paths_and_variables_win),
        cmocka_unit_test(an_unknown_environment_stays_symbolic),
        cmocka_unit_test(other_systems_have_no_mapping_of_linux),
        cmocka_unit_test(macos_has_a_mapping_of_its_own),
        cmocka_unit_test(a_home_that_cannot_be_trusted_is_told_once),
        cmocka_unit_test(every_service_of_the_table_is_one_of_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
