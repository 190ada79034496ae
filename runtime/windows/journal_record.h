/* journal_record.h - a journal's bytes: records that each carry their length, a checksum and their number.
 *
 *   length u32, checksum u32 (CRC-32 of all that follows), number u32 (0, 1, 2, ...), type u32, payload
 *
 * Numbers are little-endian. A reader takes records for as long as length, checksum and number are right.
 * What follows then is the tail of a write that did not end, unless a whole record stands in it: then the
 * file is damaged, and the records that can still be read count.
 */
#pragma once

#include "runtime/windows/acl.h"

enum { JOURNAL_VERSION = 1, JOURNAL_RECORD_MOST = 1 << 20 };

enum journal_record_type {
    JOURNAL_HEADER = 1,
    JOURNAL_PLACEHOLDER, /* about to make something under a name of its own, and to give it its path */
    JOURNAL_OBJECT,      /* about to change entries or the label of an object */
    JOURNAL_TREE,        /* about to carry them on to what lies below a directory */
    JOURNAL_DONE /* what record `of` announced has been done; of a placeholder with an identity: made, not
                          * yet named; without one: not needed, and gone; of a tree: it and those before */
};

/* One record's meaning. */
struct journal_record {
    enum journal_record_type type;
    uint32_t number;
    /* header */
    uint32_t version;
    uint8_t policy_hash[32];
    const char *package; /* NULL: none */
    /* object, tree; done: of a placeholder, else volume is NULL */
    struct acl_identity identity;
    /* placeholder */
    const char *path, *maker; /* `maker`: the name that it has until it is known */
    const char *content;      /* NULL: a directory */
    /* object */
    struct windows_descriptor before;    /* as the first of the runs that share the object found it */
    const struct windows_entry *entries; /* what is added */
    uint32_t count;
    struct windows_entry label; /* what it gets if `labels` */
    bool labels;
    /* tree: no more than `identity`; done */
    uint32_t of;
    uint32_t earlier; /* see journal_records_of */
};

struct journal_records {
    struct journal_record *items;
    uint32_t count, capacity;
    uint32_t *heads; /* by identity: 1 + the last item of an object; the others hang on it */
    uint32_t head_count;
    bool damaged;  /* something before the end cannot be read */
    bool foreign;  /* another version wrote it, whose records may mean something else */
    bool settled;  /* whatever was below the trees when they were begun has its records */
    uint32_t next; /* number of a record that would be added */
};

/* Appends the record's bytes. False if it would be too long. */
bool journal_record_write(const struct journal_record *record, struct buffer *out);

/* Puts length and checksum of the record that begins at `start` and ends where `out` ends in its frame. */
void journal_record_seal(struct buffer *out, size_t start);

/* Reads the record at the start of `bytes` if its number is at least `number`. Returns its length, or 0. */
size_t journal_record_read(struct arena *arena, const char *bytes, size_t length, uint32_t number,
                           struct journal_record *record);

/* Adds a record that is or will be in the file. */
void journal_records_add(struct arena *arena, struct journal_records *records,
                         const struct journal_record *record);

/* The records of changes to one object, the last one first: the one before `after`, or the last if that is
 * NULL. NULL: there is none. However many records there are of other objects. */
const struct journal_record *journal_records_of(const struct journal_records *records,
                                                const struct acl_identity *identity,
                                                const struct journal_record *after);

/* All that can be read, in `arena`. */
struct journal_records journal_records_read(struct arena *arena, const char *bytes, size_t length);
