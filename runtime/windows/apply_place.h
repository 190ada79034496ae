/* apply_place.h - the places that a run changes: what is said about each, and which object lies there. */
#pragma once

#include "base/intern.h"
#include "runtime/windows/apply.h"

struct place {
    struct windows_object said; /* its path has no root that is not bound */
    bool there;                 /* `is` is set; else the place is left out */
    bool within;                /* in another denied place, for which all of this tree is looked through */
    struct acl_identity is;     /* the object that was looked at: no other one is changed */
};

/* All of one run of apply_run. */
struct applying {
    const struct apply *apply;
    struct {
        struct place *items;
        uint32_t count, capacity;
    } places;
    struct intern_pool *pinned; /* directories above denied places that have their pin */
    uint64_t deadline;
    uint32_t entries; /* objects that walks have looked at */
};

/* Queues an error about what `said` names, with its rule; always false. */
bool place_refuse(const struct applying *applying, enum code code, const struct windows_object *said,
                  const char *format, ...) SBX_PRINTF(4, 5);

/* Looks at what lies at place->said.path: sets `is` and `there`. A place that may be missing, or an automatic
 * grant that cannot be held, stays without, with a note. False with an error note if the place cannot be
 * held: reached through a link or junction, of another kind, on a volume without ACLs. */
bool place_look(const struct applying *applying, struct place *place);

/* Opens the object that was looked at; any other one at its path is an error. NULL with an error note, or,
 * where the caller may not change it and the command can do without, with a note and place->there false. */
struct acl_object *place_open(const struct applying *applying, struct place *place, unsigned access);

/* The descriptor of what lies at `path` now; false if it cannot be read. */
bool place_descriptor(const struct applying *applying, const char *path,
                      struct windows_descriptor *descriptor);

/* The allow of an object; 0: none. The deny that its tree inherits; 0: none. */
uint32_t place_allows(const struct windows_object *said);
uint32_t place_denies(const struct windows_object *said);

/* Whether one of its denies keeps the object its name. */
bool place_is_pinned(const struct windows_object *said);

/* Whether an object that gives the command something covers `path`; `write`: something that can be
 * changed. */
bool place_is_opened(const struct apply *apply, const char *path, bool write);

/* The places that the policy opens again inside what `said`, a grant, lowers; none for a deny. */
struct raised_places {
    const char **items;
    uint32_t count, capacity;
};
struct raised_places places_raised_in(const struct applying *applying, const struct windows_object *said);
bool is_raised(const struct raised_places *raised, const char *path);

/* "C:\a" of "C:\a\b"; a drive's root keeps its separator. NULL above that. */
const char *path_above(struct arena *arena, const char *path);

/* Whether the time is used up: a scan over all objects ends early then, and the next place_in_time refuses. */
bool place_is_late(const struct applying *applying);

/* Whether time or entries are used up: then false with an error note about `said`. */
bool place_in_time(const struct applying *applying, const struct windows_object *said);
