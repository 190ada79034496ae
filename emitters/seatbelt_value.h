/* seatbelt_value.h - the values that a Seatbelt profile's Scheme works with, and the machine that evaluates
 * it. Between the parts of the reader only. */
#pragma once

#include "base/intern.h"
#include "emitters/seatbelt_profile.h"

enum seatbelt_kind {
    SEATBELT_VALUE_NIL,
    SEATBELT_VALUE_BOOLEAN,
    SEATBELT_VALUE_NUMBER,
    SEATBELT_VALUE_CHARACTER,
    SEATBELT_VALUE_STRING,
    SEATBELT_VALUE_SYMBOL,
    SEATBELT_VALUE_PAIR,
    SEATBELT_VALUE_FORM,      /* if, define ...: takes its parts as they stand */
    SEATBELT_VALUE_PRIMITIVE, /* takes values */
    SEATBELT_VALUE_CLOSURE,
    SEATBELT_VALUE_MACRO,
    SEATBELT_VALUE_OPERATION,
    SEATBELT_VALUE_FILTER,
    SEATBELT_VALUE_MODIFIER,
    SEATBELT_VALUE_CONSTANT,
    SEATBELT_VALUE_NOTHING, /* what a definition or a rule returns */
    SEATBELT_VALUE_PENDING, /* of letrec, before it is set */
};

struct seatbelt_machine;
struct seatbelt_environment;
struct seatbelt_value;

/* `self`: what is being called, of a primitive. */
struct seatbelt_arguments {
    const struct seatbelt_value *const *items;
    uint32_t count;
    const struct seatbelt_builtin *self;
};

/* What a form leaves to be evaluated in its stead, so that loops need no depth. */
struct seatbelt_tail {
    const struct seatbelt_value *expression;
    struct seatbelt_environment *environment;
};

/* Both return NULL once the machine has failed; a form also if it set `tail`. `at` is the whole call. */
typedef const struct seatbelt_value *seatbelt_form(struct seatbelt_machine *machine,
                                                   const struct seatbelt_value *at,
                                                   struct seatbelt_environment *environment,
                                                   struct seatbelt_tail *tail);
typedef const struct seatbelt_value *seatbelt_primitive(struct seatbelt_machine *machine,
                                                        const struct seatbelt_value *at,
                                                        const struct seatbelt_arguments *arguments);

struct seatbelt_builtin {
    const char *name;
    seatbelt_form *form;
    seatbelt_primitive *primitive;
    uint32_t least, most;
    uint32_t choice, detail; /* for a primitive that serves several names */
};

struct seatbelt_closure {
    const char *name;
    const struct seatbelt_value *parameters, *body; /* (a b . rest) or a symbol */
    struct seatbelt_environment *environment;
};

enum seatbelt_constant_kind {
    SEATBELT_CONSTANT_VNODE,
    SEATBELT_CONSTANT_TARGET,
    SEATBELT_CONSTANT_PROTOCOL,
    SEATBELT_CONSTANT_DOMAIN,
    SEATBELT_CONSTANT_TYPE,
    SEATBELT_CONSTANT_SIGNAL,
    SEATBELT_CONSTANT_SYSCALL,
    SEATBELT_CONSTANT_ATTRIBUTE,
};

struct seatbelt_constant {
    const char *name;
    enum seatbelt_constant_kind kind;
    uint32_t number, version; /* version: of IP, of a protocol */
};

/* (with WORD ...) and where it may stand. */
struct seatbelt_modifier {
    const char *word;
    bool allow, deny, exec_only, unsandboxed;
    uint32_t arguments;
};

struct seatbelt_value {
    enum seatbelt_kind kind;
    uint32_t line, column;
    union {
        bool boolean;
        int64_t number;
        struct seatbelt_text string;
        const char *symbol; /* interned */
        struct {
            const struct seatbelt_value *head, *tail;
        } pair;
        const struct seatbelt_builtin *builtin;
        const struct seatbelt_closure *closure;
        enum seatbelt_operation operation;
        const struct seatbelt_filter *filter;
        const struct seatbelt_modifier *modifier;
        const struct seatbelt_constant *constant;
    } as;
};

struct seatbelt_binding {
    const char *name;
    const struct seatbelt_value *value;
};

/* The bindings of one scope; the outermost one has none of its own and is the machine's table. */
struct seatbelt_environment {
    struct seatbelt_environment *outer;
    struct {
        struct seatbelt_binding *items;
        uint32_t count, capacity;
    } bindings;
};

/* What stands around a rule: (with-filter ...), (with-modifier ...), (with-operations ...). */
struct seatbelt_surrounding {
    const struct seatbelt_surrounding *outer;
    const struct seatbelt_value *value; /* a filter, a modifier, or a list of operations */
};

struct seatbelt_machine {
    struct arena *arena;
    struct intern_pool *names;
    struct seatbelt_profile *profile;
    const struct seatbelt_parameter *parameters;
    uint32_t parameter_count;
    seatbelt_import *resolve;
    void *context;
    struct seatbelt_error *error;
    bool failed;

    struct seatbelt_globals *globals;
    const struct seatbelt_surrounding *surrounding;
    bool version_seen, trace_seen;
    const char *source;   /* as macOS calls it in an error */
    uint32_t import_line; /* of the import that is being read, else 0 */
    uint32_t import_depth, depth;
    uint64_t steps;
    size_t memory_before;
};

/* Records the first error, at a value's place (NULL: none); returns NULL. */
const struct seatbelt_value *seatbelt_fail(struct seatbelt_machine *machine, const struct seatbelt_value *at,
                                           const char *format, ...) SBX_PRINTF(3, 4);
const struct seatbelt_value *seatbelt_fail_unbound(struct seatbelt_machine *machine,
                                                   const struct seatbelt_value *symbol);
void seatbelt_fail_at(struct seatbelt_machine *machine, uint32_t line, uint32_t column, const char *text);

/* Counts one step; false, and failed, once the profile has taken too many or too much memory. */
bool seatbelt_step(struct seatbelt_machine *machine, const struct seatbelt_value *at);

/* A new value at the place of `at`. */
struct seatbelt_value *seatbelt_value(struct seatbelt_machine *machine, enum seatbelt_kind kind,
                                      const struct seatbelt_value *at);
const struct seatbelt_value *seatbelt_pair(struct seatbelt_machine *machine,
                                           const struct seatbelt_value *head,
                                           const struct seatbelt_value *tail,
                                           const struct seatbelt_value *at);
const struct seatbelt_value *seatbelt_boolean(struct seatbelt_machine *machine, bool truth,
                                              const struct seatbelt_value *at);
const struct seatbelt_value *seatbelt_nothing(struct seatbelt_machine *machine,
                                              const struct seatbelt_value *at);
const struct seatbelt_value *seatbelt_filter_value(struct seatbelt_machine *machine,
                                                   const struct seatbelt_filter *filter,
                                                   const struct seatbelt_value *at);

/* What macOS calls the type of a value. */
const char *seatbelt_type(const struct seatbelt_value *value);

/* Everything but #f is true. */
bool seatbelt_is_true(const struct seatbelt_value *value);

/* Number of items of a proper list, or UINT32_MAX if it is none. */
uint32_t seatbelt_length(const struct seatbelt_value *list);
