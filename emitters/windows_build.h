/* windows_build.h - the parts of windows_objects.h while they are made. */
#pragma once

#include "emitters/windows_objects.h"
#include "emitters/windows_places.h"

struct windows_build {
    struct arena *arena;
    const struct bound_policy *bound;
    struct note_list *notes;
    enum windows_tier tier;
    struct windows_places places;
    /* Each root that places begin with ("" for drives), with the highest level below it. */
    struct {
        struct windows_place items[ROOTS];
        uint32_t count;
    } roots;
    struct windows_acl acl; /* objects: in no order, a path as often as something is done to it */
};

/* An object without entries at `path` for `rule` (NULL: the closed default). */
struct windows_object windows_object_at(const struct windows_build *build, const char *path,
                                        const struct bound_rule *rule);

/* Adds an entry; one that is there already is not added again. */
void windows_object_add(const struct windows_build *build, struct windows_object *object, bool deny,
                        uint32_t mask);

/* The label that keeps the run at `level` (tier restricted-low; else none). */
struct windows_label windows_label_for(const struct windows_build *build, enum level level);

/* Fills build->roots. */
void windows_build_roots(struct windows_build *build);

/* Whether a place with more than `level` may come to hold `path`, once roots are bound that are not known yet. */
bool windows_may_lie_in(const struct windows_build *build, const char *path, enum level level);

/* Whether something at or below `path` has more than `level`. */
bool windows_opens_below(const struct windows_build *build, const char *path, enum level level);

/* Whether both begin with the same root, or both with none. */
bool windows_same_root(const char *path, const char *other);

/* Whether a path that the launcher binds may come to lie in the other one though it does not do so as it is written: it
 * begins with another root, or with one that stands for several directories. */
bool windows_may_nest(const char *path, const char *other);

/* The exceptions of `rule` that may lie where it denies, as a specification writes them. */
struct windows_excepts {
    const char **items;
    uint32_t count, capacity;
};
struct windows_excepts windows_excepts_of(const struct windows_build *build, const struct bound_rule *rule);

/* The level of what an exception by pattern matches, if that is more than the places around have; else none. */
enum level windows_exception_level(const struct windows_build *build, const struct bound_path *except);

/* Whether the deny on a plain path has an exception that only a match can say: $REPO/.git except $GITDIR. */
bool windows_deny_is_match(const struct windows_build *build, const struct bound_rule *rule);

/* Adds what the places need (windows_entries.c). */
void windows_build_places(struct windows_build *build);
/* Adds denies that change nothing by themselves, but may where roots come to lie in each other, and those of programs. */
void windows_build_denies(struct windows_build *build);
/* Adds pins to what may not move while something inside must stay closed. */
void windows_build_pins(struct windows_build *build);
/* Adds patterns (windows_matches.c). */
void windows_build_matches(struct windows_build *build);
/* Adds conditions (windows_requires.c). */
void windows_build_requires(struct windows_build *build);

void windows_require_add(struct windows_build *build, const char *path, const char *below);
