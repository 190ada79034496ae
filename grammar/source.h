/* source.h - the text of one .sbx file, kept in memory for the whole job, and its map from byte offset to
 * line.
 *
 * Locations are byte offsets (struct span); lines and columns are made only when something is printed.
 */
#pragma once

#include "base/arena.h"
#include "base/diagnostic.h"

#include <stdint.h>

/* The limits of language.md section 1, in bytes; syntax_parse reports a text that is beyond them. */
enum { SOURCE_LARGEST = 64 * 1024 * 1024, LINE_LONGEST = 64 * 1024 };

struct source {
    const char *name;      /* as diagnostics show it: the path given, a relative path, "std/dev", "<stdin>" */
    const char *text;      /* without a leading byte order mark; NUL after the last byte */
    uint32_t length;       /* at most SOURCE_LARGEST, or syntax_parse reports it and reads nothing */
    uint32_t *line_starts; /* made by the first source_position; line_count entries */
    uint32_t line_count;
};

/* All sources of a job; span.source indexes `items`. */
struct source_list {
    struct arena *arena;
    struct source *items;
    uint32_t count, capacity;
};

struct position {
    uint32_t line, column; /* from 1; a column counts UTF-8 characters, an invalid byte counts as one */
    const char *text;      /* the line's first byte */
    uint32_t text_length;  /* without its line end */
    uint32_t first_byte, last_byte; /* of the span within this line: [first, last); at least one wide */
};

/* Adds a source and returns its index. `text` must outlive the job (it is not copied). */
uint32_t source_add(struct source_list *list, const char *name, const char *text, uint32_t length);

/* Where `span` starts. O(log lines) after the first call for a source. span.source must be a valid index. */
struct position source_position(struct source_list *list, struct span span);
