/* environment.h - a list of variables as the block that Windows gives to a process. */
#pragma once

#include "policy/bound.h"

#include <wchar.h>

/* NAME=VALUE, each with its NUL, and one more NUL; in `arena`. */
const wchar_t *environment_block(struct arena *arena, const struct variable_list *variables);
