/* surprise_help.h - what to write instead of a token that the grammar did not expect. */
#pragma once

#include "grammar/parser.h"

/* One unexpected token and all that the messages need to know about it. */
struct surprise {
    struct parser *parser;
    const struct row *row;
    const char *const *expected;
    int token, before, topic;
    struct span at, before_at;
    const char *written; /* the token as it stands in the text */
    const char *noun;    /* what kind of word could stand there, if any could */
};

bool is_expected(const struct surprise *surprise, int token);
uint32_t count_expected(const struct surprise *surprise);

/* The expected keyword that is spelled most alike, or NULL. */
const char *nearest_expected(const struct surprise *surprise);

/* Each returns a help text about the line, with the token replaced by `word` or `word` put before it. */
const char *did_you_mean(const struct surprise *surprise, const char *word);
const char *help_insert(const struct surprise *surprise, const char *word);

/* The help for what people often write, or NULL. */
const char *help_for_slip(const struct surprise *surprise);

/* For a word that starts a line and no statement. Never NULL. */
const char *help_first_word(const struct surprise *surprise);

/* For a word in a list that needs a comma before it. */
const char *help_in_list(const struct surprise *surprise);

/* For `NAME=VALUE` written in one piece; NULL if the word before is none. */
const char *help_split(const struct surprise *surprise);

/* For a word where `=` is missing. */
const char *help_equals(const struct surprise *surprise);

/* The token in quotes; single quotes around it are taken for a slip. */
const char *quoted_form(const struct surprise *surprise);
