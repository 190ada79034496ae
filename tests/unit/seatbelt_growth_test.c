/* Seatbelt profiles of large policies: ten times the rules make ten times the profile and take ten times as long, the
 * profile keeps the bounds of macOS, and one that could not is refused in words that say what to write instead. */
#include "compiler/compile.h"
#include "emitters/seatbelt_lint.h"
#include "emitters/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Quadratic work would take FACTOR times FACTOR as long; what is linear leaves room for a busy machine. */
enum { FEW = 1000, FACTOR = 10, MANY = FEW * FACTOR, FACTOR_MOST = 4 * FACTOR, TRIES = 3 };
enum { MILLISECONDS_MOST = SBX_SANITIZED ? 20000 : 2000, TOO_MANY = 100000 };

struct outcome {
    double milliseconds; /* of the processor: text in, profile out and read back */
    size_t bytes;
    uint32_t rules;
    bool made;
    const struct note *refusal;
};

typedef void put_rule(struct buffer *text, uint32_t number);

static void put_deny(struct buffer *text, uint32_t i)
{
    buffer_format(text, "deny $WORK/p%u/a/b/secret-%u\n", i % 100, i);
}

static void put_deep_deny(struct buffer *text, uint32_t i)
{
    buffer_format(text, "deny $WORK/d%u/a/b/secret\n", i);
}

static void put_pattern(struct buffer *text, uint32_t i)
{
    buffer_format(text, "deny $WORK/**/a%u/*/b%u\n", i % 97, i);
}

static void put_exception(struct buffer *text, uint32_t i)
{
    buffer_format(text, "deny $WORK/p%u/s except $WORK/p%u/s/*.pub\n", i, i);
}

static void put_mixed(struct buffer *text, uint32_t i)
{
    static const char *const words[] = {"deny", "grant read", "grant write", "deny exec"};
    buffer_format(text, "%s $WORK/p%u/f%u\n", words[i % 4], i % 100, i);
}

static void put_nested(struct buffer *text, uint32_t i)
{
    buffer_format(text, "grant %s $WORK/p%u%s\n", i % 2 == 0 ? "read" : "write", i / 2,
                  i % 2 == 0 ? "" : "/out");
}

static void put_socket(struct buffer *text, uint32_t i)
{
    buffer_format(text, "%s socket $WORK/p%u/s%u\n", i % 3 == 0 ? "deny" : "grant", i % 100, i);
}

static double milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct bound_policy *bind(struct arena *arena, const struct policy *policy, struct note_list *notes)
{
    struct bindings bindings = {.system = SYSTEM_MACOS};
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    struct bound_policy *bound = policy_bind(arena, policy, &bindings, notes);
    bound_seal(bound, notes);
    assert_null(bound_prove(arena, bound));
    return bound;
}

static void read_back(struct arena *arena, const struct buffer *out)
{
    const struct seatbelt_parameter work = {"WORK", "/Users/u/w"};
    struct seatbelt_error error = {0};
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, out->bytes, out->length, &work, 1, NULL, NULL, &error);
    if (profile == NULL)
        fail_msg("%u:%u: %s", error.line, error.column, error.text);
    assert_int_equal(seatbelt_lint(arena, profile).count, 0);
}

static struct outcome make(struct arena *arena, put_rule *put, uint32_t count)
{
    struct buffer text = buffer_in(arena), out = buffer_in(arena);
    buffer_string(&text, "sbx 1\npolicy \"large\"\ngrant write $WORK\n");
    for (uint32_t i = 0; i < count; i++)
        put(&text, i);
    double begin = milliseconds_now();
    const struct compile_input input = {
        .input = {.file = "large.sbx", .text = text.bytes, .length = (uint32_t)text.length}};
    const struct compilation *compilation = compile(arena, &input);
    assert_non_null(compilation->policy);
    struct note_list *notes = arena_alloc(arena, sizeof *notes);
    *notes = note_list_in(arena);
    const struct emit_request request = {
        .arena = arena,
        .policy = compilation->policy,
        .bound = bind(arena, compilation->policy, notes),
        .version = "0",
        .output_name = "large.sb",
        .notes = notes,
    };
    struct outcome outcome = {.rules = compilation->policy->rule_count};
    outcome.made = target_named("seatbelt")->emit(&request, &out);
    if (outcome.made)
        read_back(arena, &out);
    outcome.milliseconds = milliseconds_now() - begin;
    outcome.bytes = out.length;
    for (uint32_t i = 0; i < notes->count; i++)
        if (notes->items[i].code == SBX308_PROFILE_TOO_LONG)
            outcome.refusal = &notes->items[i];
    return outcome;
}

/* The shortest of some tries. */
static struct outcome measure(put_rule *put, uint32_t count)
{
    struct outcome best = {0};
    for (int i = 0; i < TRIES; i++) {
        struct arena *arena = arena_create(0);
        struct outcome outcome = make(arena, put, count);
        if (i == 0 || outcome.milliseconds < best.milliseconds)
            best = outcome;
        arena_destroy(arena);
    }
    best.refusal = NULL; /* it was in an arena */
    return best;
}

static void check_growth(const char *name, put_rule *put)
{
    struct outcome few = measure(put, FEW), many = measure(put, MANY);
    print_message("%-10s %6u rules %7.1f ms %8zu bytes, %u rules %7.1f ms %8zu bytes\n", name, few.rules,
                  few.milliseconds, few.bytes, many.rules, many.milliseconds, many.bytes);
    assert_true(few.made && many.made);
    assert_in_range(many.rules, MANY, MANY + 1);
    assert_in_range(many.bytes, 8 * few.bytes, 12 * few.bytes);
    assert_true(many.milliseconds < FACTOR_MOST * few.milliseconds);
    assert_true(many.milliseconds < MILLISECONDS_MOST);
}

static void profiles_grow_with_their_policies(void **state)
{
    (void)state;
    check_growth("denies", put_deny);
    check_growth("deep", put_deep_deny);
    check_growth("patterns", put_pattern);
    check_growth("exceptions", put_exception);
    check_growth("mixed", put_mixed);
    check_growth("nested", put_nested);
    check_growth("sockets", put_socket);
}

static void a_profile_too_long_says_what_to_write_instead(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct outcome outcome = make(arena, put_deny, TOO_MANY);
    assert_false(outcome.made);
    assert_int_equal(outcome.bytes, 0);
    assert_non_null(outcome.refusal);
    assert_non_null(strstr(outcome.refusal->help, "deny or grant whole directories"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_grow_with_their_policies),
        cmocka_unit_test(a_profile_too_long_says_what_to_write_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
