/* seatbelt_scheme.h - evaluates the Scheme of a Seatbelt profile, within bounds of depth, steps and
 * memory. */
#pragma once

#include "emitters/seatbelt_value.h"

/* Fills the outermost scope: forms, primitives, operations, filters, constants and modifiers. */
void seatbelt_globals_create(struct seatbelt_machine *machine);

/* Binds a name in the outermost scope, or again. */
void seatbelt_define(struct seatbelt_machine *machine, const char *name, const struct seatbelt_value *value);

/* The value of an interned name, or NULL. `environment` may be NULL: the outermost scope. */
const struct seatbelt_value *seatbelt_find(struct seatbelt_machine *machine, const char *name,
                                           const struct seatbelt_environment *environment);

/* Evaluates one expression; NULL: the machine has failed. */
const struct seatbelt_value *seatbelt_evaluate(struct seatbelt_machine *machine,
                                               const struct seatbelt_value *expression,
                                               struct seatbelt_environment *environment);

/* Calls a procedure with values. */
const struct seatbelt_value *seatbelt_apply(struct seatbelt_machine *machine,
                                            const struct seatbelt_value *procedure,
                                            const struct seatbelt_value *at,
                                            const struct seatbelt_arguments *arguments);

/* Evaluates all forms of a text. */
bool seatbelt_evaluate_text(struct seatbelt_machine *machine, const char *text, size_t length);

/* A scope in `outer`; binds a name in it, whatever is outside. */
struct seatbelt_environment *seatbelt_scope(struct seatbelt_machine *machine,
                                            struct seatbelt_environment *outer);
void seatbelt_bind(struct seatbelt_machine *machine, struct seatbelt_environment *environment,
                   const char *name, const struct seatbelt_value *value);

/* Gives a bound name another value where it is bound; false if it is not. */
bool seatbelt_assign(struct seatbelt_machine *machine, struct seatbelt_environment *environment,
                     const char *name, const struct seatbelt_value *value);
