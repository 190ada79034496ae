/* gather.h - the job that the parts of facts_gather share; of no interest outside runtime/. */
#pragma once

#include "runtime/facts.h"
#include "runtime/link.h"
#include "runtime/tree.h"

enum { GATHER_ENTRIES_MOST = 10000000 }; /* looked at in all walks of a launch together */

struct path_vector {
    const char **items;
    uint32_t count, capacity;
};

struct gather {
    struct arena *arena;
    struct bound_policy *bound;
    const struct facts_request *request;
    struct facts *facts;
    struct note_list *notes;
    struct resolver *resolver;
    uint64_t entries_left; /* that may still be looked at in walks */
    bool given_up;         /* a walk came to no end: there are no more */
    struct path_vector
        extra; /* canonical paths that no rule names and whose level matters: matches of patterns */
    struct path_vector open; /* the same of what exceptions match */
    struct path_vector matches;
    struct {
        struct plan_place *items;
        uint32_t count, capacity;
    } places;
    struct {
        struct missing_path *items;
        uint32_t count, capacity;
    } missing;
    struct {
        struct plan_link *items;
        uint32_t count, capacity;
    } relied_links;
};

enum level gather_level(const struct gather *gather, const char *path);

/* Whether the rule caps levels at a path, whatever its kind says. */
bool rule_denies(const struct bound_rule *rule);

/* Adds a copy of rule number `from` that speaks of the plain path `path`. */
void gather_repeat(struct gather *gather, uint32_t from, const char *path, const char *because);

/* "deny $WORK/a" and so on, for a note's text; what holds without a text is named too. */
const char *gather_rule(const struct gather *gather, const struct bound_rule *rule);

/* What a walk is for, in words for whoever must be told that it came to no end. */
struct walk_purpose {
    const char *what; /* "denied patterns would have to be looked for" */
    const char *help;
};

/* gather_walk.c: walks from `start`, as tree_visit does, within the limits of the job. False with a note that
 * refuses the launch if they do not do. */
bool gather_walk(struct gather *gather, struct tree_walk *walk, const char *start, const void *state,
                 const struct walk_purpose *purpose);

/* follow.c: repeats denies at what their links lead to, grants, limits and excepts likewise where no link
 * could have been planted; drops grants that lead nowhere. Seals. */
void gather_follow(struct gather *gather);

/* matches.c: finds what the denied patterns match now. Seals. */
void gather_matches(struct gather *gather);

/* exceptions.c: finds what the patterns after `except` match now. */
void gather_exceptions(struct gather *gather);

/* denials.c: checks that each deny can be held and lists what needs a placeholder. */
void gather_denials(struct gather *gather);

/* places.c: what is at each place where the level changes, and the links to show. */
void gather_places(struct gather *gather);

/* socket.c: covers the host's sockets in reach, and makes granted ones places. */
void gather_sockets(struct gather *gather);
