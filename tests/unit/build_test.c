/* Every mistake that the compiler can find in one text: its code, the words that the span covers, a part of
 * the help. */
#include "compiler/compile.h"

#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mistake {
    const char *text; /* statements behind the two that open a file; a text that begins with "sbx" is whole */
    unsigned code;    /* 0: no mistake */
    const char *marked;
    const char *help; /* part of it; NULL: whatever it is */
};

static const struct mistake mistakes[] = {
    /* 3: paths */
    {"grant read /a, ~, ~/b, $WORK/c, C:/d, d:/e", 0, NULL, NULL},
    {"grant read vendor/lib", 104, "vendor/lib", "write $WORK/vendor/lib"},
    {"grant read ./vendor", 104, "./vendor", "write $WORK/vendor"},
    {"grant read \"my files/x\"", 104, "\"my files/x\"", "write \"$WORK/my files/x\""},
    {"grant read \"\"", 104, "\"\"", "$WORK"},
    {"deny **/.env", 104, "**/.env", "$WORK/**/.env"},
    {"deny /*/x", 111, "/*/x", "$WORK/**/.env"},
    {"deny C:/*/x", 111, "C:/*/x", "$WORK/**/.env"},
    {"deny $WORK/*/x, ~/*.pem, C:/a/*, /a/**", 0, NULL, NULL},
    {"grant read C:x", 104, "C:x", "C:/"},
    {"grant read C:", 104, "C:", "C:/"},
    {"grant read \\~/x", 104, "\\~/x", "$WORK/"},
    {"grant read \\$WORK/x", 104, "\\$WORK/x", "$WORK/"},
    {"grant read /a/../b", 101, "..", NULL},
    {"grant read /a/\\.\\./b", 101, "\\.\\.", NULL},
    {"grant read /a//b/./c/, /a/...", 0, NULL, NULL},
    {"grant read ~alice/x", 102, "~alice/x", "~/"},
    {"grant read \"${WORK}/x\"", 103, "${", "$WORK"},
    {"grant read /a/$HOME", 106, "$", "\\$"},
    {"grant read $/x", 106, "$", NULL},
    {"grant read $1/x", 106, "$", NULL},
    {"grant read /a/\\$HOME", 0, NULL, NULL},
    {"grant read $WROK/x", 105, "$WROK", "$WORK"},
    {"grant read $NOTHING_LIKE_IT", 105, "$NOTHING_LIKE_IT", "let NOTHING_LIKE_IT"},
    {"let FIXTURES = /f\ngrant read $FIXTURE", 105, "$FIXTURE", "$FIXTURES"},
    {"grant read $A\nlet A = /a", 105, "$A", NULL},
    {"grant read $WORK.x", 107, ".", "$WORK/"},
    {"grant read $env", 107, "$env", "$env.NAME"},
    {"grant read $env.", 107, "$env", "$env.NAME"},
    {"grant read $env/x", 107, "$env", "$env.NAME"},
    {"grant read $env.A-b", 107, "-", "$env.A/"},
    {"grant read $env.PATH, $env.GOPATH/pkg", 0, NULL, NULL},
    {"grant read /", 108, "/", NULL},
    {"grant write //./", 108, "//./", NULL},
    {"grant read c:/", 108, "c:/", NULL},
    {"grant socket /", 108, "/", NULL},
    {"auto grant read /", 108, "/", NULL},
    {"let A = /\ngrant read $A", 108, "$A", NULL},
    {"deny /, C:/", 0, NULL, NULL},
    {"grant read /a/*.c", 109, "*", "\\*"},
    {"grant read /a/b?", 109, "?", NULL},
    {"grant socket /a/[b]", 109, "[", NULL},
    {"let A = /a/*", 109, "*", NULL},
    {"expect deny read /a/*", 109, "*", NULL},
    {"grant read /a/\\*.c, /a/\\?, /a/\\[b]", 0, NULL, NULL},
    {"deny socket /a/*\ndeny exec /a/**/x\ndeny /a except /a/b*", 0, NULL, NULL},
    {"deny /a/b**", 110, NULL, NULL},
    {"deny /a/[z-a]", 110, "z", NULL},
    {"deny /a/[]", 110, "[", NULL},
    {"deny /a/[b", 110, "[", NULL},
    {"deny /a/[b/c]", 110, NULL, NULL},
    {"deny /a/[^b]", 110, "^", NULL},
    {"deny /a/[[:alpha:]]", 110, NULL, NULL},
    {"deny /a/[\\x41-\\x43]x\\*[z-a]", 110, "z", NULL},
    {"deny /a/[!a-z]*, /a/]x, /a/[\\]\\-\\\\]", 0, NULL, NULL},
    {"deny $SUBMODULES/, $SUBMODULES/x\nlet A = $SUBMODULES\ndeny write $A\ndeny exec $SUBMODULES", 0, NULL,
     NULL},
    {"grant read $SUBMODULES", 117, "$SUBMODULES", NULL},
    {"deny write $GITDIRS/hooks/, $GITDIRS/config", 0, NULL, NULL},
    {"grant write $GITDIRS", 117, "$GITDIRS", NULL},
    {"let A = $SUBMODULES\ngrant write $A/x", 117, "$A/x", NULL},
    {"deny /a except $SUBMODULES", 117, "$SUBMODULES", NULL},
    {"sbx 1\nmanaged \"m\"\nlimit write to $SUBMODULES", 117, "$SUBMODULES", NULL},
    /* let */
    {"when os linux {\nlet A = /a\n}", 114, "let", NULL},
    {"let A = /a\nlet A = /b", 115, "A", NULL},
    {"let WORK = /a", 116, "WORK", NULL},
    {"let env = /a", 116, "env", NULL},
    {"let A = /a, ~/b\nlet B = $A/c, /d\ngrant read $B/e\ndeny $B/*.pem", 0, NULL, NULL},
    /* use */
    {"use std/devv", 118, "std/devv", "std/dev"},
    {"use \"missing-file.sbx\"", 119, "\"missing-file.sbx\"", NULL},
    {"use \"/etc/base.sbx\"", 123, "\"/etc/base.sbx\"", NULL},
    {"use std/dev\nuse std/dev\nuse std/paths\ngrant read $SYSTEM", 0, NULL, NULL},
    {"when os linux {\nuse std/paths\n}\ngrant read $SYSTEM", 105, "$SYSTEM", NULL},
    {"use std/paths\nlet SYSTEM = /a", 115, "SYSTEM", NULL},
    {"let SYSTEM = /a\nuse std/paths", 115, "std/paths", NULL},
    {"use std/dev except ~/.npmrc, $WORK/*", 0, NULL, NULL},
    /* when */
    {"when os linux, macos {\nwhen command git {\ndeny /a\n}\n}", 0, NULL, NULL},
    {"when command /usr/bin/git {\n}", 128, "/usr/bin/git", "git"},
    /* 5: managed files */
    {"sbx 1\nmanaged \"m\"\ngrant read /a", 129, "grant read", "limit"},
    {"sbx 1\nmanaged \"m\"\nauto grant read /a", 129, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\ngrant network any", 129, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\ngrant bypass", 129, NULL, "permit bypass"},
    {"sbx 1\nmanaged \"m\"\nset env A = \"b\"", 129, NULL, "env"},
    {"sbx 1\nmanaged \"m\"\naccept tty on bwrap because \"x\"", 129, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\nuse std/dev", 130, "std/dev", "std/paths"},
    {"sbx 1\nmanaged \"m\"\nuse std/paths\nuse std/secrets\nlimit read to $SYSTEM, $WORK", 0, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\nuse std/secrets except ~/.npmrc", 132, "~/.npmrc", NULL},
    {"sbx 1\nmanaged \"m\"\ndeny $env.PATH", 133, "$env.PATH", NULL},
    {"sbx 1\nmanaged \"m\"\nlimit read to $env.PATH/x", 133, "$env.PATH", NULL},
    {"sbx 1\nmanaged \"m\"\nwhen command git {\ndeny /a\n}", 134, "deny", NULL},
    {"sbx 1\nmanaged \"m\"\nwhen command git {\nlimit write to nothing\n}", 134, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\nwhen command git {\nlimit processes to 5\n}", 134, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\nwhen command git {\nuse std/secrets\n}", 134, "std/secrets", NULL},
    {"sbx 1\nmanaged \"m\"\nwhen os linux {\nlimit write to nothing\n}\npermit bypass\ndeny env A\n"
     "expect deny read /a",
     0, NULL, NULL},
    {"limit write to $WORK", 131, "limit write to", NULL},
    {"limit network to nothing", 131, NULL, NULL},
    {"limit env to A", 131, NULL, NULL},
    {"permit bypass", 131, "permit bypass", NULL},
    {"sbx 1\npreset \"p\"\ndeny /a", 124, "\"p\"", NULL},
    /* 6: network */
    {"grant network host example.com, host *.example.com, host xn--bcher-kva.example, host localhost port "
     "1-2, 443 udp",
     0, NULL, NULL},
    {"deny network host *, host *.com, host EXAMPLE.com.", 0, NULL, NULL},
    {"grant network host *", 136, "*", "*.example.com"},
    {"grant network host *.com", 136, "*.com", NULL},
    {"grant network host a.*.com", 136, "a.*.com", NULL},
    {"deny network host *a.com", 136, "*a.com", NULL},
    {"deny network host a..com", 136, "a..com", NULL},
    {"grant network host b\xc3\xbc"
     "cher.example",
     136,
     "b\xc3\xbc"
     "cher.example",
     "xn--bcher-kva.example"},
    {"grant network host 10.0.0.1", 136, "10.0.0.1", "address 10.0.0.1"},
    {"grant network host 127.1", 136, "127.1", "address"},
    {"deny network host 0x7f.1", 136, "0x7f.1", "address"},
    {"grant network host ::1", 136, "::1", "address ::1"},
    {"grant network host example.com:443", 136, "example.com:443", "host example.com port 443"},
    {"grant network host https://example.com/x", 136, "https://example.com/x", "write example.com"},
    {"grant network address 10.0.0.0/8, address ::1, address fd00::/8, address 0.0.0.0/0", 0, NULL, NULL},
    {"grant network address 10.0.0.1/8", 138, "10.0.0.1/8", "10.0.0.0/8"},
    {"grant network address fd00::1/8", 138, "fd00::1/8", "fd00::/8"},
    {"grant network address 10.0.0.0/33", 138, "10.0.0.0/33", NULL},
    {"grant network address 10.0.0.0/08", 138, NULL, NULL},
    {"grant network address 127.1", 138, "127.1", "127.0.0.1"},
    {"grant network address example.com", 138, "example.com", NULL},
    {"grant network loopback port any, 80-90, 85-100", 0, NULL, NULL},
    /* names */
    {"grant env CI, NODE_*, *\ndeny env *_TOKEN", 0, NULL, NULL},
    {"grant env A?", 140, "?", NULL},
    {"grant env A[b]", 140, "[", NULL},
    {"grant env A\\*", 140, "\\*", NULL},
    {"grant env \"A=B\"", 140, "\"A=B\"", NULL},
    {"grant env \"\"", 140, "\"\"", NULL},
    {"grant env \\xff", 146, "\\xff", NULL},
    {"grant env A\\x07", 146, "A\\x07", NULL},
    {"set env A = \"b\\x1b\"", 146, "\"b\\x1b\"", NULL},
    {"set env A = \"b\\xc2\\x85\"", 146, NULL, NULL},
    {"set env A = \"b\"\nset env A = \"b\"\nset env B = \"b\"", 0, NULL, NULL},
    {"set env A = \"b\"\nset env A = \"c\"", 144, "A", NULL},
    {"set env A = \"b\"\nset env a = \"c\"", 144, NULL, NULL},
    {"when os linux, macos {\nset env A = \"b\"\nset env a = \"c\"\n}", 0, NULL, NULL},
    {"when os linux {\nset env A = \"b\"\n}\nwhen os macos {\nset env A = \"c\"\n}", 0, NULL, NULL},
    {"when command a {\nset env A = \"b\"\n}\nset env A = \"c\"", 144, NULL, NULL},
    {"when command a {\nset env A = \"b\"\n}\nwhen command b {\nset env A = \"c\"\n}", 0, NULL, NULL},
    {"grant service docker, gh", 0, NULL, NULL},
    {"grant service dokcer", 141, "dokcer", "docker"},
    {"deny service x", 141, "x", "ssh-agent"},
    {"deny syscall ptrace", 0, NULL, NULL},
    {"deny syscall ptrce", 142, "ptrce", "ptrace"},
    {"grant syscall read", 142, "read", NULL},
    {"sbx 1\nmanaged \"m\"\nlimit service to docker, g*\nlimit env to A, B_*\nlimit socket to /run/x\n"
     "limit network to host a.b.com, lan port 1",
     0, NULL, NULL},
    {"sbx 1\nmanaged \"m\"\nlimit service to dokcer", 141, "dokcer", "docker"},
    {"sbx 1\nmanaged \"m\"\nlimit service to q*", 141, "q*", NULL},
    {"sbx 1\nmanaged \"m\"\nlimit network to host *.com", 136, "*.com", NULL},
    /* amounts */
    {"limit processes to 512\nlimit files to 1\nlimit memory to 4GiB\nlimit time to 30m", 0, NULL, NULL},
    /* accept */
    {"accept net.host on bwrap because \"no broker here\"", 0, NULL, NULL},
    {"accept net.hosts on bwrap because \"x\"", 145, "net.hosts", "net.host"},
    {"accept net.host on bwarp because \"x\"", 145, "bwarp", "bwrap"},
    {"accept net.host on bwrap because \"\"", 145, "\"\"", NULL},
    {"accept SBX104 because \"x\"", 145, "SBX104", "SBX2"},
    /* expect */
    {"expect allow read /a\nexpect deny write $WORK/a, ~\nexpect deny connect a.com:443, [::1]:80/udp\n"
     "expect deny listen 127.0.0.1:80\nexpect deny env A\nexpect deny service docker\nexpect deny socket /s",
     0, NULL, NULL},
    {"expect deny connect example.com", 147, "example.com", NULL},
    {"expect deny connect example.com:0", 147, NULL, NULL},
    {"expect deny connect ::1:80", 147, NULL, NULL},
    {"expect deny listen example.com:80", 147, NULL, NULL},
    {"expect deny env A*", 147, "A*", NULL},
    {"expect deny service dokcer", 147, "dokcer", NULL},
    {"expect deny read a", 104, "a", NULL},
    /* scratch */
    {"grant scratch\ngrant read /tmp", 113, "/tmp", NULL},
    {"grant scratch\ngrant write $TMP", 113, "$TMP", NULL},
    {"grant scratch\ngrant write $TMP/x, /tmp/y", 0, NULL, NULL},
    {"when os linux {\ngrant scratch\n}\nwhen os macos {\ngrant read /tmp\n}", 0, NULL, NULL},
};

struct job {
    struct arena *arena;
    struct compilation *result;
};

static struct job compile_text(const char *text)
{
    struct job job = {.arena = arena_create(0)};
    if (strncmp(text, "sbx", 3) != 0)
        text = arena_format(job.arena, "sbx 1\npolicy \"t\"\n%s\n", text);
    const struct compile_input input = {
        .input = {.file = "t.sbx", .text = text, .length = (uint32_t)strlen(text)},
    };
    job.result = compile(job.arena, &input);
    assert_null(job.result->failure);
    return job;
}

static const char *marked(const struct job *job, const struct diagnostic *diagnostic)
{
    const struct source *source = &job->result->sources.items[diagnostic->at.source];
    return arena_copy(job->arena, source->text + diagnostic->at.start,
                      diagnostic->at.end - diagnostic->at.start);
}

static bool is_expected(const struct job *job, const struct mistake *mistake)
{
    const struct diagnostic_list *list = &job->result->diagnostics;
    if (mistake->code == 0)
        return list->errors == 0 && job->result->policy != NULL;
    if (list->errors != 1 || job->result->policy != NULL)
        return false;
    const struct diagnostic *found = &list->items[0];
    return (unsigned)found->code == mistake->code &&
           (mistake->marked == NULL || strcmp(marked(job, found), mistake->marked) == 0) &&
           (mistake->help == NULL || (found->help != NULL && strstr(found->help, mistake->help) != NULL));
}

static void each_mistake_has_its_code_span_and_help(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct job job = compile_text(mistakes[i].text);
        if (!is_expected(&job, &mistakes[i])) {
            wrong++;
            print_error("%s\n  expected %u [%s]\n", mistakes[i].text, mistakes[i].code,
                        mistakes[i].marked != NULL ? mistakes[i].marked : "");
            const struct diagnostic_list *list = &job.result->diagnostics;
            for (uint32_t j = 0; j < list->count; j++)
                print_error("  found %u [%s] %s / %s\n", (unsigned)list->items[j].code,
                            marked(&job, &list->items[j]), list->items[j].text,
                            list->items[j].help != NULL ? list->items[j].help : "");
        }
        arena_destroy(job.arena);
    }
    assert_int_equal(wrong, 0);
}

/* The one rule of a policy with one statement, as text. */
static void check_rules(const char *text, const char *expected)
{
    struct job job = compile_text(text);
    struct buffer out = buffer_in(job.arena);
    assert_non_null(job.result->policy);
    buffer_string(&out, "");
    for (uint32_t i = 0; i < job.result->policy->rule_count; i++)
        buffer_format(&out, "%s\n", rule_text(job.arena, &job.result->policy->rules[i]));
    assert_string_equal(out.bytes, expected);
    arena_destroy(job.arena);
}

static void paths_are_normal(void **state)
{
    (void)state;
    check_rules("grant read /a//b/./c, ~, $HOME/x, c:/d//e, \"/f g\"\n",
                "grant read /a/b/c\ngrant read ~\ngrant read ~/x\ngrant read C:/d/e\ngrant read \"/f g\"\n");
    check_rules("deny /a/**/**/x, /b/c\\*d*\n", "deny /a/**/x\ndeny /b/c\\*d*\n");
    check_rules("let A = /a\\*, ~/b\ndeny $A/*.c\n", "deny /a\\*/*.c\ndeny ~/b/*.c\n");
    check_rules("let A = /a/, /b\ndeny $A\n", "deny /a/\ndeny /b\n");
    check_rules("deny /a except /a/b, /a/c*\n", "deny /a except /a/b, /a/c*\n");
}

static void what_is_left_unsaid_is_filled_in(void **state)
{
    (void)state;
    struct job job =
        compile_text("grant network host a.com, loopback\ngrant network host A.com. udp\n"
                     "deny network host a.com\ngrant network host a.com port 8000-8010, 8005-8020, 22\n");
    const struct rule *rules = job.result->policy->rules;
    assert_int_equal(rules[0].network->port_count, 2);
    assert_int_equal(rules[0].network->ports[1].low, 443);
    assert_int_equal(rules[0].network->protocols, PROTOCOL_BIT_TCP);
    assert_int_equal(rules[1].network->ports[0].high, 65535);
    assert_int_equal(rules[1].network->protocols, PROTOCOL_BITS);
    assert_int_equal(rules[2].network->port_count, 2);
    assert_int_equal(rules[2].network->protocols, PROTOCOL_BIT_UDP);
    assert_string_equal(rules[2].network->host, "a.com");
    assert_int_equal(rules[3].network->ports[0].low, 1);
    assert_int_equal(rules[3].network->protocols, PROTOCOL_BITS);
    assert_int_equal(rules[4].network->port_count, 2);
    assert_int_equal(rules[4].network->ports[0].high, 22);
    assert_int_equal(rules[4].network->ports[1].high, 8020);
    arena_destroy(job.arena);
}

static void conditions_meet(void **state)
{
    (void)state;
    struct job job =
        compile_text("when os linux, macos {\nwhen command npm, git, git {\ndeny /a\n}\n}\ndeny /b\n");
    const struct rule *rules = job.result->policy->rules;
    assert_int_equal(rules[0].systems, 1 << SYSTEM_LINUX | 1 << SYSTEM_MACOS);
    assert_int_equal(rules[0].commands->count, 2);
    assert_string_equal(rules[0].commands->names[0], "git");
    assert_int_equal(rules[1].systems, SYSTEM_ALL);
    assert_null(rules[1].commands);
    assert_int_equal(rules[0].origin.line, 5);
    assert_int_equal(rules[0].origin.column, 6);
    arena_destroy(job.arena);
}

static void limits_hold_by_themselves(void **state)
{
    (void)state;
    check_rules("sbx 1\nmanaged \"m\"\nlimit write to $WORK, /a\nlimit env to nothing\n",
                "limit write to nothing\nlimit write to $WORK\nlimit write to /a\nlimit env to nothing\n");
}

static void presets_grant_only_automatically(void **state)
{
    (void)state;
    for (const struct builtin_preset *preset = builtin_presets; preset->name != NULL; preset++) {
        char text[128];
        snprintf(text, sizeof text, "use %s\n", preset->name);
        struct job job = compile_text(text);
        assert_non_null(job.result->policy);
        for (uint32_t i = 0; i < job.result->policy->rule_count; i++) {
            const struct rule *rule = &job.result->policy->rules[i];
            if (rule->kind == RULE_GRANT && !rule->automatic)
                fail_msg("%s: %s", preset->name, rule_text(job.arena, rule));
        }
        arena_destroy(job.arena);
    }
}

static void nested_names_cannot_explode(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer text = buffer_in(arena);
    buffer_string(&text, "sbx 1\npolicy \"t\"\nlet A0 = /a, /b\n");
    for (int i = 1; i < 40; i++)
        buffer_format(&text, "let A%d = $A%d/x, $A%d/y\n", i, i - 1, i - 1);
    struct job job = compile_text(text.bytes);
    assert_int_equal(job.result->diagnostics.errors, 1);
    assert_int_equal(job.result->diagnostics.items[0].code, SBX125_RULE_LIMIT);
    arena_destroy(job.arena);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_code_span_and_help),
        cmocka_unit_test(paths_are_normal),
        cmocka_unit_test(what_is_left_unsaid_is_filled_in),
        cmocka_unit_test(conditions_meet),
        cmocka_unit_test(limits_hold_by_themselves),
        cmocka_unit_test(presets_grant_only_automatically),
        cmocka_unit_test(nested_names_cannot_explode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
