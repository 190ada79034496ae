/* apply.h - makes the objects of a machine what a specification says, through the journal, and judges the
 * result.
 *
 * Order: placeholders; denies and labels; the same again wherever an entry of an object's own would undo an
 * inherited deny; allows last. Each descriptor is read back and compared. Then each place that is opened and
 * each that is closed is judged by the access check on what was read back (emitters/windows_access.h): what
 * should be closed must be so in the loosest reading, what should be open in the strictest.
 */
#pragma once

#include "runtime/windows/identity.h"

struct acl_operations;
struct journal;

struct apply {
    struct arena *arena;
    const struct windows_spec *spec; /* its roots are bound, and windows_spec_check has passed it again */
    const struct windows_identity *identity;
    const struct acl_operations *acl;
    struct journal *journal; /* each change stands there before it is made */
    struct note_list *notes;
    const char *const *own; /* the policy, the launcher's programs, managed files: at most read */
    uint32_t own_count;
    const char *const *hidden; /* the state directory and whatever else the command must not even read */
    uint32_t hidden_count;
    /* Milliseconds that looking and changing may take; 0: APPLY_TIME. */
    uint32_t time;
};

enum { APPLY_TIME = 60000, APPLY_ENTRIES = 400000 };

/* False with an error note that names the rule; what was changed by then stands in the journal, and the caller
 * reverts it (journal.h). */
bool apply_run(const struct apply *apply);
