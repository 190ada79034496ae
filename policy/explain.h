/* explain.h - the rules that took part in a decision, in an order that tells the story. Private to
 * policy/. */
#pragma once

#include "policy/question.h"

/* One rule and what it leaves; those that leave the least come first, then grants before caps, then by
 * their place. */
struct entry {
    enum level leaves;
    uint8_t rank;
    const struct bound_rule *rule;
    const char *effect;
};

struct entry_list {
    struct arena *arena;
    struct entry *items;
    uint32_t count, capacity;
};

enum { RANK_GRANT, RANK_DEFAULT, RANK_DENY, RANK_LIMIT };

void explain_add(struct entry_list *list, struct entry entry);
void explain_sort(struct entry_list *list);

/* Fills the empty `list` with what decided the level at the path, and sorts it. Never left empty. */
void explain_level(const struct bound_policy *bound, struct question *question, struct entry_list *list);

/* The same for `deny exec` alone (left empty if there is none), and for a Unix socket. */
void explain_exec(const struct bound_policy *bound, const char *path, size_t length, struct entry_list *list);
void explain_socket(const struct bound_policy *bound, const char *path, size_t length,
                    struct entry_list *list);

/* Adds `entry` for each statement that makes the limit of `kind` in `layer`, which has one: by its marker,
 * or by an item if there is no marker. What the list holds already is not added again. */
void explain_limit(const struct bound_policy *bound, enum rule_kind kind, uint32_t layer, struct entry entry,
                   struct entry_list *list);

/* Adds that nothing is open. */
void explain_default(const struct bound_policy *bound, struct entry_list *list);

/* Whether nothing but managed layers is asked: they open nothing, and leave what they do not speak of. */
bool explain_only_narrows(const struct bound_policy *bound);

/* What decided a connection, a port, a variable or a service. */
void explain_connect(const struct bound_policy *bound, const struct endpoint *endpoint,
                     struct entry_list *list);
void explain_listen(const struct bound_policy *bound, const struct endpoint *endpoint,
                    struct entry_list *list);
void explain_env(const struct bound_policy *bound, const char *name, struct entry_list *list);
void explain_service(const struct bound_policy *bound, const char *name, struct entry_list *list);
