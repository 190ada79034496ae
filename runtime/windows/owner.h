/* owner.h - whose an object is, and who may write it, by its descriptor; on any system. */
#pragma once

#include "emitters/windows_descriptor.h"

enum owner {
    OWNER_SYSTEM, /* Windows itself or its administrators */
    OWNER_CALLER,
    OWNER_OTHER
};

/* `caller`: the user's SID, or NULL for nobody. */
enum owner owner_of(const struct windows_descriptor *descriptor, const struct windows_sid *caller);

/* Whether the descriptor lets anybody but Windows, administrators and `caller` (NULL for nobody) write,
 * delete or rename the object or change its descriptor. Entries that deny are not looked at, and an entry
 * of a kind that is not known counts as one that allows. */
bool owner_others_write(const struct windows_descriptor *descriptor, const struct windows_sid *caller);
