/* resolve_bind.h - a specification whose roots get their values on this machine. */
#pragma once

#include "emitters/windows_spec.h"
#include "policy/bound.h"

/* The specification with every path bound, and with what follows from how roots lie in each other: a deny
 * of one root closes what another opens inside it, what is closed inside a writable place keeps its name,
 * and a placeholder stands for what is missing there. What hangs on an unset root is left out or refused as
 * language.md 3 says. NULL with error notes. `name`: of the file, for notes. */
const struct windows_spec *spec_bind(struct arena *arena, const struct windows_spec *spec,
                                     const struct bindings *bindings, const char *name,
                                     struct note_list *notes);
