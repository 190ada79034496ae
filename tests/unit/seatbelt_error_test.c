/* What a profile is refused for, in the words of macOS where they are known, and that no profile is too
 * much. */
#include "base/buffer.h"
#include "emitters/seatbelt_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct refusal {
    const char *text, *error;
    uint32_t line, column; /* 0: any */
};

static const struct refusal refusals[] = {
    /* the network */
    {"(version 1)(allow network-outbound (remote ip \"10.0.0.1:80\"))",
     "host must be * or localhost in network address", 1, 36},
    {"(version 1)(allow network-outbound (remote ip \"example.com:443\"))",
     "host must be * or localhost in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip \"10.0.0.0/8:80\"))",
     "host must be * or localhost in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip \"192.168.1.0/24\"))", "port missing in network address",
     0, 0},
    {"(version 1)(allow network-outbound (remote ip \"*\"))", "port missing in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip \"*:1-100\"))", "invalid port in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip \"*:65536\"))", "invalid port in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip \"*:\"))", "invalid port in network address", 0, 0},
    {"(version 1)(allow network-outbound (remote ip (regex \"x\")))", "remote expects string argument", 0, 0},
    /* names */
    {"(version 1)(deny default)(allow fil-read*)",
     "unbound variable: fil-read* at <input string>, line 1, column 33", 1, 33},
    {"(version 1)\n(allow file-read*\n  (remote-host \"x\"))",
     "unbound variable: remote-host at <input string>, line 3, column 4", 3, 4},
    {"(version 1)(allow file-ioctl (ioctl-command TIOCSTI))",
     "unbound variable: TIOCSTI at <input string>, line 1, column 45", 0, 0},
    {"(version 1)(allow file-read* (literal \"/a\"b\"c\"))",
     "unbound variable: b at <input string>, line 1, column 43", 0, 0},
    {"(version 1)(allow file-read* (with sugar))",
     "unbound variable: sugar at <input string>, line 1, column 36", 0, 0},
    /* the text */
    {"(version 1)(deny default", "syntax error: expecting ')'", 0, 0},
    {"(version 1)(deny default) '", "syntax error: expecting ')'", 0, 0},
    {"(version 1)(deny default))", "syntax error: illegal token", 1, 26},
    {"(version 1)(allow file-read* (regex #\"a\"#))", "undefined sharp expression", 1, 41},
    {"(version 1)(allow file-read* (literal \"/a", "Error reading string", 1, 39},
    {"(version 1)(allow file-read* (literal \"\\x00\"))", "Error reading string", 0, 0},
    /* the header */
    {"", "no version specified", 1, 1},
    {"(deny default)", "no version specified", 1, 1},
    {"(deny default)(version 1)", "no version specified", 0, 0},
    {"(define x 1)(version 1)", "no version specified", 1, 1},
    {"; only words", "no version specified", 1, 1},
    {"1 (version 1)", "no version specified", 1, 1},
    {"(import \"x\")", "no version specified", 1, 1},
    {"(version 2)(deny default)", "unsupported version", 1, 1},
    {"(version \"1\")", "unsupported version", 0, 0},
    {"(version 1)(deny default)(version 1)", "only one version may be specified", 1, 26},
    /* filters */
    {"(version 1)(allow file-read* (subpath (param \"HOME\")))",
     "invalid data type of path filter; expected pattern, got boolean", 1, 30},
    {"(version 1)(allow file-read* (literal 7))",
     "invalid data type of path filter; expected pattern, got number", 0, 0},
    {"(version 1)(allow file-read* (regex #\"(?i)^/a\"))", "unexpected ^ operator in middle of expression", 0,
     0},
    {"(version 1)(allow file-read* (regex #\"(^|/)a\"))", "unexpected ^ operator in middle of expression", 0,
     0},
    {"(version 1)(allow file-read* (regex #\"^/a[b\"))", "unterminated bracket expression", 0, 0},
    {"(version 1)(allow file-read* (regex #\"^/(a\"))", "unbalanced parenthesis in expression", 0, 0},
    {"(version 1)(allow file-read* (regex #\"^/a)\"))", "unbalanced parenthesis in expression", 0, 0},
    {"(version 1)(allow file-read* (regex #\"[z-a]\"))", "invalid range in bracket expression", 0, 0},
    {"(version 1)(allow file-read* (regex #\"a{3\"))", "invalid repetition count", 0, 0},
    {"(version 1)(allow file-read* (regex #\"a{3,2}\"))", "invalid repetition count", 0, 0},
    {"(version 1)(allow file-read* (regex \"a\\\\\"))", "trailing backslash in expression", 0, 0},
    {"(version 1)(allow file-read* (regex #\"((a{200}){200}){200}\"))", "regular expression is too large", 0,
     0},
    {"(version 1)(allow file-read* (subpath \"\"))", "subpath: the string is empty", 0, 0},
    {"(version 1)(allow file-read* (path-ancestors \"a/b\"))", "path must start with a /", 0, 0},
    {"(version 1)(allow mach-lookup (literal \"/a\"))",
     "the filter literal does not fit the operation mach-lookup", 0, 0},
    {"(version 1)(allow file-read* mach-lookup (require-all (literal \"/a\") (global-name \"x\")))",
     "the filter global-name does not fit the operation file-read*", 0, 0},
    {"(version 1)(allow process-fork (target self))",
     "the filter target does not fit the operation process-fork", 0, 0},
    {"(version 1)(allow default (literal \"/\"))", "the filter literal does not fit the operation default", 0,
     0},
    {"(version 1)(allow file-read* (vnode-type self))", "vnode-type: argument 1 does not fit", 0, 0},
    {"(version 1)(allow file-read* (require-not (literal \"/a\") 1))", "expected a filter, got number", 0, 0},
    {"(version 1)(allow file-read* (require-not (literal \"/a\") (literal \"/b\")))",
     "require-not: takes one filter", 0, 0},
    /* rules and modifiers */
    {"(version 1)(allow (literal \"/a\"))", "allow: the rule names no operation", 1, 12},
    {"(version 1)(allow \"file-read*\")", "unexpected string in rule", 0, 0},
    {"(version 1)(deny file-read* (with report))", "the modifier report does not fit this rule", 0, 0},
    {"(version 1)(allow file-read* (with no-log))", "the modifier no-log does not fit this rule", 0, 0},
    {"(version 1)(allow file-read* (with no-sandbox))", "the modifier no-sandbox does not fit this rule", 0,
     0},
    {"(version 1)(deny process-exec (with no-sandbox))", "the modifier no-sandbox does not fit this rule", 0,
     0},
    {"(version 1)(deny file-read* (with message))", "modifier message: wrong number of arguments", 0, 0},
    {"(version 1)(deny file-read* (with send-signal 9))", "modifier send-signal: argument does not fit", 0,
     0},
    /* Scheme */
    {"(version 1)(import \"system.sb\")", "unable to open system.sb", 1, 12},
    {"(version 1)(define (f x) x)(f)", "f: wrong number of arguments", 0, 0},
    {"(version 1)(\"x\")", "illegal function", 0, 0},
    {"(version 1)(if)", "syntax error: malformed if", 0, 0},
    {"(version 1)(car '())", "car: argument 1 must be: pair", 0, 0},
    {"(version 1)(string-append \"a\" 1)", "string-append: argument 2 must be: string", 0, 0},
    {"(version 1)(substring \"abc\" 2 1)", "substring: start out of bounds", 0, 0},
    {"(version 1)(substring \"abc\" 2 9)", "substring: end out of bounds", 0, 0},
    {"(version 1)(set! nothing 1)", "unbound variable: nothing at <input string>, line 1, column 18", 0, 0},
    {"(version 1)(letrec ((a b) (b 1)) a)", "unbound variable: b at <input string>, line 1, column 24", 0, 0},
    {"(version 1)(error \"not here\")", "not here", 0, 0},
    {"(version 1)(trace \"a\")(trace \"b\")", "only one trace may be specified", 0, 0},
    {"(version 1)(* 1000000 1000000)", "a number is too large", 0, 0},
    /* what would not end */
    {"(version 1)(let loop () (loop))", "the profile takes too many steps", 0, 0},
    {"(version 1)(define (f x) (not (f x)))(f 1)", "the profile is nested too deeply", 0, 0},
    {"(version 1)(define s \"aaaaaaaaaaaaaaaa\")(let loop () (set! s (string-append s s)) (loop))",
     "string-append: the string is too long", 0, 0},
    {"(version 1)(define f (literal \"/a\"))(let loop () (set! f (require-not f)) (loop))",
     "the filter is nested too deeply", 0, 0},
    {"(version 1)(define f (literal \"/a\"))(let loop () (set! f (require-all f f)) (loop))",
     "the filter is too large", 0, 0},
    {"(version 1)(define f (literal \"/a\"))(define (nest n) (if (> n 0) (begin (set! f (require-not f)) "
     "(nest (- n 1)))))"
     "(nest 150)",
     "the filter is nested too deeply", 0, 0},
    {"(version 1)(define f (literal \"/a\"))(define (nest n) (if (> n 0) (begin (set! f (require-all f f)) "
     "(nest (- n 1)))))"
     "(nest 30)",
     "the filter is too large", 0, 0},
    {"(version 1)(define l '())(define (more n) (if (> n 0) (begin (set! l (cons (literal \"/a\") l)) (more "
     "(- n 1)))))"
     "(more 4000)(let again () (allow file-read-data file-write-data file-read-xattr file-link file-clone l) "
     "(again))",
     "the profile has too many rules", 0, 0},
    {"(version 1)(define s \"aaaaaaaaaaaaaaaa\")(define (double n) (if (> n 0) (begin (set! s (string-append "
     "s s)) (double (- "
     "n 1)))))(double 11)(let loop () (string-append s) (loop))",
     "the profile takes too much memory", 0, 0},
    {"(version 1)(let loop () (allow file-read* (literal \"/a\")) (loop))", NULL, 0, 0},
    {"(version 1)(define l '())(let loop () (set! l (append l l '(1))) (loop))", NULL, 0, 0},
};

static void check_refused(const char *text, size_t length, const struct refusal *refusal)
{
    struct arena *arena = arena_create(0);
    struct seatbelt_error error = {0};
    if (seatbelt_read(arena, text, length, NULL, 0, NULL, NULL, &error) != NULL)
        fail_msg("%s: is accepted", text);
    if (refusal->error != NULL && strcmp(error.text, refusal->error) != 0)
        fail_msg("%s: %s, but should be %s", text, error.text, refusal->error);
    if (refusal->line != 0 && (error.line != refusal->line || error.column != refusal->column))
        fail_msg("%s: line %u, column %u", text, error.line, error.column);
    arena_destroy(arena);
}

static void each_is_refused_in_its_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refused(refusals[i].text, strlen(refusals[i].text), &refusals[i]);
}

static void repeat(struct buffer *out, const char *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        buffer_string(out, text);
}

/* A profile that repeats one text in the middle. */
static struct buffer repeated(struct arena *arena, const char *before, const char *middle, uint32_t count,
                              const char *after)
{
    struct buffer out = buffer_in(arena);
    buffer_string(&out, before);
    repeat(&out, middle, count);
    buffer_string(&out, after);
    return out;
}

static void a_string_has_at_most_1024_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct seatbelt_error error = {0};
    const char *const ends[] = {"(version 1)(allow file-read* (literal \"",
                                "(version 1)(allow file-read* (literal #\""};
    for (size_t i = 0; i < 2; i++) {
        struct buffer fits = repeated(arena, ends[i], "a", 1024, "\"))");
        assert_non_null(seatbelt_read(arena, fits.bytes, fits.length, NULL, 0, NULL, NULL, &error));
        struct buffer large = repeated(arena, ends[i], "a", 1025, "\"))");
        check_refused(large.bytes, large.length, &(struct refusal){NULL, "Error reading string", 0, 0});
    }
    arena_destroy(arena);
}

static void a_rule_has_at_most_65535_bytes_of_paths(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct seatbelt_error error = {0};
    static const char before[] = "(version 1)(allow file-read* ", each[] = "(literal \"/123456789abcde\")";
    struct buffer fits = repeated(arena, before, each, 4369, ")"),
                  large = repeated(arena, before, each, 4370, ")");
    assert_non_null(seatbelt_read(arena, fits.bytes, fits.length, NULL, 0, NULL, NULL, &error));
    assert_null(seatbelt_read(arena, large.bytes, large.length, NULL, 0, NULL, NULL, &error));
    assert_non_null(strstr(error.text, "data object length 65550 exceeds maximum (65535)"));
    assert_non_null(strstr(error.text, "pattern serialization length 65550 exceeds maximum (65535)"));
    arena_destroy(arena);
}

static const char *import_of_itself(void *context, const char *name, size_t *length)
{
    (void)context;
    const char *text = strcmp(name, "wrong.sb") == 0 ? "(version 1)\n(allow fly)" : "(import \"again.sb\")";
    *length = strlen(text);
    return text;
}

static void an_import_is_refused_at_its_own_line(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct seatbelt_error error = {0};
    static const char wrong[] = "(version 1)\n\n  (import \"wrong.sb\")",
                      again[] = "(version 1)(import \"again.sb\")";
    assert_null(seatbelt_read(arena, wrong, strlen(wrong), NULL, 0, import_of_itself, NULL, &error));
    assert_string_equal(error.text,
                        "unbound variable: fly at wrong.sb, line 2, column 8 (in wrong.sb, line 2)");
    assert_int_equal(error.line, 3);
    assert_null(seatbelt_read(arena, again, strlen(again), NULL, 0, import_of_itself, NULL, &error));
    assert_non_null(strstr(error.text, "imports are nested too deeply"));
    arena_destroy(arena);
}

static void looking_through_large_scopes_counts(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer text = buffer_in(arena);
    buffer_string(&text, "(version 1)(let (");
    for (uint32_t i = 0; i < 3000; i++)
        buffer_format(&text, "(name%u 1)", i);
    buffer_string(&text, ") (let loop () (not #t) (loop)))");
    clock_t begin = clock();
    check_refused(text.bytes, text.length, &(struct refusal){NULL, "the profile takes too many steps", 0, 0});
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    arena_destroy(arena);
}

static void a_template_is_not_followed_too_far(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer text = repeated(arena, "(version 1)`(", "a ", 3000, ")");
    check_refused(text.bytes, text.length, &(struct refusal){NULL, "the profile is nested too deeply", 0, 0});
    arena_destroy(arena);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    static const char *const opened[] = {"(", "'", "`", ",", "#(", "(begin ", "(require-not "};
    const struct refusal refusal = {NULL, "the profile is nested too deeply", 0, 0};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
        struct buffer text = repeated(arena, "(version 1)", opened[i], 200000, "");
        check_refused(text.bytes, text.length, &refusal);
    }
    struct buffer regex = repeated(arena, "(version 1)(allow file-read* (regex \"", "(", 1000, "\"))");
    check_refused(regex.bytes, regex.length,
                  &(struct refusal){NULL, "regular expression is nested too deeply", 0, 0});
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused_in_its_words),
        cmocka_unit_test(a_string_has_at_most_1024_bytes),
        cmocka_unit_test(a_rule_has_at_most_65535_bytes_of_paths),
        cmocka_unit_test(an_import_is_refused_at_its_own_line),
        cmocka_unit_test(looking_through_large_scopes_counts),
        cmocka_unit_test(a_template_is_not_followed_too_far),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
