/* lease_file.h - the record of a run on Windows: where it is kept, and what a specification says in it. */
#pragma once

#include "runtime/lease.h"
#include "runtime/windows/prepare.h"

struct lease_file {
    const char *path, *directory, *name; /* "C:\a\b"; NULL: no record is kept */
    bool keep_few;                       /* the state directory: old records are removed */
};

/* The place that --lease names. False with an error note if its directory does not exist or if the command could write
 * there. */
bool lease_file_named(struct arena *arena, const char *file, const struct windows_spec *spec,
                      struct lease_file *place, struct note_list *notes);

/* The default place, in the state directory. */
struct lease_file lease_file_default(struct arena *arena, const char *state, const struct lease *lease);

/* Fills what stands in the record from the first: number, time, system, policy, tier and accepted exceptions. False if
 * Windows gives no random bytes: what is named after the number must not be foreseen. */
bool lease_start(struct arena *arena, struct lease *lease);
void lease_describe(struct arena *arena, struct lease *lease, const struct resolved_spec *resolved);

/* Fills the end. `unterminated`: a process that could not be ended, or 0. */
void lease_finish(struct lease *lease, uint32_t code, uint32_t unterminated);

/* Writes the record beside its place and renames it over what is there. False with an error note; true if there is no
 * place. */
bool lease_file_write(struct arena *arena, const struct lease *lease, const struct lease_file *place,
                      struct note_list *notes);
