/* libsbx as a program sees it: load, restrict, bind, check; and every way in which it says no. */
#include "policy/sbx.h"

#include "policy/explain.h"
#include "policy/file.h"
#include "tests/unit/sample_policy.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int arena_setup(void **state)
{
    *state = arena_create(0);
    return *state == NULL;
}

static int arena_teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct buffer written(struct arena *arena, const struct rule *rules, uint32_t count,
                             enum layer_kind kind)
{
    struct sample_rules list = {0};
    for (uint32_t i = 0; i < count; i++)
        VECTOR_PUSH(arena, &list, rules[i]);
    struct buffer file = buffer_in(arena);
    policy_write(&file, sample_finish(arena, &list, kind == LAYER_MANAGED ? "acme" : "web", kind));
    return file;
}

static struct sbx_policy *loaded(const struct buffer *file)
{
    struct sbx_error error;
    struct sbx_policy *policy = sbx_load_bytes(file->bytes, file->length, &error);
    if (policy == NULL)
        fail_msg("%s", error.message);
    return policy;
}

static const struct network any_host = {.target = NETWORK_HOST,
                                        .host = "*.example.com",
                                        .protocols = PROTOCOL_BIT_TCP,
                                        .ports = sample_ports,
                                        .port_count = 3};

static const struct rule project[] = {
    {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_WORK, .rest = ""}},
    {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = "/usr"}},
    {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/.env"}},
    {.kind = RULE_DENY_EXEC, .path = {.root = ROOT_SLASH, .rest = "/usr/bin/sudo"}},
    {.kind = RULE_GRANT_SOCKET, .path = {.root = ROOT_WORK, .rest = "/s"}},
    {.kind = RULE_GRANT_NETWORK, .network = &any_host},
    {.kind = RULE_GRANT_NETWORK, .network = &sample_address},
    {.kind = RULE_GRANT_LISTEN, .network = &sample_loopback},
    {.kind = RULE_GRANT_ENV, .name = "CI"},
    {.kind = RULE_GRANT_SERVICE, .name = "pty"},
};

static struct sbx_policy *project_policy(struct arena *arena)
{
    struct buffer file = written(arena, project, sizeof project / sizeof *project, LAYER_POLICY);
    return loaded(&file);
}

static const struct sbx_value roots[] = {{"WORK", "/w"}};

static void bind_project(struct sbx_policy *policy)
{
    struct sbx_error error = {0};
    if (sbx_bind(policy, &(struct sbx_binding){.system = SBX_LINUX, .roots = roots, .root_count = 1},
                 &error) != SBX_OK)
        fail_msg("%s", error.message);
}

static void a_bound_policy_answers(void **state)
{
    struct sbx_policy *policy = project_policy(*state);
    bind_project(policy);
    assert_string_equal(sbx_name(policy), "web");
    assert_int_equal(strlen(sbx_hash(policy)), 7 + 64);
    assert_int_equal(sbx_check(policy, SBX_WRITE, "/w/a/b"), SBX_ALLOW);
    assert_int_equal(sbx_check(policy, SBX_READ, "/w/.env"), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_READ, "/usr/lib"), SBX_ALLOW);
    assert_int_equal(sbx_check(policy, SBX_WRITE, "/usr/lib"), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_EXEC, "/usr/bin/make"), SBX_ALLOW);
    assert_int_equal(sbx_check(policy, SBX_EXEC, "/usr/bin/sudo"), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_SOCKET, "/w/s"), SBX_ALLOW);
    assert_int_equal(sbx_check(policy, SBX_SOCKET, "/w/t"), SBX_DENY);
    assert_int_equal(sbx_check_env(policy, "CI"), SBX_ALLOW);
    assert_int_equal(sbx_check_env(policy, "HOME"), SBX_DENY);
    assert_int_equal(sbx_check_service(policy, "pty"), SBX_ALLOW);
    assert_int_equal(sbx_check_service(policy, "docker"), SBX_DENY);
    sbx_free(policy);
}

static void connections_are_judged_by_name_and_address(void **state)
{
    static const uint8_t ten[4] = {10, 1, 2, 3}, other[4] = {11, 1, 2, 3}, loopback[4] = {127, 0, 0, 1};
    struct sbx_policy *policy = project_policy(*state);
    bind_project(policy);
    assert_int_equal(sbx_check_connect(policy, NULL, ten, 4, 22, SBX_TCP), SBX_ALLOW);
    assert_int_equal(sbx_check_connect(policy, NULL, other, 4, 22, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, "A.Example.COM.", other, 4, 443, SBX_TCP), SBX_ALLOW);
    assert_int_equal(sbx_check_connect(policy, "a.example.com", other, 4, 22, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, "a.example.com", other, 4, 443, SBX_UDP), SBX_DENY);
    /* A name outside may still resolve into a granted network. */
    assert_int_equal(sbx_check_connect(policy, "other.test", NULL, 0, 443, SBX_TCP), SBX_DEPENDS);
    assert_int_equal(sbx_check_listen(policy, loopback, 4, 3005, SBX_TCP), SBX_ALLOW);
    assert_int_equal(sbx_check_listen(policy, loopback, 4, 4000, SBX_TCP), SBX_DENY);
    sbx_free(policy);
}

/* What `sbxc why` decides on, bound to the same roots. */
static const struct bound_policy *project_bound(struct arena *arena)
{
    static const char *const work[] = {"/w"};
    const char *problem;
    struct buffer file = written(arena, project, sizeof project / sizeof *project, LAYER_POLICY);
    const struct policy *policy = policy_read(arena, file.bytes, file.length, &problem);
    struct note_list notes = note_list_in(arena);
    struct bindings bindings = {.system = SYSTEM_LINUX, .environment_known = true};
    bindings.roots[ROOT_WORK] = (struct root_value){.state = ROOT_BOUND, .paths = work, .count = 1};
    struct bound_policy *bound = policy_bind(arena, policy, &bindings, &notes);
    bound_seal(bound, &notes);
    return bound;
}

static void checks_and_why_are_one(void **state)
{
    static const enum operation operations[] = {[SBX_READ] = OPERATION_READ,
                                                [SBX_WRITE] = OPERATION_WRITE,
                                                [SBX_EXEC] = OPERATION_EXEC,
                                                [SBX_SOCKET] = OPERATION_SOCKET};
    static const char *const paths[] = {"/",        "/w",   "/w/a", "/w/.env",       "/w/.env/b",
                                        "/w/.envs", "/w/s", "/usr", "/usr/bin/make", "/usr/bin/sudo",
                                        "/us",      "/etc"};
    static const char *const names[] = {"CI", "C", "HOME", "pty", "docker"};
    struct sbx_policy *policy = project_policy(*state);
    const struct bound_policy *bound = project_bound(*state);
    const char *error;
    bind_project(policy);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int operation = SBX_READ; operation <= SBX_SOCKET; operation++) {
            const struct decision *why =
                bound_decide(*state, bound, operations[operation], paths[i], strlen(paths[i]), &error);
            assert_int_equal(why->verdict == VERDICT_ALLOW,
                             sbx_check(policy, (enum sbx_operation)operation, paths[i]) == SBX_ALLOW);
        }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        assert_int_equal(bound_decide(*state, bound, OPERATION_ENV, names[i], length, &error)->verdict,
                         sbx_check_env(policy, names[i]) == SBX_ALLOW ? VERDICT_ALLOW : VERDICT_DENY);
        assert_int_equal(bound_decide(*state, bound, OPERATION_SERVICE, names[i], length, &error)->verdict,
                         sbx_check_service(policy, names[i]) == SBX_ALLOW ? VERDICT_ALLOW : VERDICT_DENY);
    }
    sbx_free(policy);
}

static void what_cannot_be_asked_is_denied(void **state)
{
    struct sbx_policy *policy = project_policy(*state);
    assert_int_equal(sbx_check(policy, SBX_READ, "/w/a"), SBX_DENY);
    assert_int_equal(sbx_check_env(policy, "CI"), SBX_DENY);
    bind_project(policy);
    static const char *const paths[] = {"",      "w/a",  "/w/../w/a", "/w/./a", "/w//a",
                                        "/w/a/", "/w/.", "$WORK/a",   "C:/w"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(sbx_check(policy, SBX_READ, paths[i]), SBX_DENY);
    char name[300];
    memset(name, 'a', sizeof name);
    memcpy(name + sizeof name - 13, ".example.com", 13);
    static const uint8_t ten[4] = {10};
    assert_int_equal(sbx_check_connect(policy, name, NULL, 0, 443, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, "", NULL, 0, 443, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, NULL, NULL, 0, 443, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, NULL, ten, 3, 443, SBX_TCP), SBX_DENY);
    assert_int_equal(sbx_check_connect(policy, NULL, ten, 4, 0, SBX_TCP), SBX_DENY);
    sbx_free(policy);
}

static void a_managed_policy_narrows(void **state)
{
    static const struct rule managed[] = {
        {.kind = RULE_DENY, .level = LEVEL_READ, .path = {.root = ROOT_WORK, .rest = "/ci"}}};
    struct buffer file = written(*state, managed, 1, LAYER_MANAGED);
    struct sbx_policy *policy = project_policy(*state), *layer = loaded(&file);
    char before[128];
    snprintf(before, sizeof before, "%s", sbx_hash(policy));
    assert_int_equal(sbx_restrict(policy, layer, NULL), SBX_OK);
    sbx_free(layer);
    assert_string_not_equal(before, sbx_hash(policy));
    bind_project(policy);
    assert_int_equal(sbx_check(policy, SBX_WRITE, "/w/ci"), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_READ, "/w/ci"), SBX_ALLOW);
    assert_int_equal(sbx_check(policy, SBX_WRITE, "/w/src"), SBX_ALLOW);
    sbx_free(policy);
}

static void only_managed_policies_restrict(void **state)
{
    struct sbx_error error;
    struct sbx_policy *policy = project_policy(*state), *other = project_policy(*state);
    assert_int_equal(sbx_restrict(policy, other, &error), SBX_NOT_MANAGED);
    sbx_free(policy);
    sbx_free(other);
}

static void failures_say_why(void **state)
{
    struct sbx_error error;
    struct buffer file = written(*state, project, 1, LAYER_POLICY);
    assert_null(sbx_load("/nonexistent/policy.bin", &error));
    assert_int_equal(error.status, SBX_UNREADABLE);
    assert_non_null(strstr(error.message, "/nonexistent/policy.bin"));
    assert_null(sbx_load_bytes(file.bytes, file.length - 1, &error));
    assert_int_equal(error.status, SBX_DAMAGED);
    assert_non_null(strstr(error.message, "truncated"));
    assert_null(sbx_load_bytes("", 0, NULL));

    static const struct rule deny[] = {{.kind = RULE_DENY, .path = {.root = ROOT_HOME, .rest = "/.ssh"}}};
    file = written(*state, deny, 1, LAYER_POLICY);
    struct sbx_policy *policy = loaded(&file);
    assert_int_equal(sbx_bind(policy, &(struct sbx_binding){.roots = roots, .root_count = 1}, &error),
                     SBX_UNBOUND);
    assert_non_null(strstr(error.message, "project.sbx:1"));
    static const struct sbx_value wrong[] = {{"PLACE", "/"}}, twice[] = {{"WORK", "/a"}, {"WORK", "/b"}};
    assert_int_equal(sbx_bind(policy, &(struct sbx_binding){.roots = wrong, .root_count = 1}, &error),
                     SBX_UNBOUND);
    assert_int_equal(sbx_bind(policy, &(struct sbx_binding){.roots = twice, .root_count = 2}, &error),
                     SBX_UNBOUND);
    sbx_free(policy);
    sbx_free(NULL);
}

static void a_failed_binding_closes_what_was_open(void **state)
{
    struct sbx_policy *policy = project_policy(*state);
    static const struct sbx_value wrong[] = {{"PLACE", "/"}};
    bind_project(policy);
    assert_int_equal(sbx_bind(policy, &(struct sbx_binding){.roots = wrong, .root_count = 1}, NULL),
                     SBX_UNBOUND);
    assert_int_equal(sbx_check(policy, SBX_READ, "/w/a"), SBX_DENY);
    sbx_free(policy);
}

static void on_this_host_a_deny_follows_links(void **state)
{
    char top[] = "/tmp/sbx-api-XXXXXX";
    assert_non_null(mkdtemp(top));
    char *work = realpath(top, NULL), real[256], link[256];
    snprintf(real, sizeof real, "%s/real", work);
    snprintf(link, sizeof link, "%s/.env", work);
    FILE *file = fopen(real, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(symlink("real", link), 0);

    struct sbx_policy *policy = project_policy(*state);
    struct sbx_value here[] = {{"WORK", work}};
    struct sbx_error error;
    if (sbx_bind(policy, &(struct sbx_binding){.this_host = true, .roots = here, .root_count = 1}, &error) !=
        SBX_OK)
        fail_msg("%s", error.message);
    assert_int_equal(sbx_check(policy, SBX_READ, link), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_READ, real), SBX_DENY);
    assert_int_equal(sbx_check(policy, SBX_READ, work), SBX_ALLOW);
    sbx_free(policy);
    unlink(real);
    unlink(link);
    rmdir(work);
    free(work);
}

static void *check_often(void *policy)
{
    for (int i = 0; i < 20000; i++)
        if (sbx_check(policy, SBX_WRITE, "/w/a") != SBX_ALLOW ||
            sbx_check(policy, SBX_READ, "/w/.env") != SBX_DENY)
            return policy;
    return NULL;
}

static void threads_check_at_once(void **state)
{
    struct sbx_policy *policy = project_policy(*state);
    bind_project(policy);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, policy), 0);
    for (size_t i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    sbx_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_policy_answers),
        cmocka_unit_test(connections_are_judged_by_name_and_address),
        cmocka_unit_test(checks_and_why_are_one),
        cmocka_unit_test(what_cannot_be_asked_is_denied),
        cmocka_unit_test(a_managed_policy_narrows),
        cmocka_unit_test(only_managed_policies_restrict),
        cmocka_unit_test(failures_say_why),
        cmocka_unit_test(a_failed_binding_closes_what_was_open),
        cmocka_unit_test(on_this_host_a_deny_follows_links),
        cmocka_unit_test(threads_check_at_once),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
