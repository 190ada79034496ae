/* seatbelt_match.h - whether one filter of a profile matches what a question says. */
#pragma once

#include "emitters/seatbelt_profile.h"

enum seatbelt_match { SEATBELT_NO_MATCH, SEATBELT_MATCH, SEATBELT_MATCH_UNKNOWN };

/* A question as the filters see it. */
struct seatbelt_subject {
    const struct seatbelt_question *question;
    struct seatbelt_text path; /* folded where the volume ignores case; bytes NULL: none */
};

/* What a filter on the path comes to where the question has none: an IP socket has no path, everything else
 * has one that is not known. */
enum seatbelt_match seatbelt_match_without_path(const struct seatbelt_question *question);

enum seatbelt_match seatbelt_match(const struct seatbelt_filter *filter,
                                   const struct seatbelt_subject *subject);

/* The search for the rule that decides among those of one operation, later rules before earlier ones or in
 * any order. All are numbers of rules, + 1; 0: none. */
struct seatbelt_verdict {
    const struct seatbelt_rule *rules;
    uint32_t last;                  /* the last that matches */
    uint32_t open_allow, open_deny; /* the last of each that may match */
};

/* Looks at one filter of a rule, unless a later rule is known to match. */
void seatbelt_consider(struct seatbelt_verdict *verdict, const struct seatbelt_entry *entry,
                       const struct seatbelt_subject *subject);
