/* index.h - what decisions are made from: for each layer a trie of what opens and of what closes.
 *
 * Built by bound_seal, then only read. Private to policy/; others ask through bound.h.
 */
#pragma once

#include "policy/bound.h"
#include "policy/name_map.h"
#include "policy/pattern.h"
#include "policy/trie.h"

enum mark_bit {
    MARK_LIMIT_READ = 1,
    MARK_LIMIT_WRITE = 2,
    MARK_LIMIT_SOCKET = 4,
    MARK_GRANT_SOCKET = 8,
    MARK_DENY_EXEC = 16,
    MARK_DENY_SOCKET = 32,
    MARK_EXCEPT = 64
};

/* What stands at a node. Zero means that nothing does. */
struct mark {
    uint8_t configured; /* the lowest configured grant here, as level + 1 */
    uint8_t automatic;  /* the highest automatic grant here, as level + 1 */
    uint8_t lowered;    /* what plain denies without `except` take from LEVEL_WRITE */
    uint8_t bits;
    uint32_t first_rule; /* list of all rules here, as number in `links` + 1 */
    uint32_t
        first_test; /* list of denies and exceptions here that must be looked at one by one, in `tests` + 1 */
};

struct rule_link {
    uint32_t rule; /* number in bound->rules */
    uint32_t next;
};

/* A deny with a pattern or an `except`, or a pattern of an `except`. */
struct test {
    uint32_t rule;                 /* number in bound->rules; unused in an `except` */
    uint32_t except_root;          /* root of the trie of its exceptions, or TRIE_NONE */
    const struct pattern *pattern; /* NULL: plain, covers what passes here */
    uint32_t next;
};

struct layer_tries {
    enum layer_kind kind;
    uint32_t open;  /* grants and lists of limits: names compare by bytes */
    uint32_t close; /* denies: names compare folded on macOS and Windows; elsewhere the same root */
    /* Of each kind a rule that the layer has, as number + 1, of a limit the marker; 0: none. A limit holds
     * if there is one, whatever is in its list. */
    uint32_t has[RULE_KINDS];
};

struct rule_numbers {
    uint32_t *items;
    uint32_t count, capacity;
};

struct decision_index {
    struct trie *trie;
    struct mark *marks; /* one a node */
    struct {
        struct rule_link *items;
        uint32_t count, capacity;
    } links;
    struct {
        struct test *items;
        uint32_t count, capacity;
    } tests;
    struct layer_tries *layers;
    uint32_t layer_count;
    bool folds;
    bool has_patterns;
    bool grants_meet; /* somewhere configured grants of different levels stand at one path */
    struct rule_numbers kinds[RULE_KINDS]; /* the rules of each kind, but those dropped */
    struct name_map *variables, *services; /* rules of the env and service classes by their exact name */
    struct rule_numbers variable_patterns, service_patterns; /* and those whose name has a sign */
    struct network_index *network;
};

/* Builds the index of the rules as they are now. */
struct decision_index *index_build(const struct bound_policy *bound);

/* What the rule does, which holds_as_deny_write may change. */
enum rule_kind bound_rule_kind(const struct bound_rule *rule);
enum level bound_rule_level(const struct bound_rule *rule);

/* Whether the rule has a path in `at`. */
bool bound_rule_has_path(const struct bound_rule *rule);
