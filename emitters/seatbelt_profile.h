/* seatbelt_profile.h - what a Seatbelt profile comes to once it is evaluated: rules of operations and
 * filters. Between the parts of the reader only. */
#pragma once

#include "emitters/seatbelt_operations.h"
#include "emitters/seatbelt_read.h"
#include "emitters/seatbelt_regex.h"

enum seatbelt_filter_kind {
    SEATBELT_FILTER_LITERAL, /* of the path: this one, it and all below, all that begin so */
    SEATBELT_FILTER_SUBPATH,
    SEATBELT_FILTER_PREFIX,
    SEATBELT_FILTER_REGEX,
    SEATBELT_FILTER_NAME, /* of the name: likewise */
    SEATBELT_FILTER_NAME_PREFIX,
    SEATBELT_FILTER_NAME_REGEX,
    SEATBELT_FILTER_VNODE,
    SEATBELT_FILTER_MODE,
    SEATBELT_FILTER_TARGET,
    SEATBELT_FILTER_NUMBER,
    SEATBELT_FILTER_SOCKET_DOMAIN,
    SEATBELT_FILTER_SOCKET_TYPE,
    SEATBELT_FILTER_SOCKET_PROTOCOL,
    SEATBELT_FILTER_LOCAL,
    SEATBELT_FILTER_REMOTE,
    SEATBELT_FILTER_EXTENSION,
    SEATBELT_FILTER_OPAQUE, /* looks at what no question holds */
    SEATBELT_FILTER_ALL,
    SEATBELT_FILTER_ANY,
    SEATBELT_FILTER_NOT,
};

struct seatbelt_text {
    const char *bytes;
    size_t length;
};

/* An address as (remote PROTOCOL "HOST:PORT") has it. */
struct seatbelt_address_filter {
    enum seatbelt_protocol protocol; /* SEATBELT_PROTOCOL_NONE: any over IP */
    uint32_t version;                /* 0: both */
    bool addressed;                  /* whether host and port were given */
    bool loopback;                   /* else any host */
    bool any_port;
    uint16_t port;
};

struct seatbelt_filter {
    enum seatbelt_filter_kind kind;
    uint32_t sorts; /* of it and its parts */
    const char *word;
    struct seatbelt_text text, folded;
    const struct seatbelt_regex *regex, *folded_regex;
    enum seatbelt_name name;
    bool ignores_case; /* its names do, whatever the volume */
    uint64_t number;
    bool number_unknown;
    struct seatbelt_address_filter address;
    const struct seatbelt_filter *const *parts;
    uint32_t count;
    uint32_t depth, size; /* of the tree of parts */
    size_t bytes;         /* of path text in it */
};

struct seatbelt_operation_list {
    enum seatbelt_operation *items;
    uint32_t count, capacity;
};

struct seatbelt_filter_list {
    const struct seatbelt_filter **items;
    uint32_t count, capacity;
};

/* Any one of `filters` is enough; none: the rule is the fallback of its operations. */
struct seatbelt_rule {
    bool allow, unsandboxed; /* unsandboxed: with no-sandbox */
    uint32_t line;
    struct seatbelt_operation_list operations;
    struct seatbelt_filter_list filters;
};

/* One filter of a rule, seen from an operation. */
struct seatbelt_entry {
    uint32_t rule;
    const struct seatbelt_filter *filter;
};

struct seatbelt_entries {
    struct seatbelt_entry *items;
    uint32_t count, capacity;
};

/* What rules say about one operation. `others` are those entries that the index of paths does not hold. */
struct seatbelt_behaviour {
    struct seatbelt_entries entries, others;
    uint32_t unfiltered; /* number of the last rule without filter, + 1; 0: none */
};

struct seatbelt_index;

struct seatbelt_name_slot {
    const char *name;
    enum seatbelt_operation operation;
};

/* Room for the folded path of a question. */
struct seatbelt_scratch {
    char *bytes; /* folded, `length` of them */
    char *path;  /* what they were folded from */
    size_t length, path_length, room;
};

struct seatbelt_profile {
    struct arena *arena;
    struct {
        struct seatbelt_rule *items;
        uint32_t count, capacity;
    } rules;
    struct seatbelt_behaviour behaviours[SEATBELT_OPERATIONS];
    uint64_t entries;                    /* filters with their parts, once for each operation of their rule */
    struct seatbelt_index *index;        /* of paths as they are */
    struct seatbelt_index *folded_index; /* of folded paths */
    struct seatbelt_name_slot *operations; /* by name */
    struct seatbelt_scratch *scratch;
};
