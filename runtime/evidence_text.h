/* evidence_text.h - from what was measured inside to the lease's list of controls, each with its evidence. */
#pragma once

#include "runtime/launch_state.h"

/* Lists every control that the policy needs and that was not accepted as an exception. False with an error
 * note if a measurement contradicts one. */
bool evidence_controls(struct launch *launch, struct lease_control_list *list);
