/* compile.h - compiling in the same process: a file or a text in, a policy and diagnostics out. Prints
 * nothing.
 *
 * The passes in order: load (texts, syntax), build (rules), merge (managed layers), expect. Everything lives
 * in the arena of the compilation.
 */
#pragma once

#include "compiler/load.h"
#include "policy/policy.h"

struct compile_input {
    struct load_input input;
    const char *const *managed; /* files of managed layers, .sbx or .bin; in order */
    uint32_t managed_count;
    bool may_be_bin;  /* `input` may name a compiled policy, by its suffix .bin */
    bool keep_syntax; /* the syntax trees are wanted afterwards */
    bool only_syntax; /* stop after parsing; keeps them too */
    bool
        no_hash; /* nobody asks for the effective hash (a .bin holds none): leave it zero where no layers are merged */
};

/* One layer's files, and the policy made of them. */
struct compiled_layer {
    struct load *load;     /* NULL: read from a .bin */
    struct policy *policy; /* NULL if there are errors */
};

struct compilation {
    struct arena *arena;
    struct intern_pool *pool;
    struct source_list sources;
    struct diagnostic_list diagnostics;
    struct compiled_layer *layers; /* 0: the input; then the managed ones */
    uint32_t layer_count;
    struct policy *policy; /* all layers merged; NULL if there are errors */
    const char *failure;   /* why the input or a managed file could not be read at all; else NULL */
};

/* Compiles into `arena`, which must outlive the result. Never NULL: look at `failure`, then at
 * `diagnostics.errors`. Diagnostics come sorted by place. */
struct compilation *compile(struct arena *arena, const struct compile_input *input);

/* Sorts diagnostics by place; those of one place keep their order. */
void diagnostics_sort(struct diagnostic_list *list);

/* The source that source number `source` of `policy` was read from, as index into compilation->sources, or
 * SOURCE_NONE (a layer from a .bin). */
uint32_t compilation_source(const struct compilation *compilation, const struct policy *policy,
                            uint32_t source);
