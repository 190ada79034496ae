/* trie.h - paths by their components: several tries that share one table of names and one of nodes.
 *
 * Nodes and names are numbers. Building costs O(components) in all; finding a path's way costs one look-up
 * a component and allocates nothing, so that readers need no lock.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct trie;

enum {
    TRIE_NONE = UINT32_MAX,
    /* The most components that an inserted path may have: a path of 4096 bytes has no more. */
    TRIE_DEPTH = 2050
};

/* A path cut into components: of "/a/b" they are "", "a", "b". Their names are kept up to the first one
 * that stands in no trie: behind it there is nothing to find. */
struct trie_path {
    uint32_t count; /* components with a name */
    uint32_t total; /* components with an end */
    uint32_t names[TRIE_DEPTH];
    uint32_t ends[TRIE_DEPTH]; /* offset behind each component */
};

/* Tables for about `expected` paths; they grow. */
struct trie *trie_create(struct arena *arena, uint32_t expected);

/* A new root. */
uint32_t trie_root(struct trie *trie);

/* How many nodes there are; they are numbered from 0. */
uint32_t trie_nodes(const struct trie *trie);

/* The node of `path` below `root`, made if it is new. The bytes of `path` must live as long as the trie. A
 * final '/' does not matter. Returns TRIE_NONE for a path of more than TRIE_DEPTH components. */
uint32_t trie_insert(struct trie *trie, uint32_t root, const char *path, size_t length);

/* Cuts `path` into `*cut`. With `whole` the ends of all components are kept, else only those with a name;
 * false if the whole path has more than TRIE_DEPTH components. */
bool trie_cut(const struct trie *trie, const char *path, size_t length, bool whole, struct trie_path *cut);

/* The same as trie_cut of `path`, which begins with the first `known` components that stand in `*cut`. */
bool trie_cut_on(const struct trie *trie, const char *path, size_t length, bool whole, uint32_t known,
                 struct trie_path *cut);

/* The nodes of one trie on the way to a path, as far as there are some. */
struct trie_way {
    uint32_t root, count; /* root: TRIE_NONE before the first walk */
    uint32_t nodes[TRIE_DEPTH];
};

/* Walks from `root` along `path`. What `*way` knows of the same root is taken as known: cut it where the path is
 * another one. */
void trie_walk(const struct trie *trie, uint32_t root, const struct trie_path *path, struct trie_way *way);

/* The child of `node` for the component number `depth` of the path, or TRIE_NONE. */
uint32_t trie_child(const struct trie *trie, uint32_t node, const struct trie_path *path, uint32_t depth);
