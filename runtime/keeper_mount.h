/* keeper_mount.h - the mount calls of the keeper (keeper.h): into a sandbox's mount namespace, and masks
 * there. */
#pragma once

#include "runtime/watch_list.h"

#include <stdint.h>

/* Two masks that are not mounted anywhere yet: an empty file and an empty directory, both closed; or -1. */
struct keeper_masks {
    int file, directory;
};

/* Joins the mount namespace, which must not be this process's own, and the user namespace to which it belongs. False with
 * errno and `*step`. */
bool keeper_enter(int mount_namespace, const char **step);

/* Makes the masks, or copies of those that `list` names; -1 for a kind of which there is none. False with
 * errno and `*step` if this kernel can make none. */
bool keeper_masks_make(struct keeper_masks *masks, const struct watch_list *list, const char **step);

/* Opens what stands at `path` (O_PATH), be it a link, following none on the way; -1 with errno. */
int keeper_open(const char *path);

/* Mounts on `place` what belongs there: a mask, the file itself read-only, or a directory itself. Returns the
 * number of that mount (mount_of), and `*below`, a descriptor of what it stands on; 0 with errno and `*step` on
 * failure. */
uint64_t keeper_cover(struct keeper_masks *masks, const struct watch_place *place, int *below,
                      const char **step);
