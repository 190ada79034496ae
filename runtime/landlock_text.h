/* landlock_text.h - what a launch without namespaces says as evidence, control by control. */
#pragma once

#include "runtime/launch_state.h"

/* By what the control holds; NULL if it was not found to. `shared` is what any engine says of it, or NULL. */
const char *landlock_evidence(const struct launch *launch, enum control control, const char *shared);
