/* placeholder.h - files and directories that hold a deny on a path which does not exist (language.md 7).
 *
 * Made by descriptor, never through a link; removed at the end of the run if untouched (same device, inode,
 * size and modification time, nothing more in a directory).
 */
#pragma once

#include "runtime/facts.h"

struct placeholder_set;

/* Makes a placeholder, and missing parents, for each of facts->missing. NULL with an error note if one
 * cannot be made; whatever was made until then is removed again. */
struct placeholder_set *placeholders_make(struct arena *arena, const struct facts *facts,
                                          struct note_list *notes);

/* Removes what was made and is untouched. Safe to call twice; NULL is allowed. Uses only the descriptors
 * opened by placeholders_make and async-signal-safe calls. */
void placeholders_remove(struct placeholder_set *set);
