/* policy.h - the model: every rule that a policy and its managed layers say, roots still symbolic.
 *
 * Made by the compiler or read from a .bin file; after that only read. Everything lives in one arena. Rules
 * of all layers stand in one array; `layer` says whose each is. `let`, `use` and word syntax are gone: each
 * rule speaks of one path, target, name or amount.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum level { LEVEL_NONE, LEVEL_READ, LEVEL_WRITE };

enum system { SYSTEM_LINUX, SYSTEM_MACOS, SYSTEM_WINDOWS, SYSTEMS };
enum { SYSTEM_ALL = (1 << SYSTEMS) - 1 };

enum root {
    ROOT_SLASH, /* starts with '/': Linux and macOS */
    ROOT_DRIVE, /* starts with a drive: Windows; `name` is the upper-case letter */
    ROOT_WORK,
    ROOT_HOME,
    ROOT_TMP,
    ROOT_CONFIG,
    ROOT_CACHE,
    ROOT_DATA,
    ROOT_REPO,
    ROOT_GITDIR,
    ROOT_SUBMODULES,
    ROOT_GITDIRS,
    ROOT_ENV, /* $env.NAME; `name` is NAME */
    ROOTS
};

/* "WORK" and so on; "" for ROOT_SLASH and ROOT_DRIVE, "env" for ROOT_ENV. */
extern const char *const root_names[ROOTS];

/* Whether a root is found in the repository around $WORK, and is unset where there is none. */
bool root_of_repository(enum root root);

/* Whether a root may stand for several paths. $env.NAME is a list of its own kind. */
bool root_is_list(enum root root);

/* Whether a root comes from what the command itself can write, so that nothing may be opened by it. */
bool root_is_found(enum root root);

struct policy_path {
    enum root root;
    const char *name; /* of ROOT_DRIVE and ROOT_ENV, else NULL */
    /* "" for the root itself, else "/a/b": normalised. Of a plain path: the bytes themselves. Of a
     * pattern: canonical pattern text, in which `\` stands before each of the bytes star, ?, [, ] and
     * backslash that means itself. */
    const char *rest;
    bool pattern;
    bool directory; /* written with a trailing '/' */
};

struct path_list {
    const struct policy_path *items;
    uint32_t count;
};

enum rule_kind {
    RULE_GRANT,         /* path, level, automatic */
    RULE_DENY,          /* path, level: the cap (none, or read for `deny write`), except */
    RULE_DENY_EXEC,     /* path, except */
    RULE_GRANT_SOCKET,  /* path */
    RULE_DENY_SOCKET,   /* path (patterns allowed) */
    RULE_GRANT_NETWORK, /* network */
    RULE_DENY_NETWORK,
    RULE_GRANT_LISTEN, /* network.target is NETWORK_LOOPBACK or NETWORK_ANY; ports, protocols */
    RULE_DENY_LISTEN,
    RULE_GRANT_ENV, /* name: the pattern */
    RULE_DENY_ENV,
    RULE_SET_ENV,       /* name, value */
    RULE_GRANT_SERVICE, /* name */
    RULE_DENY_SERVICE,
    RULE_GRANT_SYSCALL, /* name */
    RULE_DENY_SYSCALL,
    RULE_GRANT_SCRATCH,
    RULE_DENY_SCRATCH,
    RULE_GRANT_BYPASS,
    RULE_DENY_BYPASS,
    /* Managed limits. Each statement makes one rule with `nothing` set (the limit holds, whatever becomes
     * of its list) and one rule an item. */
    RULE_LIMIT_READ,    /* path */
    RULE_LIMIT_WRITE,   /* path */
    RULE_LIMIT_SOCKET,  /* path */
    RULE_LIMIT_NETWORK, /* network */
    RULE_LIMIT_ENV,     /* name */
    RULE_LIMIT_SERVICE, /* name */
    RULE_PERMIT_BYPASS,
    RULE_LIMIT_PROCESSES, /* amount */
    RULE_LIMIT_FILES,     /* amount */
    RULE_LIMIT_MEMORY,    /* amount: bytes */
    RULE_LIMIT_TIME,      /* amount: seconds */
    RULE_ACCEPT,          /* name: the control; value: the reason; target */
    RULE_EXPECT, /* allow; operation; argument as `path`, or `name` (and `network` for connect and listen) */
    RULE_KINDS
};

enum network_target {
    NETWORK_HOST,
    NETWORK_ADDRESS,
    NETWORK_LOOPBACK,
    NETWORK_LAN,
    NETWORK_INTERNET,
    NETWORK_ANY
};

enum { PROTOCOL_BIT_TCP = 1, PROTOCOL_BIT_UDP = 2, PROTOCOL_BITS = 3 };

struct port_range {
    uint16_t low, high; /* inclusive; 1-65535 */
};

/* A missing port or protocol was filled in by the compiler (language.md 6), so nothing here is "unsaid". */
struct network {
    enum network_target target;
    const char *host;    /* NETWORK_HOST: lower case, no final dot, "example.com", "*.example.com" or "*" */
    uint8_t address[16]; /* NETWORK_ADDRESS: IPv4 as ::ffff:a.b.c.d */
    uint8_t prefix;      /* bits of the 128, so an IPv4 /8 is 104 */
    uint8_t protocols;   /* PROTOCOL_BIT_* */
    const struct port_range *ports; /* sorted, merged, disjoint; one range 1-65535 for all */
    uint32_t port_count;
};

enum operation {
    OPERATION_READ,
    OPERATION_WRITE,
    OPERATION_EXEC,
    OPERATION_CONNECT,
    OPERATION_LISTEN,
    OPERATION_SOCKET,
    OPERATION_ENV,
    OPERATION_SERVICE,
    OPERATIONS
};
/* "read", "write", ... as in `sbxc why`. */
extern const char *const operation_names[OPERATIONS];

/* Where a rule was written. */
struct origin {
    uint32_t source; /* index into policy.sources */
    uint32_t line, column;
};

struct command_set {
    const char *const *names; /* sorted; a rule under nested `when command` holds the intersection */
    uint32_t count;           /* 0: holds for no command */
};

struct rule {
    enum rule_kind kind;
    uint32_t layer; /* index into policy.layers */
    struct origin origin;
    uint8_t systems; /* bits 1 << enum system for which the rule holds (its `when os`) */
    bool automatic;  /* auto grant */
    bool nothing;    /* see RULE_LIMIT_* */
    bool allow;      /* of RULE_EXPECT */
    enum level level;
    enum operation operation;
    const struct command_set *commands; /* NULL: holds without and with any command */
    struct policy_path path;
    const struct path_list *except; /* NULL: none; shared between the rules of a statement */
    const struct network *network;
    const char *name, *value;
    const char *target; /* of RULE_ACCEPT: "bwrap", "landlock", "seatbelt", "windows" */
    uint64_t amount;
};

enum layer_kind { LAYER_POLICY, LAYER_MANAGED };

struct layer {
    enum layer_kind kind;
    const char *name;
    uint8_t hash[32]; /* SHA-256 of its canonical rules */
};

enum source_kind { SOURCE_POLICY, SOURCE_MANAGED, SOURCE_PRESET_FILE, SOURCE_PRESET_BUILTIN };

struct policy_source {
    const char
        *name; /* "project.sbx", "../team/base.sbx" (relative to the file of its layer), or "std/git" */
    enum source_kind kind;
    /* "use std/dev except " or "use std/dev except ~/.npmrc, ": the one statement of the layer's own file
     * that brings this source in, up to where a further exception goes; NULL where there are several, and
     * in what was read from a .bin. */
    const char *use;
};

struct policy {
    struct arena *arena;
    const char *name;
    const struct layer *layers; /* 0 is the policy itself (for a managed .bin: the managed layer) */
    uint32_t layer_count;
    const struct policy_source *sources;
    uint32_t source_count;
    const struct rule *rules;
    uint32_t rule_count;
    uint8_t requested_hash[32]; /* SHA-256 of the source texts in the order read */
    uint8_t
        effective_hash[32]; /* SHA-256 of the canonical model after merge, roots symbolic, origins left out */
};

/* Whether the rule's path or an exception of it begins with `root`. */
bool rule_uses_root(const struct rule *rule, enum root root);

/* Whether some rule holds for a command alone. */
bool policy_has_commands(const struct policy *policy);

/* The rule in the words of the language, as one statement with one item: "deny $WORK/a except $WORK/a/b". */
const char *rule_text(struct arena *arena, const struct rule *rule);

/* A path in the words of the language: "$WORK/a", "~/x", "C:/y", with the escapes it needs. */
const char *path_text(struct arena *arena, const struct policy_path *path);

/* A name or pattern of a variable in the words of the language: in quotes and with escapes where it needs
 * them. */
const char *word_text(struct arena *arena, const char *word);

/* Whether `rule` only says that a limit holds, and items of its statement stand beside it: what `show`
 * need not list. */
bool rule_is_marker(const struct policy *policy, const struct rule *rule);

/* rule_text, but of a limit's marker the whole statement, as far as it is short: "limit write to $WORK,
 * $CACHE". */
const char *rule_statement_text(struct arena *arena, const struct policy *policy, const struct rule *rule);

/* "policy" for layer 0 of a policy, else the managed layer's name. */
const char *rule_layer_name(const struct policy *policy, const struct rule *rule);

/* Joins a policy and managed policies (each of one layer) into a new policy in `arena` that holds all
 * their rules; the parts must outlive it. Computes the hashes; name and requested hash stay those of
 * `base`, which may itself hold managed layers already. Managed layers come after the others, sorted by
 * name, then hash; one that is already there (same name and rules) is added once. A layer that comes as
 * managed narrows, whatever its kind said. */
struct policy *policy_merge(struct arena *arena, const struct policy *base,
                            const struct policy *const *managed, uint32_t managed_count);

/* Fills layers[].hash and effective_hash of a policy whose rules are complete. Names, origins, order and
 * repeated rules count for nothing (docs/bin-format.md). */
void policy_hash(struct policy *policy);
