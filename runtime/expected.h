/* expected.h - which mounts a plan leaves behind, for the inner stage to look for. */
#pragma once

#include "emitters/plan.h"
#include "runtime/inner_config.h"

/* One entry a place at which the plan mounts something; the last operation there counts. The count goes to
 * *count. */
const struct expected_mount *mounts_expected(struct arena *arena, const struct plan *plan, uint32_t *count);
