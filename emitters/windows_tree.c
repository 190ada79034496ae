#include "emitters/windows_tree.h"

#include "base/vector.h"
#include "emitters/windows_access.h"
#include "emitters/windows_spec.h"

#include <string.h>

/* --- inheritance ---------------------------------------------------------------------------------------- */

struct entry_list {
    struct windows_entry *items;
    uint32_t count, capacity;
};

static const struct windows_sid creator_owner = {12, {1, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0}};

enum { INHERIT_FLAGS = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT };

/* Whether a child of this kind is given the entry to hold itself, and whether to hand it on. */
static bool takes_effect(const struct windows_entry *entry, bool directory)
{
    return (entry->flags & (directory ? WINDOWS_CONTAINER_INHERIT : WINDOWS_OBJECT_INHERIT)) != 0;
}

static bool hands_on(const struct windows_entry *entry, bool directory)
{
    return directory && (entry->flags & INHERIT_FLAGS) != 0 && (entry->flags & WINDOWS_NO_PROPAGATE) == 0;
}

/* Adds what a child gets of one entry: one that holds and is handed on, or, where a generic right or CREATOR OWNER
 * means something else at the child than below it, one of each. */
static void inherit_entry(struct arena *arena, struct entry_list *out, const struct windows_entry *entry,
                          const struct windows_sid *owner, bool directory)
{
    struct windows_entry held = *entry, handed = *entry;
    bool effective = takes_effect(entry, directory), handing = hands_on(entry, directory);
    uint8_t kept = entry->flags & (uint8_t) ~(INHERIT_FLAGS | WINDOWS_INHERIT_ONLY | WINDOWS_NO_PROPAGATE);
    if (entry->raw == NULL && entry->type != WINDOWS_ENTRY_LABEL) {
        held.mask = windows_file_rights(entry->mask);
        if (windows_sid_equal(&entry->sid, &creator_owner) && owner->length != 0)
            held.sid = *owner;
    }
    held.flags = kept | WINDOWS_INHERITED;
    handed.flags = kept | WINDOWS_INHERITED | (entry->flags & INHERIT_FLAGS);
    if (effective && handing && held.mask == entry->mask && windows_sid_equal(&held.sid, &entry->sid)) {
        VECTOR_PUSH(arena, out, handed);
        return;
    }
    if (effective)
        VECTOR_PUSH(arena, out, held);
    handed.flags |= WINDOWS_INHERIT_ONLY;
    if (handing)
        VECTOR_PUSH(arena, out, handed);
}

struct windows_descriptor windows_inherit(struct arena *arena, const struct windows_descriptor *parent,
                                          const struct windows_sid *owner, bool directory)
{
    struct windows_descriptor result = {.owner = *owner, .dacl_present = true, .dacl_auto_inherited = true};
    struct entry_list entries = {0}, label = {0};
    for (uint32_t i = 0; i < parent->count; i++)
        inherit_entry(arena, &entries, &parent->entries[i], owner, directory);
    if (parent->labelled)
        inherit_entry(arena, &label, &parent->label, owner, directory);
    result.entries = entries.items;
    result.count = entries.count;
    result.labelled = label.count > 0;
    if (result.labelled)
        result.label = label.items[0];
    return result;
}

/* The explicit entries of a node, then what its parent hands on: the nearest ancestor's first. */
static void inherit_again(struct windows_tree *tree, struct windows_node *node)
{
    struct windows_descriptor *descriptor = &node->descriptor;
    struct entry_list entries = {0};
    if (node->parent == NULL || descriptor->dacl_protected || !descriptor->dacl_present)
        return;
    struct windows_descriptor inherited =
        windows_inherit(tree->arena, &node->parent->descriptor, &descriptor->owner, node->directory);
    for (uint32_t i = 0; i < descriptor->count; i++)
        if ((descriptor->entries[i].flags & WINDOWS_INHERITED) == 0)
            VECTOR_PUSH(tree->arena, &entries, descriptor->entries[i]);
    for (uint32_t i = 0; i < inherited.count; i++)
        VECTOR_PUSH(tree->arena, &entries, inherited.entries[i]);
    descriptor->entries = entries.items;
    descriptor->count = entries.count;
}

void windows_tree_propagate(struct windows_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        inherit_again(tree, tree->items[i]);
}

/* --- nodes ---------------------------------------------------------------------------------------------- */

/* Where `path` stands or belongs. */
static uint32_t place_of(const struct windows_tree *tree, const char *path, bool *found)
{
    uint32_t low = 0, high = tree->count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = windows_path_compare(tree->items[middle]->path, path);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct windows_node *windows_tree_find(const struct windows_tree *tree, const char *path)
{
    bool found;
    uint32_t place = place_of(tree, path, &found);
    return found ? tree->items[place] : NULL;
}

static struct windows_node *insert(struct windows_tree *tree, struct windows_node node)
{
    bool found;
    uint32_t place = place_of(tree, node.path, &found);
    struct windows_node *made = arena_alloc(tree->arena, sizeof *made);
    *made = node;
    VECTOR_PUSH(tree->arena, tree, made);
    memmove(tree->items + place + 1, tree->items + place,
            (tree->count - 1 - place) * sizeof(struct windows_node *));
    tree->items[place] = made;
    return made;
}

void windows_tree_remove(struct windows_tree *tree, const struct windows_node *node)
{
    bool found;
    uint32_t place = place_of(tree, node->path, &found);
    tree->count--;
    memmove(tree->items + place, tree->items + place + 1,
            (tree->count - place) * sizeof(struct windows_node *));
}

/* The directory above `path`, "C:\" above "C:\a"; NULL if there is none. */
static const char *path_above(struct arena *arena, const char *path)
{
    const char *last = strrchr(path, '\\');
    if (last == NULL || last[1] == '\0')
        return NULL;
    size_t length = (size_t)(last - path);
    return arena_copy(arena, path, length == 2 && path[1] == ':' ? length + 1 : length);
}

static struct windows_node *node_above(struct windows_tree *tree, const char *path)
{
    const char *above = path_above(tree->arena, path);
    if (above != NULL)
        return windows_tree_at(tree, above, true);
    return path[0] == '$' ? tree->profile : NULL;
}

/* The last name of `path` in its directory, which may be spelled in another case there. */
static const char *path_below(struct arena *arena, const struct windows_node *parent, const char *path)
{
    const char *last = strrchr(path, '\\');
    if (parent == NULL || last == NULL)
        return arena_strdup(arena, path);
    return arena_join(arena, parent->path, parent->path[strlen(parent->path) - 1] == '\\' ? last + 1 : last);
}

/* What is there without having been made in its directory, or NULL. */
static const struct windows_descriptor *set_up(const struct windows_tree *tree,
                                               const struct windows_node *parent, const char *path)
{
    if (parent == NULL)
        return path[0] != '$' ? tree->new_drive : NULL;
    return parent == tree->profiles ? tree->new_profile : NULL;
}

struct windows_node *windows_tree_at(struct windows_tree *tree, const char *path, bool directory)
{
    static const struct windows_descriptor nothing;
    struct windows_node *node = windows_tree_find(tree, path);
    if (node != NULL)
        return node;
    struct windows_node *parent = node_above(tree, path);
    const struct windows_descriptor *above = parent != NULL ? &parent->descriptor : &nothing;
    bool installed = windows_sid_equal(&above->owner, &tree->installer);
    const struct windows_sid *owner = installed ? &tree->installer : &tree->user;
    const struct windows_descriptor *given = set_up(tree, parent, path);
    return insert(
        tree,
        (struct windows_node){
            .path = path_below(tree->arena, parent, path),
            .directory = directory,
            .parent = parent,
            .descriptor = given != NULL ? *given : windows_inherit(tree->arena, above, owner, directory),
        });
}

struct windows_node *windows_tree_put(struct windows_tree *tree, const char *path, bool directory,
                                      const struct windows_descriptor *descriptor)
{
    struct windows_node *node = windows_tree_at(tree, path, directory);
    struct windows_sid owner = descriptor->owner.length != 0 ? descriptor->owner : tree->user;
    struct windows_descriptor inherited = node->descriptor;
    node->directory = directory;
    node->descriptor = *descriptor;
    node->descriptor.owner = owner;
    if (!descriptor->labelled && inherited.labelled) {
        node->descriptor.labelled = true;
        node->descriptor.label = inherited.label;
    }
    inherit_again(tree, node);
    return node;
}
