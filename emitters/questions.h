/* questions.h - a finite set of questions that covers every region of a policy and of an artifact made
 * from it: what `verify` asks both sides.
 *
 * Around each path, pattern, port, address and name that a side lists, the set holds what lies at it,
 * above it, below it, beside it and next to it in spelling. Equal questions are held once; the same sides
 * give the same questions in the same order, and as many more as there is more to list.
 */
#pragma once

#include "base/arena.h"
#include "policy/bound.h"

enum query_kind {
    QUERY_READ, /* these speak of a path */
    QUERY_WRITE,
    QUERY_EXEC,
    QUERY_SOCKET,
    QUERY_RENAME,  /* may it be moved away */
    QUERY_LISTED,  /* the level of a path that a rule names, as a list of regions has it */
    QUERY_CONNECT, /* endpoint */
    QUERY_LISTEN,
    QUERY_ENV, /* these speak of a name */
    QUERY_SERVICE,
    QUERY_SYSCALL, /* with `arguments` */
    QUERY_FACT,    /* one of the words that a policy says once: "scratch", "limit memory", "set env CI" */
    QUERY_KINDS
};

enum { QUERY_ARGUMENTS = 6 };

struct query {
    enum query_kind kind;
    const char *name; /* the path or the name */
    size_t length;
    const char *plain; /* the path that this is another spelling of, by case alone; else NULL */
    const struct endpoint *endpoint;
    const uint64_t *arguments; /* of QUERY_SYSCALL: QUERY_ARGUMENTS of them */
};

struct query_set;

/* An empty set for the questions of `kinds` (bits 1 << enum query_kind) on `system`. */
struct query_set *query_set_create(struct arena *arena, unsigned kinds, enum system system);

/* Where the texts of questions are kept. */
struct arena *queries_arena(const struct query_set *set);

/* Adds everything that `bound`, sealed, lists. */
void queries_add_policy(struct query_set *set, const struct bound_policy *bound);

/* What is to be asked about a path (normalised), about a pattern in canonical text, about a port range at
 * an address of each kind, about an address block, a host, and the name of a variable or service or of a
 * fact. */
void queries_add_path(struct query_set *set, const char *path);
void queries_add_pattern(struct query_set *set, const char *pattern);

/* A name that a pattern matches, in a directory that a rule excepts from it and around that directory. */
void queries_add_excepted(struct query_set *set, const char *pattern, const char *directory);

void queries_add_ports(struct query_set *set, struct port_range range);
void queries_add_block(struct query_set *set, const uint8_t address[16], uint8_t prefix, uint16_t port);
void queries_add_host(struct query_set *set, const char *host, uint16_t port);
void queries_add_name(struct query_set *set, enum query_kind kind, const char *name);

/* Names that the pattern of a variable matches, and names that it just does not. */
void queries_add_variable(struct query_set *set, const char *pattern);

/* Adds one question as it is. */
void queries_add(struct query_set *set, struct query query);

/* The questions, in the order in which they came. */
uint32_t query_count(const struct query_set *set);
const struct query *query_at(const struct query_set *set, uint32_t index);

/* The question in words, as `sbxc why` would be asked: "read /w/.env", "connect 10.0.0.1:443/udp". */
const char *query_text(struct arena *arena, const struct query *query);

/* An answer is a word, so that sides can be compared whatever they are asked. */
struct reply {
    const char *text; /* "allow", "deny", "depends", a level, an amount; NULL: this side says nothing of it */
    uint32_t line;    /* of the artifact; 0: none decided */
    const char *source; /* the text of that line, or NULL */
};

/* A policy that answers; `bound` is sealed and lives on. What it says of syscalls is in
 * questions_syscall.h. */
struct policy_answers;
struct policy_answers *policy_answers_create(struct arena *arena, const struct bound_policy *bound);
struct reply policy_answer(const struct policy_answers *answers, const struct query *query);

/* Whether both say the same, or one says nothing. */
bool reply_agrees(const struct reply *a, const struct reply *b);
