/* windows_descriptor.h - security identifiers and descriptors of Windows as bytes and in memory ([MS-DTYP] 2.4.2,
 * 2.4.4, 2.4.6), on any system.
 *
 * The evaluator judges these, and the launcher reads, edits and writes them. ACLs are edited as raw lists of
 * entries: what Windows' own helpers merge or leave behind is no concern here.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WINDOWS_SID_SIZE = 68 };

struct windows_sid {
    uint8_t length; /* 8 to 68; 0: none */
    uint8_t bytes[WINDOWS_SID_SIZE];
};

/* "S-1-5-32-544" to bytes; false if it is none. And back, in `arena`. */
bool windows_sid_parse(const char *text, struct windows_sid *sid);
const char *windows_sid_text(struct arena *arena, const struct windows_sid *sid);
bool windows_sid_equal(const struct windows_sid *a, const struct windows_sid *b);
/* The SID at the start of `length` bytes; false if it is damaged or not all there. */
bool windows_sid_from_bytes(const uint8_t *bytes, size_t length, struct windows_sid *sid);

enum windows_entry_type { WINDOWS_ENTRY_ALLOW = 0, WINDOWS_ENTRY_DENY = 1, WINDOWS_ENTRY_LABEL = 0x11 };
enum {
    WINDOWS_OBJECT_INHERIT = 0x1,
    WINDOWS_CONTAINER_INHERIT = 0x2,
    WINDOWS_NO_PROPAGATE = 0x4,
    WINDOWS_INHERIT_ONLY = 0x8,
    WINDOWS_INHERITED = 0x10
};

/* An entry of a DACL or a label. Entries of other types (callback, object), and those that hold more than a mask
 * and a SID, are kept as bytes too: `type` is as read, `raw` the whole entry (else NULL). For the access check a deny of an unknown type counts and an allow does not in the
 * strict reading, and the other way round in the loose one. */
struct windows_entry {
    uint8_t type, flags;
    uint32_t mask;
    struct windows_sid sid;
    const uint8_t *raw;
    uint16_t raw_length;
};

struct windows_descriptor {
    struct windows_sid owner, group; /* length 0: absent */
    bool dacl_present;               /* false: no DACL, which opens everything */
    bool dacl_protected, dacl_auto_inherited;
    struct windows_entry *entries;
    uint32_t count;
    bool labelled;
    struct windows_entry label;
};

/* Reads a self-relative descriptor; every offset and length is checked. False if it is damaged. Entries lie in
 * `arena`. */
bool windows_descriptor_parse(struct arena *arena, const uint8_t *bytes, size_t length,
                              struct windows_descriptor *out);

/* Appends the self-relative form: owner and group, SACL with the label if there is one, DACL; if there is none it is
 * said to be NULL. False, with nothing appended, if an ACL would not fit into 64 KiB. */
bool windows_descriptor_write(const struct windows_descriptor *descriptor, struct buffer *out);

/* The SDDL text of owner, group, DACL and label with SIDs in full and masks in hexadecimal, in `arena`. An entry with
 * `raw` is its bytes, "(X;...)", which no other reader knows. */
const char *windows_descriptor_text(struct arena *arena, const struct windows_descriptor *descriptor);
/* And back; only what windows_descriptor_text writes, and the two-letter names of the usual SIDs. */
bool windows_descriptor_read(struct arena *arena, const char *text, struct windows_descriptor *out);

/* A copy with `entry` added in canonical order: explicit denies, explicit allows, then inherited entries as they
 * stand. An equal explicit entry is not added again. Where there was no DACL, one that lets everyone do everything
 * takes the entry in; who takes it out again has to put back that there was none. */
struct windows_descriptor windows_descriptor_with(struct arena *arena,
                                                  const struct windows_descriptor *descriptor,
                                                  const struct windows_entry *entry);
/* A copy without the explicit entries that equal `entry` in type, flags, mask and SID. */
struct windows_descriptor windows_descriptor_without(struct arena *arena,
                                                     const struct windows_descriptor *descriptor,
                                                     const struct windows_entry *entry);
bool windows_entry_equal(const struct windows_entry *a, const struct windows_entry *b);
bool windows_descriptor_equal(const struct windows_descriptor *a, const struct windows_descriptor *b);
