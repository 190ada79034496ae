/* launch.h - one launch from beginning to end, in order. */
#pragma once

#include "runtime/options.h"

/* Runs the command of `options` under its policy; returns the launcher's exit code (commands.md). */
int launch(struct arena *arena, const struct options *options);

/* Reads N of "fd:N" (3 or more, or 1 or 2); -1 if `text` is none of that form. */
int lease_descriptor(const char *text);
