/* why_fuzz.c - any policy that compiles answers any lines of `why --batch` without a fault, with a reason
 * each, and opens no more than its layers allow.
 *
 * An input is a policy, a line "---", and lines of OP, a tab and ARG; without the line it is a policy alone.
 */
#include "base/escape.h"
#include "compiler/commands/why.h"

#include <stdlib.h>
#include <string.h>

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
