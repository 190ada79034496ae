/* bwrap_text.h - what the two text artifacts for bubblewrap share: their controls, exceptions and variables.
 */
#pragma once

#include "emitters/target.h"

struct text_artifact {
    const char *exceptions; /* accepted controls, with commas between; "none" */
    struct variable_list environment;
    const char *const *left_out; /* variables of $env rules that are left out; NULL-terminated */
    const struct rule *accepted[CONTROLS];
};

/* Checks what the policy needs against what an artifact without a launcher can hold, and gathers what both
 * artifacts say. `name` is the target's. False with error notes if something cannot be held. */
bool text_artifact_prepare(const struct emit_request *request, const char *name, bool can_limit,
                           struct text_artifact *artifact);

/* Checks that no deny of the policy's own hangs on a variable without a value. `names` receives the variables whose
 * rules are left out, NULL-terminated. False with error notes. */
bool text_variables(const struct emit_request *request, const char *const **names);

/* "NAME sha256:HEX exceptions=LIST": what the artifact was made from. */
const char *text_artifact_label(const struct emit_request *request, const struct text_artifact *artifact);

/* Whether a bound path hangs on a variable that has no value: "$env.NAME" and below. */
bool path_of_variable(const char *path);

/* Whether a rule closes a socket of a denied service while Unix sockets are refused as a family: it holds
 * already. */
bool text_needs_not(const struct emit_request *request, const struct bound_rule *rule);

/* Whether `root` in `rule` is the account's, whatever the caller says: HOME and what lies below it in a
 * managed layer. */
bool of_account(const struct rule *rule, const char *root);

/* Top-level entries of /proc that are writable somewhere; those that exist are covered. NULL-terminated. */
extern const char *const text_proc_read_only[];
enum { TEXT_PROC_READ_ONLY = 11 };
