/* landlock_launch.h - the steps of a launch that goes without namespaces (landlock_engine.h), where they
 * differ. */
#pragma once

#include "runtime/launch_state.h"

/* Whether this launch goes without namespaces: --engine landlock says so, or namespaces cannot be made
 * here and the policy accepts, on `landlock`, everything that Landlock cannot hold of it, which is then a
 * warning. */
bool landlock_is_chosen(struct launch *launch);

/* Takes the engine without namespaces; false with an error note if it cannot be used here. */
bool landlock_take(struct launch *launch);

/* Checks the controls that are needed against what Landlock holds on this kernel. */
bool landlock_controls(struct launch *launch);

/* After the facts: nothing is put in place of missing paths, and no match of a pattern is called denied. */
void landlock_settle_facts(struct launch *launch);

/* Narrows the request of the filter: the host's network and its processes are in reach without namespaces. */
void landlock_filter(const struct launch *launch, struct seccomp_request *filter);

/* Turns the plan into rules, each bound to the file that was looked at, and empties it. False with an
 * error note if it closes something inside what is open that nothing accepts, or if something was
 * replaced. */
bool landlock_plan(struct launch *launch);

/* Makes the directory that takes the place of scratch, if the policy has one. False with an error note. */
bool landlock_scratch_ready(struct launch *launch);
