/* load.h - reads a policy file and every file that it uses, each once, and parses them.
 *
 * What is read is a tree of units: one unit a file or built-in preset. Reading order is depth first: a used
 * file is read where its first `use` stands, before what follows that `use`. Cycles, missing files and too
 * deep nesting are diagnostics at the `use` that asked.
 */
#pragma once

#include "base/diagnostic.h"
#include "base/intern.h"
#include "compiler/presets.h"
#include "grammar/syntax.h"
#include "policy/policy.h"

enum { LOAD_FILE_LIMIT = 64 * 1024 * 1024, LOAD_DEPTH = 16 };
enum { BYTES_A_WORD = 48 }; /* about as many bytes of a text as hold one word that no other text has */

struct unit;

/* A `use` statement and the unit that it names; `unit` is NULL where a diagnostic says why there is none. */
struct unit_use {
    const struct statement *statement;
    struct unit *unit;
};

struct unit {
    const char *path;   /* as opened, relative to the current directory; NULL for presets and given texts */
    const char *record; /* relative to the file of the layer, as struct policy_source wants it */
    const char *real;   /* canonical path, by which a file is known to be read already; NULL as for path */
    const struct builtin_preset *preset; /* NULL: a file */
    struct syntax_file *syntax;          /* NULL while it waits to be parsed (load_parse.h) */
    uint32_t source;                     /* number of its text */
    uint32_t index;                      /* in struct load.units */
    bool syntax_errors;                  /* in this text */
    bool open;                           /* being loaded: a `use` of it now is a cycle */
    struct unit_use *uses;               /* every `use` of the file in order, those inside `when` too */
    uint32_t use_count, use_capacity;
    struct prepared *prepared; /* what build made of it (build.h) */
};

/* The files of one layer. */
struct load {
    struct arena *arena;        /* units, texts, names */
    struct arena *syntax_arena; /* syntax trees: they may be freed once the policy is built */
    struct intern_pool *pool;   /* NULL: made here, for as many words as the text may hold */
    struct source_list *sources;
    struct diagnostic_list *diagnostics;
    struct unit **units; /* in the order read; 0 is the file itself */
    uint32_t unit_count, unit_capacity;
    bool managed;     /* the file itself is managed: files that it uses must meet the owner rules */
    uint8_t hash[32]; /* SHA-256 of the texts in the order read */
};

/* What to load: a file by its name ("-": standard input), or a text under a name. */
struct load_input {
    const char *file;
    const char *text; /* NULL: read `file` */
    uint32_t length;
};

/* Loads into `load`, whose members down to `diagnostics` the caller has set. False with *error set if the
 * file itself cannot be read; every other problem is a diagnostic. */
bool load_files(struct load *load, const struct load_input *input, const char **error);
