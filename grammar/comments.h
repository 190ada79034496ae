/* comments.h - the lines of a printed file and the comments between its statements.
 *
 * Comments and blank lines are not in the tree. A printer that is given the text finds them there, between
 * what it has printed and what it prints next.
 */
#pragma once

#include "grammar/syntax.h"

struct printer {
    struct buffer *buffer;
    size_t line_start;           /* where the line that is being printed starts in the buffer */
    const struct source *source; /* NULL: no comments */
    uint32_t cursor;             /* what stands before it in the text is printed */
    uint32_t depth;              /* blocks around the statement */
    bool started;                /* something stands on the first line */
    bool opened;                 /* the line opens a block, and nothing stands in it so far */
};

/* Starts a new line, `more` steps deeper than the statement. */
void printer_line(struct printer *printer, uint32_t more);

/* Says that the text up to the end of `span` is printed. */
void printer_read(struct printer *printer, struct span span);

/* Each ends the line before, prints the comments that stand before what comes next and starts its line. */
void comments_before(struct printer *printer, uint32_t start);
void comments_before_brace(struct printer *printer, uint32_t depth);

/* The same for a line of the header, which the tree does not know: steps over its first `words` words. */
void comments_before_header(struct printer *printer, uint32_t words);

/* Ends the last line and prints the comments after it. */
void comments_at_end(struct printer *printer);

/* Prints the comments between two words of a list, up to `start`. If there are any, starts a line for the
 * next word and returns true. */
bool comments_in_list(struct printer *printer, uint32_t start);
