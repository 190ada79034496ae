/* own_directory.h - a directory of the run's own, closed to everybody but the user and the run, and removed with it:
 * scratch.
 *
 * A record in the state directory names it and is held open by the launcher that lives; a record that can be opened has lost
 * its launcher, and the next one removes what it names.
 */
#pragma once

#include "runtime/windows/acl.h"
#include "runtime/windows/identity.h"

struct own_directory {
    const char *path; /* "C:\a\sbx-ID"; NULL: none */
    void *record;     /* the HANDLE of its record */
    const char *record_path;
};

struct own_directory_request {
    struct arena *arena;
    const struct acl_operations *acl;
    const struct windows_spec *spec;
    const struct windows_identity *identity;
    const char *parent, *state; /* "C:\a": where it lies, and where its record does */
    const char *id;             /* 32 hexadecimal digits */
    bool writable;              /* by the command; else it may only read there */
};

/* Its path, before it is made. */
const char *own_directory_path(struct arena *arena, const char *parent, const char *id);

/* Makes it and reads its descriptor back. False with an error note. */
bool own_directory_make(const struct own_directory_request *request, struct own_directory *made,
                        struct note_list *notes);

/* Removes it with all that lies in it; what a link in it leads to stays. */
void own_directory_remove(struct arena *arena, struct own_directory *made);

/* Removes what is left of runs whose launcher is gone. */
void own_directory_recover(struct arena *arena, const char *state);
