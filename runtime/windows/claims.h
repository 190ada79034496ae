/* claims.h - what other runs have on an object: a label or a placeholder that two runs use stays until the
 * last of them takes it back, and that one puts back what the first has found.
 *
 * Whoever calls holds the turn, so that no other run writes meanwhile.
 */
#pragma once

#include "runtime/windows/journal_state.h"

/* A placeholder that is there, as far as a journal knows. */
struct claimed_place {
    const struct acl_identity *identity;
    const struct journal_record *record;
};

struct claim_file {
    const char *name;
    bool alive;
    struct journal_records records;
    struct {
        struct claimed_place *items;
        uint32_t count, capacity;
    } places;
};

struct claims {
    struct claim_file *items;
    uint32_t count, capacity;
};

/* The records of all journals but the one named `except`. */
struct claims claims_load(const struct journal_place *place, struct arena *arena, const char *except);

/* `found`, which an object has, as it was before the runs in `claims` and `own`: a label that it has from
 * them is as the first found it, and so is an absent DACL. */
struct windows_descriptor claims_original(const struct claims *claims, const struct journal_records *own,
                                          const struct acl_identity *identity,
                                          const struct windows_descriptor *found);

/* Whether an object without a record has the label `found` because it was made inside a directory that the
 * run of `records` has labelled, all that had been there before having records; and the same for any of
 * `claims`. */
bool claims_made_in(const struct journal_records *records, const struct acl_identity *identity,
                    const struct windows_descriptor *found);
bool claims_any_made_in(const struct claims *claims, const struct acl_identity *identity,
                        const struct windows_descriptor *found);

/* Whether a run that lives has given the object the label that it has, which is another than `wanted`. */
bool claims_conflict(const struct claims *claims, const struct acl_identity *identity,
                     const struct windows_descriptor *found, const struct windows_descriptor *wanted);

/* Whether another run relies on the object's label. */
bool claims_label(const struct claims *claims, const struct acl_identity *identity,
                  const struct windows_entry *label);

/* What was noted of the placeholder of record `number` when it was made; NULL: nothing, or it is gone
 * again, which *gone says. */
const struct acl_identity *claims_made(const struct journal_records *records, uint32_t number, bool *gone);

/* The record of the placeholder that the object is in `records`, or NULL. */
const struct journal_record *claims_placeholder_in(const struct journal_records *records,
                                                   const struct acl_identity *identity);
const struct journal_record *claims_placeholder(const struct claims *claims,
                                                const struct acl_identity *identity);
