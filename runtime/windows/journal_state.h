/* journal_state.h - a journal in memory: shared by what writes, spreads and takes back, and by nothing
 * else. */
#pragma once

#include "runtime/windows/descriptor_edit.h"
#include "runtime/windows/journal.h"
#include "runtime/windows/journal_record.h"
#include "runtime/windows/journal_store.h"

struct journal {
    struct journal_place place;
    struct journal_file *file;
    const char *name;
    struct journal_records records; /* all that stand in the file */
    struct sid_list sids;           /* that its entries name */
    struct buffer unwritten;
    bool broken; /* a write failed: nothing may be changed any more */
};

/* A record for the file; journal_write puts all that were added there, on the disk if `flush`. NULL, or
 * what went wrong. */
const char *journal_add(struct journal *journal, struct journal_record record);
const char *journal_write(struct journal *journal, bool flush);

/* One object that is about to change. */
struct journal_step {
    struct acl_object *object;
    struct acl_identity identity;
    struct windows_descriptor found, wanted;
    const struct windows_entry *entries; /* what a record names as added */
    uint32_t count;
    bool labels;   /* the label is part of what is wanted */
    bool recorded; /* a record is needed: what undoing a whole tree does (revert.h) does not undo this */
    uint32_t number;
};

/* With the turn held: writes the records, makes the changes, reads back and compares; `arena` is for what
 * is not needed afterwards. NULL, or what went wrong (in the journal's own arena, as all such answers). */
const char *journal_carry_out(struct journal *journal, struct arena *arena, struct journal_step *steps,
                              uint32_t count);

/* A sentence about an object. */
void journal_say(struct arena *arena, struct journal_sentences *list, const char *format, ...)
    SBX_PRINTF(3, 4);

/* turn_begin has failed. */
#define JOURNAL_NO_TURN "another launcher has been changing access rights for 30 seconds"

/* The end of the names of journals, and of those that are damaged. */
#define JOURNAL_SUFFIX ".journal"
#define JOURNAL_CORRUPT ".corrupt"
bool journal_is_named(const char *name, const char *suffix);
