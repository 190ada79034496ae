/* revert.h - taking back what the records of a run announce, whether it was done or not.
 *
 * The same for a run that ends and for one whose launcher has died; doing it twice, or after it was
 * interrupted, is as good as once.
 */
#pragma once

#include "runtime/windows/journal_state.h"

/* Takes back what `records` say, then removes `file`, the journal `name`, or closes it if something could
 * not be taken back and has to be tried again. A damaged file gets another name and is never tried again.
 * True if nothing is left. */
bool revert_file(const struct journal_place *place, struct journal_file *file, const char *name,
                 const struct journal_records *records, struct journal_sentences *left);

/* Opens the object that the record of a placeholder in `records` speaks of: the one that was noted when it
 * was made, wherever it is now, else the one of the name that nobody else uses. */
uint32_t revert_open_placeholder(const struct journal_place *place, struct arena *arena,
                                 const struct journal_records *records, const struct journal_record *record,
                                 unsigned access, struct acl_object **object);
