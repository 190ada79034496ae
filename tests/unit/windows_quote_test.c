/* The command line that a process on Windows gets: taken apart by the documented rules it is the same words again. */
#include "runtime/windows/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 16, ROUNDS = 20000 };

static char *plain_word(struct arena *arena, const char **at)
{
    struct buffer word = buffer_in(arena);

    buffer_string(&word, "");
    bool quoted = **at == '"';
    *at += quoted;
    while (**at != '\0' && (quoted ? **at != '"' : **at != ' '))
        buffer_byte(&word, *(*at)++);
    *at += quoted && **at == '"';
    return word.bytes;
}

/* 2n backslashes and a quote: n backslashes, the quote opens or closes; 2n + 1: n backslashes and a quote. */
static char *escaped_word(struct arena *arena, const char **at)
{
    struct buffer word = buffer_in(arena);
    bool quoted = false;

    buffer_string(&word, "");
    while (**at != '\0' && (quoted || (**at != ' ' && **at != '\t'))) {
        size_t backslashes = strspn(*at, "\\");
        *at += backslashes;
        bool quote = **at == '"';
        for (size_t i = 0; i < (quote ? backslashes / 2 : backslashes); i++)
            buffer_byte(&word, '\\');
        if (quote && backslashes % 2 == 1)
            buffer_byte(&word, '"');
        else if (quote)
            quoted = !quoted;
        else if (backslashes == 0)
            buffer_byte(&word, **at);
        *at += quote || backslashes == 0;
    }
    assert_false(quoted);
    return word.bytes;
}

static char **take_apart(struct arena *arena, const char *line)
{
    char **words = arena_array(arena, WORDS + 1, sizeof *words);
    size_t count = 0;

    words[count++] = plain_word(arena, &line);
    while (*(line += strspn(line, " \t")) != '\0') {
        assert_true(count < WORDS);
        words[count++] = escaped_word(arena, &line);
    }
    return words;
}

static void assert_comes_back(struct arena *arena, char *const *words)
{
    struct buffer line = buffer_in(arena);

    assert_null(quote_words(&line, words));
    char **found = take_apart(arena, line.bytes);
    size_t i = 0;
    for (; words[i] != NULL; i++) {
        assert_non_null(found[i]);
        assert_string_equal(found[i], words[i]);
    }
    assert_null(found[i]);
}

static void hostile_words_come_back(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);

    assert_comes_back(arena,
                      (char *[]){"p", "", "\"", "\\", "\\\\", "\\\"", "a\\", "a b\\", "a\\\\\"b", NULL});
    assert_comes_back(
        arena, (char *[]){"C:\\Program Files\\x.exe", " ", "\t", "a\tb", "*", "%PATH%", "^&|<>", NULL});
    assert_comes_back(
        arena, (char *[]){"p\\", "\"a\" \"b\"", "\\\\server\\share\\", "--x=\"y\\\"", "\n", "'", NULL});
    arena_destroy(arena);
}

static void random_words_come_back(void **state)
{
    (void)state;
    static const char letters[] = "\\\\\\\"\"  \ta*='";
    uint64_t seed = 1;

    for (int round = 0; round < ROUNDS; round++) {
        struct arena *arena = arena_create(0);
        char text[6][8], *words[7] = {"p"};
        size_t count = 1;
        for (; count < 6; count++) {
            size_t length = 0;
            for (; length < 7; length++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                size_t pick = (size_t)(seed >> 33) % (sizeof letters + 2);
                if (pick >= sizeof letters - 1)
                    break;
                text[count][length] = letters[pick];
            }
            text[count][length] = '\0';
            words[count] = text[count];
        }
        assert_comes_back(arena, words);
        arena_destroy(arena);
    }
}

static void only_plain_words_stand_without_quotes(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer line = buffer_in(arena);

    assert_null(quote_words(&line, (char *[]){"git", "commit", "-m", "a", "*.c", "C:\\a\\", "a=b", NULL}));
    assert_string_equal(line.bytes, "\"git\" commit -m a \"*.c\" C:\\a\\ \"a=b\"");
    arena_destroy(arena);
}

static void what_cannot_be_said_is_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer line = buffer_in(arena), longest = buffer_in(arena), longer = buffer_in(arena);
    char *word = arena_alloc(arena, QUOTE_LONGEST);

    assert_non_null(quote_words(&line, (char *[]){"a\"b", NULL}));
    /* "p" and a blank before it. */
    memset(word, 'a', QUOTE_LONGEST - 4);
    assert_null(quote_words(&longest, (char *[]){"p", word, NULL}));
    assert_non_null(quote_words(&longer, (char *[]){"pp", word, NULL}));
    arena_destroy(arena);
}

static void length_counts_as_utf_16_does(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer two = buffer_in(arena), three = buffer_in(arena);
    struct buffer word = buffer_in(arena);

    for (int i = 0; i < QUOTE_LONGEST / 2; i++)
        buffer_string(&word, "\xc3\xa9");
    assert_null(quote_words(&two, (char *[]){"p", word.bytes, NULL}));
    word.length = 0;
    for (int i = 0; i < QUOTE_LONGEST / 2; i++)
        buffer_string(&word, "\xf0\x9f\x98\x80");
    assert_non_null(quote_words(&three, (char *[]){"p", word.bytes, NULL}));
    arena_destroy(arena);
}

static void batch_files_are_known_by_any_spelling(void **state)
{
    (void)state;

    assert_true(quote_is_batch("C:\\a\\x.bat"));
    assert_true(quote_is_batch("x.CmD"));
    assert_true(quote_is_batch("x.bat. . "));
    assert_false(quote_is_batch("x.bat.exe"));
    assert_false(quote_is_batch("bat"));
    assert_false(quote_is_batch(".ba"));
}

static void a_batch_file_gets_words_and_nothing_else(void **state)
{
    (void)state;
    static char *const hostile[] = {"\"&calc.exe", "%PATH%", "a&b", "a|b",      "a>b",         "a<b", "a^b",
                                    "!a!",         "(a",     "a)",  "a\nb",     "a\rb",        "'a'", "`a`",
                                    "a;b",         "*",      "?",   "\xc3\xa4", "\xef\xbc\x82"};
    struct arena *arena = arena_create(0);
    struct buffer line = buffer_in(arena);

    assert_null(quote_batch(&line, "C:\\Windows\\System32\\cmd.exe", "C:\\a b\\x.cmd",
                            (char *[]){"x", "run", "--level=1", "a b\\", "", NULL}));
    assert_string_equal(line.bytes, "\"C:\\Windows\\System32\\cmd.exe\" /d /e:on /v:off /s /c "
                                    "\"\"C:\\a b\\x.cmd\" run \"--level=1\" \"a b\\\\\" \"\"\"");
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct buffer refused = buffer_in(arena);
        assert_non_null(quote_batch(&refused, "C:\\cmd.exe", "C:\\x.cmd", (char *[]){"x", hostile[i], NULL}));
    }
    struct buffer percent = buffer_in(arena);
    assert_non_null(quote_batch(&percent, "C:\\cmd.exe", "C:\\%TEMP%\\x.cmd", (char *[]){"x", NULL}));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_words_come_back),
        cmocka_unit_test(random_words_come_back),
        cmocka_unit_test(only_plain_words_stand_without_quotes),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(length_counts_as_utf_16_does),
        cmocka_unit_test(batch_files_are_known_by_any_spelling),
        cmocka_unit_test(a_batch_file_gets_words_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
