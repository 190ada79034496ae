/* windows_judge.h - what the parts of the reader of Windows specifications share.
 *
 * A question is answered by trying the specification on a machine in memory. What is allowed must be so in the strict
 * reading, what is denied in the loose one. Where the policy says nothing but that everything is closed, what Windows
 * opens to such a token anyway is ground and no answer.
 */
#pragma once

#include "emitters/control_windows.h"
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
    const struct pattern **patterns; /* of the matches */
    struct windows_token token;
    struct windows_tree *bare, *tree; /* the same places; the specification is carried out on `tree` */
    struct windows_tree *empty;       /* with nothing but what may be written, and what is made for a run */
    const char **problem;             /* why that cannot be, or NULL */
    struct policy_answers *answers;
    /* Without the rules that an accepted exception covers: where the two differ either is right. */
    struct policy_answers *promised;
    const struct bound_policy *promises;
    const struct bound_policy *closing; /* only plain denies, and everything granted */
    /* What the policy needs and which exceptions it accepts, for what the specification claims. */
    struct windows_ground ground;
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];
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

/* Both words, or nothing where they are the same. */
struct verdicts judge_differ(const char *wanted, const char *found);

/* The path as Windows writes it, or NULL for one that no object can have. */
const char *judge_path_name(const struct judge *judge, const char *path);

/* Whether an accepted exception opens more than `level` at the path. */
bool judge_leaves_open(const struct judge *judge, const char *path, enum level level);

/* Connections, and names and amounts. */
struct verdicts judge_connection(const struct judge *judge, const struct query *query);
struct verdicts judge_variable(const struct judge *judge, const struct query *query);
struct verdicts judge_fact(const struct judge *judge, const struct query *query);
/* Adds what the specification lists of them. */
void judge_list_names(const struct judge *judge, struct query_set *set);

/* What the specification says of itself: the policy it comes from, the controls that it holds, what stays open
 * (windows_judge_claims.c). `judge_claim` returns whether the fact is one of these. */
void judge_claims_prepare(struct judge *judge);
bool judge_claim(const struct judge *judge, const char *fact, struct verdicts *verdicts);
void judge_list_claims(const struct judge *judge, struct query_set *set);

/* What a deny promises besides closing what is there: that what is missing is not made, and that nothing deeper opens it
 * again (windows_judge_closed.c). `judge_put_writable` makes judge->empty what it is; `judge_closed` returns whether the
 * fact is one of these. */
void judge_put_writable(const struct judge *judge);
void judge_list_closed(const struct judge *judge, struct query_set *set);
bool judge_closed(const struct judge *judge, const char *fact, struct verdicts *verdicts);
