/* What a profile decides: the order of rules, what operations fall back to, and each filter. */
#include "base/buffer.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "(version 1)(deny default)"

enum { ALLOW = SEATBELT_ALLOW, DENY = SEATBELT_DENY, UNKNOWN = SEATBELT_UNKNOWN };

static struct arena *arena;

static int start(void **state)
{
    (void)state;
    arena = arena_create(0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static const struct seatbelt_profile *profile_of(const char *text)
{
    struct seatbelt_error error = {0};
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text, strlen(text), NULL, 0, NULL, NULL, &error);
    if (profile == NULL)
        fail_msg("line %u, column %u: %s", error.line, error.column, error.text);
    return profile;
}

static int ask(const char *text, const struct seatbelt_question *question)
{
    const struct seatbelt_profile *profile = profile_of(text);
    enum seatbelt_answer answer = seatbelt_decide(profile, question, NULL);
    assert_int_equal(answer, seatbelt_decide_plainly(profile, question, NULL));
    return (int)answer;
}

static int ask_path(const char *text, const char *operation, const char *path)
{
    return ask(text, &(struct seatbelt_question){.operation = operation, .path = path});
}

static int ask_plain(const char *text, const char *operation)
{
    return ask(text, &(struct seatbelt_question){.operation = operation});
}

static const char *const left_open[] = {
    "file-link", "process-info-pidinfo", "file-test-existence", "file-map-executable", "file-clone",
};

static void a_later_filtered_rule_wins(void **state)
{
    (void)state;
    const char *const deny_last =
        HEAD "(allow file-read* (subpath \"/a\"))(deny file-read* (subpath \"/a/b\"))";
    const char *const allow_last =
        HEAD "(deny file-read* (subpath \"/a/b\"))(allow file-read* (subpath \"/a\"))";
    assert_int_equal(ask_path(deny_last, "file-read-data", "/a/b/c"), DENY);   /* vector 1 */
    assert_int_equal(ask_path(allow_last, "file-read-data", "/a/b/c"), ALLOW); /* vector 2 */
    assert_int_equal(ask_path(deny_last, "file-read-data", "/a/c"), ALLOW);
    assert_int_equal(ask_path(deny_last, "file-read-data", "/ab"), DENY);
}

static void the_more_specific_operation_wins_in_either_order(void **state)
{
    (void)state;
    const char *const leaf_first =
        HEAD "(allow file-read-data (subpath \"/a\"))(deny file-read* (subpath \"/a/b\"))";
    const char *const leaf_last =
        HEAD "(deny file-read* (subpath \"/a/b\"))(allow file-read-data (subpath \"/a\"))";
    const char *const unlink =
        HEAD "(deny file-write-unlink (literal \"/a/x\"))(allow file-write* (subpath \"/a\"))";
    assert_int_equal(ask_path(leaf_first, "file-read-data", "/a/b/c"), ALLOW); /* vector 3 */
    assert_int_equal(ask_path(leaf_last, "file-read-data", "/a/b/c"), ALLOW);
    assert_int_equal(ask_path(leaf_first, "file-read-metadata", "/a/b/c"), DENY);
    assert_int_equal(ask_path(unlink, "file-write-unlink", "/a/x"), DENY); /* vector 4 */
    assert_int_equal(ask_path(unlink, "file-write-data", "/a/x"), ALLOW);
}

static void an_unfiltered_rule_is_the_fallback_wherever_it_stands(void **state)
{
    (void)state;
    const char *const write = HEAD "(allow file-write* (subpath \"/a\"))(deny file-write*)";
    const char *const network = HEAD "(deny network-outbound (literal \"/s\"))(allow network-outbound)";
    const struct seatbelt_question connect = {
        .operation = "network-outbound", .protocol = SEATBELT_PROTOCOL_UNIX, .path = "/s"};
    assert_int_equal(ask_path(write, "file-write-data", "/a/x"), ALLOW); /* vector 5 */
    assert_int_equal(ask_path(write, "file-write-data", "/b"), DENY);
    assert_int_equal(ask(network, &connect), DENY);                                           /* vector 6 */
    assert_int_equal(ask_plain("(version 1)(deny default)(allow default)", "lsopen"), ALLOW); /* vector 7 */
    assert_int_equal(ask_plain("(version 1)(allow default)(deny default)", "lsopen"), DENY);
}

static void an_unfiltered_leaf_beats_a_filtered_wildcard(void **state)
{
    (void)state;
    const char *const text = HEAD "(allow file-read-metadata)(deny file-read* (subpath \"/s\"))";
    assert_int_equal(ask_path(text, "file-read-metadata", "/s/k"), ALLOW); /* vector 8 */
    assert_int_equal(ask_path(text, "file-read-data", "/s/k"), DENY);
}

static void deny_default_leaves_some_operations_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof left_open / sizeof *left_open; i++)
        assert_int_equal(ask_path(HEAD, left_open[i], "/x"), ALLOW); /* vector 9 */
    assert_int_equal(ask_path(HEAD, "file-write-setugid", "/x"), DENY);
    assert_int_equal(ask_path(HEAD "(allow file-write*)", "file-write-setugid", "/x"), DENY);
    assert_int_equal(ask_path(HEAD "(deny file-link)", "file-link", "/x"), DENY);
    assert_int_equal(ask_path("(version 1)(allow file*)(deny default)", "file-read-data", "/x"), ALLOW);
    assert_int_equal(ask_plain("(version 1)", "lsopen"), DENY);
}

static struct seatbelt_question over_ip(const char *operation, enum seatbelt_protocol protocol,
                                        enum seatbelt_host host, uint16_t port)
{
    return (struct seatbelt_question){
        .operation = operation, .protocol = protocol, .version = 4, .remote = {host, port}};
}

static void a_local_filter_on_outbound_opens_everything(void **state)
{
    (void)state;
    struct seatbelt_question out =
        over_ip("network-outbound", SEATBELT_PROTOCOL_TCP, SEATBELT_HOST_OTHER, 443);
    assert_int_equal(ask(HEAD "(allow network-outbound (local ip \"localhost:*\"))", &out),
                     ALLOW); /* vector 10 */
    assert_int_equal(ask(HEAD "(allow network-outbound (remote ip \"localhost:*\"))", &out), DENY);
}

static void bind_falls_back_to_inbound(void **state)
{
    (void)state;
    const struct seatbelt_question bind = {.operation = "network-bind", .protocol = SEATBELT_PROTOCOL_TCP},
                                   listen = {.operation = "network-inbound",
                                             .protocol = SEATBELT_PROTOCOL_TCP};
    assert_int_equal(ask(HEAD "(allow network-inbound (local ip))", &bind), ALLOW); /* vector 11 */
    assert_int_equal(ask(HEAD "(allow network-inbound (local ip))", &listen), ALLOW);
    assert_int_equal(ask(HEAD "(allow network-bind (local ip))", &bind), ALLOW); /* vector 12 */
    assert_int_equal(ask(HEAD "(allow network-bind (local ip))", &listen), DENY);
}

static void the_text_of_a_filter_is_never_resolved(void **state)
{
    (void)state;
    const char *const text = HEAD "(allow file-read* (literal \"/tmp/x\"))";
    assert_int_equal(ask_path(text, "file-read-data", "/private/tmp/x"), DENY); /* vector 13 */
}

static void filters_side_by_side_are_alternatives(void **state)
{
    (void)state;
    const char *const text = HEAD "(allow file-read-metadata (literal \"/a\") (vnode-type DIRECTORY))";
    struct seatbelt_question question = {
        .operation = "file-read-metadata", .path = "/b", .vnode = SEATBELT_VNODE_DIRECTORY};
    assert_int_equal(ask(text, &question), ALLOW);
    question.vnode = SEATBELT_VNODE_FILE;
    assert_int_equal(ask(text, &question), DENY);
    question.vnode = SEATBELT_VNODE_UNKNOWN;
    assert_int_equal(ask(text, &question), UNKNOWN);
    question.path = "/a";
    assert_int_equal(ask(text, &question), ALLOW);
}

static void what_cannot_be_judged_stays_so(void **state)
{
    (void)state;
    struct seatbelt_question listen = {.operation = "network-inbound",
                                       .protocol = SEATBELT_PROTOCOL_TCP,
                                       .remote = {SEATBELT_HOST_LOOPBACK, 80}};
    /* who will connect */
    assert_int_equal(ask(HEAD "(allow network-inbound (remote ip \"localhost:*\"))", &listen), UNKNOWN);
    assert_int_equal(ask(HEAD "(allow network-inbound (remote ip \"*:*\"))", &listen), ALLOW);
    listen.protocol = SEATBELT_PROTOCOL_NONE;
    assert_int_equal(ask(HEAD "(allow network-inbound (local ip))", &listen), UNKNOWN);
    assert_int_equal(
        ask_path(HEAD "(allow file-read* (require-not (vnode-type FIFO)))", "file-read-data", "/a"), UNKNOWN);
    assert_int_equal(ask_plain(HEAD "(allow file-read* (subpath \"/\"))", "file-read-data"), UNKNOWN);
    assert_int_equal(ask_plain(HEAD "(allow mach-lookup (global-name \"a\"))", "mach-lookup"), UNKNOWN);
    /* unless a later rule decides, or both would answer the same */
    assert_int_equal(
        ask_path(HEAD "(allow file-read* (tty))(deny file-read* (literal \"/a\"))", "file-read-data", "/a"),
        DENY);
    assert_int_equal(ask_path(HEAD "(allow file-read*)(allow file-read* (tty))", "file-read-data", "/a"),
                     ALLOW);
}

static void a_terminal_is_a_character_device(void **state)
{
    (void)state;
    const struct seatbelt_question terminal = {.operation = "file-read-data",
                                               .path = "/dev/ttys1",
                                               .vnode = SEATBELT_VNODE_TERMINAL},
                                   device = {.operation = "file-read-data",
                                             .path = "/dev/null",
                                             .vnode = SEATBELT_VNODE_CHARACTER};
    assert_int_equal(ask(HEAD "(allow file-read* (vnode-type CHARACTER-DEVICE))", &terminal), ALLOW);
    assert_int_equal(ask(HEAD "(allow file-read* (vnode-type TTY))", &device), DENY);
}

/* Each is found although only what begins as its expression does is looked at. */
static void expressions_are_found_where_they_match(void **state)
{
    (void)state;
    static const char *const matching[][2] = {
        {"^/a/x/?y$", "/a/xy"},    {"^/a/x/*y$", "/a/xy"}, {"^/a/x/{0,1}y$", "/a/xy"},
        {"^/a/x/+y$", "/a/x//y"},  {"^/a/", "/a/b"},       {"^/a", "/abc"},
        {"^/a\\.b/c", "/a.b/c"},   {"^/(a|b)/c$", "/b/c"}, {"/c$", "/a/b/c"},
        {"^/[ab]/c/d$", "/b/c/d"}, {"^/a/b$", "/a/b"},
    };
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++) {
        struct arena *texts = arena_create(0);
        const char *text = arena_format(texts, HEAD "(allow file-read* (regex \"%s\"))", matching[i][0]);
        if (ask_path(text, "file-read-data", matching[i][1]) != ALLOW)
            fail_msg("%s does not match %s", matching[i][0], matching[i][1]);
        arena_destroy(texts);
    }
}

static void put_listed(void *context, const struct seatbelt_listed *listed)
{
    static const char *const kinds[] = {"path", "tree",        "prefix",          "expression",
                                        "name", "name-prefix", "name-expression", "port"};
    struct buffer *out = context;
    buffer_format(out, "%u %s %s ", listed->line, listed->allow ? "allow" : "deny", kinds[listed->kind]);
    if (listed->kind == SEATBELT_LISTED_PORT)
        buffer_format(out, "%u\n", listed->port);
    else
        buffer_format(out, "%s %u\n", listed->text, listed->name);
}

static void all_that_filters_name_is_listed(void **state)
{
    (void)state;
    struct buffer out = buffer_in(arena);
    const struct seatbelt_profile *profile = profile_of(
        "(version 1)\n(deny default)\n"
        "(allow file-read* (literal \"/a\") (require-all (subpath \"/b\") (require-not (prefix \"/b/c\"))))\n"
        "(deny file-read* (regex #\"^/d\") (tty))\n"
        "(allow network-outbound (remote tcp \"localhost:80\" \"*:*\"))\n"
        "(allow mach-lookup (global-name \"e\") (local-name-prefix \"f\") (global-name-regex #\"g\"))\n"
        "(allow file-read-metadata (path-ancestors \"/h/i/j\"))\n");
    seatbelt_list(profile, put_listed, &out);
    assert_string_equal(out.bytes, "3 allow path /a 0\n3 allow tree /b 0\n3 allow prefix /b/c 0\n"
                                   "4 deny expression ^/d 0\n5 allow port 80\n"
                                   "6 allow name e 1\n6 allow name-prefix f 2\n6 allow name-expression g 1\n"
                                   "7 allow path / 0\n7 allow path /h 0\n7 allow path /h/i 0\n");
}

static void the_line_of_the_deciding_rule_is_told(void **state)
{
    (void)state;
    const struct seatbelt_profile *profile =
        profile_of("(version 1)\n(deny default)\n\n(allow file-read*\n  (subpath \"/a\"))\n");
    uint32_t line = 99;
    (void)seatbelt_decide(profile, &(struct seatbelt_question){.operation = "file-read-data", .path = "/a"},
                          &line);
    assert_int_equal(line, 4);
    (void)seatbelt_decide(profile, &(struct seatbelt_question){.operation = "file-read-data", .path = "/b"},
                          &line);
    assert_int_equal(line, 2);
    (void)seatbelt_decide(profile, &(struct seatbelt_question){.operation = "file-link", .path = "/b"},
                          &line);
    assert_int_equal(line, 0);
    assert_int_equal(seatbelt_decide(profile, &(struct seatbelt_question){.operation = "file-fly"}, &line),
                     UNKNOWN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_later_filtered_rule_wins),
        TEST(the_more_specific_operation_wins_in_either_order),
        TEST(an_unfiltered_rule_is_the_fallback_wherever_it_stands),
        TEST(an_unfiltered_leaf_beats_a_filtered_wildcard),
        TEST(deny_default_leaves_some_operations_open),
        TEST(a_local_filter_on_outbound_opens_everything),
        TEST(bind_falls_back_to_inbound),
        TEST(the_text_of_a_filter_is_never_resolved),
        TEST(filters_side_by_side_are_alternatives),
        TEST(what_cannot_be_judged_stays_so),
        TEST(a_terminal_is_a_character_device),
        TEST(expressions_are_found_where_they_match),
        TEST(all_that_filters_name_is_listed),
        TEST(the_line_of_the_deciding_rule_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
