/* bwrap_twin.h - directories that many systems keep under two names, which bubblewrap mounts one by one.
 *
 * Where /bin is a link to /usr/bin and both are granted, each name is a mount of the same files, and a deny
 * under one name hides nothing under the other. Bubblewrap's arguments are made without looking, so the
 * policy itself has to close both. */
#pragma once

#include "emitters/target.h"

/* Whether no deny leaves its path more open under the path's other name; an error note for each that does. */
bool twins_are_closed(const struct emit_request *request);
