/* seatbelt_filters.h - makes the filters of a profile from the calls that name them, and composes them. */
#pragma once

#include "emitters/seatbelt_value.h"

/* All of, any of or, of one part, not: NULL and failed if it grows too large. The list is copied. */
const struct seatbelt_filter *seatbelt_compose(struct seatbelt_machine *machine,
                                               const struct seatbelt_value *at,
                                               enum seatbelt_filter_kind kind,
                                               const struct seatbelt_filter_list *parts);

/* A copy of a simple filter in the machine's arena. */
const struct seatbelt_filter *seatbelt_filter(struct seatbelt_machine *machine,
                                              const struct seatbelt_filter *filled);

/* Adds a filter, or all in a list of them. False and failed if it is something else. */
bool seatbelt_collect_filters(struct seatbelt_machine *machine, const struct seatbelt_value *at,
                              const struct seatbelt_value *value, struct seatbelt_filter_list *filters);

/* (remote PROTOCOL ...) and (local PROTOCOL ...). */
const struct seatbelt_value *seatbelt_make_address(struct seatbelt_machine *machine,
                                                   const struct seatbelt_value *at,
                                                   const struct seatbelt_arguments *arguments);
