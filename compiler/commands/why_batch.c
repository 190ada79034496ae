#include "compiler/commands/why.h"

#include "base/escape.h"
#include "compiler/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { QUESTION_LONGEST = 64 * 1024, QUESTIONS_PER_ARENA = 4096 };

struct batch {
    struct session *session;
    const struct bound_policy *bound;
    struct arena *scratch; /* of the questions since it was last made */
    uint32_t questions;
    bool skipping; /* the rest of a line that was too long */
};

static void put_error(struct buffer *out, const char *line, size_t length, const char *error)
{
    const char *tab = memchr(line, '\t', length);
    size_t operation = tab != NULL ? (size_t)(tab - line) : length;
    why_put_question(out, line, operation, tab != NULL ? tab + 1 : "",
                     tab != NULL ? length - operation - 1 : 0);
    buffer_string(out, ",\"error\":");
    escape_json(out, error, strlen(error));
    buffer_string(out, "}\n");
}

static void put_line(struct batch *batch, struct buffer *out, const char *line, size_t length)
{
    const char *tab = memchr(line, '\t', length);
    struct question question = {0};
    if (tab == NULL) {
        put_error(out, line, length, "a line holds OP, a tab and ARG");
        return;
    }
    if (!why_operation_named(line, (size_t)(tab - line), &question.operation)) {
        put_error(out, line, length, "OP is read, write, exec, connect, listen, socket, env or service");
        return;
    }
    question.length = length - (size_t)(tab - line) - 1;
    question.argument = arena_copy(batch->scratch, tab + 1, question.length);
    struct answer answer = why_decide(batch->scratch, batch->bound, &question);
    if (answer.decision == NULL)
        put_error(out, line, length, answer.error);
    else
        why_put_answer(out, batch->bound->policy, &question, &answer);
}

static bool answer_line(struct batch *batch, struct buffer *out, const char *line, size_t length)
{
    put_line(batch, out, line, length);
    if (++batch->questions < QUESTIONS_PER_ARENA)
        return true;
    bool written = output_standard(out->bytes, out->length);
    arena_destroy(batch->scratch);
    batch->scratch = arena_child(batch->session->arena);
    *out = buffer_in(batch->scratch);
    batch->questions = 0;
    return written;
}

/* Answers the whole lines in `text`, and what is left over too if nothing more comes; returns how many bytes
 * are done, or -1 if the answers cannot be written. */
static ssize_t answer_lines(struct batch *batch, const char *text, size_t length, bool last)
{
    size_t done = 0;
    struct buffer out = buffer_in(batch->scratch);
    while (done < length) {
        const char *line = text + done, *newline = memchr(line, '\n', length - done);
        bool too_long = newline == NULL && length - done == QUESTION_LONGEST;
        if (newline == NULL && !last && !too_long)
            break;
        size_t size = newline != NULL ? (size_t)(newline - line) : length - done;
        bool good = true;
        if (too_long && !batch->skipping)
            put_error(&out, line, 0, "a line holds at most 65536 bytes");
        else if (!batch->skipping)
            good = answer_line(batch, &out, line, size);
        batch->skipping = too_long;
        done += size + (newline != NULL ? 1 : 0);
        if (!good)
            return -1;
    }
    return out.length == 0 || output_standard(out.bytes, out.length) ? (ssize_t)done : -1;
}

static int failed(struct session *session, const char *what)
{
    return session_complain(session, arena_format(session->arena, "cannot %s: %s", what, strerror(errno)));
}

/* Whoever asks may wait for each answer before the next question, so answers go out whenever the input
 * pauses. */
int why_batch(struct session *session, const struct bound_policy *bound)
{
    struct batch batch = {.session = session, .bound = bound, .scratch = arena_child(session->arena)};
    char *text = arena_alloc(session->arena, QUESTION_LONGEST);
    for (size_t kept = 0;;) {
        ssize_t size = read(STDIN_FILENO, text + kept, QUESTION_LONGEST - kept);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return failed(session, "read standard input");
        kept += (size_t)size;
        ssize_t done = answer_lines(&batch, text, kept, size == 0);
        if (done < 0)
            return failed(session, "write to standard output");
        if (size == 0)
            return EXIT_DONE;
        kept -= (size_t)done;
        memmove(text, text + done, kept);
    }
}
