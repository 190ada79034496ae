/* descriptor_edit.h - what the entries of a run do to a descriptor, and how they leave it again.
 *
 * The SIDs of a run are random: an entry that names one is the run's own, whatever its flags have become
 * meanwhile, and no other entry is.
 */
#pragma once

#include "emitters/windows_descriptor.h"

struct sid_list {
    struct windows_sid *items;
    uint32_t count, capacity;
};

bool sid_list_holds(const struct sid_list *sids, const struct windows_sid *sid);
void sid_list_add(struct arena *arena, struct sid_list *sids, const struct windows_sid *sid);

/* `descriptor` with explicit entries added. No DACL becomes one that opens the object to everybody:
 * whoever had access keeps it. */
struct windows_descriptor edit_add(struct arena *arena, const struct windows_descriptor *descriptor,
                                   const struct windows_entry *entries, uint32_t count);

/* Whether a DACL may be one that edit_add has made. */
bool edit_may_be_opened(const struct windows_descriptor *descriptor);

/* `descriptor` without entries of `sids`. `opened`: edit_add found no DACL; if nothing but what it put
 * there for that is left, there is none again. */
struct windows_descriptor edit_remove(struct arena *arena, const struct windows_descriptor *descriptor,
                                      const struct sid_list *sids, bool opened);

/* What an object that is there already has to take over from its directory: `descriptor` with those
 * entries of `sids` that it inherits, in the order of the directory and in front of what it inherits
 * otherwise; earlier inherited ones of `sids` go. A protected object takes the denies alone, as entries of
 * its own; one without a DACL takes all as entries of its own. */
struct windows_descriptor edit_inherit(struct arena *arena, const struct windows_descriptor *directory,
                                       const struct windows_descriptor *descriptor, bool is_directory,
                                       const struct sid_list *sids);

/* Whether an object below `directory` inherits an entry of `sids`, or one that denies. */
bool edit_passes_on(const struct windows_descriptor *directory, const struct sid_list *sids, bool denies);

/* The label that an object inherits from a directory with `label`. */
struct windows_entry edit_inherited_label(const struct windows_entry *label, bool is_directory);

/* Whether two labels, of which each may be none, mean the same; how they came about aside. */
bool edit_same_label(const struct windows_descriptor *a, const struct windows_descriptor *b);

/* Whether DACLs are the same, in this order, and equally protected. */
bool edit_same_entries(const struct windows_descriptor *a, const struct windows_descriptor *b);
