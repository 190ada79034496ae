/* bwrap_ground.h - the ground on which bubblewrap works: a mount namespace where nothing can be created but
 * in what the command may write anyway.
 *
 * bubblewrap before 0.12 follows links at the places where it mounts, and makes what is missing there.
 * The launcher names no such place through a link; but another run may put one where the launcher has
 * looked, a moment before bubblewrap comes. What is found inside then stops the launch; that nothing was
 * created on the way is what this is for.
 */
#pragma once

#include "base/arena.h"
#include "emitters/plan.h"

#include <sys/types.h>

struct bwrap_ground;

/* Looks at the mount table. NULL where the plan has no place below a writable one, which needs no such
 * ground. */
struct bwrap_ground *ground_prepare(struct arena *arena, const struct plan *plan);

/* In the child that becomes bubblewrap: makes the namespace and goes there. True without it where the
 * caller may not make one (NULL: none is needed); false if the process cannot go on. */
bool ground_enter(const struct bwrap_ground *ground);
