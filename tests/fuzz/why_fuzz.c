/* why_fuzz.c - any policy that compiles answers any lines of `why --batch` without a fault, with a reason
 * each, and opens no more than its layers allow.
 *
 * An input is a policy, a line "---", and lines of OP, a tab and ARG; without the line it is a policy alone.
 */
#include "base/escape.h"
#include "base/write.h"
#include "compiler/commands/why.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void bind_roots(struct bindings *bindings, enum system system)
{
    static const char *const work[] = {"/w"}, *const home[] = {"/home/u"};
    *bindings = (struct bindings){.system = system, .environment_known = true, .command = "git"};
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings->roots[root].state = ROOT_SYMBOLIC;
    bindings->roots[ROOT_WORK] = (struct root_value){.state = ROOT_BOUND, .paths = work, .count = 1};
    bindings->roots[ROOT_HOME] = (struct root_value){.state = ROOT_BOUND, .paths = home, .count = 1};
    memcpy(bindings->managed_roots, bindings->roots, sizeof bindings->roots);
}

static void check_answer(struct arena *arena, const struct bound_policy *bound,
                         const struct question *question)
{
    struct answer answer = why_decide(arena, bound, question), again = why_decide(arena, bound, question);
    if (answer.decision == NULL) {
        if (answer.error == NULL || !utf8_valid(answer.error, strlen(answer.error)))
            abort();
        return;
    }
    if (again.decision == NULL || again.decision->verdict != answer.decision->verdict ||
        answer.decision->reason_count == 0)
        abort();
    struct buffer out = buffer_in(arena);
    why_put_answer(&out, bound->policy, question, &answer);
    if (!utf8_valid(out.bytes, out.length) || memchr(out.bytes, '\n', out.length - 1) != NULL)
        abort();
}

static void ask(struct arena *arena, const struct bound_policy *bound, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *line = text + at, *end = memchr(line, '\n', length - at);
        size_t size = end != NULL ? (size_t)(end - line) : length - at;
        const char *tab = memchr(line, '\t', size);
        struct question question = {0};
        if (tab != NULL && why_operation_named(line, (size_t)(tab - line), &question.operation)) {
            question.length = size - (size_t)(tab - line) - 1;
            question.argument = arena_copy(arena, tab + 1, question.length);
            check_answer(arena, bound, &question);
        }
        at += size + 1;
    }
}

static int memory_file(const char *text, size_t length)
{
    int file = memfd_create("why_fuzz", MFD_CLOEXEC);
    if (file < 0 || !write_all(file, text, length) || lseek(file, 0, SEEK_SET) != 0)
        abort();
    return file;
}

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = length > 0 && text[length - 1] != '\n';
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* The batch itself reads standard input and writes standard output: one object a line, whatever the line. */
static void ask_batch(struct arena *arena, const struct bound_policy *bound, const char *text, size_t length)
{
    struct session session = {.arena = arena};
    int questions = memory_file(text, length), answers = memory_file("", 0), output = dup(STDOUT_FILENO);
    if (output < 0 || dup2(questions, STDIN_FILENO) < 0 || dup2(answers, STDOUT_FILENO) < 0 ||
        why_batch(&session, bound) != EXIT_DONE || dup2(output, STDOUT_FILENO) < 0)
        abort();
    off_t size = lseek(answers, 0, SEEK_END);
    char *answered = arena_alloc(arena, (size_t)size + 1);
    if (pread(answers, answered, (size_t)size, 0) != size || !utf8_valid(answered, (size_t)size) ||
        count_lines(answered, (size_t)size) != count_lines(text, length))
        abort();
    close(questions);
    close(answers);
    close(output);
}

static void ask_on(struct arena *arena, const struct policy *policy, enum system system, const char *text,
                   size_t length)
{
    struct bindings bindings;
    struct note_list notes = note_list_in(arena);
    bind_roots(&bindings, system);
    struct bound_policy *bound = policy_bind(arena, policy, &bindings, &notes);
    if (notes.errors > 0)
        return;
    bound_seal(bound, &notes);
    if (bound_prove(arena, bound) != NULL)
        abort();
    ask(arena, bound, text, length);
    if (system == SYSTEM_LINUX)
        ask_batch(arena, bound, text, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char separator[] = "\n---\n";
    struct arena *arena = arena_create(0);
    const char *text = arena_copy(arena, (const char *)bytes, length);
    const char *questions = memmem(text, length, separator, strlen(separator));
    uint32_t policy_length = (uint32_t)(questions != NULL ? (size_t)(questions - text) + 1 : length);
    const struct compile_input input = {
        .input = {.file = "fuzz.sbx", .text = text, .length = policy_length},
    };
    const struct compilation *compilation = compile(arena, &input);
    if (compilation->policy != NULL && questions != NULL) {
        questions += strlen(separator);
        for (enum system system = 0; system < SYSTEMS; system++)
            ask_on(arena, compilation->policy, system, questions, length - (size_t)(questions - text));
    }
    arena_destroy(arena);
    return 0;
}
