/* seatbelt_says.h - what a policy says of a place on macOS, where one place has several names and case may
 * count for nothing: what a profile has to do there. It shares nothing with what writes profiles. */
#pragma once

#include "policy/bound.h"

/* How names are compared. Seatbelt compares plain paths without case. Should it not, then what is spelled
 * in another case, on a volume that tells cases apart, is denied by patterns alone, whose letters stand in
 * both. And where case is ignored, what is granted in another case is the same file. */
enum seatbelt_comparing { CASE_COUNTS, CASE_IGNORED };

/* What holds at least and at most; between them either is right. */
struct seatbelt_said {
    enum level least, most;
    bool runs, may_run;   /* as far as `deny exec` decides */
    bool opens, may_open; /* Unix sockets */
};

struct seatbelt_view;

/* `bound`, sealed, lives on. */
struct seatbelt_view *seatbelt_view_create(struct arena *arena, const struct bound_policy *bound);

/* Fills `said`, by enum seatbelt_comparing. */
void seatbelt_says(const struct seatbelt_view *view, const char *path, struct seatbelt_said said[2]);

/* Whether the place has no other name, such as /tmp and /private/tmp. */
bool seatbelt_has_one_name(const struct seatbelt_view *view, const char *path);

/* What follows `directory` in a path at or below it, else NULL. */
const char *path_behind(const char *path, const char *directory);

/* Whether the path lies below /tmp, /var or /etc, which are links into /private. */
bool path_is_linked(const char *path);
