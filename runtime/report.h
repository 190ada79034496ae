/* report.h - what the launcher tells the person who called it, on standard error, safe for a terminal. */
#pragma once

#include "base/buffer.h"
#include "base/write.h"
#include "policy/note.h"

/* Exit codes that are the launcher's own (commands.md). */
enum { EXIT_OUTPUT_LOST = 1, EXIT_REFUSED = 125, EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127 };

enum report_level { REPORT_ERRORS, REPORT_WARNINGS, REPORT_NOTES };

/* Prints the notes at or above `level`: place, severity, code, text, help; nothing twice. REPORT_WARNINGS takes
 * in notes about rules of the policy's own files, which whoever wrote them can mend; what a preset or a managed
 * layer names and this machine lacks is REPORT_NOTES. */
void report_notes(struct arena *arena, const struct policy *policy, const struct note_list *notes,
                  enum report_level level);

/* `string` as messages of this system show it: escape_string, on Windows escape_windows. Texts of notes need it for
 * whatever comes from outside. */
const char *report_safe(struct arena *arena, const char *string);

/* Prints "sbx-launch: " and a line; control characters in it are escaped. */
void report_line(struct arena *arena, const char *format, ...) SBX_PRINTF(2, 3);

/* Writes what was asked for to standard output and returns the exit code; says so if it cannot. */
int report_answer(struct arena *arena, const struct buffer *answer);
