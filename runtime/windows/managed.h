/* managed.h - the managed policies of this machine: who may have written them is checked before they are
 * read. */
#pragma once

#include "policy/note.h"
#include "runtime/managed_list.h"

/* Reads every *.bin of %ProgramData%\sbx\managed.d (the known folder, whatever the variable says), in byte
 * order. No such directory means no managed policies; anything about it that is not as commands.md demands
 * is an error note and false. */
bool managed_system(struct arena *arena, struct managed_list *list, struct note_list *notes);

/* Reads those of a --managed DIR, which may also belong to the caller. It must exist. */
bool managed_directory(struct arena *arena, const char *directory, struct managed_list *list,
                       struct note_list *notes);

/* %ProgramData%\sbx\managed.d as it is here, or NULL if Windows does not say. */
const char *managed_place(struct arena *arena);
