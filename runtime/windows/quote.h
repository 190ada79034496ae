/* quote.h - a command's words as the one line that Windows gives to a process, so that the process finds the same words.
 *
 * Programs take their line apart by the rules of CommandLineToArgvW and of the C runtime, which agree on what is written
 * here. Batch files are read by cmd.exe, which has other rules: for them words that it could take for more than words are
 * refused.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>

enum { QUOTE_LONGEST = 32766, QUOTE_LONGEST_BATCH = 8190 }; /* UTF-16 units that a line may have */

/* Whether Windows runs the file `path` by cmd.exe: .bat or .cmd, whatever the case, also with the dots and blanks at its
 * end that Windows takes no notice of. */
bool quote_is_batch(const char *path);

/* Appends the line of a program that is no batch file; command[0] is its name. Returns NULL, or what cannot be said (in
 * the buffer's arena). */
const char *quote_words(struct buffer *line, char *const *command);

/* Appends the line by which `interpreter` (cmd.exe, its full path) runs the batch file `path` with the words after
 * command[0]. Returns NULL, or which word cannot be handed to a batch file (in the buffer's arena). */
const char *quote_batch(struct buffer *line, const char *interpreter, const char *path, char *const *command);
