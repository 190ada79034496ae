/* diagnostic.h - an error, warning or note as a value, and the list on which every pass queues its own.
 *
 * Nothing here prints. The printers (text, JSON, SARIF, GitHub) live in compiler/diagnostic_print.c; a library caller
 * reads the list itself. Texts are plain UTF-8 without a line end; bytes from outside are escaped by who adds them
 * (see escape.h).
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Half-open byte range [start, end) in the text of source number `source` (an index into the job's sources). */
struct span {
    uint32_t source;
    uint32_t start, end;
};

enum { SOURCE_NONE = UINT32_MAX }; /* span.source of a diagnostic that has no place in a text */

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };

/* Codes are the numbers after "SBX": 0xx text and grammar, 1xx meaning, 2xx lint, 3xx targets, 4xx launch.
 * Their names, titles and help pages stand in base/codes.def; a code never changes its meaning. */
enum code {
#define CODE(number, name, severity, title, help) SBX##number##_##name = (1##number - 1000),
#include "base/codes.def"
#undef CODE
};

enum { DIAGNOSTIC_MORE = 2 };

struct diagnostic {
    enum code code;
    enum severity
        severity; /* filled from the code's own severity by diagnostic_add when it is SEVERITY_NOTE (0) */
    struct span at;
    struct {
        struct span at;
        const char *text; /* what this place has to do with it ("first set here"); NULL ends the list */
    } more[DIAGNOSTIC_MORE];
    const char *text;
    const char *help; /* what to write instead, or NULL */
};

struct diagnostic_list {
    struct arena *arena;
    struct diagnostic *items;
    uint32_t count, capacity;
    uint32_t errors; /* how many items have SEVERITY_ERROR */
};

struct diagnostic_list diagnostic_list_in(struct arena *arena);

/* Queues `diagnostic`; its strings must live as long as the list's arena. */
void diagnostic_add(struct diagnostic_list *list, struct diagnostic diagnostic);

/* The page of a code, or NULL for a number that is no code. */
struct code_page {
    enum code code;
    enum severity severity;
    const char *name, *title, *help;
};
const struct code_page *code_page(unsigned number);

/* All pages by rising number; the count goes to `*count`. */
const struct code_page *code_pages(uint32_t *count);

/* The nearest of `candidates` (NULL-terminated array) to `word` by Damerau-Levenshtein distance, or NULL if none is
 * near enough to suggest (at most a third of the longer word's length, at least 1). Ties: the first. */
const char *nearest_word(const char *word, const char *const *candidates);
