/* apply_plan.h - which places a run has to do with, before anything is looked at. */
#pragma once

#include "runtime/windows/apply_place.h"

/* Fills applying->places from the specification, the launcher's own files and what stays hidden; the
 * conditions on roots (`requires`) are asked. False with an error note. */
bool plan_places(struct applying *applying);

/* One more denied place, with what holds its name: a pin on it and on each directory above it that the
 * command could change. `denies`: the mask of the deny that its tree inherits; 0 where the label
 * alone closes it. */
void plan_deny(struct applying *applying, const char *path, uint32_t denies,
               const struct windows_label *label, const char *rule);

/* One more place that is opened. */
void plan_allow(struct applying *applying, const char *path, uint32_t allows, const char *rule);

/* Pins on the directories above `path` that lie in a place which the command can change. */
void plan_pin_above(struct applying *applying, const char *path, const char *rule);

/* Whom the entries of this tier name. */
enum windows_principal plan_principal(const struct apply *apply);
