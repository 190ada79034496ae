/* shape.h - whether a word has the form that its place asks for: numbers, sizes, names.
 *
 * Each function reports what is wrong at the word itself and marks the statement as faulty.
 */
#pragma once

#include "grammar/parser.h"

/* NAME of `let` and `set env`: a letter or _, then letters, digits and _. */
void check_name(struct parser *parser, const struct word *word);
/* The version of the language; anything but 1 is reported. Returns whether it is right. */
bool check_version(struct parser *parser, const struct word *word);
/* The file's own name. Returns whether it is right. */
bool check_policy_name(struct parser *parser, const struct word *word);
/* Of what answers name their layers by, `policy` and `itself` mean others. */
bool check_managed_name(struct parser *parser, const struct word *word);
/* A preset such as std/dev. */
void check_preset(struct parser *parser, const struct word *word);
/* A port or a range of ports, 1 to 65535, low first. */
void check_port(struct parser *parser, const struct word *word);
/* A count, size or duration, by `aspect`. */
void check_amount(struct parser *parser, const struct word *word, enum aspect aspect);
/* A diagnostic's code such as SBX201. */
void check_code(struct parser *parser, const struct word *word);
/* One of linux, macos and windows. */
void check_os(struct parser *parser, const struct word *word);
/* That a later word of a limit's list is not a bare `nothing`. */
void check_no_nothing(struct parser *parser, const struct word *word);
