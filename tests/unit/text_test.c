/* Rules and paths in the words of the language: each text is what a person would write to get that rule. */
#include "grammar/syntax.h"
#include "policy/policy.h"
#include "tests/unit/sample_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

static struct policy_path work(const char *rest)
{
    return (struct policy_path){.root = ROOT_WORK, .rest = rest};
}

/* The one statement of a file of `kind` that holds `text`. */
static const struct statement *parsed(struct arena *arena, const char *kind, const char *text)
{
    struct source_list sources = {.arena = arena};
    struct diagnostic_list diagnostics = diagnostic_list_in(arena);
    const char *file = arena_format(arena, "sbx 1\n%s \"t\"\n%s\n", kind, text);
    uint32_t source = source_add(&sources, "t.sbx", file, (uint32_t)strlen(file));
    const struct syntax_file *tree =
        syntax_parse(arena, intern_create(arena, 0), &sources, source, &diagnostics);
    if (diagnostics.errors > 0)
        fail_msg("%s: %s", text, diagnostics.items[0].text);
    assert_non_null(tree->statements);
    assert_null(tree->statements->next);
    return tree->statements;
}

static const struct port_range ALL_PORTS = {1, UINT16_MAX};
static const struct port_range WEB_PORTS[] = {{80, 80}, {443, 443}};

static void paths_start_with_their_root(void **state)
{
    struct {
        struct policy_path path;
        const char *text;
    } cases[] = {
        {{.root = ROOT_SLASH, .rest = "/usr/lib"}, "/usr/lib"},
        {{.root = ROOT_SLASH, .rest = ""}, "/"},
        {{.root = ROOT_DRIVE, .name = "C", .rest = ""}, "C:/"},
        {{.root = ROOT_DRIVE, .name = "C", .rest = "/Users"}, "C:/Users"},
        {{.root = ROOT_HOME, .rest = ""}, "~"},
        {{.root = ROOT_HOME, .rest = "/x", .directory = true}, "~/x/"},
        {{.root = ROOT_WORK, .rest = ""}, "$WORK"},
        {{.root = ROOT_GITDIR, .rest = "/hooks"}, "$GITDIR/hooks"},
        {{.root = ROOT_ENV, .name = "PATH", .rest = ""}, "$env.PATH"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(path_text(*state, &cases[i].path), cases[i].text);
}

static void a_plain_path_escapes_what_would_be_a_sign(void **state)
{
    struct {
        const char *rest, *text;
    } cases[] = {
        {"/a*b?c[d]", "$WORK/a\\*b\\?c\\[d]"},
        {"/a b", "\"$WORK/a b\""},
        {"/a,\"b", "\"$WORK/a,\\\"b\""},
        {"/a\\b", "$WORK/a\\\\b"},
        {"/$x", "$WORK/\\$x"},
        {"/a#b{c}", "\"$WORK/a#b{c}\""},
        {"/\x01\x7f\xff", "$WORK/\\x01\\x7f\\xff"},
        {"/\xc3\xa9\xc2\x85", "$WORK/\xc3\xa9\\xc2\\x85"},
        {"/~b~", "$WORK/~b~"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct policy_path path = work(cases[i].rest);
        assert_string_equal(path_text(*state, &path), cases[i].text);
    }
}

static void a_pattern_keeps_its_signs_and_its_escapes(void **state)
{
    struct policy_path path = work("/**/*.[pq]e?\\*\\[");
    path.pattern = true;
    assert_string_equal(path_text(*state, &path), "$WORK/**/*.[pq]e?\\*\\[");
    path.rest = "/* $\"";
    assert_string_equal(path_text(*state, &path), "\"$WORK/* \\$\\\"\"");
}

static void path_rules_name_level_and_exceptions(void **state)
{
    struct policy_path items[] = {work("/a/b"), work("/a/c d")};
    struct path_list except = {items, 2};
    struct rule rule = {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path = work("/a")};
    assert_string_equal(rule_text(*state, &rule), "grant write $WORK/a");
    rule.level = LEVEL_READ;
    rule.automatic = true;
    assert_string_equal(rule_text(*state, &rule), "auto grant read $WORK/a");
    rule = (struct rule){.kind = RULE_DENY, .level = LEVEL_NONE, .path = work("/a"), .except = &except};
    assert_string_equal(rule_text(*state, &rule), "deny $WORK/a except $WORK/a/b, \"$WORK/a/c d\"");
    rule.level = LEVEL_READ;
    rule.except = NULL;
    assert_string_equal(rule_text(*state, &rule), "deny write $WORK/a");
    rule.kind = RULE_DENY_EXEC;
    assert_string_equal(rule_text(*state, &rule), "deny exec $WORK/a");
    rule.kind = RULE_LIMIT_SOCKET;
    assert_string_equal(rule_text(*state, &rule), "limit socket to $WORK/a");
    rule.nothing = true;
    assert_string_equal(rule_text(*state, &rule), "limit socket to nothing");
}

static void network_rules_say_only_what_a_missing_word_does_not_mean(void **state)
{
    struct network host = {.target = NETWORK_HOST,
                           .host = "*.example.com",
                           .protocols = PROTOCOL_BIT_TCP,
                           .ports = WEB_PORTS,
                           .port_count = 2};
    struct rule rule = {.kind = RULE_GRANT_NETWORK, .network = &host};
    assert_string_equal(rule_text(*state, &rule), "grant network host *.example.com");
    rule.kind = RULE_DENY_NETWORK;
    assert_string_equal(rule_text(*state, &rule), "deny network host *.example.com port 80, 443 tcp");
    host.ports = &ALL_PORTS;
    host.port_count = 1;
    host.protocols = PROTOCOL_BITS;
    assert_string_equal(rule_text(*state, &rule), "deny network host *.example.com");
    rule.kind = RULE_GRANT_NETWORK;
    host.protocols = PROTOCOL_BIT_UDP;
    assert_string_equal(rule_text(*state, &rule), "grant network host *.example.com port any udp");
    host.host = "port";
    assert_string_equal(rule_text(*state, &rule), "grant network host \"port\" port any udp");

    struct port_range range = {3000, 3010};
    struct network loopback = {
        .target = NETWORK_LOOPBACK, .protocols = PROTOCOL_BITS, .ports = &range, .port_count = 1};
    rule.network = &loopback;
    assert_string_equal(rule_text(*state, &rule), "grant network loopback port 3000-3010");
    rule.kind = RULE_GRANT_LISTEN;
    loopback.protocols = PROTOCOL_BIT_TCP;
    assert_string_equal(rule_text(*state, &rule), "grant listen loopback port 3000-3010 tcp");
    rule.kind = RULE_LIMIT_NETWORK;
    assert_string_equal(rule_text(*state, &rule), "limit network to loopback port 3000-3010 tcp");
}

static void addresses_have_their_shortest_form(void **state)
{
    struct {
        uint8_t address[16], prefix;
        const char *text;
    } cases[] = {
        {{[10] = 0xff, 0xff, 10, 0, 0, 0}, 104, "deny network address 10.0.0.0/8"},
        {{[10] = 0xff, 0xff, 192, 0, 2, 7}, 128, "deny network address 192.0.2.7"},
        {{0}, 0, "deny network address ::/0"},
        {{[15] = 1}, 128, "deny network address ::1"},
        {{0x20, 0x01, 0x0d, 0xb8}, 32, "deny network address 2001:db8::/32"},
        {{0x20, 0x01, [5] = 1, [15] = 1}, 128, "deny network address 2001:0:1::1"},
        {{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}, 128, "deny network address 1:2:3:4:5:6:7:8"},
        {{0, 1, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}, 128, "deny network address 1:0:3:4:5:6:7:8"},
        {{0, 1}, 16, "deny network address 1::/16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct network network = {.target = NETWORK_ADDRESS,
                                  .prefix = cases[i].prefix,
                                  .protocols = PROTOCOL_BITS,
                                  .ports = &ALL_PORTS,
                                  .port_count = 1};
        for (size_t byte = 0; byte < 16; byte++)
            network.address[byte] = cases[i].address[byte];
        struct rule rule = {.kind = RULE_DENY_NETWORK, .network = &network};
        assert_string_equal(rule_text(*state, &rule), cases[i].text);
    }
}

static void other_classes_read_like_their_statements(void **state)
{
    struct policy_path path = work("/.env");
    struct {
        struct rule rule;
        const char *text;
    } cases[] = {
        {{.kind = RULE_GRANT_ENV, .name = "NODE_*"}, "grant env NODE_*"},
        {{.kind = RULE_LIMIT_ENV, .name = "nothing"}, "limit env to \"nothing\""},
        {{.kind = RULE_LIMIT_ENV, .nothing = true}, "limit env to nothing"},
        {{.kind = RULE_SET_ENV, .name = "A", .value = "say \"hi\" \\ # $x"},
         "set env A = \"say \\\"hi\\\" \\\\ # $x\""},
        {{.kind = RULE_SET_ENV, .name = "A", .value = ""}, "set env A = \"\""},
        {{.kind = RULE_DENY_SERVICE, .name = "docker"}, "deny service docker"},
        {{.kind = RULE_GRANT_SYSCALL, .name = "ptrace"}, "grant syscall ptrace"},
        {{.kind = RULE_GRANT_SCRATCH}, "grant scratch"},
        {{.kind = RULE_DENY_BYPASS}, "deny bypass"},
        {{.kind = RULE_PERMIT_BYPASS}, "permit bypass"},
        {{.kind = RULE_LIMIT_PROCESSES, .amount = 512}, "limit processes to 512"},
        {{.kind = RULE_LIMIT_MEMORY, .amount = (uint64_t)4 << 30}, "limit memory to 4GiB"},
        {{.kind = RULE_LIMIT_MEMORY, .amount = 1536 * 1024}, "limit memory to 1536KiB"},
        {{.kind = RULE_LIMIT_TIME, .amount = 90}, "limit time to 90s"},
        {{.kind = RULE_LIMIT_TIME, .amount = 7200}, "limit time to 2h"},
        {{.kind = RULE_ACCEPT, .name = "fs.deny.pattern", .target = "bwrap", .value = "known"},
         "accept fs.deny.pattern on bwrap because \"known\""},
        {{.kind = RULE_EXPECT, .operation = OPERATION_READ, .path = path}, "expect deny read $WORK/.env"},
        {{.kind = RULE_EXPECT, .allow = true, .operation = OPERATION_CONNECT, .name = "[::1]:80/udp"},
         "expect allow connect [::1]:80/udp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(rule_text(*state, &cases[i].rule), cases[i].text);
}

static void a_rule_belongs_to_the_policy_or_to_a_named_layer(void **state)
{
    (void)state;
    struct layer layers[] = {{.kind = LAYER_POLICY, .name = "web"}, {.kind = LAYER_MANAGED, .name = "acme"}};
    struct policy policy = {.layers = layers, .layer_count = 2};
    assert_string_equal(rule_layer_name(&policy, &(struct rule){.layer = 0}), "policy");
    assert_string_equal(rule_layer_name(&policy, &(struct rule){.layer = 1}), "acme");
}

static void every_text_is_a_statement_of_the_language(void **state)
{
    const struct policy *policy = sample_policy(*state, 0), *managed = sample_managed(*state, "acme");
    for (uint32_t i = 0; i < policy->rule_count; i++)
        parsed(*state, "policy", rule_text(*state, &policy->rules[i]));
    for (uint32_t i = 0; i < managed->rule_count; i++)
        parsed(*state, "managed", rule_text(*state, &managed->rules[i]));
}

/* Every byte that a path may hold, before, after and between others. */
static void any_path_comes_back_as_it_was(void **state)
{
    for (unsigned byte = 1; byte < 256; byte++) {
        if (byte == '/')
            continue;
        const char *rest = arena_format(*state, "/%c/a%cb/%c%c/\xc3\xa9%c", byte, byte, byte, byte, byte);
        struct rule rule = {.kind = RULE_DENY, .path = work(byte == '.' ? "/.a/a.b" : rest)};
        const struct statement *statement = parsed(*state, "policy", rule_text(*state, &rule));
        assert_int_equal(statement->words.count, 1);
        const struct word *word = &statement->words.items[0];
        const char *whole = arena_format(*state, "$WORK%s", rule.path.rest);
        assert_int_equal(word->length, strlen(whole));
        assert_memory_equal(word->bytes, whole, word->length);
        /* What would be a sign or a root was written so that it is none. */
        for (uint32_t i = 1; i < word->length; i++)
            if (strchr("*?[$", word->bytes[i]) != NULL)
                assert_true(word->literal != NULL && word->literal[i]);
    }
}

static void any_value_comes_back_as_it_was(void **state)
{
    for (char byte = ' '; byte < 0x7f; byte++) {
        const char *value = arena_format(*state, "%ca%c%c", byte, byte, byte);
        struct rule rule = {.kind = RULE_SET_ENV, .name = "A", .value = value};
        const struct statement *statement = parsed(*state, "policy", rule_text(*state, &rule));
        assert_string_equal(statement->parts->value.bytes, value);
        struct rule deny = {.kind = RULE_DENY_ENV, .name = value};
        statement = parsed(*state, "policy", rule_text(*state, &deny));
        assert_string_equal(statement->words.items[0].bytes, value);
    }
}

static void keywords_are_quoted_where_they_are_names(void **state)
{
    static const char *const names[] = {"nothing", "port", "host", "any", "tcp", "except",
                                        "because", "on",   "to",   "=",   "{"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rule rule = {.kind = RULE_LIMIT_ENV, .name = names[i]};
        const struct statement *statement = parsed(*state, "managed", rule_text(*state, &rule));
        assert_false(statement->nothing);
        assert_string_equal(statement->words.items[0].bytes, names[i]);
        struct network host = sample_host;
        host.host = names[i];
        struct rule deny = {.kind = RULE_DENY_NETWORK, .network = &host};
        statement = parsed(*state, "policy", rule_text(*state, &deny));
        assert_int_equal(statement->parts->targets.count, 1);
        assert_string_equal(statement->parts->targets.items[0].word.bytes, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_start_with_their_root),
        cmocka_unit_test(a_plain_path_escapes_what_would_be_a_sign),
        cmocka_unit_test(a_pattern_keeps_its_signs_and_its_escapes),
        cmocka_unit_test(path_rules_name_level_and_exceptions),
        cmocka_unit_test(network_rules_say_only_what_a_missing_word_does_not_mean),
        cmocka_unit_test(addresses_have_their_shortest_form),
        cmocka_unit_test(other_classes_read_like_their_statements),
        cmocka_unit_test(every_text_is_a_statement_of_the_language),
        cmocka_unit_test(any_path_comes_back_as_it_was),
        cmocka_unit_test(any_value_comes_back_as_it_was),
        cmocka_unit_test(keywords_are_quoted_where_they_are_names),
        cmocka_unit_test(a_rule_belongs_to_the_policy_or_to_a_named_layer),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
