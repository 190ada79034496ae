/* token.h - the stream of tokens that the grammar reads, statement by statement.
 *
 * Blank lines and comments are gone, a list that ends its line with a comma goes on with the next one,
 * every statement ends with exactly one end of line, also at the end of the file.
 */
#pragma once

#include "grammar/parser.h"

union SBX_STYPE;

/* The next token, 0 at the end; its place goes to `*span`, the word of a word token to `*value`. */
int sbx_lex(union SBX_STYPE *value, struct span *span, struct parser *parser);

/* Ends the statement before the token read last, or before the one in front of that (`second`): what was
 * read of the next line comes again, as a statement of its own. */
void row_cut(struct parser *parser, bool second);

/* Forgets the statement that was read: the next token starts a new one. */
void row_end(struct parser *parser);
