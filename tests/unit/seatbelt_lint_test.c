/* What the linter of Seatbelt profiles finds, and what it leaves in peace. */
#include "base/buffer.h"
#include "emitters/seatbelt_lint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NOTHING = -1 };

struct sample {
    const char *rules; /* behind (version 1)(deny default) and a line feed */
    int finding;       /* the only one, or NOTHING */
    uint32_t line;
    const char *words; /* in its text */
};

static const struct sample samples[] = {
    /* paths */
    {"(allow file-read* (subpath \"/private/tmp\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/tmp\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read* (literal \"/tmp/x\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read* (prefix \"/var/folders/\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read* (literal \"/etc/hosts\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read* (subpath \"/home/u\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read* (regex #\"^/tmp/[a-z]\"))", SEATBELT_FINDING_DEAD_PATH, 2, "symbolic link"},
    {"(allow file-read-metadata (literal \"/tmp\") (literal \"/var\") (literal \"/etc\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/etc/ssl\") (subpath \"/private/etc/ssl\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/private/etc\"))(deny file-read* (subpath \"/etc/ssl\"))",
     SEATBELT_FINDING_DEAD_PATH, 2, "write /private before it"},
    {"(allow file-read* (regex #\"^/etc/ss[lh]\") (subpath \"/private/etc\"))", SEATBELT_FINDING_DEAD_PATH, 2,
     "symbolic link"},
    {"(allow file-read* (subpath \"/tmpx\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/w/\"))", SEATBELT_FINDING_DEAD_PATH, 2, "ends in /"},
    {"(allow file-read* (prefix \"/w/\") (literal \"/\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/w/../x\"))", SEATBELT_FINDING_DEAD_PATH, 2, "component"},
    {"(allow file-read* (subpath \"/w/.\"))", SEATBELT_FINDING_DEAD_PATH, 2, "component"},
    {"(allow file-read* (subpath \"/w/..x/.y\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"//w\"))", SEATBELT_FINDING_DEAD_PATH, 2, "empty component"},
    {"(allow file-read* (subpath \"w\"))", SEATBELT_FINDING_DEAD_PATH, 2, "does not begin with /"},
    {"(allow file-read* (require-all (tty) (require-not (subpath \"w\"))))", SEATBELT_FINDING_DEAD_PATH, 2,
     "w"},
    /* operations */
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* (subpath \"/a/b\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3,
     "file-read-data stays allowed by line 2: the deny of file-read* must name it"},
    {"(allow file-read-data (subpath \"/a/b/c\"))\n(deny file-read* (subpath \"/a/b\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "line 2"},
    {"(deny file-read* (subpath \"/s\"))\n(allow file-read-metadata)", SEATBELT_FINDING_CUT_NOTHING, 2,
     "file-read-metadata stays allowed by line 3"},
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* (regex #\"/b$\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "line 2"},
    {"(allow network-outbound (remote tcp \"*:443\"))\n(deny network* (remote udp))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "network-outbound"},
    {"(allow file-write-create (subpath \"/a\"))\n(deny file* (subpath \"/a\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "file-write-create"},
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* file-read-data (subpath \"/a/b\"))", NOTHING,
     0, NULL},
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* (subpath \"/a/b\"))(deny file-read-data "
     "(subpath "
     "\"/a/b\"))",
     NOTHING, 0, NULL},
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* (subpath \"/ab\"))", NOTHING, 0, NULL},
    {"(allow file-read-data (literal \"/a/b-c\") (literal \"/a/bc\"))\n(deny file-read* (subpath \"/a/b\"))",
     NOTHING, 0, NULL},
    {"(allow file-read-data (literal \"/a/b-c\" \"/a/b/c\"))\n(deny file-read* (subpath \"/a/b\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "line 2"},
    {"(allow file-read-data (literal \"/\") (literal \"/a\"))\n(deny file-read* (regex #\"^/a/b/.*x$\"))",
     NOTHING, 0, NULL},
    {"(allow file-read-data (regex #\"^/a/b/c/.*x$\"))\n(deny file-read* (subpath \"/a/b\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "line 2"},
    {"(allow file-read-data (require-all (subpath \"/a\") (require-not (literal \"/a/x\"))))\n(deny "
     "file-read* (regex "
     "#\"^/a/b/c/.*x$\"))",
     SEATBELT_FINDING_CUT_NOTHING, 3, "line 2"},
    {"(allow file-read-data (regex #\"^/b/.*x$\"))\n(deny file-read* (subpath \"/a\") (regex #\"^/c/\"))",
     NOTHING, 0, NULL},
    {"(allow network-outbound (remote tcp \"*:443\"))\n(deny network* (subpath \"/s\"))", NOTHING, 0, NULL},
    {"(allow file-read-data (subpath \"/a\"))\n(deny file-read* file-read-data (regex #\"^/a/b/.*x$\"))",
     NOTHING, 0, NULL},
    {"(allow file-read-data (literal \"/a/bc\"))\n(deny file-read* (literal \"/a/b\"))", NOTHING, 0, NULL},
    {"(deny file-read* (subpath \"/a\"))\n(allow file-read-data (subpath \"/a/b\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/a\"))\n(deny file-read* (subpath \"/a/b\"))", NOTHING, 0, NULL},
    /* others */
    {"(allow file-read* (regex #\"^/a(?:b)\"))", SEATBELT_FINDING_EXPRESSION, 2, "nobody can tell"},
    {"(allow file-read* (regex #\"^/a/[\\w]\"))", SEATBELT_FINDING_EXPRESSION, 2, "nobody can tell"},
    {"(allow mach-lookup (global-name-regex #\"[[:alpha:]]\"))", SEATBELT_FINDING_EXPRESSION, 2,
     "nobody can tell"},
    {"(allow file-read* (regex #\"^/a|/b\"))", SEATBELT_FINDING_EXPRESSION, 2, "nobody can tell"},
    {"(allow file-read* (regex #\"*.txt\"))", SEATBELT_FINDING_EXPRESSION, 2, "nobody can tell"},
    {"(allow process-exec (literal \"/bin/ps\") (with no-sandbox))", SEATBELT_FINDING_UNSANDBOXED, 2,
     "no sandbox"},
    {"(allow network-outbound (local ip \"localhost:*\"))", SEATBELT_FINDING_OPEN_EGRESS, 2, "every peer"},
    {"(allow network* (local ip \"localhost:*\"))", SEATBELT_FINDING_OPEN_EGRESS, 2, "every peer"},
    {"(allow network-inbound (local ip \"localhost:*\"))", NOTHING, 0, NULL},
    {"(allow file-read* (subpath \"/w\"))(deny file-read* (literal \"/w/caf\u00e9\"))",
     SEATBELT_FINDING_SPELLING, 2, "another way"},
    {"(allow file-read* (subpath \"/w\"))(deny file-read* (literal \"/w/cafe\u0301\"))",
     SEATBELT_FINDING_SPELLING, 2, "another way"},
    {"(allow file-read* (subpath \"/w\"))(deny file-read* (literal \"/w/caf\u00e9\" \"/w/cafe\u0301\"))",
     NOTHING, 0, NULL},
    {"(allow file-read* (literal \"/w/caf\u00e9\"))", NOTHING, 0, NULL},
};

static struct seatbelt_notes notes_of(struct arena *arena, const char *rules)
{
    struct seatbelt_error error = {0};
    const char *text = arena_join(arena, "(version 1)(deny default)\n", rules);
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text, strlen(text), NULL, 0, NULL, NULL, &error);
    if (profile == NULL)
        fail_msg("%s: %s", rules, error.text);
    return seatbelt_lint(arena, profile);
}

static void each_sample_has_its_finding(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *sample = &samples[i];
        struct seatbelt_notes notes = notes_of(arena, sample->rules);
        if (notes.count != (sample->finding == NOTHING ? 0 : 1))
            fail_msg("%s: %u notes, the first is %s", sample->rules, notes.count,
                     notes.count > 0 ? notes.items[0].text : "none");
        if (notes.count == 0)
            continue;
        if ((int)notes.items[0].finding != sample->finding || notes.items[0].line != sample->line ||
            strstr(notes.items[0].text, sample->words) == NULL)
            fail_msg("%s: line %u: %s", sample->rules, notes.items[0].line, notes.items[0].text);
    }
    arena_destroy(arena);
}

static void large_rules_and_long_strings_are_noted(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer rules = buffer_in(arena);
    buffer_string(&rules, "(allow file-read* (literal \"/");
    for (uint32_t i = 0; i < 901; i++)
        buffer_byte(&rules, 'a');
    buffer_string(&rules, "\"))\n(allow file-read*");
    for (uint32_t i = 0; i < 3100; i++)
        buffer_string(&rules, "(literal \"/123456789\")");
    buffer_string(&rules, ")");
    struct seatbelt_notes notes = notes_of(arena, rules.bytes);
    assert_int_equal(notes.count, 2);
    assert_int_equal(notes.items[0].finding, SEATBELT_FINDING_LONG_STRING);
    assert_int_equal(notes.items[0].line, 2);
    assert_int_equal(notes.items[1].finding, SEATBELT_FINDING_LARGE_RULE);
    assert_int_equal(notes.items[1].line, 3);
    arena_destroy(arena);
}

/* Many denies above many grants, each of which is denied by yet another rule. */
static void too_many_rules_to_compare_are_noted(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer rules = buffer_in(arena);
    buffer_string(&rules, "(allow file-read-data");
    for (uint32_t i = 0; i < 4000; i++)
        buffer_format(&rules, "(literal \"/a/%u\")", i);
    buffer_string(&rules, ")\n(deny file-read-data (subpath \"/a\"))");
    for (uint32_t i = 0; i < 500; i++)
        buffer_string(&rules, "\n(deny file-read* (subpath \"/a\"))");
    struct seatbelt_notes notes = notes_of(arena, rules.bytes);
    assert_int_equal(notes.count, 1);
    assert_int_equal(notes.items[0].finding, SEATBELT_FINDING_CUT_NOTHING);
    assert_non_null(strstr(notes.items[0].text, "not all were compared"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_has_its_finding),
        cmocka_unit_test(large_rules_and_long_strings_are_noted),
        cmocka_unit_test(too_many_rules_to_compare_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
