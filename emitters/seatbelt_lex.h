/* seatbelt_lex.h - the text of a Seatbelt profile as Scheme values. */
#pragma once

#include "emitters/seatbelt_value.h"

struct seatbelt_reader {
    struct seatbelt_machine *machine;
    const char *text;
    size_t length, at;
    uint32_t line, depth;
    size_t line_start;
};

/* The next value of the text; NULL at its end, or with the machine failed. */
const struct seatbelt_value *seatbelt_next(struct seatbelt_reader *reader);
