/* seatbelt_decide.h - the decision of a profile: the last filtered rule that matches, else the rule without
 * filter, else what the operation falls back to. */
#pragma once

#include "emitters/seatbelt_profile.h"

/* Makes what deciding needs, once all rules are there. */
void seatbelt_decide_prepare(struct seatbelt_profile *profile);

/* seatbelt_decide, with the rule itself in place of its line; NULL: none. */
enum seatbelt_answer seatbelt_decide_rule(const struct seatbelt_profile *profile,
                                          const struct seatbelt_question *question,
                                          const struct seatbelt_rule **rule);

/* The same as seatbelt_decide, from every rule one by one: what its index is held against. */
enum seatbelt_answer seatbelt_decide_plainly(const struct seatbelt_profile *profile,
                                             const struct seatbelt_question *question, uint32_t *line);
