/* surprise.h - says in a person's words what the grammar did not expect, and what to write instead. */
#pragma once

#include "grammar/parser.h"

/* Reports the last token of the row; `expected` holds the spellings of what could have stood there (NULL
 * ends it). */
void parser_surprised(struct parser *parser, const char *const *expected);
