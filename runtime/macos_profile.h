/* macos_profile.h - the Seatbelt profile of a launch: the policy with every root bound, as sandbox-exec gets it. */
#pragma once

#include "runtime/launch_state.h"

/* The profile of launch->prepared.bound, whose facts are gathered; its only parameter is SCRATCH. NULL with error notes
 * if Seatbelt cannot hold the policy as it is bound here. */
const char *macos_profile(struct launch *launch);

/* Fills `list` with each control that the policy needs and that was not accepted as an exception. `said` is what
 * sandbox-exec answered when it was given the profile. */
void macos_evidence(struct launch *launch, const char *profile, const char *said,
                    struct lease_control_list *list);
