/* plan_print.h - what a launch would do, for --dry-run. */
#pragma once

#include "emitters/windows_spec.h"
#include "policy/bound.h"

struct plan_print {
    const struct windows_spec *spec; /* resolved */
    const struct variable_list *variables;
    const char *directory, *program, *line; /* program: NULL if it was not found */
};

void plan_print(struct buffer *out, const struct plan_print *plan);
