/* expected.h - which mounts a plan leaves behind, for the inner stage to look for. */
#pragma once

#include "emitters/plan.h"
#include "runtime/inner_config.h"
#include "runtime/link.h"

/* One entry a place at which the plan mounts something, sorted by path; the last operation there counts. The count goes
 * to *count. */
struct expected_mount *mounts_expected(struct arena *arena, const struct plan *plan, uint32_t *count);

/* The entry of `path`, or NULL. O(log count). */
const struct expected_mount *mount_expected_at(const struct expected_mount *mounts, uint32_t count,
                                               const char *path);

/* Puts on each mount that is bound from the host the device and inode that `seen`, the facts' resolver, found
 * at its source; what was missing then (a placeholder stands there by now) is looked at anew. NULL, or the
 * first source where a link stands or nothing. */
const char *mounts_identify(struct arena *arena, struct resolver *seen, struct expected_mount *mounts,
                            uint32_t count);
