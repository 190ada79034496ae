/* bound.h - a policy with its roots bound on one operating system, and every decision about it.
 *
 * Three steps: policy_bind makes the list of bound rules (one for each path that a root stands for);
 * whoever has facts about the host may then edit that list (drop a rule, add a rule that a link makes
 * necessary); bound_seal builds the trees. After that it is only read: no allocation and no lock in
 * bound_level, bound_socket, bound_exec.
 *
 * Paths are bytes: "/a/b", on Windows "C:/a/b"; a root that is still symbolic stands as its name:
 * "$WORK/a", "$env.NAME/a". Symbolic roots are unrelated to each other and to every absolute path.
 */
#pragma once

#include "policy/note.h"
#include "policy/policy.h"

enum root_state {
    ROOT_UNSET,    /* known to have no value */
    ROOT_SYMBOLIC, /* not known here (--pure, json, .bin): stays $NAME */
    ROOT_BOUND
};

struct root_value {
    enum root_state state;
    const char *const *paths; /* absolute, canonical; more than one only where root_is_list */
    uint32_t count;
    const char *given; /* paths[0] as it was found, before its links were resolved; NULL: the same */
    /* What denies speak of, if that is not `paths`: of a repository also what does not count for grants. NULL:
     * the same. */
    const char *const *deny_paths;
    uint32_t deny_count;
    const char *unknown; /* why it is not known what a deny would have to cover; using one is an error */
    const char *
        refused; /* $HOME that is relative or not owned by the caller: why; a rule that uses it is an error */
};

struct variable {
    const char *name, *value;
};

struct variable_list {
    struct variable *items;
    uint32_t count, capacity;
};

/* How binding looks at the host; every member may be NULL, and the whole may be NULL (--pure): then items
 * of $env lists are taken as written. `context` is handed to each call. */
struct host_view {
    void *context;
    /* The canonical path (symbolic links resolved) in `arena`, or NULL if `path` does not exist. */
    const char *(*canonical)(void *context, struct arena *arena, const char *path);
    bool (*is_directory)(void *context, const char *path);
};

struct bindings {
    enum system system;
    struct root_value roots[ROOTS]; /* for layer 0; ROOT_SLASH, ROOT_DRIVE and ROOT_ENV unused */
    struct root_value
        managed_roots[ROOTS];           /* for managed layers: HOME, CONFIG, CACHE, DATA from the account */
    const struct variable *environment; /* of the caller: for $env.NAME and for the env class */
    uint32_t environment_count;
    bool environment_known; /* false: a variable not listed is symbolic in $env.NAME, else it is unset */
    const char *command;    /* whose `when command` rules hold, or NULL for none */
    const struct host_view *host;
};

struct bound_path {
    const char *path; /* bytes of a plain path, canonical pattern text of a pattern */
    bool pattern;
    /* What `path` was before the root's links were resolved; NULL: the same. Whoever looks at the host
     * must know which links were passed. */
    const char *given;
};

struct bound_rule {
    const struct rule *rule;
    struct bound_path at; /* of the kinds that speak of paths; else .path is NULL */
    bool directory;
    const struct bound_path *except;
    uint32_t except_count;
    bool dropped; /* left out, with a note; decides nothing */
    bool itself;  /* section 6, itself: added by the launcher or by sbxc for the policy's own files */
    /* A grant on a missing path that would lower what surrounds it, or one left out for a link: RULE_DENY
     * with LEVEL_READ is what it does, whatever rule->kind says. */
    bool holds_as_deny_write;
    /* Where `at` came from if not from the rule's own path: "link", "pattern", "service", else NULL. */
    const char *because;
    /* The rule that grants or closes the service which this one is a part of, or NULL. */
    const struct rule *service;
};

struct bound_policy {
    struct arena *arena;
    const struct policy *policy;
    struct bindings bindings;
    struct {
        struct bound_rule *items;
        uint32_t count, capacity;
    } rules;
    struct decision_index *index; /* made by bound_seal; NULL before */
};

/* Binds `policy` in `arena`. Rules of other systems and of other commands are left out without a note.
 * Errors (unset root in a deny, over-wide binding) are notes of SEVERITY_ERROR: look at notes->errors; the
 * result is complete as far as it could be made and must not be enforced then. */
struct bound_policy *policy_bind(struct arena *arena, const struct policy *policy,
                                 const struct bindings *bindings, struct note_list *notes);

/* Adds a rule that no text holds: the `itself` caps (kind RULE_DENY, level read, and RULE_DENY_SOCKET) on
 * `path`. */
void bound_add_itself(struct bound_policy *bound, const char *path, const char *what);

/* The same, closed for reading too. */
void bound_close_itself(struct bound_policy *bound, const char *path, const char *what);

/* The rule as it was written: that of its service, if it is part of one. */
const char *bound_rule_text(struct arena *arena, const struct bound_rule *rule);

/* The same as the statement that was written, if the rule is a limit's marker (rule_statement_text). */
const char *bound_statement_text(struct arena *arena, const struct policy *policy,
                                 const struct bound_rule *rule);

/* Builds (or, after edits of the rule list, builds again) what decisions are made from. Queues the notes
 * of language.md section 4 about automatic and configured grants that meet. `notes` may be NULL. */
void bound_seal(struct bound_policy *bound, struct note_list *notes);

/* The effective level at `path` (normalised, as above): the lowest that any layer allows. O(components)
 * plus patterns whose fixed prefix lies on the way. */
enum level bound_level(const struct bound_policy *bound, const char *path, size_t length);

bool bound_exec(const struct bound_policy *bound, const char *path, size_t length);

/* Whether an existing Unix socket at `path` may be used. Binding a new one also needs level write there.
 * Scratch is not looked at. */
bool bound_socket(const struct bound_policy *bound, const char *path, size_t length);

/* All three at once, for a third of the work. */
struct bound_answer {
    enum level level;
    bool exec, socket;
};
struct bound_answer bound_answer(const struct bound_policy *bound, const char *path, size_t length);

/* Level of layer number `layer` alone: of the policy (0), or what a managed layer leaves. The merge's
 * proof uses it. */
enum level bound_layer_level(const struct bound_policy *bound, uint32_t layer, const char *path,
                             size_t length);

/* One address or name to connect to. */
struct endpoint {
    const char *name;    /* lower case without final dot, or NULL if an address was asked for */
    uint8_t address[16]; /* as in struct network; meaningful if has_address */
    bool has_address;
    uint16_t port;
    uint8_t protocol; /* one PROTOCOL_BIT_ */
};

enum verdict { VERDICT_DENY, VERDICT_ALLOW, VERDICT_DEPENDS };

enum verdict bound_connect(const struct bound_policy *bound, const struct endpoint *endpoint);
bool bound_listen(const struct bound_policy *bound,
                  const struct endpoint *endpoint); /* address: loopback or not */
bool bound_env(const struct bound_policy *bound, const char *name);
bool bound_service(const struct bound_policy *bound, const char *name);
bool bound_scratch(const struct bound_policy *bound);
bool bound_bypass(const struct bound_policy *bound);
/* The smallest of the limits of `kind` (RULE_LIMIT_PROCESSES...TIME), 0 if none. */
uint64_t bound_limit(const struct bound_policy *bound, enum rule_kind kind);

/* Whether any grant of network is left after denies and limits that cover it whole; if `everything` is not
 * NULL it receives whether the network is open whole (an `any` grant for all ports and both protocols, and
 * no deny or limit that takes something away). */
bool bound_network_open(const struct bound_policy *bound, bool *everything);

/* The variables that pass in from bindings.environment, then `set` ones, sorted by name; scratch's TMPDIR,
 * TMP and TEMP are the launcher's. Notes say which `set` a managed layer removed. */
struct variable_list bound_environment(struct arena *arena, const struct bound_policy *bound,
                                       struct note_list *notes);

/* A rule that took part in a decision. */
struct reason {
    const struct bound_rule *rule; /* NULL: `effect` stands alone ("closed by default") */
    const char *effect;            /* "grants write", "caps at none", "limits to read outside", ... */
};

struct decision {
    enum verdict verdict;
    enum level level;       /* of read, write, exec */
    struct reason *reasons; /* the deciding one first; never empty */
    uint32_t reason_count;
    const char *fix; /* the line to write or the thing to do, or NULL when allowed */
};

/* Decides `operation` on `argument` (as in `sbxc why`: raw bytes; a leading ~ or $NAME is the root;
 * HOST:PORT and so on) and explains. Returns NULL and sets *error (in `arena`) if the argument cannot be
 * asked about. */
const struct decision *bound_decide(struct arena *arena, const struct bound_policy *bound,
                                    enum operation operation, const char *argument, size_t length,
                                    const char **error);

/* A place where the effective level changes. */
struct region {
    const char *path;
    enum level level;
    const struct bound_rule *why; /* the rule that decided there; NULL: closed by default */
};

struct region_list {
    struct region *items;
    uint32_t count, capacity;
};

/* The minimal list of regions that has the effective level of every plain path of every rule, every
 * `except`, and each of `extra` (pattern matches found on the host, link targets): no entry repeats the
 * level of its nearest listed ancestor (none, where there is no ancestor). Sorted by bytes with '/'
 * lowest, so that ancestors come first. A path that no rule, except or extra path speaks of has the level
 * of its nearest listed ancestor, patterns aside. */
struct region_list bound_regions(struct arena *arena, const struct bound_policy *bound,
                                 const char *const *extra, uint32_t extra_count);

/* The rule that decides the level at `path`, or NULL where it is closed by default. */
const struct bound_rule *bound_level_rule(struct arena *arena, const struct bound_policy *bound,
                                          const char *path, size_t length);

/* Proves that the merged policy is at most each of its layers: compares bound_regions and, for the other
 * classes, every grant and `set`, with each layer decided alone by separate code. Returns NULL, or what is
 * wrong (in `arena`). O(size). */
const char *bound_prove(struct arena *arena, const struct bound_policy *bound);
