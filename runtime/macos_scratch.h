/* macos_scratch.h - the scratch directory of a run on macOS: made for it, and removed also after a crash.
 *
 * A record in the launcher's own directory names it and is locked while its launcher lives; the next launch removes
 * what belongs to a record that nobody holds.
 */
#pragma once

#include "policy/note.h"
#include "runtime/landlock_scratch.h"

struct macos_scratch {
    struct landlock_scratch files;
    const char *record; /* path of the record, or NULL */
    int lock;           /* descriptor of the record */
};

/* Where it is to be: TEMPORARY/sbx-ID. */
const char *scratch_place(struct arena *arena, const char *temporary, const char *id);

/* Removes what launches that are gone have left. `state` is the launcher's own directory. */
void scratch_recover(struct arena *arena, const char *state);

/* Makes scratch->files.path. `state` may be NULL: then nothing finds it after a crash. False with errno. */
bool scratch_make(struct arena *arena, struct macos_scratch *scratch, const char *state, const char *id);

/* Removes it and its record. Safe to call twice. */
void scratch_remove(struct macos_scratch *scratch);
