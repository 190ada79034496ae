/* dump.h - what a stage of compiling made, as text: `--dump syntax|policy|bound`. */
#pragma once

#include "compiler/session.h"

/* Prints the stage that --dump names and returns the exit code. `policy` may be NULL after errors. */
int dump(struct session *session, const struct policy *policy);
