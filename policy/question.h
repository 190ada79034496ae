/* question.h - what grants, limits and denies of one layer say about a path, found in the index.
 *
 * Nothing here allocates or locks. Private to policy/.
 */
#pragma once

#include "policy/fold.h"
#include "policy/index.h"

/* A path that is asked about, cut into names as written and, where denies fold, as folded. */
struct question {
    const char *path;
    size_t length, folded_length;
    /* Cannot be folded or matched: no system call takes such a name, and nothing may be allowed. */
    bool too_long;
    struct trie_path exact, fold;
    struct trie_way way;        /* along `exact`, in what a layer opens: of the layer that was asked last */
    char buffer[FOLD_CAPACITY]; /* the folded path */
};

/* Cuts `path` into `*question`, which must not outlive `path`. */
void index_ask(const struct decision_index *index, const char *path, size_t length,
               struct question *question);

/* The same for a path that may begin like the one in `*question`, whose bytes are still there: what both share is not
 * looked up again. */
void index_ask_next(const struct decision_index *index, const char *path, size_t length,
                    struct question *question);

/* What grants and limit lists of one layer say about the path. */
struct opened {
    uint8_t configured, automatic; /* level + 1; 0: none covers */
    uint8_t bits;
};
struct opened index_opened(const struct decision_index *index, uint32_t layer, struct question *question);

/* What denies of one layer leave. */
struct closed {
    enum level cap;
    bool exec, socket; /* closed by `deny exec`, by `deny socket` */
};
struct closed index_closed(const struct bound_policy *bound, uint32_t layer, struct question *question);

/* Whether the deny of `test`, found at a node `depth` components below its root, applies to the path. */
bool index_applies(const struct decision_index *index, const struct test *test,
                   const struct question *question, uint32_t depth);

/* What holds at the path (bound_level, bound_exec, bound_socket). */
enum level question_level(const struct bound_policy *bound, struct question *question);
bool question_exec(const struct bound_policy *bound, struct question *question);
bool question_socket(const struct bound_policy *bound, struct question *question);

/* The lower of two levels. Every "at most" of the language goes through here. */
enum level level_min(enum level a, enum level b);
