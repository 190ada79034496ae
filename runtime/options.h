/* options.h - sbx-launch's command line: one table behind parsing and usage. */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

struct option_words {
    const char **items;
    uint32_t count, capacity;
};

enum engine_wish { ENGINE_AUTO, ENGINE_BWRAP, ENGINE_NATIVE, ENGINE_LANDLOCK };

struct options {
    const char *policy;         /* POLICY.bin or .sbx (Windows: .xml); NULL with --probe and its like */
    char **command;             /* COMMAND and its arguments, NULL-terminated; NULL with --probe */
    struct variable_list roots; /* --root, names without '$' */
    struct option_words managed;
    const char *chdir, *lease; /* as given, or NULL */
    enum engine_wish engine;
    bool dry_run, unsandboxed, as_owner, probe, json, verbose, quiet, help, version;
    bool recover, doctor; /* Windows alone */
};

/* Fills `options` from `argv`; strings point into it. Returns NULL, or what is wrong with the call (in
 * `arena`). */
const char *launch_options_parse(struct arena *arena, int argc, char **argv, struct options *options);

/* Appends the usage text made from the table. */
void launch_usage(struct buffer *out);
