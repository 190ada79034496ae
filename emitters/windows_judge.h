/* windows_judge.h - what the parts of the reader of Windows specifications share.
 *
 * A question is answered by trying the specification on a machine in memory. What is allowed must be so in the strict
 * reading, what is denied in the loose one. Where the policy says nothing but that everything is closed, what Windows
 * opens to such a token anyway is ground and no answer.
 */
#pragma once

#include "emitters/control.h"
#include "emitters/reader.h"
#include "emitters/windows_applied.h"
#include "emitters/windows_rights.h"

/* What the policy and the specification say. Where they agree, or there is nothing to say, both are empty. */
struct verdicts {
    struct reply wanted, found;
};

struct judge {
    struct arena *arena;
    const struct bound_policy *bound;
    const struct windows_spec *spec;
    struct windows_token token;
    struct windows_tree *bare, *tree; /* the same places; the specification is carried out on `tree` */
    const char **problem;             /* why that cannot be, or NULL */
    struct policy_answers *answers;
    /* Without the rules that an accepted exception covers: where the two differ either is right. */
    struct policy_answers *promised;
    const struct bound_policy *closing; /* only plain denies, and everything granted */
    struct {
        struct spelling {
            const char *path, *model; /* of a grant or an exception */
        } * items;
        uint32_t count, capacity;
    } spellings;
    struct {
        const struct query *query;
        struct verdicts verdicts;
    } * last;
};

/* Whether the policy's own `accept` covers the control. */
bool judge_accepts(const struct judge *judge, enum control control);

/* Connections, and names and amounts. */
struct verdicts judge_connection(const struct judge *judge, const struct query *query);
struct verdicts judge_variable(const struct judge *judge, const struct query *query);
struct verdicts judge_fact(const struct judge *judge, const struct query *query);
/* Adds what the specification lists of them. */
void judge_list_names(const struct judge *judge, struct query_set *set);
