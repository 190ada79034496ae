/* windows_places.h - where the level of a policy changes, as Windows sees names: without case, and each once.
 *
 * A place that rules spell in several ways has the lowest of the levels that it has under one of them. The other
 * normal form of a denied name is a place of its own, since NTFS keeps both apart.
 */
#pragma once

#include "policy/bound.h"

struct windows_place {
    const char *path, *model;     /* as Windows and as the model write it */
    enum level level, around;     /* around: of the nearest place above, or none */
    bool capped;                  /* lowered by a deny: nothing below it may be opened again */
    bool below_deny;              /* a place above it is capped, at less than this one has */
    int32_t above;                /* index of the nearest place above, or -1 */
    const struct bound_rule *why; /* the rule that decided; NULL: closed by default */
};

struct windows_places {
    struct windows_place *items; /* sorted as windows_path_compare does: what lies below follows */
    uint32_t count, capacity;
};

/* The places at which the level is not that around them. What Windows cannot name is left out. */
struct windows_places windows_places_of(struct arena *arena, const struct bound_policy *bound);

/* The first place that does not come before `path`: those at and below it follow. */
uint32_t windows_places_from(const struct windows_places *places, const char *path);

/* The nearest place at or above `path` (as Windows writes it), or NULL. */
const struct windows_place *windows_places_at(const struct windows_places *places, const char *path);

/* A path of the model and, if it is not ASCII, both normal forms of it. */
struct windows_forms {
    const char **items;
    uint32_t count, capacity;
};
struct windows_forms windows_forms_of(struct arena *arena, const char *model);

/* Whether Windows can name the plain path `model`, and then its name; `*problem` says why not. */
const char *windows_place_name(struct arena *arena, const char *model, const char **problem);
