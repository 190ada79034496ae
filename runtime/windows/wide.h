/* wide.h - UTF-8 of the program to UTF-16 of Windows and back, strictly: what is not valid in one has no form in the other.
 *
 * Only what calls Windows sees UTF-16.
 */
#pragma once

#include "base/arena.h"

#include <wchar.h>

/* NULL if `text` is not valid UTF-8. */
wchar_t *wide_from(struct arena *arena, const char *text);

/* NULL if `text` holds half of a surrogate pair, which names of files can. */
char *wide_to(struct arena *arena, const wchar_t *text);

/* What Windows says of error `code` (GetLastError), without a line end and safe to show. */
const char *wide_error(struct arena *arena, unsigned long code);
