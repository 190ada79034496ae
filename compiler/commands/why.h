/* why.h - what the forms of `sbxc why` share. Private to why*.c. */
#pragma once

#include "compiler/session.h"

struct question {
    enum operation operation;
    const char *argument;
    size_t length;
};

/* What was asked, and what came out. */
struct answer {
    const struct decision *decision;
    const char *error;
    const char *resolved; /* the path that links lead to, if that one decided; else NULL */
};

/* Whether `length` bytes at `name` are an OP. */
bool why_operation_named(const char *name, size_t length, enum operation *operation);

/* Whether the argument of `operation` is a path. */
bool why_is_about_path(enum operation operation);

/* Answers for the path as spelled and, where the host may be looked at, for the place that links lead to: the
 * lower of the two. `decision` is NULL, with `error` set, if it cannot be asked. */
struct answer why_decide(struct arena *arena, const struct bound_policy *bound,
                         const struct question *question);

/* Appends `{"op":...,"arg":...`, for an object that goes on. */
void why_put_question(struct buffer *out, const char *operation, size_t operation_length,
                      const char *argument, size_t length);

/* Appends an answer as one line of JSON. */
void why_put_answer(struct buffer *out, const struct policy *policy, const struct question *question,
                    const struct answer *answer);

/* Answers lines of OP, a tab and ARG from standard input as they come. */
int why_batch(struct session *session, const struct bound_policy *bound);
