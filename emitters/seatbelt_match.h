/* seatbelt_match.h - whether one filter of a profile matches what a question says. */
#pragma once

#include "emitters/seatbelt_profile.h"

enum seatbelt_match { SEATBELT_NO_MATCH, SEATBELT_MATCH, SEATBELT_MATCH_UNKNOWN };

/* A question as the filters see it. */
struct seatbelt_subject {
    const struct seatbelt_question *question;
    struct seatbelt_text path; /* folded where the volume ignores case; bytes NULL: none */
};

/* What a filter on the path comes to where the question has none: an IP socket has no path, everything else has one
 * that is not known. */
enum seatbelt_match seatbelt_match_without_path(const struct seatbelt_question *question);

enum seatbelt_match seatbelt_match(const struct seatbelt_filter *filter,
                                   const struct seatbelt_subject *subject);
