/* identity.h - whom the entries of a specification speak of in this run: the SIDs that its token carries. */
#pragma once

#include "emitters/windows_descriptor.h"
#include "emitters/windows_spec.h"
#include "policy/note.h"

struct windows_identity {
    struct windows_sid run;         /* S-1-5-21-a-b-c-d, random: no token has carried it, none will again */
    struct windows_sid logon, user; /* of the caller */
    struct windows_sid package;     /* tier appcontainer: package_create fills it; else length 0 */
};

/* Draws the run's SID and reads the caller's. False with an error note. */
bool identity_make(struct windows_identity *identity, struct note_list *notes);

/* What an entry and a label of a specification are in this run (identity_entry.c). On a file nothing is
 * inherited. */
struct windows_entry identity_entry(const struct windows_identity *identity, const struct windows_ace *ace,
                                    bool directory);
struct windows_entry identity_label(const struct windows_label *label, bool directory);

/* The protected access list of something that is nobody's but the user's and the system's, and whose `more` names
 * (NULL: nobody's). */
struct windows_descriptor identity_closed(struct arena *arena, const struct windows_identity *identity,
                                          const struct windows_entry *more, bool directory);
