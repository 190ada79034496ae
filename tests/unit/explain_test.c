#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/escape.h"
#include "build_policy.h"
#include "policy/bound.h"

static const struct bound_policy *bind_lines(struct arena *arena, const char *const *lines)
{
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
    bound_seal(bound, &notes);
    return bound;
}

static const char *const verdicts[] = {"deny", "allow", "depends"};
static const char *const levels[] = {"none", "read", "write"};

/* "deny none: 4 caps at none; 3 grants write | fix", lines as written in the test. */
static const char *ask(const struct bound_policy *bound, const char *question)
{
    struct arena *arena = bound->arena;
    struct buffer out = buffer_in(arena);
    size_t word = strcspn(question, " ");
    const char *argument = question + word + 1, *error;
    enum operation operation = OPERATION_READ;
    for (int i = 0; i < OPERATIONS; i++)
        if (strlen(operation_names[i]) == word && strncmp(operation_names[i], question, word) == 0)
            operation = (enum operation)i;
    const struct decision *decision =
        bound_decide(arena, bound, operation, argument, strlen(argument), &error);
    if (decision == NULL)
        return arena_format(arena, "error: %s", error);
    assert_null(error);
    buffer_string(&out, verdicts[decision->verdict]);
    if (operation <= OPERATION_EXEC)
        buffer_format(&out, " %s", levels[decision->level]);
    for (uint32_t i = 0; i < decision->reason_count; i++)
        buffer_format(&out, "%s %u %s", i == 0 ? ":" : ";",
                      decision->reasons[i].rule != NULL ? decision->reasons[i].rule->rule->origin.line : 0,
                      decision->reasons[i].effect);
    if (decision->fix != NULL)
        buffer_format(&out, " | %s", decision->fix);
    return out.bytes;
}

static void expect(const struct bound_policy *bound, const char *question, const char *answer)
{
    const char *got = ask(bound, question);
    if (strcmp(got, answer) != 0)
        fail_msg("%s\n  got:      %s\n  expected: %s", question, got, answer);
}

static void a_decision_names_every_rule_that_took_part(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(
        arena, LINES("grant write $WORK", "deny $WORK/a", "grant read $WORK/a/b", "grant read $WORK/r",
                     "deny write $WORK/.github except $WORK/.github/x", "auto grant read /opt",
                     "auto grant write /opt/t", "deny exec $WORK/bin/sudo"));
    expect(bound, "write /w/c", "allow write: 1 grants write");
    expect(bound, "read /w/a/b", "deny none: 2 caps at none; 3 grants read | deny $WORK/a except $WORK/a/b");
    expect(bound, "write /w/r/x", "deny read: 4 grants read | grant write $WORK/r/x");
    expect(bound, "write /w/r",
           "deny read: 4 grants read | grant write $WORK/r instead of \"grant read $WORK/r\" (test.sbx:4)");
    expect(bound, "write $WORK/.github/y",
           "deny read: 5 caps at read; 1 grants write | deny write $WORK/.github except $WORK/.github/x, "
           "$WORK/.github/y");
    expect(bound, "read $WORK/.github/y", "allow read: 5 caps at read; 1 grants write");
    expect(bound, "write $WORK/.github/x/y", "allow write: 1 grants write");
    expect(bound, "read /nowhere", "deny none: 0 closed by default | grant read /nowhere");
    expect(bound, "read ~/x y", "deny none: 0 closed by default | grant read \"~/x y\"");
    expect(bound, "write /opt/t/x", "allow write: 7 grants write");
    expect(bound, "write /opt/u", "deny read: 6 grants read | grant write /opt/u");
    expect(
        bound, "exec /w/bin/sudo",
        "deny write: 8 stops execution; 1 grants write | remove \"deny exec $WORK/bin/sudo\" (test.sbx:8)");
    expect(bound, "exec /w/bin/ls", "allow write: 1 grants write");
    expect(bound, "exec /bin/ls", "deny none: 0 closed by default | grant read /bin/ls");
    arena_destroy(arena);
}

static void managed_layers_and_itself_cannot_be_argued_with(void **state)
{
    struct arena *arena = arena_create(0);
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    (void)state;
    struct bound_policy *bound = policy_bind(
        arena,
        build_policy(arena, LINES("grant write /w", "grant socket /w", "managed corp",
                                  "limit write to nothing", "limit write to /w/a", "limit read to nothing",
                                  "limit read to /w", "deny /w/a/s", "grant read /q")),
        &bindings, &notes);
    bound_add_itself(bound, "/w/a/project.sbx", "the policy file");
    bound_seal(bound, &notes);
    const char *owner = "only the owner of the managed layer \"corp\" can change this";
    expect(bound, "write /w/b",
           arena_format(arena, "deny read: 3 limits writing to its list; 1 grants write | %s", owner));
    expect(bound, "read /w/a/s",
           arena_format(arena, "deny none: 7 caps at none; 1 grants write | %s", owner));
    expect(bound, "read /q",
           arena_format(arena, "deny none: 5 limits reading to its list; 3 limits writing to its list | %s",
                        owner));
    expect(bound, "socket /w/b",
           arena_format(arena, "deny: 3 limits writing to its list; 2 grants the socket | %s", owner));
    expect(bound, "write /w/a/project.sbx",
           "deny read: 0 caps at read; 1 grants write | nothing lifts this: the policy's own files stay as "
           "they are while it holds");
    arena_destroy(arena);
}

static void sockets_ports_and_names_are_explained(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(
        arena, LINES("grant socket /run/s", "deny socket /run/s/*.old", "deny write /run/s/x", "grant env CI",
                     "grant env NODE_*", "deny env *_TOKEN", "set env NODE_TOKEN=x", "grant service gpu",
                     "deny service dbus", "grant listen loopback 3000-3010", "deny listen loopback 3005",
                     "grant network host a.example 443", "grant network loopback 3000",
                     "deny network host b.a.example", "grant network address 9.9.9.9 53 udp",
                     "grant network host db.example 5432", "deny network address 8.8.0.0/16 5432"));
    expect(bound, "socket /run/s/ok", "allow: 1 grants the socket");
    expect(
        bound, "socket /run/s/a.old",
        "deny: 2 closes the socket; 1 grants the socket | remove \"deny socket /run/s/*.old\" (test.sbx:2)");
    expect(bound, "socket /run/s/x",
           "deny: 3 closes the socket; 1 grants the socket | remove \"deny write /run/s/x\" (test.sbx:3)");
    expect(bound, "socket /x", "deny: 0 closed by default | grant socket /x");
    expect(bound, "env CI", "allow: 4 lets it in");
    expect(bound, "env NODE_X_TOKEN",
           "deny: 6 keeps it out; 5 lets it in | remove \"deny env *_TOKEN\" (test.sbx:6)");
    expect(bound, "env NODE_TOKEN", "allow: 7 sets it");
    expect(bound, "env HOME", "deny: 0 closed by default | grant env HOME");
    expect(bound, "service gpu", "allow: 8 opens it");
    expect(bound, "service dbus", "deny: 9 closes it | remove \"deny service dbus\" (test.sbx:9)");
    expect(bound, "listen 127.0.0.1:3000", "allow: 10 grants it");
    expect(bound, "listen localhost:3005",
           "deny: 11 denies it; 10 grants it | remove \"deny listen loopback port 3005\" (test.sbx:11)");
    expect(bound, "listen 0.0.0.0:3000", "deny: 0 closed by default | grant listen any port 3000");
    expect(bound, "connect A.Example.:443", "allow: 12 grants it");
    expect(bound, "connect a.example:80", "deny: 0 closed by default | grant network host a.example port 80");
    expect(bound, "connect x.b.a.example:443",
           "deny: 14 denies it | remove \"deny network host b.a.example\" (test.sbx:14)");
    expect(bound, "connect localhost:3000", "allow: 13 grants it");
    expect(bound, "connect [::1]:3000/udp", "allow: 13 grants it");
    expect(bound, "connect 127.1:3001", "deny: 0 closed by default | grant network loopback port 3001");
    expect(bound, "connect [2600::1]:1", "deny: 0 closed by default | grant network address 2600::1 port 1");
    expect(bound, "connect 9.9.9.9:53/udp", "allow: 15 grants it");
    expect(bound, "connect dns.example:53/udp",
           "depends: 15 grants it if the name leads to its addresses | grant network host dns.example port "
           "53 udp");
    expect(bound, "connect db.example:5432",
           "depends: 17 denies it if the name leads to its addresses; 16 grants it | "
           "the address decides: ask for it instead of the name, or remove \"deny network address 8.8.0.0/16 "
           "port 5432\" (test.sbx:17)");
    arena_destroy(arena);
}

static void what_cannot_be_asked_is_an_error(void **state)
{
    static const char *const wrong[] = {
        "read a/b",
        "read ",
        "read ../x",
        "read /w/../x",
        "read ~you/x",
        "read $NOPE/x",
        "read C:/x",
        "read $env.NOPE/x",
        "connect a.example",
        "connect :80",
        "connect a.example:0",
        "connect a.example:65536",
        "connect a.example:080",
        "connect ::1:80",
        "connect [::1]",
        "connect [a.example]:80",
        "connect a.example:80/sctp",
        "connect a..example:80",
        "connect b\xc3\xbc.example:80",
        "connect a b:80",
        "connect *.example:80",
        "env ",
        "env A=b",
        "service ",
        "connect [1.2.3.4]:80",
    };
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(arena, LINES("grant write /w"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (strncmp(ask(bound, wrong[i]), "error: ", 7) != 0)
            fail_msg("%s: %s", wrong[i], ask(bound, wrong[i]));
    const char *error;
    assert_null(bound_decide(arena, bound, OPERATION_READ, "/w\0/x", 5, &error));
    assert_non_null(error);
    assert_string_equal("error: a relative path; write $WORK/a/b", ask(bound, "read a/b"));
    arena_destroy(arena);
}

static void spellings_of_a_path_are_one(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(arena, LINES("grant write /w/a", "deny $GITDIR"));
    expect(bound, "write //w/./a/", "allow write: 1 grants write");
    expect(bound, "write $WORK//a/b", "allow write: 1 grants write");
    expect(bound, "read /",
           "deny none: 0 closed by default | grant the directories below it that are needed");
    expect(bound, "read $GITDIR/x", "deny none: 2 caps at none | deny $GITDIR except $WORK/.git/x");
    expect(bound, "read /w/a*", "deny none: 0 closed by default | grant read $WORK/a\\*");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_names_every_rule_that_took_part),
        cmocka_unit_test(managed_layers_and_itself_cannot_be_argued_with),
        cmocka_unit_test(sockets_ports_and_names_are_explained),
        cmocka_unit_test(what_cannot_be_asked_is_an_error),
        cmocka_unit_test(spellings_of_a_path_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
