/* windows_applied.h - a specification carried out on a tree in memory, as the launcher does it on a machine, and taken
 * back.
 */
#pragma once

#include "emitters/windows_spec.h"
#include "emitters/windows_tree.h"

struct windows_applied {
    struct windows_tree *tree;
    struct {
        struct windows_change {
            struct windows_node *node;
            struct windows_entry entry;
            bool was_open; /* there was no DACL */
        } * items;
        uint32_t count, capacity;
    } changes;
    struct {
        struct windows_labelling {
            struct windows_node *node;
            bool labelled;
            struct windows_entry label; /* as it was */
        } * items;
        uint32_t count, capacity;
    } labels;
    struct {
        struct windows_node **items;
        uint32_t count, capacity;
    } made; /* placeholders */
};

/* Carries out `spec`, whose run and package are windows_fixture_sid. Objects that are not there and need not be are
 * left out. NULL, or why the launcher would refuse (in the tree's arena); then part of it may be done. */
const char *windows_apply(struct windows_tree *tree, const struct windows_spec *spec,
                          struct windows_applied *applied);

/* Takes exactly what was added out again. */
void windows_revert(struct windows_applied *applied);
