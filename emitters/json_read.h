/* json_read.h - what the parts of the reader of `json` artifacts share. Private to json_read*.c. */
#pragma once

#include "emitters/reader.h"

#include <jansson.h>

enum json_effect { JSON_GRANT, JSON_DENY, JSON_LIMIT, JSON_SET, JSON_PERMIT, JSON_EFFECTS };

struct json_place {
    const char *text;
    bool pattern;
};

struct json_rule {
    enum json_effect effect;
    const char *class; /* "path", "exec", "socket", ... */
    enum level level;
    bool automatic, nothing;
    uint32_t layer, line;
    struct json_place place; /* text NULL: none */
    const struct json_place *except;
    uint32_t except_count;
    const char *name, *value;
    const json_t *network; /* the rule's object, of the classes network and listen */
    uint64_t amount;
    uint32_t next; /* the next rule at the same place or of the same host, + 1 */
};

struct json_document {
    struct arena *arena;
    json_t *root;
    bool folds, windows;
    uint32_t layer_count;
    struct json_rule *rules;
    uint32_t rule_count;
    uint32_t *by_exact, *by_folded; /* the first rule at a place, + 1, hashed by its text */
    uint32_t *by_host;              /* the same of host rules, by the host without its star */
    uint32_t slot_count;
    struct {
        uint32_t *items; /* network rules that speak of no host, or of all */
        uint32_t count, capacity;
    } other_network;
    bool *limited_network; /* by layer */
    const struct json_listed {
        const char *path, *level;
        uint32_t line;
    } * listed;
    uint32_t listed_count;
    bool *limited_read, *limited_write, *limited_socket; /* by layer: whether such a limit holds */
};

/* What the rules say of a connection or a port; text NULL where that hangs on the address that a name has. */
struct reply json_connect(const struct json_document *document, const struct endpoint *endpoint);
struct reply json_listen(const struct json_document *document, const struct endpoint *endpoint);

/* A number for a text, to look it up by. */
uint32_t json_hash_text(const char *text, size_t length);

/* Makes network rules be found by their hosts. */
void json_index_network(struct json_document *document);
