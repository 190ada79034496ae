/* escape.h - bytes from outside made safe to show: for terminals and logs, and for JSON. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>

/* Whether `length` bytes are valid UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF). */
bool utf8_valid(const char *bytes, size_t length);

/* Bytes of the UTF-8 character at the start of `bytes` (1 to 4), or 0 if none is valid there. */
size_t utf8_character(const char *bytes, size_t length);

/* `bytes` with each control character (U+0000-1F, 7F-9F), invalid byte and backslash as \xHH or \\, so that what
 * comes from a sandbox can neither move a terminal's cursor nor forge a log line. Bidirectional controls (U+200E,
 * 200F, 202A-202E, 2066-2069) and the line separators U+2028, U+2029 are escaped too. */
const char *escape_text(struct arena *arena, const char *bytes, size_t length);
const char *escape_string(struct arena *arena, const char *string);
/* The same for messages on Windows, whose paths are full of backslashes: one that is there stays alone. */
const char *escape_windows(struct arena *arena, const char *string);

/* Appends a JSON string with its quotes. Bytes that are not UTF-8 appear as \xHH and a backslash as \\ in the member's
 * value (commands.md, show); returns whether that was needed for invalid bytes ("raw": true). */
bool escape_json(struct buffer *buffer, const char *bytes, size_t length);
