/* launch_steps.h - the steps that every launch takes, with or without a sandbox, in their order
 * (launch_steps.c).
 *
 * Each returns false with an error note if the launch must not go on; nothing has run then.
 */
#pragma once

#include "runtime/launch_state.h"

bool step_directory(struct launch *launch);
bool step_policy(struct launch *launch);
bool step_bind(struct launch *launch);
bool step_bypass(struct launch *launch); /* whether --unsandboxed may be */
bool step_lease(struct launch *launch);
bool step_signals(struct launch *launch);

/* Tells the caller why the command could not be executed; returns the wait status for it (exit 126 or 127). */
int launch_not_executed(struct launch *launch, int error);

/* Records that the time was over and tells the caller; returns the wait status for it. */
int launch_time_over(struct launch *launch, const struct outcome *outcome);

/* Whether all that the command wrote could be written where it belongs; else records that and tells the
 * caller. */
bool launch_output_whole(struct launch *launch);

/* Writes the end into the record; returns the launcher's exit code for the command's wait status. */
int launch_ended(struct launch *launch, int status, pid_t unterminated);

/* Queues an error note; always false. */
bool launch_refuse(struct launch *launch, enum code code, const char *text, const char *help);
