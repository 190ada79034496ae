/* verify.h - whether this machine can hold a specification at all, and how a doubt about it is answered. */
#pragma once

#include "policy/note.h"

#include <stdint.h>

/* Refuses (SBX480) a Windows older than WINDOWS_MIN_BUILD, and Wine, which reports success without effect. */
bool verify_system(struct note_list *notes);

/* "cannot verify FACT": queues the refusal SBX480 and returns false. The build for tests
 * (SBX_TEST_UNENFORCED) queues a warning and returns true: it goes on without enforcement. Each read-back
 * ends here and nowhere else. */
bool verify_refuse(struct note_list *notes, const char *format, ...) SBX_PRINTF(2, 3);

/* The volume of acl_identity.volume, a name that only disks of this machine have: NTFS or ReFS, with ACLs
 * that last. NULL, or why not (in `arena`). */
const char *verify_volume(struct arena *arena, const char *volume);
