/* landlock_scratch.h - scratch where nothing can be mounted: a directory beside the host's other temporary
 * ones.
 *
 * Nobody but the user can enter it. It is removed with all that is in it, by descriptors, so that no link
 * planted there leads the removal elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct landlock_scratch {
    const char *path; /* NULL: none is wanted */
    bool made;
    int parent, directory; /* descriptors, once it was made */
};

/* Makes it and says what it is. False with errno; also if something is there already. */
bool landlock_scratch_make(struct landlock_scratch *scratch, struct stat *status);

/* Takes one that an earlier run left, so that it can be removed. False if it is no directory of the caller's. */
bool landlock_scratch_find(struct landlock_scratch *scratch);

/* Removes it if it was made. What cannot be removed stays. */
void landlock_scratch_remove(struct landlock_scratch *scratch);
