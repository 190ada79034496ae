/* options.h - the one table of commands and options: calls are read, usage is printed and completions are
 * made from it.
 *
 * A new command or option is one line in options.c, and a member below for what an option sets.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct text_list {
    const char **items;
    uint32_t count, capacity;
};

/* What a call says. Texts point into argv. */
struct options {
    const struct command *command;
    struct text_list arguments; /* what stands behind the command, options aside */
    struct text_list trailing;  /* what stands behind `--` */
    struct text_list managed, roots, environment;
    const char *target, *output, *architecture;
    const char *system, *command_name, *color, *dump, *completions;
    bool check, batch, manual;
    bool pure, json, quiet, verbose, help, version;
};

struct session;

struct command {
    const char *name;
    const char *arguments; /* as usage shows them */
    const char *summary;
    unsigned bit;         /* which options it takes; see struct option */
    uint32_t least, most; /* arguments */
    bool trailing;        /* takes words behind `--` */
    int (*run)(struct session *session);
};

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_LIST };

struct option {
    const char *name; /* without its dashes */
    char letter;      /* or 0 */
    enum option_kind kind;
    const char *argument; /* as usage shows it; NULL for a flag */
    const char *values;   /* those that are possible, with blanks between, for completions; NULL: any */
    const char *help;
    unsigned commands; /* bits of the commands that take it */
    size_t member;     /* offset in struct options */
};

extern const struct command commands[]; /* the first one is meant where none is named; a NULL name ends it */
extern const struct option option_table[]; /* a NULL name ends it */

/* Reads a call. NULL, or what is wrong with it, in `arena`. */
const char *options_read(struct arena *arena, int argc, char **argv, struct options *options);

/* Usage of one command, or of all where `command` is NULL. */
void options_usage(struct buffer *out, const struct command *command);

/* A completion script for "bash", "zsh" or "fish"; false for another shell. */
bool options_completions(struct buffer *out, const char *shell);

/* The commands and options as sections of a manual page (man(7) macros). */
void options_manual(struct buffer *out);
