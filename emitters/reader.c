#include "emitters/reader.h"

#include "base/vector.h"
#include "policy/file.h"

#include <string.h>

static const struct {
    const char *target, *unit;
    artifact_read *read;
} readers[] = {
    {"bin", "rule", read_bin},
    {"bwrap", "word", read_bwrap_args},
    {"seccomp", "instruction", read_seccomp},
    {"json", "line", read_json},
    {"seatbelt", "line", read_seatbelt},
    {"windows", "line", read_windows},
};

artifact_read *reader_for(const char *target)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].target, target) == 0)
            return readers[i].read;
    return NULL;
}

const char *reader_unit(const char *target)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].target, target) == 0)
            return readers[i].unit;
    return "line";
}

/* --- bin: read and decided as the launcher does --------------------------------------------------------- */

struct bin_state {
    struct policy_answers *answers;
    const struct bound_policy *bound;
};

static struct reply answer_bin(const void *state, const struct query *query)
{
    return policy_answer(((const struct bin_state *)state)->answers, query);
}

static void list_bin(const void *state, struct query_set *set)
{
    queries_add_policy(set, ((const struct bin_state *)state)->bound);
}

bool read_bin(const struct read_request *request, struct reader_list *list, const char **error)
{
    struct bin_state *state = arena_alloc(request->arena, sizeof *state);
    struct note_list notes = note_list_in(request->arena);
    const struct policy *policy = policy_read(request->arena, request->bytes, request->length, error);
    if (policy == NULL)
        return false;
    struct bound_policy *bound = policy_bind(request->arena, policy, &request->bound->bindings, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        if (notes.items[i].severity == SEVERITY_ERROR) {
            *error = notes.items[i].text;
            return false;
        }
    }
    bound_seal(bound, NULL);
    state->bound = bound;
    state->answers = policy_answers_create(request->arena, bound);
    VECTOR_PUSH(request->arena, list,
                (struct reader){.state = state,
                                .kinds = (1U << QUERY_KINDS) - 1 - (1U << QUERY_SYSCALL),
                                .answer = answer_bin,
                                .list = list_bin});
    return true;
}
