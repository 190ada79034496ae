/* placeholder.h - files and directories that hold a deny on a path which does not exist (language.md 7).
 *
 * Made by descriptor, never through a link; removed if untouched (same device, inode, mode, size and date,
 * nothing more in a directory) at the end of the last run that relies on them. A placeholder is known by its
 * sticky bit and its owner; each run holds a shared flock(2) on those that it relies on, and lists them in a
 * record (placeholder_record.h). What a killed launcher left is removed by the next launch, or taken over
 * where that one needs it. Launches take turns from looking to having made theirs: see turn.h.
 */
#pragma once

#include "runtime/facts.h"
#include "runtime/placeholder_record.h"

struct placeholder_set;

/* Makes a placeholder, and missing parents, each in `record` before it is there, for each of facts->missing,
 * and shares those that other runs have made among facts->places. NULL with an error note if one cannot be
 * made; whatever was made until then is removed. */
struct placeholder_set *placeholders_make(struct arena *arena, const struct facts *facts,
                                          const struct placeholder_record *record, struct note_list *notes);

/* One more, during a run. Whoever calls holds the turn. False with *error. */
bool placeholders_add(struct placeholder_set *set, const struct missing_path *missing, const char **error);

/* Removes what is untouched and on which no other run relies. Safe to call twice; NULL is allowed. */
void placeholders_remove(struct placeholder_set *set);
