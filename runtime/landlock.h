/* landlock.h - the two Landlock scopes that the launcher uses: signals and abstract sockets stay inside. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LANDLOCK_ABI_SCOPES = 6 /* Linux 6.12 */ };

/* The kernel's Landlock version, 0 without Landlock. */
uint32_t landlock_abi(void);

/* Puts the calling thread into a domain of its own with both scopes. Needs no_new_privs. False on failure. */
bool landlock_scope(void);
