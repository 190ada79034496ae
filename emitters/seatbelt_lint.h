/* seatbelt_lint.h - what is wrong with a Seatbelt profile that macOS accepts without a word. */
#pragma once

#include "emitters/seatbelt_read.h"

enum seatbelt_finding {
    SEATBELT_FINDING_DEAD_PATH,   /* the kernel never spells a path so: the rule never matches it */
    SEATBELT_FINDING_CUT_NOTHING, /* a deny of an operation leaves open what is allowed of one below it */
    SEATBELT_FINDING_EXPRESSION,  /* nobody can tell what the expression means */
    SEATBELT_FINDING_LONG_STRING, /* near the 1024 bytes that a string may have */
    SEATBELT_FINDING_LARGE_RULE,  /* near the 65535 bytes of paths that a rule may have */
    SEATBELT_FINDING_UNSANDBOXED, /* with no-sandbox: what is run so is not held at all */
    SEATBELT_FINDING_OPEN_EGRESS, /* (local ...) with an address on network-outbound allows every peer */
    SEATBELT_FINDING_SPELLING,    /* a name that Unicode can write in several ways is compared by bytes */
};

struct seatbelt_note {
    enum seatbelt_finding finding;
    uint32_t line;
    const char *text;
};

struct seatbelt_notes {
    struct seatbelt_note *items;
    uint32_t count, capacity;
};

/* What is found, in the order of the rules, in `arena`. */
struct seatbelt_notes seatbelt_lint(struct arena *arena, const struct seatbelt_profile *profile);
