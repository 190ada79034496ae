/* note.h - what binding and merging have to say about a rule: an error, warning or note as a value, with
 * the rule. */
#pragma once

#include "base/diagnostic.h"
#include "policy/policy.h"

struct note {
    enum code code;
    enum severity severity;
    const struct rule *rule; /* NULL: about the policy as a whole; else rule->origin is its place */
    const char *text, *help; /* help may be NULL */
};

struct note_list {
    struct arena *arena;
    struct note *items;
    uint32_t count, capacity;
    uint32_t errors;
};

struct note_list note_list_in(struct arena *arena);

/* Queues a note; a severity of SEVERITY_NOTE (0) takes the code's own severity, as in diagnostic_add. */
void note_add(struct note_list *list, struct note note);
