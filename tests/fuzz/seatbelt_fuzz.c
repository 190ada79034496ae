/* seatbelt_fuzz.c - any text is read as a Seatbelt profile without a fault; one that is accepted answers
 * about the strings in it the same by its index and by its rules one by one, and can be linted.
 *
 * Build with clang -fsanitize=fuzzer,address,undefined and the sources of base/ and emitters/.
 */
#include "base/escape.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_lint.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { QUESTIONS_MOST = 40 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void ask(const struct seatbelt_profile *profile, const struct seatbelt_question *question)
{
    uint32_t line, plain_line;
    enum seatbelt_answer answer = seatbelt_decide(profile, question, &line);
    must(answer == seatbelt_decide_plainly(profile, question, &plain_line));
    must(line == plain_line);
}

/* Questions of each kind about one string. */
static void ask_about(const struct seatbelt_profile *profile, const char *text)
{
    static const char *const of_files[] = {"file-read-data", "file-write-create", "file-link",
                                           "process-exec*"};
    static const char *const of_sockets[] = {"network-outbound", "network-inbound", "network-bind"};
    struct seatbelt_question question = {.path = text, .vnode = SEATBELT_VNODE_FILE};
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        for (uint32_t fold = 0; fold < 2; fold++) {
            question.operation = of_files[i];
            question.fold_case = fold > 0;
            ask(profile, &question);
        }
    for (size_t i = 0; i < sizeof of_sockets / sizeof *of_sockets; i++) {
        question.operation = of_sockets[i];
        question.protocol = i > 0 ? SEATBELT_PROTOCOL_TCP : SEATBELT_PROTOCOL_UNIX;
        question.remote.host = SEATBELT_HOST_LOOPBACK;
        ask(profile, &question);
    }
    question = (struct seatbelt_question){
        .operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = text};
    ask(profile, &question);
    question =
        (struct seatbelt_question){.operation = "nvram-get", .name_kind = SEATBELT_NAME_NVRAM, .name = text};
    ask(profile, &question);
}

static void ask_all(struct arena *arena, const struct seatbelt_profile *profile, const char *text,
                    size_t length)
{
    uint32_t asked = 0;
    for (size_t begin = 0, at = 0; at < length && asked < QUESTIONS_MOST; at++) {
        if (text[at] != '"' && text[at] != '\n' && text[at] != '\0')
            continue;
        ask_about(profile, arena_copy(arena, text + begin, at - begin));
        begin = at + 1;
        asked++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_create(0);
    const char *text = arena_copy(arena, (const char *)bytes, length);
    const struct seatbelt_parameter parameters[] = {{"HOME", "/Users/u"}, {"KIND", "preview"}};
    struct seatbelt_error error = {0};
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text, length, parameters, 2, NULL, NULL, &error);
    must((profile == NULL) == (error.text != NULL));
    if (profile != NULL) {
        struct seatbelt_notes notes = seatbelt_lint(arena, profile);
        for (uint32_t i = 0; i < notes.count; i++)
            must(utf8_valid(notes.items[i].text, strlen(notes.items[i].text)));
        ask_all(arena, profile, text, length);
    }
    arena_destroy(arena);
    return 0;
}
