/* seatbelt_regex_code.h - what a regular expression is compiled to, between its compiler and its search. */
#pragma once

#include "emitters/seatbelt_regex.h"

enum seatbelt_step {
    SEATBELT_STEP_BYTE,  /* the byte `value` */
    SEATBELT_STEP_ANY,   /* any byte */
    SEATBELT_STEP_SET,   /* a byte of set number `value` */
    SEATBELT_STEP_SPLIT, /* goes on at both places */
    SEATBELT_STEP_JUMP,  /* goes on at `first` */
    SEATBELT_STEP_END,   /* only at the end of the subject */
    SEATBELT_STEP_FOUND,
};

/* `first` and `second` are distances from the instruction itself. */
struct seatbelt_instruction {
    enum seatbelt_step step;
    uint32_t value;
    int32_t first, second;
};

struct seatbelt_set {
    uint64_t bits[4];
};

struct seatbelt_code {
    struct seatbelt_instruction *items;
    uint32_t count, capacity;
};

struct seatbelt_sets {
    struct seatbelt_set *items;
    uint32_t count, capacity;
};

/* Places in the code, each at most once: `mark[place]` is the number of the round that put it there. */
struct seatbelt_places {
    uint32_t *items;
    uint32_t count;
};

struct seatbelt_regex {
    struct seatbelt_code code;
    struct seatbelt_sets sets;
    bool anchored, uncertain;
    struct seatbelt_set first; /* bytes that a match can begin with, unless it can be empty */
    bool may_be_empty;
    struct seatbelt_search *search;
};

struct seatbelt_search {
    struct seatbelt_places now, next;
    uint32_t *stack;
    uint64_t *mark, round;
};

/* Makes the working memory, and notes what a match can begin with. */
void seatbelt_regex_prepare(struct arena *arena, struct seatbelt_regex *regex);
