/* backend_bwrap.h - the engine that lets bubblewrap make the sandbox (engine.h).
 *
 * bubblewrap is executed by the descriptor that was checked, with an empty environment; words, filter and configuration
 * travel by memory files.
 */
#pragma once

#include "runtime/engine.h"

extern const struct engine engine_bwrap;
