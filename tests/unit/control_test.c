/* Which controls a policy needs, and what becomes of those that the target cannot hold. */
#include "emitters/control.h"
#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"
#include "emitters/control_seatbelt.h"
#include "emitters/control_windows.h"
#include "emitters/target.h"
#include "policy/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

static const struct port_range every_port[] = {{1, 65535}};
static const struct port_range port_443[] = {{443, 443}};

static const struct network network_any = {
    .target = NETWORK_ANY, .protocols = PROTOCOL_BITS, .ports = every_port, .port_count = 1};
static const struct network network_lan = {
    .target = NETWORK_LAN, .protocols = PROTOCOL_BITS, .ports = every_port, .port_count = 1};
static const struct network network_loopback = {
    .target = NETWORK_LOOPBACK, .protocols = PROTOCOL_BITS, .ports = every_port, .port_count = 1};
static const struct network network_host = {.target = NETWORK_HOST,
                                            .host = "example.org",
                                            .protocols = PROTOCOL_BIT_TCP,
                                            .ports = port_443,
                                            .port_count = 1};
static const struct network listen_443 = {
    .target = NETWORK_ANY, .protocols = PROTOCOL_BIT_TCP, .ports = port_443, .port_count = 1};

struct checked {
    struct arena *arena;
    struct bound_policy *bound;
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];
    struct note_list notes;
    bool held;
};

/* Rules of layer 0, or 1 where they say so, bound for Linux with symbolic roots, and checked against
 * bubblewrap. */
static struct checked check(const struct rule *rules, uint32_t count)
{
    struct checked checked = {.arena = arena_create(0)};
    struct rule *kept = arena_array(checked.arena, count, sizeof *kept);
    struct policy *policy = arena_alloc(checked.arena, sizeof *policy);
    static const struct layer layers[] = {{.kind = LAYER_POLICY, .name = "t"},
                                          {.kind = LAYER_MANAGED, .name = "corp"}};
    static const struct policy_source sources[] = {{"t.sbx", SOURCE_POLICY, NULL}};
    struct bindings bindings = {.system = SYSTEM_LINUX};
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = rules[i];
        kept[i].systems = SYSTEM_ALL;
        kept[i].origin.line = i + 1;
        if (kept[i].path.rest == NULL)
            kept[i].path.rest = "";
    }
    *policy = (struct policy){.arena = checked.arena,
                              .name = "t",
                              .layers = layers,
                              .layer_count = 2,
                              .sources = sources,
                              .source_count = 1,
                              .rules = kept,
                              .rule_count = count};
    checked.notes = note_list_in(checked.arena);
    checked.bound = policy_bind(checked.arena, policy, &bindings, &checked.notes);
    bound_seal(checked.bound, &checked.notes);
    assert_int_equal(checked.notes.errors, 0);
    controls_needed(checked.bound, checked.needs);
    checked.held =
        controls_check(checked.bound, CONTROL_TARGET_BWRAP, checked.needs, checked.accepted, &checked.notes);
    return checked;
}

#define CHECK(...) check((const struct rule[]){__VA_ARGS__}, COUNT(((const struct rule[]){__VA_ARGS__})))

static const struct note *note_about(const struct checked *checked, const char *text)
{
    for (uint32_t i = 0; i < checked->notes.count; i++)
        if (strstr(checked->notes.items[i].text, text) != NULL)
            return &checked->notes.items[i];
    return NULL;
}

static void assert_needed(const struct checked *checked, const char *names)
{
    struct buffer needed = buffer_in(checked->arena);
    for (int i = 0; i < CONTROLS; i++)
        if (checked->needs[i].needed)
            buffer_format(&needed, "%s%s", needed.length > 0 ? " " : "", control_names[i]);
    assert_string_equal(needed.bytes, names);
}

#define GRANT_WORK                                                                                           \
    {                                                                                                        \
        .kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_WORK }                               \
    }
#define DEFAULT_BEFORE "fs.closed fs.write "
#define DEFAULT_AFTER "ipc.abstract ipc.signal tty env syscall process.tree"

static void the_closed_default_needs_what_every_policy_needs(void **state)
{
    (void)state;
    struct checked checked =
        CHECK(GRANT_WORK, {.kind = RULE_DENY_NETWORK, .network = &network_lan},
              {.kind = RULE_DENY_SERVICE, .name = "docker"}, {.kind = RULE_DENY_SCRATCH});
    assert_needed(&checked, DEFAULT_BEFORE "net.closed " DEFAULT_AFTER);
    assert_true(checked.held);
    arena_destroy(checked.arena);
}

static void denies_need_more_where_the_command_could_write(void **state)
{
    (void)state;
    struct checked inside =
        CHECK(GRANT_WORK, {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/.env"}});
    struct checked outside =
        CHECK(GRANT_WORK, {.kind = RULE_DENY, .path = {.root = ROOT_HOME, .rest = "/.ssh"}});
    struct checked read = CHECK(
        GRANT_WORK, {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_WORK, .rest = "/.git"}});
    struct checked pattern = CHECK(
        GRANT_WORK, {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/*.pem", .pattern = true}});
    assert_needed(&inside, DEFAULT_BEFORE "fs.deny fs.deny.missing net.closed " DEFAULT_AFTER);
    assert_needed(&outside, DEFAULT_BEFORE "fs.deny net.closed " DEFAULT_AFTER);
    assert_needed(&read, DEFAULT_BEFORE "fs.deny.missing net.closed " DEFAULT_AFTER);
    assert_needed(&pattern, DEFAULT_BEFORE "fs.deny.pattern net.closed " DEFAULT_AFTER);
    assert_true(inside.held && outside.held && read.held && pattern.held);
    assert_int_equal(control_entry_in_text(inside.bound, CONTROL_FS_DENY_MISSING, true).strength,
                     STRENGTH_UNENFORCEABLE);
    arena_destroy(inside.arena);
    arena_destroy(outside.arena);
    arena_destroy(read.arena);
    arena_destroy(pattern.arena);
}

static void an_open_network_needs_nothing_but_that_listening_is_refused(void **state)
{
    (void)state;
    struct checked open = CHECK({.kind = RULE_GRANT_NETWORK, .network = &network_any});
    struct checked listening = CHECK({.kind = RULE_GRANT_NETWORK, .network = &network_any},
                                     {.kind = RULE_GRANT_LISTEN, .network = &network_any});
    assert_needed(&open, DEFAULT_BEFORE "listen " DEFAULT_AFTER);
    assert_true(open.held);
    assert_needed(&listening, DEFAULT_BEFORE DEFAULT_AFTER);
    assert_true(listening.held);
    arena_destroy(open.arena);
    arena_destroy(listening.arena);
}

static void what_one_wall_holds_another_rule_may_take_away(void **state)
{
    (void)state;
    const struct rule network = {.kind = RULE_GRANT_NETWORK, .network = &network_any};
    const struct rule scratch = {.kind = RULE_GRANT_SCRATCH};
    const struct rule accept = {.kind = RULE_ACCEPT, .name = "socket.path", .target = "bwrap", .value = "x"};
    struct checked checked = CHECK(network, scratch);
    struct checked accepted = CHECK(network, scratch, accept);
    assert_false(checked.held);
    assert_int_equal(checked.notes.errors, 1);
    const struct note *note = note_about(&checked, "bwrap cannot hold listen");
    assert_non_null(strstr(note->help, "grant listen any, or deny scratch"));
    assert_int_equal(note->rule->kind, RULE_GRANT_NETWORK);
    assert_non_null(strstr(note->text, "Unix sockets that \"grant scratch\" ("));
    /* A text artifact keeps Unix sockets closed unless the policy accepts that the host's are not covered. */
    assert_false(text_opens_unix_sockets(checked.bound));
    assert_int_equal(control_entry_in_text(checked.bound, CONTROL_IPC_ABSTRACT, true).strength,
                     STRENGTH_ENFORCED);
    assert_int_equal(control_entry_in_text(checked.bound, CONTROL_SOCKET_PATH, true).strength,
                     STRENGTH_ENFORCED);
    assert_int_equal(control_entry_in_text(checked.bound, CONTROL_LISTEN, true).strength, STRENGTH_ENFORCED);
    assert_true(text_opens_unix_sockets(accepted.bound));
    assert_int_equal(control_entry_in_text(accepted.bound, CONTROL_IPC_ABSTRACT, true).strength,
                     STRENGTH_UNENFORCEABLE);
    assert_int_equal(control_entry_in_text(accepted.bound, CONTROL_SOCKET_PATH, true).strength,
                     STRENGTH_UNENFORCEABLE);
    assert_int_equal(control_entry_in_text(accepted.bound, CONTROL_LISTEN, true).strength,
                     STRENGTH_UNENFORCEABLE);
    arena_destroy(checked.arena);
    arena_destroy(accepted.arena);
}

static void a_network_between_open_and_closed_is_refused(void **state)
{
    (void)state;
    struct checked checked = CHECK({.kind = RULE_GRANT_NETWORK, .network = &network_host},
                                   {.kind = RULE_GRANT_NETWORK, .network = &network_loopback},
                                   {.kind = RULE_DENY_NETWORK, .network = &network_lan});
    assert_false(checked.held);
    const struct note *note = note_about(&checked, "net.host");
    assert_non_null(note);
    assert_int_equal(note->code, SBX300_UNENFORCEABLE);
    assert_int_equal(target_exit(note->code), 3);
    assert_int_equal(note->rule->origin.line, 1);
    assert_non_null(strstr(note->text, "grant network host example.org"));
    assert_non_null(strstr(note->help, "accept net.host on bwrap because"));
    assert_int_equal(note_about(&checked, "net.loopback")->rule->origin.line, 2);
    assert_int_equal(note_about(&checked, "net.address")->rule->origin.line, 3);
    assert_true(checked.needs[CONTROL_NET_CLOSED].needed);
    arena_destroy(checked.arena);
}

static void grants_that_a_deny_takes_whole_need_nothing(void **state)
{
    (void)state;
    struct checked checked =
        CHECK({.kind = RULE_GRANT_NETWORK, .network = &network_host},
              {.kind = RULE_DENY_NETWORK, .network = &network_any},
              {.kind = RULE_GRANT_LISTEN, .network = &listen_443},
              {.kind = RULE_DENY_LISTEN, .network = &network_any},
              {.kind = RULE_GRANT_SERVICE, .name = "docker"}, {.kind = RULE_DENY_SERVICE, .name = "docker"});
    assert_needed(&checked, DEFAULT_BEFORE "net.closed " DEFAULT_AFTER);
    arena_destroy(checked.arena);
}

static void listening_needs_a_broker(void **state)
{
    (void)state;
    struct checked part = CHECK({.kind = RULE_GRANT_LISTEN, .network = &listen_443});
    struct checked whole = CHECK({.kind = RULE_GRANT_LISTEN, .network = &network_any});
    assert_non_null(note_about(&part, "bwrap cannot hold listen"));
    assert_non_null(note_about(&whole, "bwrap cannot hold listen"));
    assert_int_equal(listen_left(part.bound), LEFT_SOMETHING);
    assert_int_equal(listen_left(whole.bound), LEFT_EVERYTHING);
    arena_destroy(part.arena);
    arena_destroy(whole.arena);
}

static void other_classes_need_their_own(void **state)
{
    (void)state;
    struct checked checked =
        CHECK({.kind = RULE_DENY_EXEC, .path = {.root = ROOT_SLASH, .rest = "/usr/bin/sudo"}},
              {.kind = RULE_GRANT_SCRATCH}, {.kind = RULE_LIMIT_PROCESSES, .amount = 5},
              {.kind = RULE_LIMIT_FILES, .amount = 5}, {.kind = RULE_LIMIT_MEMORY, .amount = 5},
              {.kind = RULE_LIMIT_TIME, .amount = 5}, {.kind = RULE_GRANT_SERVICE, .name = "trustd"});
    assert_needed(&checked,
                  DEFAULT_BEFORE "net.closed socket.path ipc.abstract ipc.signal tty env exec.deny syscall "
                                 "process.tree limit.processes limit.memory limit.time limit.files scratch "
                                 "service.trustd");
    assert_int_equal(checked.notes.errors, 2);
    arena_destroy(checked.arena);
}

static void an_accept_covers_the_policys_own_rules_only(void **state)
{
    (void)state;
    const struct rule accept = {
        .kind = RULE_ACCEPT, .name = "net.host", .target = "bwrap", .value = "firewall"};
    const struct rule elsewhere = {
        .kind = RULE_ACCEPT, .name = "net.host", .target = "seatbelt", .value = "x"};
    const struct rule grant = {.kind = RULE_GRANT_NETWORK, .network = &network_host};
    const struct rule limit = {.kind = RULE_LIMIT_NETWORK, .layer = 1, .network = &network_host};
    const struct rule head = {.kind = RULE_LIMIT_NETWORK, .layer = 1, .nothing = true};
    struct checked own = CHECK(grant, accept);
    struct checked other = CHECK(grant, elsewhere);
    struct checked managed = CHECK(grant, accept, head, limit);
    assert_true(own.held);
    assert_string_equal(own.accepted[CONTROL_NET_HOST]->value, "firewall");
    assert_null(own.accepted[CONTROL_NET_ADDRESS]);
    assert_false(other.held);
    assert_false(managed.held);
    assert_null(managed.accepted[CONTROL_NET_HOST]);
    const struct note *note = note_about(&managed, "\"corp\"");
    assert_non_null(note);
    assert_int_equal(note->code, SBX301_UNENFORCEABLE_MANAGED);
    assert_int_equal(note->rule->layer, 1);
    arena_destroy(own.arena);
    arena_destroy(other.arena);
    arena_destroy(managed.arena);
}

static struct control_entry on_windows(enum windows_tier tier, enum control control)
{
    const struct windows_ground nothing = {.network = WINDOWS_NETWORK_CLOSED};
    return control_windows_entry(&nothing, tier, control);
}

static void tables_are_whole(void **state)
{
    (void)state;
    int services = 0;
    for (int i = 0; i < CONTROLS; i++) {
        assert_non_null(control_names[i]);
        assert_non_null(control_bwrap[i].reason);
        assert_int_equal(control_bwrap[i].instead != NULL,
                         control_bwrap[i].strength == STRENGTH_UNENFORCEABLE);
        assert_non_null(control_seatbelt[i].reason);
        assert_int_equal(control_seatbelt[i].instead != NULL,
                         control_seatbelt[i].strength == STRENGTH_UNENFORCEABLE);
        for (int tier = 0; tier < WINDOWS_TIERS; tier++) {
            struct control_entry entry = on_windows((enum windows_tier)tier, (enum control)i);
            assert_non_null(entry.reason);
            assert_int_equal(entry.instead != NULL, entry.strength == STRENGTH_UNENFORCEABLE);
        }
    }
    for (; service_names[services] != NULL; services++) {
        const char *name = control_names[CONTROL_SERVICE_SSH_AGENT + services];
        assert_int_equal(strncmp(name, "service.", 8), 0);
        assert_string_equal(name + 8, service_names[services]);
    }
    assert_int_equal(CONTROL_SERVICE_SSH_AGENT + services, CONTROLS);
    assert_ptr_equal(control_table_of(CONTROL_TARGET_BWRAP), control_bwrap);
    assert_ptr_equal(control_table_of(CONTROL_TARGET_SEATBELT), control_seatbelt);
}

static void the_page_shows_the_table(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    size_t length = 0;
    const char *error = NULL;
    const char *page = file_read(arena, "docs/targets.md", 1 << 20, &length, &error);
    assert_non_null(page);
    for (int i = 0; i < CONTROLS; i++) {
        assert_non_null(
            strstr(page, arena_format(arena, "| `%s` | %s | %s |\n", control_names[i],
                                      strength_names[control_bwrap[i].strength], control_bwrap[i].reason)));
        assert_non_null(strstr(page, arena_format(arena, "| `%s` | %s | %s |\n", control_names[i],
                                                  strength_names[control_seatbelt[i].strength],
                                                  control_seatbelt[i].reason)));
        for (int tier = 0; tier < WINDOWS_TIERS; tier++) {
            struct control_entry entry = on_windows((enum windows_tier)tier, (enum control)i);
            assert_non_null(strstr(page, arena_format(arena, "| `%s` | %s | %s |\n", control_names[i],
                                                      strength_names[entry.strength], entry.reason)));
        }
    }
    for (const struct target *target = targets; target->name != NULL; target++)
        assert_non_null(strstr(page, arena_format(arena, "| `%s` | `%s` |", target->name, target->suffix)));
    arena_destroy(arena);
}

static void targets_are_found_by_name_and_suffix(void **state)
{
    (void)state;
    assert_string_equal(target_named("bin")->suffix, ".bin");
    assert_string_equal(target_for_suffix("a/policy.bpf")->name, "seccomp");
    assert_null(target_for_suffix(".bin"));
    assert_null(target_for_suffix("policy.sbx"));
    assert_null(target_named("BIN"));
    for (const struct target *target = targets; target->name != NULL; target++) {
        assert_ptr_equal(target_named(target->name), target);
        assert_non_null(target->emit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_default_needs_what_every_policy_needs),
        cmocka_unit_test(denies_need_more_where_the_command_could_write),
        cmocka_unit_test(an_open_network_needs_nothing_but_that_listening_is_refused),
        cmocka_unit_test(what_one_wall_holds_another_rule_may_take_away),
        cmocka_unit_test(a_network_between_open_and_closed_is_refused),
        cmocka_unit_test(grants_that_a_deny_takes_whole_need_nothing),
        cmocka_unit_test(listening_needs_a_broker),
        cmocka_unit_test(other_classes_need_their_own),
        cmocka_unit_test(an_accept_covers_the_policys_own_rules_only),
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(the_page_shows_the_table),
        cmocka_unit_test(targets_are_found_by_name_and_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
