/* seatbelt_judge_parts.h - what the parts of the judge of Seatbelt profiles (seatbelt_judge.h) share. */
#pragma once

#include "emitters/reader.h"
#include "emitters/seatbelt_read.h"
#include "emitters/seatbelt_says.h"

/* What is wanted of an operation. */
enum wanted { WANT_NOTHING, WANT_DENY, WANT_ALLOW };

struct judge {
    struct arena *arena;
    struct seatbelt_profile *profile;
    const struct bound_policy *bound;
    struct seatbelt_view *view;                     /* what the policy says of places */
    struct policy_answers *answers, *exact_answers; /* the latter as where case counts */
    const char *root_values[ROOTS];                 /* of roots that are parameters */
    struct intern_pool *leading;                    /* directories, folded */
    struct {
        const char **items; /* folded: what services stand for that the policy speaks of */
        uint32_t count, capacity;
    } service_places;
    /* What was wanted where the last answer was another one. */
    struct unmet {
        const struct query *query;
        enum wanted wanted;
    } * unmet;
    struct place *last; /* the path that was asked about last: questions about one follow each other */
};

/* What a question needs to know of its path, found once for all kinds of questions about it. */
struct place {
    const char *path, *valued, *kernel, *folded; /* `kernel` is NULL where a profile says nothing of it */
    struct seatbelt_said said[2];                /* by enum comparing */
    bool alone;                                  /* it has one name */
    enum wanted moving[2];                       /* the same */
};

/* What is asked about one question. */
struct check {
    const struct judge *judge;
    struct reply reply; /* of the first operation that is not as wanted */
    enum wanted wanted; /* what was wanted of it */
    bool failed;
};

/* Asks about one operation. The first answer that is not as wanted stays in `check`. */
void judge_check(struct check *check, const struct seatbelt_question *question, enum wanted wanted);
enum wanted judge_want(bool allowed);

/* The path with a value for each root that is a parameter; NULL for what a profile says nothing of. */
const char *judge_valued_path(const struct judge *judge, const char *path);
/* The path as the policy says it: below a root that is a parameter. */
const char *judge_rooted_path(const struct judge *judge, const char *path);
/* A path as the kernel says it. */
const char *judge_kernel_path(const struct judge *judge, const char *path);

/* Finds the directories that lead on to what the policy names, and where its services decide. */
void judge_find_places(struct judge *judge);
/* Of folded paths: whether it leads on; whether a profile opens it by itself, for reading, for writing its
 * content, or for being looked up; whether a service that the policy speaks of decides there too. */
bool judge_is_leading(const struct judge *judge, const char *folded);
bool judge_is_of_system(const char *folded, enum query_kind kind);
bool judge_is_looked_up(const char *folded);
bool judge_is_of_service(const struct judge *judge, const char *folded);

/* What stays closed unless a service opens it: adds the questions; the question for a Mach service, in the
 * arena; asks one of them. */
void judge_add_doors(struct query_set *set);
const char *judge_mach_question(struct arena *arena, const char *name);
void judge_check_door(struct check *check, const char *fact);
