/* package.h - the AppContainer of one run: made under a random name, and removed with it.
 *
 * Order: package_name, the name goes into the journal, package_create, ..., package_remove; recovery calls
 * package_remove for a name that it finds there. Windows' functions are looked up when they are needed: a
 * machine without them is a refusal.
 */
#pragma once

#include "runtime/windows/identity.h"

/* A name that no other run has, in `arena`: "sbx." and 32 hexadecimal digits. NULL with an error note. */
const char *package_name(struct arena *arena, struct note_list *notes);

/* Makes the profile `name` and fills identity->package. False with an error note; nothing is left then. */
bool package_create(struct windows_identity *identity, const char *name, struct note_list *notes);

/* Removes the profile `name`, its directory and its registry key; true also if there is none. A name that is
 * none of package_name's is refused. */
bool package_remove(const char *name);

enum { PACKAGE_CAPABILITIES = 3 };

/* The SIDs of a specification's `capabilities` (WINDOWS_INTERNET_...), sorted as Windows numbers them. */
uint32_t package_capabilities(unsigned capabilities, struct windows_sid sids[PACKAGE_CAPABILITIES]);
