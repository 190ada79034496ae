/* What the emitters write and refuse, without running it. */
#include "emitters/bwrap.h"
#include "emitters/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

struct made {
    struct arena *arena;
    struct policy *policy;
    struct buffer out;
    struct note_list notes;
    bool good;
};

/* Makes `target` of the rules. $WORK is /w where `bound` says so; every other root stays symbolic. */
static struct made make(const char *target, bool bind_work, const struct rule *rules, uint32_t count)
{
    static const struct layer layers[] = {{.kind = LAYER_POLICY, .name = "t"},
                                          {.kind = LAYER_MANAGED, .name = "corp"}};
    static const struct policy_source sources[] = {{"t.sbx", SOURCE_POLICY, NULL},
                                                   {"std/tools", SOURCE_PRESET_BUILTIN, NULL}};
    static const char *const work[] = {"/w"};
    struct made made = {.arena = arena_create(0)};
    struct rule *kept = arena_array(made.arena, count, sizeof *kept);
    struct bindings bindings = {.system = SYSTEM_LINUX};
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    if (bind_work)
        bindings.roots[ROOT_WORK] = (struct root_value){.state = ROOT_BOUND, .paths = work, .count = 1};
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = rules[i];
        kept[i].systems = SYSTEM_ALL;
        kept[i].origin.line = i + 1;
        if (kept[i].path.rest == NULL)
            kept[i].path.rest = "";
    }
    made.policy = arena_alloc(made.arena, sizeof *made.policy);
    *made.policy = (struct policy){.arena = made.arena,
                                   .name = "t",
                                   .layers = layers,
                                   .layer_count = 2,
                                   .sources = sources,
                                   .source_count = 2,
                                   .rules = kept,
                                   .rule_count = count};
    made.notes = note_list_in(made.arena);
    made.out = buffer_in(made.arena);
    struct bound_policy *bound = policy_bind(made.arena, made.policy, &bindings, &made.notes);
    bound_seal(bound, NULL);
    assert_int_equal(made.notes.errors, 0);
    const struct emit_request request = {.arena = made.arena,
                                         .policy = made.policy,
                                         .bound = bound,
                                         .version = "0",
                                         .architecture = "x86_64",
                                         .output_name = "t",
                                         .notes = &made.notes};
    made.good = target_named(target)->emit(&request, &made.out);
    assert_int_equal(made.good, made.notes.errors == 0);
    return made;
}

#define MAKE(target, bind_work, ...)                                                                         \
    make((target), (bind_work), (const struct rule[]){__VA_ARGS__},                                          \
         COUNT(((const struct rule[]){__VA_ARGS__})))

#define GRANT_WORK                                                                                           \
    {                                                                                                        \
        .kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_WORK }                               \
    }
#define ACCEPT(control)                                                                                      \
    {                                                                                                        \
        .kind = RULE_ACCEPT, .name = control, .target = "bwrap", .value = "said so"                          \
    }

static bool says(const struct made *made, enum code code)
{
    for (uint32_t i = 0; i < made->notes.count; i++)
        if (made->notes.items[i].code == code)
            return true;
    return false;
}

static bool holds(const struct made *made, const char *text)
{
    return memmem(made->out.bytes, made->out.length, text, strlen(text)) != NULL;
}

static void words_begin_with_what_they_are(void **state)
{
    (void)state;
    struct made made =
        MAKE("bwrap", true, GRANT_WORK, {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/.env"}},
             ACCEPT("fs.deny.missing"));
    static const char start[] = "--setenv\0SBX_POLICY\0t sha256:";
    assert_true(made.good);
    assert_memory_equal(made.out.bytes, start, sizeof start - 1);
    assert_true(holds(&made, " exceptions=fs.deny.missing"));
    assert_memory_equal(made.out.bytes + made.out.length - 4, "\0/w\0", 4);
    arena_destroy(made.arena);
}

static void words_need_roots_and_room(void **state)
{
    (void)state;
    struct made missing = MAKE("bwrap", false, GRANT_WORK);
    assert_true(says(&missing, SBX350_ROOT_MISSING));
    assert_int_equal(target_exit(SBX350_ROOT_MISSING), 2);
    arena_destroy(missing.arena);

    enum { MANY = 3000 };
    struct arena *arena = arena_create(0);
    struct rule *rules = arena_array(arena, MANY, sizeof *rules);
    for (int i = 0; i < MANY; i++)
        rules[i] = (struct rule){.kind = RULE_GRANT,
                                 .level = LEVEL_READ,
                                 .path = {.root = ROOT_SLASH, .rest = arena_format(arena, "/x/%d", i)}};
    struct made many = make("bwrap", true, rules, MANY);
    assert_true(says(&many, SBX303_TOO_MANY_WORDS));
    assert_int_equal(many.out.length, 0);
    assert_int_equal(target_exit(SBX303_TOO_MANY_WORDS), 3);
    arena_destroy(many.arena);
    arena_destroy(arena);
}

static void a_deny_on_an_unbound_variable_must_hold_unless_a_preset_makes_it(void **state)
{
    (void)state;
    const struct rule own = {.kind = RULE_DENY, .path = {.root = ROOT_ENV, .name = "GOPATH", .rest = "/x"}};
    struct rule preset = own;
    preset.origin.source = 1;
    struct made refused = MAKE("bwrap-sh", false, GRANT_WORK, own);
    struct made left_out = MAKE("bwrap-sh", false, GRANT_WORK, preset);
    assert_true(says(&refused, SBX304_VARIABLE_UNBOUND));
    assert_true(left_out.good);
    assert_true(holds(&left_out, "--env GOPATH=VALUE"));
    arena_destroy(refused.arena);
    arena_destroy(left_out.arena);
}

static void a_script_quotes_and_refuses_what_no_line_can_hold(void **state)
{
    (void)state;
    struct made quoted =
        MAKE("bwrap-sh", false,
             {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = "/a\"$`\\ '"}});
    struct made refused =
        MAKE("bwrap-sh", false,
             {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = "/a\nb"}});
    assert_true(holds(&quoted, "\ngrant read \"/a\\\"\\$\\`\\\\ '\"\n"));
    assert_true(says(&refused, SBX305_PATH_UNWRITABLE));
    arena_destroy(quoted.arena);
    arena_destroy(refused.arena);
}

static void a_script_holds_each_layer(void **state)
{
    (void)state;
    struct made made =
        MAKE("bwrap-sh", false, GRANT_WORK, {.kind = RULE_LIMIT_WRITE, .layer = 1, .nothing = true},
             {.kind = RULE_LIMIT_WRITE, .layer = 1, .path = {.root = ROOT_WORK}},
             {.kind = RULE_DENY, .layer = 1, .path = {.root = ROOT_HOME, .rest = "/.ssh"}});
    assert_true(made.good);
    assert_true(holds(&made, "grant write \"$SBX_WORK\"\n\n# managed layer: corp\nlayer\nlimits write\n"
                             "! wide \"$SBX_WORK\" || refuse \"$SBX_WORK is too wide\"\n"
                             "limit_write \"$SBX_WORK\"\ndeny none \"$ACCOUNT_HOME/.ssh\"\n"));
    assert_true(holds(&made, "getent passwd"));
    arena_destroy(made.arena);
}

static void json_can_be_read(void **state)
{
    (void)state;
    static const struct port_range ports[] = {{80, 90}};
    static const struct network network = {.target = NETWORK_ADDRESS,
                                           .address = {[10] = 0xff, [11] = 0xff, 10},
                                           .prefix = 104,
                                           .protocols = PROTOCOL_BIT_TCP,
                                           .ports = ports,
                                           .port_count = 1};
    struct made made =
        MAKE("json", false, GRANT_WORK, {.kind = RULE_GRANT_NETWORK, .network = &network},
             {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/\xff\\"}}, ACCEPT("net.address"));
    json_error_t error;
    json_t *read = json_loadb(made.out.bytes, made.out.length, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "policy")), "t");
    const json_t *rules = json_object_get(read, "rules"), *exceptions = json_object_get(read, "exceptions");
    assert_int_equal(json_array_size(rules), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rules, 1), "address")),
                        "10.0.0.0/8");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rules, 2), "path")),
                        "$WORK/\\xff\\\\");
    assert_true(json_is_true(json_object_get(json_array_get(rules, 2), "raw")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(exceptions, 0), "reason")),
                        "said so");
    json_decref(read);
    arena_destroy(made.arena);
}

static void seccomp_of_a_text_opens_unix_sockets_only_if_accepted(void **state)
{
    (void)state;
    const struct rule scratch = {.kind = RULE_GRANT_SCRATCH};
    struct made none = MAKE("seccomp", false, GRANT_WORK), closed = MAKE("seccomp", false, scratch);
    struct made open = MAKE("seccomp", false, scratch, ACCEPT("socket.path"));
    assert_int_equal(none.out.length, closed.out.length);
    assert_memory_equal(none.out.bytes, closed.out.bytes, none.out.length);
    assert_true(open.out.length != none.out.length ||
                memcmp(open.out.bytes, none.out.bytes, none.out.length) != 0);
    arena_destroy(none.arena);
    arena_destroy(closed.arena);
    arena_destroy(open.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_begin_with_what_they_are),
        cmocka_unit_test(words_need_roots_and_room),
        cmocka_unit_test(a_deny_on_an_unbound_variable_must_hold_unless_a_preset_makes_it),
        cmocka_unit_test(a_script_quotes_and_refuses_what_no_line_can_hold),
        cmocka_unit_test(a_script_holds_each_layer),
        cmocka_unit_test(json_can_be_read),
        cmocka_unit_test(seccomp_of_a_text_opens_unix_sockets_only_if_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
