/* seatbelt_builtins.h - what the Scheme of a profile finds bound, as tables that each end in an entry
 * without a name. */
#pragma once

#include "emitters/seatbelt_value.h"

extern const struct seatbelt_builtin seatbelt_forms[];
extern const struct seatbelt_builtin seatbelt_primitives[];
extern const struct seatbelt_builtin seatbelt_text_primitives[];
extern const struct seatbelt_builtin seatbelt_filter_primitives[];
extern const struct seatbelt_builtin seatbelt_rule_primitives[];
extern const struct seatbelt_constant seatbelt_constants[];

enum { SEATBELT_ANY_NUMBER = UINT32_MAX };
