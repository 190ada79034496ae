/* seatbelt_path.h - the places that a policy's paths stand for, as filters of a Seatbelt profile.
 *
 * The kernel compares resolved paths with the text of a filter and never resolves that text. So a place is
 * written under each name that the kernel may give it: /tmp, /var and /etc are links into /private, /home is
 * one into the data volume, and some of what lies there has a second name below /System/Volumes/Data.
 */
#pragma once

#include "emitters/seatbelt_write.h"

/* A root that is a parameter, or none, and what follows it: a plain path or canonical pattern text. */
struct place {
    const char *root; /* "WORK", "ACCOUNT_HOME"; NULL: absolute */
    const char *rest; /* "" or "/a/b" */
    bool pattern;
};

enum { PLACE_SPELLINGS = 6 };

/* The place of a path of `rule`; notes in `profile` which parameters are used. */
struct place place_of(struct profile *profile, const struct rule *rule, const struct bound_path *path);

/* Whether the path hangs on a variable without a value, of which a profile can say nothing. */
bool place_is_unknown(const struct bound_path *path);

/* The name that the kernel gives the place, as far as that is known here. */
struct place place_canonical(struct arena *arena, struct place place);

/* Every name of the place, the given one first; returns how many. With `closes` also those that only matter
 * where the data volume is shown. */
uint32_t place_spellings(const struct profile *profile, struct place place, bool closes,
                         struct place out[PLACE_SPELLINGS]);

/* Appends a plain place as an expression: "/a/b", WORK_PATH or (string-append WORK_PATH "/a"). */
void place_expression(struct buffer *out, struct place place);

/* Appends the filter (KIND EXPRESSION). */
void place_filter(struct buffer *out, const char *kind, struct place place);

/* Appends the filter (regex ...) of a pattern; see pattern_regex. */
void place_regex(struct buffer *out, struct place place, bool closes, bool exact);

/* Appends a filter for a plain place in every case and normalisation form, if its name has characters beyond
 * ASCII: of those nobody knows how the kernel compares them. With `exact` not for what is below it. */
void place_cases(struct buffer *out, struct place place, bool exact);

/* Appends filters that match the place and what is below it, as a grant, an `except` or a limit names it. */
void place_opens(struct profile *profile, struct buffer *out, struct place place);

/* The same as a deny names it: in any case, in both normalisation forms, and itself while it is missing. */
void place_closes(struct profile *profile, struct buffer *out, struct place place);

/* A place as text and back, for sets of places: "$WORK/a". */
const char *place_text(struct arena *arena, struct place place);
struct place place_read(struct arena *arena, const char *text);

/* Appends a place for a line of the header: its canonical name in quotes, with \xHH for what would end them
 * or cannot be shown. */
void place_quote(struct buffer *out, struct place place);
