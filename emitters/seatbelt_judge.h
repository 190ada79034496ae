/* seatbelt_judge.h - the reader of `seatbelt` artifacts (reader.h) with values for the roots that are
 * parameters. */
#pragma once

#include "emitters/reader.h"

struct judge_value {
    enum root root;
    const char *path;
};

/* read_seatbelt, but with these values. Roots that the policy has no value for are asked about below them. */
bool judge_seatbelt(const struct read_request *request, const struct judge_value *values,
                    uint32_t value_count, struct reader_list *readers, const char **error);
