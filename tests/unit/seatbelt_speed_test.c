/* Profiles of many rules: the index answers as the rules one by one do, for random rules and paths; and a
 * large profile with many questions takes a small part of a second. */
#include "base/buffer.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_lint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The sanitizers make everything some ten times slower. */
enum { RULES = 10000, QUESTIONS = 50000, PROFILES = 3000, SECONDS_MOST = SBX_SANITIZED ? 20 : 2 };

static uint32_t random_state = 20261130;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

static const char *const components[] = {"a", "b", "B", "ab", ".c"};
static const char *const operations[] = {"file*",       "file-read*", "file-read-data",
                                         "file-write*", "file-link",  "default"};
static const char *const asked[] = {"file-read-data", "file-read-metadata", "file-write-data", "file-link"};
#define ANY_OF(words) (words)[random_below((uint32_t)(sizeof(words) / sizeof *(words)))]

static const char *random_path(struct arena *arena)
{
    struct buffer path = buffer_in(arena);
    uint32_t depth = random_below(4);
    buffer_string(&path, depth == 0 ? "/" : "");
    for (uint32_t i = 0; i < depth; i++)
        buffer_format(&path, "/%s", ANY_OF(components));
    return path.bytes;
}

static void put_filter(struct arena *arena, struct buffer *out, uint32_t depth)
{
    static const char *const words[] = {"literal", "subpath", "subpath", "literal", "prefix", "regex"};
    static const char *const composed[] = {"require-all", "require-any", "require-not"};
    uint32_t choice = random_below(depth > 2 ? 6 : 9);
    if (choice < 6) {
        buffer_format(out, "(%s \"%s\")", words[choice], random_path(arena));
    } else if (choice == 6) {
        buffer_string(out, "(vnode-type DIRECTORY)");
    } else {
        const char *word = ANY_OF(composed);
        buffer_format(out, "(%s ", word);
        put_filter(arena, out, depth + 1);
        if (strcmp(word, "require-not") != 0)
            put_filter(arena, out, depth + 1);
        buffer_string(out, ")");
    }
}

static void put_rule(struct arena *arena, struct buffer *out)
{
    const char *operation = ANY_OF(operations);
    buffer_format(out, "(%s %s", random_below(2) > 0 ? "allow" : "deny", operation);
    for (uint32_t filters = strcmp(operation, "default") == 0 ? 0 : random_below(4); filters > 0; filters--)
        put_filter(arena, out, 0);
    buffer_string(out, ")\n");
}

static void check_random_profile(struct arena *arena)
{
    struct buffer text = buffer_in(arena);
    struct seatbelt_error error = {0};
    buffer_string(&text, "(version 1)\n");
    for (uint32_t rules = random_below(12); rules > 0; rules--)
        put_rule(arena, &text);
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text.bytes, text.length, NULL, 0, NULL, NULL, &error);
    if (profile == NULL)
        fail_msg("%s: %s", text.bytes, error.text);
    (void)seatbelt_lint(arena, profile);
    for (uint32_t i = 0; i < 30; i++) {
        const struct seatbelt_question question = {
            .operation = ANY_OF(asked),
            .path = random_below(10) > 0 ? random_path(arena) : NULL,
            .vnode = random_below(2) > 0 ? SEATBELT_VNODE_UNKNOWN : SEATBELT_VNODE_DIRECTORY,
            .fold_case = random_below(2) > 0,
        };
        uint32_t line, plain_line;
        enum seatbelt_answer answer = seatbelt_decide(profile, &question, &line);
        if (answer != seatbelt_decide_plainly(profile, &question, &plain_line) || line != plain_line)
            fail_msg("%s%s %s: lines %u and %u", text.bytes, question.operation, question.path, line,
                     plain_line);
    }
}

static void the_index_answers_as_the_rules_do(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PROFILES; i++) {
        struct arena *arena = arena_create(0);
        check_random_profile(arena);
        arena_destroy(arena);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The rules of a large policy: grants and denies of every leaf, carve-outs, and some expressions. */
static struct buffer large_profile(struct arena *arena)
{
    struct buffer text = buffer_in(arena);
    buffer_string(&text, "(version 1)\n(deny default)\n(allow file-read-data (literal \"/\"))\n");
    for (uint32_t i = 0; i < RULES; i++) {
        if (i % 200 == 0)
            buffer_format(&text, "(deny file-read* file-write* (regex #\"^/Users/u/p%u/(.*/)?\\.env$\"))\n",
                          i);
        else if (i % 50 == 0)
            buffer_format(&text,
                          "(allow file-write* (require-all (subpath \"/Users/u/p%u\") (require-not (subpath "
                          "\"/Users/u/p%u/.git\"))))\n",
                          i, i);
        else if (i % 3 == 0)
            buffer_format(
                &text,
                "(deny file-read* file-read-data file-read-metadata file-read-xattr file-write* "
                "file-write-create file-write-unlink file-link (subpath \"/Users/u/p%u/secret\") (literal "
                "\"/Users/u/p%u/secret\"))\n",
                i, i);
        else
            buffer_format(&text, "(allow file-read* file-write* (subpath \"/Users/u/p%u\"))\n", i);
    }
    return text;
}

static void many_rules_and_questions_are_quick(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer text = large_profile(arena);
    struct seatbelt_error error = {0};
    double begin = seconds();
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text.bytes, text.length, NULL, 0, NULL, NULL, &error);
    assert_non_null(profile);
    double read = seconds();
    uint32_t allowed = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        char path[100];
        (void)snprintf(path, sizeof path, "/Users/u/p%u/%s/some/file/deep/down.txt", i % RULES,
                       i % 2 > 0 ? "src" : "secret");
        const struct seatbelt_question question = {
            .operation = i % 3 > 0 ? "file-read-data" : "file-write-create",
            .path = path,
            .vnode = SEATBELT_VNODE_FILE,
            .fold_case = i % 5 == 0,
        };
        allowed += seatbelt_decide(profile, &question, NULL) == SEATBELT_ALLOW;
    }
    double asked_all = seconds();
    struct seatbelt_notes notes = seatbelt_lint(arena, profile);
    double linted = seconds();
    print_message("reading %.3f s, %u questions %.3f s, linting %.3f s\n", read - begin, QUESTIONS,
                  asked_all - read, linted - asked_all);
    assert_true(allowed > QUESTIONS / 4 && allowed < QUESTIONS);
    assert_int_equal(notes.count, 0);
    assert_true(linted - begin < SECONDS_MOST);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_answers_as_the_rules_do),
        cmocka_unit_test(many_rules_and_questions_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
