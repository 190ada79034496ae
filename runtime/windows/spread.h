/* spread.h - what an inheriting entry or label means for objects that are there already.
 *
 * Windows gives an inheriting entry to what is made later. Its own functions that carry one on to what is
 * there write every object of the tree once for each change, take from an object what it inherited elsewhere,
 * and leave a label out; taken back, the tree is not as it was. So a run carries its entries on itself, once
 * when all objects have theirs: each object gets those of its directory as inherited ones, nothing else of it
 * changes, and all that name the run's SIDs go again afterwards (revert.h).
 *
 * A protected object takes no allows, which is noted; it takes the denies. A label is given to each object
 * and stands in the journal for each.
 */
#pragma once

#include "runtime/windows/journal_state.h"

/* journal_spread. */
const char *spread_all(struct journal *journal, struct journal_sentences *notes);
