/* compile_fuzz.c - compiles any text; what compiles must survive writing and reading, bind on each system,
 * exceed no layer, and answer about its own rules.
 *
 * Build with clang -fsanitize=fuzzer,address,undefined and the sources of base/, grammar/, policy/, emitters/ and
 * compiler/.
 */
#include "compiler/compile.h"
#include "policy/bound.h"
#include "policy/file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_file(struct arena *arena, const struct policy *policy)
{
    const char *error = NULL;
    struct buffer first = buffer_in(arena), second = buffer_in(arena);
    policy_write(&first, policy);
    const struct policy *again = policy_read(arena, first.bytes, first.length, &error);
    must(again != NULL);
    policy_write(&second, again);
    must(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
    must(memcmp(policy->effective_hash, again->effective_hash, sizeof policy->effective_hash) == 0);
}

static void check_system(struct arena *arena, const struct policy *policy, enum system system)
{
    struct bindings bindings = {.system = system};
    struct note_list notes = note_list_in(arena);
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    struct bound_policy *bound = policy_bind(arena, policy, &bindings, &notes);
    if (notes.errors > 0)
        return;
    bound_seal(bound, &notes);
    must(bound_prove(arena, bound) == NULL);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const char *path = bound->rules.items[i].at.path, *error = NULL;
        if (path == NULL || bound->rules.items[i].at.pattern)
            continue;
        const struct decision *decision =
            bound_decide(arena, bound, OPERATION_WRITE, path, strlen(path), &error);
        must(decision != NULL && decision->reason_count > 0);
        must(decision->level == bound_level(bound, path, strlen(path)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return 0;
    const char *text = arena_copy(arena, (const char *)data, size);
    const struct compile_input input = {.input = {"fuzz.sbx", text, (uint32_t)size}};
    const struct compilation *result = compile(arena, &input);
    must(result->failure == NULL);
    must((result->policy == NULL) == (result->diagnostics.errors > 0));
    if (result->policy != NULL) {
        check_file(arena, result->policy);
        for (uint32_t system = 0; system < SYSTEMS; system++)
            check_system(arena, result->policy, (enum system)system);
    }
    arena_destroy(arena);
    return 0;
}
