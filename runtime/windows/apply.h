/* apply.h - makes the objects of a machine what a specification says, through the journal, and judges the
 * result.
 *
 * Order: placeholders; denies and labels; the same again wherever an entry of an object's own would undo an
 * inherited deny; allows last; then all that is below (journal_spread). Each descriptor is read back and
 * compared (journal.h). Then each place that is opened and each that is closed is judged by the access check
 * on what was read back (emitters/windows_access.h), with everything that lies in closed ones: what should be
 * closed must be so in the loosest reading, and what should be open must not be closed in it.
 */
#pragma once

#include "emitters/windows_access.h"
#include "runtime/windows/acl.h"
#include "runtime/windows/identity.h"
#include "runtime/windows/journal.h"
#include "runtime/windows/resolve.h"

struct apply {
    struct arena *arena;
    const struct windows_spec *spec; /* its roots are bound, and windows_spec_check has passed it again */
    const struct windows_identity *identity;
    const struct acl_operations *acl;
    struct journal *journal; /* each change stands there before it is made */
    struct note_list *notes;
    const struct own_path *own; /* what belongs to the launcher: at most read, or not even that */
    uint32_t own_count;
    const struct windows_token *token;  /* the command's, as the access check knows it (token_model.h) */
    const struct windows_token *caller; /* without the sandbox: what it cannot do the policy need not open */
    /* Whether a volume can hold access control lists (verify_volume): NULL, or why not. */
    const char *(*judge_volume)(struct arena *arena, const char *volume);
    uint64_t (*now)(void); /* milliseconds of a clock that only rises (GetTickCount64) */
    uint32_t time;         /* milliseconds that all of this may take; 0: APPLY_TIME */
    uint32_t entries;      /* objects that may be looked through; 0: APPLY_ENTRIES */
};

enum { APPLY_TIME = 60000, APPLY_ENTRIES = 400000 };

/* False with an error note that names the rule; what was changed by then stands in the journal, and the
 * caller takes it back (journal_end). */
bool apply_run(const struct apply *apply);
