/* bwrap.h - bubblewrap's arguments from a plan: what `--args FD` reads, each word followed by NUL. */
#pragma once

#include "emitters/plan.h"

struct bwrap_request {
    const struct plan *plan;
    const struct variable *environment; /* set inside, in this order; nothing else is */
    uint32_t environment_count;
    bool share_network;
    bool pid_one; /* the program given to bubblewrap is itself process 1, and ends when the caller does */
    bool new_session;
    int seccomp_fd;    /* or -1: the caller passes --seccomp itself */
    int first_mask_fd; /* file masks use this descriptor and the following ones, each opened on /dev/null */
    const char *chdir; /* or NULL */
};

/* Appends the words; returns how many mask descriptors they use. Made for bubblewrap 0.5.0 and newer. */
uint32_t bwrap_arguments(struct buffer *words, const struct bwrap_request *request);

/* How many words `words` holds. */
uint32_t bwrap_word_count(const struct buffer *words);

enum { BWRAP_WORDS = 9000 /* bubblewrap refuses more (MAX_ARGS in bubblewrap.c) */ };
