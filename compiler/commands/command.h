/* command.h - the commands of sbxc: each is one file here and one line in options.c. Each returns its exit
 * code. */
#pragma once

#include "compiler/session.h"
#include "emitters/target.h"

int command_compile(struct session *session);
int command_show(struct session *session);
int command_why(struct session *session);
int command_verify(struct session *session);
int command_help(struct session *session);

/* Appends what `target` makes of `bound` for the file `output` ("-": standard output). False with session->exit set,
 * and the errors printed, if it cannot be made. */
bool artifact_make(struct session *session, const struct target *target, const char *output,
                   const struct policy *policy, const struct bound_policy *bound, struct buffer *out);
