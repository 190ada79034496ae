/* command.h - the commands of sbxc: each is one file here and one line in options.c. Each returns its exit
 * code. */
#pragma once

#include "compiler/session.h"

int command_compile(struct session *session);
int command_show(struct session *session);
int command_why(struct session *session);
int command_help(struct session *session);
