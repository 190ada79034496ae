/* build.h - makes statements and puts them into the file and its blocks. */
#pragma once

#include "grammar/parser.h"

/* From the start of `first` to the end of `last`. */
struct span join(struct span first, struct span last);

/* The word that a keyword is where it is none. */
struct word word_of_keyword(struct parser *parser, struct span span);

/* Lists are collected in the parser and taken when they are complete. */
void words_add(struct parser *parser, const struct word *word);
struct word_list words_take(struct parser *parser);
void targets_add(struct parser *parser, const struct target_syntax *target);
struct target_list targets_take(struct parser *parser);

/* New statements; `keyword` is the place of the leading words. Never NULL. */
struct statement *statement_new(struct parser *parser, enum statement_kind kind, struct span keyword);
struct statement *statement_list(struct parser *parser, enum statement_kind kind, struct span keyword,
                                 enum verb verb, struct word_list words);
struct statement *statement_expect(struct parser *parser, struct span keyword, enum verb verb,
                                   struct word operation, enum aspect aspect, struct word_list words);
struct statement *statement_path(struct parser *parser, struct span keyword, enum verb verb,
                                 enum aspect aspect, struct word_list words);
struct statement *statement_let(struct parser *parser, struct span keyword, const struct word *name,
                                struct word_list words);
struct statement *statement_set_env(struct parser *parser, struct span keyword, const struct word *name,
                                    const struct word *value);
struct statement *statement_use(struct parser *parser, struct span keyword, const struct word *subject,
                                struct word_list except);
struct statement *statement_network(struct parser *parser, enum statement_kind kind, struct span keyword,
                                    struct target_list targets, struct word_list ports,
                                    enum protocol protocol);
struct statement *statement_listen(struct parser *parser, struct span keyword, enum verb verb,
                                   const struct word *reach, struct word_list ports, enum protocol protocol);
struct statement *statement_limit(struct parser *parser, enum statement_kind kind, struct span keyword,
                                  enum aspect aspect, struct word_list words);
struct statement *statement_limit_nothing(struct parser *parser, enum statement_kind kind,
                                          struct span keyword, enum aspect aspect);
struct statement *statement_amount(struct parser *parser, struct span keyword, enum aspect aspect,
                                   const struct word *amount);
struct statement *statement_accept(struct parser *parser, struct span keyword, const struct word *control,
                                   const struct word *target, const struct word *reason);
struct statement *statement_accept_code(struct parser *parser, struct span keyword, const struct word *code,
                                        const struct word *reason);

/* The end of a line, by what it was. */
void statement_end(struct parser *parser, struct statement *statement, struct span span);
void statement_failed(struct parser *parser);
void header_version(struct parser *parser, struct span keyword, const struct word *version);
void header_name(struct parser *parser, struct span keyword, enum file_kind kind, const struct word *name);
void block_open(struct parser *parser, struct span span, struct word condition, struct word_list words);
void block_close(struct parser *parser, struct span span);

/* The end of the file: what is missing now will not come. */
void file_end(struct parser *parser);
