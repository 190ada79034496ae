/* native.h - the engine that makes the sandbox itself, by the kernel's mount calls (engine.h).
 *
 * A child in new namespaces maps its user, builds the new root (native_tree.h), gives up every right
 * (native_confine.h) and becomes the inner stage by executing this program again: nothing of the
 * launcher's memory, which holds what is withheld from the command, is left in process 1.
 */
#pragma once

#include "runtime/engine.h"

extern const struct engine engine_native;

/* What this machine lacks for it, as a noun with its reason, or NULL: a few calls that do nothing. */
const char *native_missing(struct arena *arena);
