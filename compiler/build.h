/* build.h - from syntax to rules: what the words of a layer's files mean, roots still symbolic.
 *
 * Each unit is prepared once: its names are defined, its words become paths, targets and amounts, and every
 * mistake is reported once. Then `use` brings the rules of used units in, each under the conditions and
 * exceptions of its `use`. The passes share struct builder, which nothing outside build*.c looks into.
 */
#pragma once

#include "compiler/build_names.h"
#include "compiler/load.h"

enum { RULES_LIMIT = 1000000, USES_LIMIT = 10000 };

struct rule_list {
    struct rule *items;
    uint32_t count, capacity;
};

/* A `use` whose words are resolved. */
struct prepared_use {
    struct unit *unit;
    uint8_t systems;
    const struct command_set *commands;
    const struct path_list *except; /* NULL: none */
    const struct statement *statement;
};

/* What a unit says by itself, whoever uses it. The rules of unit 0 go straight to the result. */
struct prepared {
    struct name_table names;
    struct rule_list rules;
    struct {
        struct prepared_use *items;
        uint32_t count, capacity;
    } uses;
    /* The first statement that only a policy may bring in (grant, set), and that only managed files may
     * (limit, permit), here or in what this unit uses; NULL: none. */
    const struct statement *grants, *limits;
    const struct statement *environment; /* the first that speaks of $env, likewise */
    bool has_rules;                      /* here or in what it uses */
};

struct path_vector {
    struct policy_path *items;
    uint32_t count, capacity;
};

struct builder {
    struct arena *arena;
    struct intern_pool *pool;
    struct load *load;
    struct diagnostic_list *diagnostics;
    bool managed; /* the layer is managed */
    /* Where preparing stands. */
    struct unit *unit;
    struct prepared *here;
    uint8_t systems;
    const struct command_set *commands;
    const struct statement *when_os, *when_command; /* the enclosing blocks */
    const struct statement *statement;              /* the one that is being prepared */
    /* The last place that was turned into a line: words come in the order of the text. */
    struct {
        uint32_t source, offset, line, line_start;
    } place;
    uint32_t next_use;
    /* What comes out. */
    struct rule_list rules;
    bool too_many; /* the limit was reported */
    /* Scratch space, reused. */
    struct path_vector paths;
    struct buffer bytes;
    struct {
        uint32_t *items;
        uint32_t count, capacity;
    } offsets;
    struct intern_pool *seen; /* uses that brought their rules in already */
    uint32_t brought;         /* how many */
};

/* Builds the policy of the layer in `load`, of which every text parsed as far as it could. NULL if there are
 * errors. The policy lives in `load->arena`, keeps no pointer into the syntax trees, and has no hashes yet
 * but that of its texts. */
struct policy *build_policy(struct load *load);

/* --- shared by build*.c --------------------------------------------------------------------------------- */

/* Queues an error at `at`; `help` may be NULL. */
void build_error(struct builder *builder, enum code code, struct span at, const char *text, const char *help);

/* The span of the bytes [first, last) of `word`, as they are spelled in the text. */
struct span word_part(const struct builder *builder, const struct word *word, uint32_t first, uint32_t last);

/* The word as it stands in the text, escapes and quotes included. */
const char *word_spelling(struct builder *builder, const struct word *word);

/* Whether byte `at` of `word` is the sign `sign`: there, and not escaped. */
bool word_sign(const struct word *word, uint32_t at, char sign);

/* Whether `word` is valid UTF-8 without control characters, as all text but a path must be; reports it if
 * not. */
bool word_is_text(struct builder *builder, const struct word *word);

/* A rule under the current conditions. */
struct rule rule_here(const struct builder *builder, enum rule_kind kind);

/* Where `at` is in the current unit. */
struct origin origin_at(struct builder *builder, struct span at);

/* Adds a rule whose origin is known to the current unit. */
void rule_add(struct builder *builder, struct rule rule);

/* Adds a rule that was written at `at`. */
void rule_add_at(struct builder *builder, struct rule rule, struct span at);

/* Reports, once, that there are more than RULES_LIMIT rules. */
void build_too_many(struct builder *builder, struct span at);

enum path_use {
    PATH_PATTERNS = 1, /* patterns are allowed */
    PATH_GRANT = 2,    /* the whole file system is not */
    PATH_DENY = 4,     /* $SUBMODULES and $GITDIRS are allowed: nothing is opened by them */
};

/* Appends the paths that `word` stands for; reports what is wrong with it and appends nothing then. `uses` is
 * a set of enum path_use. */
void build_path(struct builder *builder, const struct word *word, unsigned uses, struct path_vector *out);

/* The paths of all `words` as a list of their own, or NULL if there are none. */
const struct path_list *build_path_list(struct builder *builder, const struct word_list *words,
                                        unsigned uses);

/* Whether the statement may stand in this file, for this layer; reports it if not. */
bool build_allowed(struct builder *builder, const struct statement *statement);

/* One statement of each kind. */
void build_let(struct builder *builder, const struct statement *statement);
void build_use(struct builder *builder, const struct statement *statement);
void build_when(struct builder *builder, const struct statement *statement);
void build_path_rule(struct builder *builder, const struct statement *statement);
void build_socket(struct builder *builder, const struct statement *statement);
void build_limit_paths(struct builder *builder, const struct statement *statement);
void build_network(struct builder *builder, const struct statement *statement);
void build_listen(struct builder *builder, const struct statement *statement);
void build_limit_network(struct builder *builder, const struct statement *statement);
void build_env(struct builder *builder, const struct statement *statement);
void build_set_env(struct builder *builder, const struct statement *statement);
void build_service(struct builder *builder, const struct statement *statement);
void build_syscall(struct builder *builder, const struct statement *statement);
void build_limit_names(struct builder *builder, const struct statement *statement);
void build_switch(struct builder *builder, const struct statement *statement);
void build_amount(struct builder *builder, const struct statement *statement);
void build_accept(struct builder *builder, const struct statement *statement);
void build_expect(struct builder *builder, const struct statement *statement);

/* Prepares the statements of the current unit in order. */
void build_statements(struct builder *builder, const struct statement *statement);

/* Prepares `unit` if that was not done yet. */
struct prepared *build_prepare(struct builder *builder, struct unit *unit);

/* Whether the exceptions of a `use` are added to a rule that it brings in. */
bool rule_takes_except(const struct rule *rule);

/* Brings the rules of everything that unit 0 uses into the result. */
void build_instantiate(struct builder *builder);

/* The texts of the layer as its policy names them; every unit is prepared. */
const struct policy_source *build_sources(const struct load *load);

/* What two rules may not say together: values of `set`, scratch beside a grant on /tmp. */
void build_check(struct builder *builder);
