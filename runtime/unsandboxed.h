/* unsandboxed.h - running a command with no sandbox at all, where the policy and every managed layer allow
 * it. */
#pragma once

#include "runtime/launch_state.h"

/* Checks `bypass`, records the run and executes the command with the caller's environment; returns the exit
 * code. */
int launch_unsandboxed(struct launch *launch);
