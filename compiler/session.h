/* session.h - one run of sbxc: what was asked for, the arena of the job, and the steps that several commands
 * share. */
#pragma once

#include "compiler/compile.h"
#include "compiler/options.h"
#include "policy/bound.h"

enum { EXIT_DONE = 0, EXIT_DENIED = 1, EXIT_DIFFERENT = 1, EXIT_WRONG = 2, EXIT_UNENFORCEABLE = 3 };

struct session {
    struct arena *arena;
    struct options options;
    struct buffer out;  /* for standard output; written once, at the end */
    enum system system; /* the system that is meant, and whether --os said so */
    bool system_given;
    /* Values of --root and --env, checked. */
    struct variable_list roots, environment;
    bool may_be_bin; /* see struct compile_input */
    bool no_hash;    /* see struct compile_input */
    struct compilation *compilation;
    struct note_list notes;
    int exit; /* why a step failed */
};

/* Checks the options that all commands share. False with a message printed. */
bool session_begin(struct session *session);

/* Prints "sbxc: TEXT" to standard error and returns EXIT_WRONG. */
int session_complain(struct session *session, const char *text);

/* Compiles FILE with its managed layers and prints diagnostics. NULL with session->exit set if there are
 * errors. */
struct policy *session_compile(struct session *session);

/* The bindings for `system`: roots as given, the others symbolic; for questions about this machine (`here`,
 * unless --pure) those that it says. */
void session_bindings(struct session *session, enum system system, bool here, struct bindings *bindings);

/* Binds and seals. NULL with session->exit set, and the errors printed, if it cannot be bound. */
struct bound_policy *session_bind(struct session *session, const struct policy *policy,
                                  const struct bindings *bindings, bool itself);

/* Prints the notes collected so far, down to `least`, to standard error and forgets them; returns how many
 * were errors. */
uint32_t session_print_notes(struct session *session, const struct policy *policy, enum severity least);

/* Prints diagnostics to standard error; with -q errors only. */
void session_print_diagnostics(struct session *session, const struct diagnostic_list *list);

/* Whether messages are colored. */
bool session_color(const struct session *session);
