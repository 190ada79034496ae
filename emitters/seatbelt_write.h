/* seatbelt_write.h - how a Seatbelt profile is written: strings, comments, and rules with one filter a line.
 *
 * Nothing from outside can leave the string or the comment that it stands in, and no string or rule grows
 * longer than macOS reads: longer ones are split. Everything lives in the arena of the call.
 */
#pragma once

#include "emitters/target.h"

/* What one profile is being written with. */
struct profile {
    const struct emit_request *request;
    struct arena *arena;
    struct buffer body;
    bool failed;                /* an error was queued */
    bool used[ROOTS];           /* the roots of the policy that are parameters */
    bool account[ROOTS];        /* and those that managed layers take from the account */
    bool opens_sockets;         /* some Unix socket is open, so whatever closes a path closes sockets there */
    bool shows_data_volume;     /* a grant reaches below /System/Volumes/Data */
    const char *operations;     /* of the rule that is open: "deny file-read* ..."; NULL: none */
    size_t rule_start, in_rule; /* where it begins in `body`; filters so far */
};

/* Appends `length` bytes as an SBPL string, or several in a string-append where one would be too long. */
void profile_string(struct buffer *out, const char *bytes, size_t length);

/* Appends a blank line, then `text` as comment lines. Escape what comes from a policy (base/escape.h). */
void profile_comment(struct profile *profile, const char *text);

/* Begins a rule, such as "deny file-read*"; the string must live until its end. Nothing is written before
 * the first filter comes. */
void profile_rule_begin(struct profile *profile, const char *operations);

/* Adds one line to the rule that is open: any of these filters is enough. `remark` (may be NULL) becomes its
 * comment. Begins a further rule of the same kind where this one would grow too long; a filter that is too
 * long by itself is an error about `rule`. */
void profile_filter(struct profile *profile, const struct buffer *filter, const struct rule *rule,
                    const char *remark);

void profile_rule_end(struct profile *profile);

/* A rule that stands in one line as it is: "(allow process-fork)". `remark` may be NULL. */
void profile_line(struct profile *profile, const char *text, const char *remark);

/* "deny $WORK/.env (project.sbx:7)": the rule as it was written and where. */
const char *profile_remark(const struct profile *profile, const struct bound_rule *bound);

/* Queues the error that the profile would be longer than macOS takes. */
void profile_check_size(struct profile *profile);
