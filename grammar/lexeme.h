/* lexeme.h - from a piece of text that the lexer cut out to a word, or to the exact fault in it. */
#pragma once

#include "grammar/parser.h"

#include <stddef.h>

/* A scanner of sbx.l that reads the parser's text; lives in its arena. */
void *lexer_create(struct parser *parser);

/* Copies up to `most` bytes of text that the scanner has not seen; returns how many, 0 at the end. */
size_t lexer_feed(struct parser *parser, char *bytes, size_t most);

/* Makes the scanner forget what it was fed but has not matched; it goes on at parser->fed. */
void lexer_discard(struct parser *parser);

/* To be called where a line starts: reports and leaves out lines that are too long. */
void lexer_line(struct parser *parser);

/* The word at the lexeme matched last. One that is faulty has been reported and comes back without bytes
 * and unquoted: see word_is_faulty. */
struct word lexeme_plain(struct parser *parser);
struct word lexeme_plain_quoted(struct parser *parser);
struct word lexeme_rough(struct parser *parser);
struct word lexeme_rough_quoted(struct parser *parser);
struct word lexeme_carriage_return(struct parser *parser);

/* Reports what may not stand in the comment matched last. */
void lexeme_comment(struct parser *parser);

/* Whether a fault was reported for `word`; it then has no meaning. */
bool word_is_faulty(const struct word *word);

/* Whether a backslash before `byte` says that it is no sign. */
bool byte_is_sign(char byte);
