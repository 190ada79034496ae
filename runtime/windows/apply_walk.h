/* apply_walk.h - looks at every entry of a directory tree (walk.h), within the time of apply_run. */
#pragma once

#include "runtime/windows/apply_place.h"

/* All of it is gone after the call: who keeps something copies it. */
struct walk_entry {
    const char *path;
    struct acl_object *object;
    const struct acl_identity *is;
    struct arena *arena;
};

enum walk_answer { WALK_ON, WALK_NOT_BELOW, WALK_FAIL };

struct place_walk {
    struct applying *applying;
    const struct windows_object *said; /* why the tree is looked through, for messages; stays where it is */
    /* What the caller may not look at is left out: the command may do no more than the caller. */
    bool refused_is_closed;
    void *context;
    /* Of every entry below the top, directories before what lies in them. */
    enum walk_answer (*visit)(void *context, const struct walk_entry *entry);
};

/* Visits what lies below the directory `top`. What is gone when it is its turn is left out; what cannot be
 * looked at, or lies elsewhere by then, is an error. False with an error note, or if `visit` failed. */
bool place_walk_run(const struct place_walk *walk, const char *top);
