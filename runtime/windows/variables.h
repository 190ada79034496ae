/* variables.h - the variables that the command gets: what the specification lets through of the caller's, and what it sets. */
#pragma once

#include "emitters/windows_spec.h"
#include "policy/bound.h"

/* Of `caller` what `environment` lets through, then what it sets; with `scratch` (a path, or NULL) TEMP, TMP and TMPDIR
 * name that. Each name once, whatever its case; sorted by name without ASCII case. */
struct variable_list variables_choose(struct arena *arena, const struct windows_environment *environment,
                                      const struct variable_list *caller, const char *scratch);

/* The value of `name`, whatever its case, or NULL. */
const char *variables_find(const struct variable_list *list, const char *name);
