/* windows_tree.h - objects of Windows' file systems with their descriptors, in memory, where entries are inherited as
 * Windows does it.
 */
#pragma once

#include "emitters/windows_descriptor.h"

struct windows_object;

struct windows_node {
    const char *path; /* "C:\a\b"; "C:\" and "$WORK" are roots */
    bool directory;
    struct windows_node *parent; /* NULL: of a drive */
    struct windows_descriptor descriptor;
    const struct windows_object
        *object; /* what a specification says of this very place, once it is carried out */
};

struct windows_tree {
    struct arena *arena;
    struct windows_node **items; /* sorted as windows_path_compare does: what lies below a node follows it */
    uint32_t count, capacity;
    struct windows_sid user;      /* who owns what is made */
    struct windows_sid installer; /* who owns everything below what it owns */
    struct windows_node *profile; /* what holds the roots that have a name instead of a path; or NULL */
    /* What a drive gets that is not there yet, and what is made in `profiles`; or NULL. */
    const struct windows_descriptor *new_drive, *new_profile;
    const struct windows_node *profiles;
};

/* The node at `path`, or NULL. O(log n). */
struct windows_node *windows_tree_find(const struct windows_tree *tree, const char *path);

/* The node at `path`; made if there is none, as are the directories above, with what they inherit. */
struct windows_node *windows_tree_at(struct windows_tree *tree, const char *path, bool directory);

/* The same with the explicit entries and the control flags of `descriptor`, its owner and its label. */
struct windows_node *windows_tree_put(struct windows_tree *tree, const char *path, bool directory,
                                      const struct windows_descriptor *descriptor);

/* Takes a node out in which nothing lies. */
void windows_tree_remove(struct windows_tree *tree, const struct windows_node *node);

/* Carries inheritable entries on to everything below, as Windows does after a DACL was changed: explicit entries stay,
 * what was inherited is made anew, a protected DACL is left alone. Labels do not reach what is there already. */
void windows_tree_propagate(struct windows_tree *tree);

/* The entries that an object made below `parent` inherits. */
struct windows_descriptor windows_inherit(struct arena *arena, const struct windows_descriptor *parent,
                                          const struct windows_sid *owner, bool directory);
