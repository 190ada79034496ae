#include "base/escape.h"
#include "base/vector.h"
#include "compiler/commands/command.h"
#include "emitters/reader.h"
#include "policy/host.h"

#include <stdlib.h>
#include <string.h>

/* A question that the two sides answer differently. */
struct difference {
    const char *question, *policy, *artifact;
    uint32_t line;
    const char *source; /* the text of that line, or NULL */
};

struct verification {
    struct session *session;
    const struct target *target;
    const char *name, *bytes; /* the artifact */
    size_t length;
    const struct policy *policy;
    uint32_t asked;
    struct {
        struct difference *items;
        uint32_t count, capacity;
    } differences;
};

/* --- asking both sides ---------------------------------------------------------------------------------- */

/* A line of a text artifact without its end, escaped; NULL if there is none. */
static const char *line_text(const struct verification *verification, uint32_t line)
{
    const char *at = verification->bytes, *end = at + verification->length;
    for (uint32_t i = 1; i < line && at != NULL; i++)
        if ((at = memchr(at, '\n', (size_t)(end - at))) != NULL)
            at++;
    if (line == 0 || at == NULL || at == end)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return escape_text(verification->session->arena, at, (size_t)((stop != NULL ? stop : end) - at));
}

static void add_difference(struct verification *verification, const struct query *query,
                           const struct reply *wanted, const struct reply *found)
{
    bool text = strcmp(reader_unit(verification->target->name), "line") == 0;
    VECTOR_PUSH(verification->session->arena, &verification->differences,
                (struct difference){
                    .question = query_text(verification->session->arena, query),
                    .policy = wanted->text,
                    .artifact = found->text,
                    .line = found->line,
                    .source = text ? line_text(verification, found->line) : found->source,
                });
}

/* The bound policy as far as a part of the artifact is meant to hold it. */
static const struct bound_policy *promised(struct arena *arena, const struct bound_policy *bound,
                                           const struct reader *reader)
{
    if (reader->promise == NULL)
        return bound;
    struct bound_policy *copy = arena_alloc(arena, sizeof *copy);
    *copy = *bound;
    copy->rules.items = arena_array(arena, bound->rules.count, sizeof *copy->rules.items);
    memcpy(copy->rules.items, bound->rules.items, bound->rules.count * sizeof *copy->rules.items);
    copy->rules.capacity = bound->rules.count;
    reader->promise(copy);
    bound_seal(copy, NULL);
    return copy;
}

static void ask(struct verification *verification, const struct bound_policy *bound,
                const struct reader *reader)
{
    struct arena *arena = verification->session->arena;
    const struct bound_policy *promise = promised(arena, bound, reader);
    struct query_set *set = query_set_create(arena, reader->kinds, bound->bindings.system);
    struct policy_answers *answers = reader->expect == NULL ? policy_answers_create(arena, promise) : NULL;
    queries_add_policy(set, bound);
    if (reader->list != NULL)
        reader->list(reader->state, set);
    for (uint32_t i = 0; i < query_count(set); i++) {
        const struct query *query = query_at(set, i);
        struct reply found = reader->answer(reader->state, query);
        struct reply wanted =
            reader->expect != NULL ? reader->expect(reader->state, query) : policy_answer(answers, query);
        if (!reply_agrees(&wanted, &found))
            add_difference(verification, query, &wanted, &found);
    }
    verification->asked += query_count(set);
}

/* --- an artifact that decides where it runs ------------------------------------------------------------- */

struct lines {
    struct text_span {
        const char *text;
        size_t length;
    } * items;
    uint32_t count, capacity;
};

static struct lines cut_lines(struct arena *arena, const char *bytes, size_t length)
{
    struct lines lines = {0};
    const char *end = bytes + length;
    while (bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t line = (size_t)((stop != NULL ? stop : end) - bytes);
        VECTOR_PUSH(arena, &lines, (struct text_span){bytes, line});
        bytes += line + 1;
    }
    return lines;
}

static bool same_line(const struct text_span *a, const struct text_span *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void add_line(struct verification *verification, const struct text_span *wanted,
                     const struct text_span *found, uint32_t line)
{
    struct arena *arena = verification->session->arena;
    const char *text = found != NULL ? escape_text(arena, found->text, found->length) : "(no such line)";
    VECTOR_PUSH(
        arena, &verification->differences,
        (struct difference){
            .question = arena_format(arena, "line %u", line),
            .policy = wanted != NULL ? escape_text(arena, wanted->text, wanted->length) : "(no such line)",
            .artifact = text,
            .line = line,
        });
}

/* Compares with what this sbxc would write: the lines between the first and the last that differ. */
static bool compare(struct verification *verification, const struct bound_policy *bound)
{
    struct session *session = verification->session;
    struct buffer made = buffer_in(session->arena);
    if (!artifact_make(session, verification->target, verification->name, verification->policy, bound, &made))
        return false;
    struct lines wanted = cut_lines(session->arena, made.bytes, made.length);
    struct lines found = cut_lines(session->arena, verification->bytes, verification->length);
    uint32_t first = 0, last = 0;
    uint32_t least = wanted.count < found.count ? wanted.count : found.count;
    while (first < least && same_line(&wanted.items[first], &found.items[first]))
        first++;
    while (last < least - first &&
           same_line(&wanted.items[wanted.count - 1 - last], &found.items[found.count - 1 - last]))
        last++;
    for (uint32_t i = first; i < wanted.count - last || i < found.count - last; i++)
        add_line(verification, i < wanted.count - last ? &wanted.items[i] : NULL,
                 i < found.count - last ? &found.items[i] : NULL, i + 1);
    if (verification->differences.count == 0 &&
        (made.length != verification->length || memcmp(made.bytes, verification->bytes, made.length) != 0))
        add_line(verification, &wanted.items[wanted.count - 1], NULL, wanted.count);
    verification->asked = wanted.count;
    return true;
}

/* --- what comes of it ----------------------------------------------------------------------------------- */

static void print_json(struct verification *verification)
{
    struct buffer *out = &verification->session->out;
    buffer_format(out, "{\"equal\":%s,\"differences\":[",
                  verification->differences.count == 0 ? "true" : "false");
    for (uint32_t i = 0; i < verification->differences.count; i++) {
        const struct difference *difference = &verification->differences.items[i];
        buffer_string(out, i == 0 ? "\n  {\"question\":" : ",\n  {\"question\":");
        escape_json(out, difference->question, strlen(difference->question));
        buffer_string(out, ",\"policy\":");
        escape_json(out, difference->policy, strlen(difference->policy));
        buffer_string(out, ",\"artifact\":");
        escape_json(out, difference->artifact, strlen(difference->artifact));
        if (difference->line == 0)
            buffer_string(out, ",\"line\":null}");
        else
            buffer_format(out, ",\"line\":%u}", difference->line);
    }
    buffer_string(out, "]}\n");
}

enum { SHOWN_DIFFERENCES = 20 };

static void print_text(struct verification *verification)
{
    struct session *session = verification->session;
    struct buffer *out = &session->out;
    uint32_t count = verification->differences.count;
    const char *unit = reader_unit(verification->target->name);
    const char *name = escape_string(session->arena, verification->name);
    const char *file = escape_string(session->arena, session->options.arguments.items[0]);
    if (count == 0 && reader_for(verification->target->name) == NULL)
        buffer_format(out, "equal: %s is what this sbxc writes for %s\n", name, file);
    else if (count == 0)
        buffer_format(out, "equal: %s means what %s means (%u questions)\n", name, file, verification->asked);
    else
        buffer_format(out, "different: %s does not mean what %s means (%u of %u questions)\n", name, file,
                      count, verification->asked);
    for (uint32_t i = 0; i < count && (i < SHOWN_DIFFERENCES || session->options.verbose); i++) {
        const struct difference *difference = &verification->differences.items[i];
        buffer_format(out, "%s\n  the policy:   %s\n  the artifact: %s\n", difference->question,
                      difference->policy, difference->artifact);
        if (difference->line != 0 && difference->source != NULL)
            buffer_format(out, "  by %s %u: %s\n", unit, difference->line, difference->source);
        else if (difference->line != 0 && strcmp(unit, "line") != 0)
            buffer_format(out, "  by %s %u\n", unit, difference->line);
    }
    if (count > SHOWN_DIFFERENCES && !session->options.verbose)
        buffer_format(out, "and %u more; -v shows all\n", count - SHOWN_DIFFERENCES);
}

/* --- the call ------------------------------------------------------------------------------------------- */

/* The system that the artifact is for; those of which it holds the rules, if it holds several. */
static bool is_for(const struct verification *verification, enum system system)
{
    const struct session *session = verification->session;
    if (verification->target->system >= 0)
        return (int)system == verification->target->system;
    if (strcmp(verification->target->name, "bin") == 0 && !session->system_given)
        return true;
    return system == (session->system_given ? session->system : SYSTEM_LINUX);
}

static bool verify_on(struct verification *verification, enum system system)
{
    struct session *session = verification->session;
    artifact_read *read = reader_for(verification->target->name);
    struct reader_list readers = {0};
    struct bindings bindings;
    const char *error = NULL;
    session_bindings(session, system, false, &bindings);
    struct bound_policy *bound = session_bind(session, verification->policy, &bindings, false);
    if (bound == NULL)
        return false;
    session->notes.count = 0;
    if (read == NULL)
        return compare(verification, bound);
    const struct read_request request = {
        .arena = session->arena,
        .bytes = verification->bytes,
        .length = verification->length,
        .bound = bound,
        .architecture = session->options.architecture != NULL ? session->options.architecture : "x86_64",
    };
    if (!read(&request, &readers, &error)) {
        session->exit =
            session_complain(session, arena_format(session->arena, "%s cannot be read: %s",
                                                   escape_string(session->arena, verification->name), error));
        return false;
    }
    for (uint32_t i = 0; i < readers.count; i++)
        ask(verification, bound, &readers.items[i]);
    for (uint32_t i = 0; i < readers.count; i++)
        if (readers.items[i].close != NULL)
            readers.items[i].close(readers.items[i].state);
    return true;
}

static const char *find_target(struct verification *verification)
{
    struct session *session = verification->session;
    const char *name = session->options.target;
    verification->target = name != NULL ? target_named(name) : target_for_suffix(verification->name);
    if (verification->target == NULL && name != NULL)
        return arena_format(session->arena, "this build cannot read %s", name);
    if (verification->target == NULL)
        return arena_format(session->arena, "the name %s says nothing of a target; name one with -t",
                            escape_string(session->arena, verification->name));
    if (session->system_given && verification->target->system >= 0 &&
        (int)session->system != verification->target->system)
        return arena_format(session->arena, "the target %s is for another system",
                            verification->target->name);
    return NULL;
}

int command_verify(struct session *session)
{
    struct verification verification = {.session = session, .name = session->options.arguments.items[0]};
    const char *error = find_target(&verification);
    if (error == NULL) {
        verification.bytes =
            file_read(session->arena, verification.name, SIZE_MAX, &verification.length, &error);
        if (verification.bytes != NULL)
            error = NULL;
    }
    if (error != NULL)
        return session_complain(session, error);
    /* What is compiled is the first argument. */
    session->options.arguments.items++;
    session->options.arguments.count--;
    session->may_be_bin = true;
    verification.policy = session_compile(session);
    if (verification.policy == NULL)
        return session->exit;
    for (uint32_t system = 0; system < SYSTEMS; system++)
        if (is_for(&verification, (enum system)system) && !verify_on(&verification, (enum system)system))
            return session->exit;
    if (session->options.json)
        print_json(&verification);
    else
        print_text(&verification);
    return verification.differences.count == 0 ? EXIT_DONE : EXIT_DIFFERENT;
}
