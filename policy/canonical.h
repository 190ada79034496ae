/* canonical.h - the one byte form of a policy's rules, whatever order and duplicates they were written in:
 * what hashes are made of and what a .bin file holds (docs/bin-format.md).
 *
 * Strings, except lists, command sets and port lists stand in sorted tables; rules are records that name them
 * by index, sorted as bytes. Rules with the same content stand once, with the first of their origins; rules
 * that hold on no system or for no command are left out. Size and time are linear in the policy, but for the
 * sorting.
 */
#pragma once

#include "base/buffer.h"
#include "policy/policy.h"

/* What a rule's record holds after its head, in this order. */
enum rule_field {
    FIELD_LEVEL = 1 << 0,
    FIELD_OPERATION = 1 << 1,
    FIELD_PATH = 1 << 2,
    FIELD_EXCEPT = 1 << 3,
    FIELD_NETWORK = 1 << 4,
    FIELD_NAME = 1 << 5,
    FIELD_VALUE = 1 << 6,
    FIELD_TARGET = 1 << 7,
    FIELD_AMOUNT = 1 << 8,
};

/* Bits of the flags byte in a record's head. */
enum record_flag {
    FLAG_AUTOMATIC = 1 << 0,
    FLAG_NOTHING = 1 << 1,
    FLAG_ALLOW = 1 << 2,
    FLAG_PATTERN = 1 << 3, /* of the path; in an except list, of an item's flags byte */
    FLAG_DIRECTORY = 1 << 4,
    FLAG_NETWORK = 1 << 5, /* an expect of connect or listen has a network */
    FLAG_TARGET = 1 << 6,  /* an accept has a target */
    FLAG_EXCEPT = 1 << 7,  /* a deny of a socket has exceptions; other denies always have the field */
    FLAGS = (1 << 8) - 1
};

enum { INDEX_NONE = UINT32_MAX };

/* The fields of a rule of `kind` with `flags`; `operation` counts for RULE_EXPECT only, and there
 * FIELD_OPERATION comes first in the record. */
unsigned record_fields(enum rule_kind kind, unsigned flags, enum operation operation);

struct canonical;

enum { ALL_LAYERS = UINT32_MAX };

/* Gathers the tables of one layer's rules, or with ALL_LAYERS of the whole policy, its names and sources
 * too. */
struct canonical *canonical_gather(struct arena *arena, const struct policy *policy, uint32_t layer);

/* Appends the four tables; once, for the order of the strings is given up then. */
void canonical_tables(struct buffer *out, struct canonical *canonical);

/* Appends the number of distinct sources and the sources, sorted by kind and name. ALL_LAYERS only. */
void canonical_sources(struct buffer *out, const struct canonical *canonical);

/* Appends the number of records and the records; with origins if gathered with ALL_LAYERS. */
void canonical_rules(struct buffer *out, const struct canonical *canonical);

/* About how many bytes both will be. */
size_t canonical_size(const struct canonical *canonical);

/* The index of `string`, which was gathered; INDEX_NONE for NULL. */
uint32_t canonical_string(const struct canonical *canonical, const char *string);
