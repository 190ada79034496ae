#include "runtime/windows/acl_memory.h"

#include "base/vector.h"

#include <string.h>
#include <strings.h>

enum { GENERAL_FAILURE = 31 };

struct node {
    struct node *parent; /* NULL: the volume itself */
    const char *name;
    const char *content; /* NULL: a directory */
    struct node *target; /* of a junction */
    uint32_t id;
    bool gone, refused;
    struct windows_descriptor descriptor;
};

struct acl_memory {
    struct acl_operations operations;
    struct arena *arena;
    struct acl_fault *fault;
    struct {
        struct node **items;
        uint32_t count, capacity;
    } nodes;
};

struct acl_object {
    struct node *node;
    unsigned access;
};

static bool lives(const struct acl_memory *memory)
{
    return memory->fault == NULL || !memory->fault->dead;
}

/* Before anything changes. */
static bool steps_on(struct acl_memory *memory)
{
    struct acl_fault *fault = memory->fault;
    if (fault == NULL)
        return true;
    if (fault->left-- <= 0)
        fault->dead = true;
    return !fault->dead;
}

/* --- names ---------------------------------------------------------------------------------------------- */

static struct node *child_named(const struct acl_memory *memory, const struct node *parent, const char *name,
                                size_t length)
{
    for (uint32_t i = 0; i < memory->nodes.count; i++) {
        struct node *node = memory->nodes.items[i];
        if (!node->gone && node->parent == parent && strlen(node->name) == length &&
            strncasecmp(node->name, name, length) == 0)
            return node;
    }
    return NULL;
}

/* `length` bytes of a path. */
static struct node *node_at(const struct acl_memory *memory, const char *path, size_t length)
{
    struct node *node = NULL;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(path + at, '\\', length - at);
        size_t part = end != NULL ? (size_t)(end - path) - at : length - at;
        if (node != NULL && node->target != NULL)
            node = node->target;
        node = child_named(memory, node, path + at, part);
        if (node == NULL)
            return NULL;
        at += part + 1;
    }
    return node;
}

static struct node *find(const struct acl_memory *memory, const char *path)
{
    return node_at(memory, path, strlen(path));
}

static const char *path_of(struct arena *arena, const struct node *node)
{
    if (node->parent == NULL)
        return node->name;
    return arena_format(arena, "%s\\%s", path_of(arena, node->parent), node->name);
}

/* --- making --------------------------------------------------------------------------------------------- */

/* What an object takes over from an entry of its directory ([MS-DTYP] 2.5.3.4.1); false: nothing. */
static bool inherited(const struct windows_entry *from, bool directory, struct windows_entry *entry)
{
    enum { BOTH = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT };
    *entry = *from;
    if (!directory) {
        entry->flags = WINDOWS_INHERITED;
        return (from->flags & WINDOWS_OBJECT_INHERIT) != 0;
    }
    bool passes = (from->flags & WINDOWS_NO_PROPAGATE) == 0;
    bool holds = (from->flags & WINDOWS_CONTAINER_INHERIT) != 0;
    entry->flags =
        (uint8_t)(WINDOWS_INHERITED | (passes ? from->flags & BOTH : 0) | (holds ? 0 : WINDOWS_INHERIT_ONLY));
    return holds || (passes && (from->flags & WINDOWS_OBJECT_INHERIT) != 0);
}

static struct windows_descriptor inherited_descriptor(struct arena *arena, const struct node *parent,
                                                      bool directory)
{
    const struct windows_descriptor *from = &parent->descriptor;
    struct windows_descriptor made = {
        .owner = from->owner, .group = from->group, .dacl_present = true, .dacl_auto_inherited = true};
    made.entries = arena_array(arena, from->count, sizeof *made.entries);
    for (uint32_t i = 0; i < from->count; i++)
        made.count += inherited(&from->entries[i], directory, &made.entries[made.count]);
    made.labelled = from->labelled && inherited(&from->label, directory, &made.label);
    return made;
}

static struct node *add(struct acl_memory *memory, struct node *parent, const char *name, const char *content)
{
    struct node *node = arena_alloc(memory->arena, sizeof *node);
    *node = (struct node){.parent = parent,
                          .name = arena_strdup(memory->arena, name),
                          .content = content != NULL ? arena_strdup(memory->arena, content) : NULL,
                          .id = memory->nodes.count + 1};
    if (parent != NULL)
        node->descriptor = inherited_descriptor(memory->arena, parent, content == NULL);
    VECTOR_PUSH(memory->arena, &memory->nodes, node);
    return node;
}

/* The directory of `path`, and where the last name begins. */
static struct node *directory_of(const struct acl_memory *memory, const char *path, const char **name)
{
    const char *last = strrchr(path, '\\');
    *name = last != NULL ? last + 1 : path;
    struct node *node = last != NULL ? node_at(memory, path, (size_t)(last - path)) : NULL;
    if (node != NULL && node->target != NULL)
        node = node->target;
    return node != NULL && node->content == NULL ? node : NULL;
}

/* --- operations ----------------------------------------------------------------------------------------- */

static uint32_t open_node(struct arena *arena, struct node *node, unsigned access, struct acl_object **object)
{
    if (node == NULL)
        return ACL_MISSING;
    if (node->refused && access != 0)
        return ACL_DENIED;
    *object = arena_alloc(arena, sizeof **object);
    **object = (struct acl_object){node, access};
    return ACL_OK;
}

static uint32_t memory_open(const struct acl_operations *acl, struct arena *arena, const char *path,
                            unsigned access, struct acl_object **object)
{
    struct acl_memory *memory = acl->state;
    return lives(memory) ? open_node(arena, find(memory, path), access, object) : GENERAL_FAILURE;
}

static uint32_t memory_open_id(const struct acl_operations *acl, struct arena *arena,
                               const struct acl_identity *identity, unsigned access,
                               struct acl_object **object)
{
    struct acl_memory *memory = acl->state;
    uint32_t id;
    memcpy(&id, identity->id, sizeof id);
    if (!lives(memory))
        return GENERAL_FAILURE;
    struct node *node = id >= 1 && id <= memory->nodes.count ? memory->nodes.items[id - 1] : NULL;
    return open_node(arena, node != NULL && !node->gone ? node : NULL, access, object);
}

static uint32_t memory_identify(const struct acl_operations *acl, struct arena *arena,
                                struct acl_object *object, struct acl_identity *identity)
{
    const struct node *node = object->node;
    if (!lives(acl->state))
        return GENERAL_FAILURE;
    *identity = (struct acl_identity){.volume = "\\\\?\\Volume{memory}\\",
                                      .directory = node->content == NULL,
                                      .link = node->target != NULL,
                                      .links = 1,
                                      .path = path_of(arena, node)};
    memcpy(identity->id, &node->id, sizeof node->id);
    return node->gone ? ACL_MISSING : ACL_OK;
}

static struct windows_descriptor copied(struct arena *arena, const struct windows_descriptor *descriptor)
{
    struct windows_descriptor copy = *descriptor;
    copy.entries = arena_array(arena, copy.count, sizeof *copy.entries);
    if (copy.count > 0)
        memcpy(copy.entries, descriptor->entries, copy.count * sizeof *copy.entries);
    return copy;
}

static uint32_t memory_read(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                            struct windows_descriptor *descriptor)
{
    if (!lives(acl->state))
        return GENERAL_FAILURE;
    *descriptor = copied(arena, &object->node->descriptor);
    return ACL_OK;
}

static void take_entries(struct arena *arena, struct node *node, const struct windows_descriptor *descriptor)
{
    struct windows_descriptor copy = copied(arena, descriptor), *own = &node->descriptor;
    own->dacl_present = copy.dacl_present;
    own->dacl_protected = copy.dacl_protected;
    own->dacl_auto_inherited = copy.dacl_auto_inherited;
    own->entries = copy.entries;
    own->count = copy.count;
}

static uint32_t memory_write_entries(const struct acl_operations *acl, struct arena *arena,
                                     struct acl_object *object, const struct windows_descriptor *descriptor)
{
    (void)arena;
    struct acl_memory *memory = acl->state;
    if ((object->access & ACL_WRITE) == 0)
        return ACL_DENIED;
    if (!steps_on(memory))
        return GENERAL_FAILURE;
    take_entries(memory->arena, object->node, descriptor);
    return ACL_OK;
}

static uint32_t memory_write_label(const struct acl_operations *acl, struct arena *arena,
                                   struct acl_object *object, const struct windows_descriptor *descriptor)
{
    (void)arena;
    if ((object->access & ACL_WRITE_LABEL) == 0)
        return ACL_DENIED;
    if (!steps_on(acl->state))
        return GENERAL_FAILURE;
    object->node->descriptor.labelled = descriptor->labelled;
    object->node->descriptor.label = descriptor->label;
    return ACL_OK;
}

static uint32_t memory_list(const struct acl_operations *acl, struct arena *arena, struct acl_object *object,
                            struct acl_names *names)
{
    struct acl_memory *memory = acl->state;
    if (!lives(memory))
        return GENERAL_FAILURE;
    if ((object->access & ACL_LIST) == 0)
        return ACL_DENIED;
    for (uint32_t i = 0; i < memory->nodes.count; i++) {
        const struct node *node = memory->nodes.items[i];
        if (!node->gone && node->parent == object->node && object->node->target == NULL)
            VECTOR_PUSH(arena, names, node->name);
    }
    return ACL_OK;
}

/* What an unprotected list of a new object gets from its directory besides. */
static const struct windows_descriptor *with_inherited(const struct acl_memory *memory,
                                                       const struct windows_descriptor *first,
                                                       const struct node *node)
{
    struct windows_descriptor *both = arena_alloc(memory->arena, sizeof *both);
    *both = *first;
    both->entries = arena_array(memory->arena, first->count + node->descriptor.count, sizeof *both->entries);
    memcpy(both->entries, first->entries, first->count * sizeof *both->entries);
    for (uint32_t i = 0; i < node->descriptor.count; i++)
        if ((node->descriptor.entries[i].flags & WINDOWS_INHERITED) != 0)
            both->entries[both->count++] = node->descriptor.entries[i];
    return both;
}

static uint32_t memory_make(const struct acl_operations *acl, struct arena *arena, const char *path,
                            const char *content, const struct windows_descriptor *first,
                            struct acl_object **object)
{
    struct acl_memory *memory = acl->state;
    const char *name;
    struct node *parent = directory_of(memory, path, &name);
    if (!steps_on(memory))
        return GENERAL_FAILURE;
    if (parent == NULL)
        return ACL_MISSING;
    if (find(memory, path) != NULL)
        return ACL_EXISTS;
    struct node *node = add(memory, parent, name, content);
    if (first != NULL)
        take_entries(memory->arena, node,
                     first->dacl_protected ? first : with_inherited(memory, first, node));
    return open_node(arena, node, ACL_WRITE | ACL_WRITE_LABEL | ACL_REMOVE, object);
}

static uint32_t memory_rename(const struct acl_operations *acl, struct arena *arena,
                              struct acl_object *object, const char *path)
{
    (void)arena;
    struct acl_memory *memory = acl->state;
    const char *name;
    if ((object->access & ACL_REMOVE) == 0)
        return ACL_DENIED;
    if (!steps_on(memory))
        return GENERAL_FAILURE;
    if (directory_of(memory, path, &name) != object->node->parent)
        return ACL_MISSING;
    if (find(memory, path) != NULL)
        return ACL_EXISTS;
    object->node->name = arena_strdup(memory->arena, name);
    return ACL_OK;
}

static bool holds_any(const struct acl_memory *memory, const struct node *directory)
{
    for (uint32_t i = 0; i < memory->nodes.count; i++)
        if (memory->nodes.items[i]->parent == directory && !memory->nodes.items[i]->gone)
            return true;
    return false;
}

static uint32_t memory_remove(const struct acl_operations *acl, struct arena *arena,
                              struct acl_object *object, const char *content)
{
    (void)arena;
    struct acl_memory *memory = acl->state;
    struct node *node = object->node;
    if ((object->access & ACL_REMOVE) == 0)
        return ACL_DENIED;
    if (!lives(memory))
        return GENERAL_FAILURE;
    if ((node->content == NULL) != (content == NULL) || holds_any(memory, node) ||
        (content != NULL && strcmp(node->content, content) != 0))
        return ACL_NOT_EMPTY;
    if (!steps_on(memory))
        return GENERAL_FAILURE;
    node->gone = true;
    return ACL_OK;
}

static void memory_close(const struct acl_operations *acl, struct acl_object *object)
{
    (void)acl;
    (void)object;
}

static const struct acl_operations operations = {
    .open = memory_open,
    .open_id = memory_open_id,
    .identify = memory_identify,
    .read = memory_read,
    .write_entries = memory_write_entries,
    .write_label = memory_write_label,
    .list = memory_list,
    .make = memory_make,
    .rename = memory_rename,
    .remove = memory_remove,
    .close = memory_close,
};

struct acl_memory *acl_memory_make(struct arena *arena, struct acl_fault *fault)
{
    struct acl_memory *memory = arena_alloc(arena, sizeof *memory);
    *memory = (struct acl_memory){.operations = operations, .arena = arena, .fault = fault};
    memory->operations.state = memory;
    add(memory, NULL, "C:", NULL);
    return memory;
}

const struct acl_operations *acl_memory_operations(const struct acl_memory *memory)
{
    return &memory->operations;
}

/* --- what others do ------------------------------------------------------------------------------------- */

bool acl_memory_add(struct acl_memory *memory, const char *path, const char *content, const char *text)
{
    const char *name;
    struct node *parent = directory_of(memory, path, &name);
    if (parent == NULL || find(memory, path) != NULL)
        return false;
    struct node *node = add(memory, parent, name, content);
    return text == NULL || windows_descriptor_read(memory->arena, text, &node->descriptor);
}

bool acl_memory_junction(struct acl_memory *memory, const char *path, const char *directory)
{
    struct node *target = find(memory, directory);
    if (target == NULL || !acl_memory_add(memory, path, NULL, NULL))
        return false;
    find(memory, path)->target = target;
    return true;
}

bool acl_memory_write(struct acl_memory *memory, const char *path, const char *content)
{
    struct node *node = find(memory, path);
    if (node != NULL)
        node->content = arena_strdup(memory->arena, content);
    return node != NULL;
}

bool acl_memory_move(struct acl_memory *memory, const char *from, const char *to)
{
    const char *name;
    struct node *node = find(memory, from), *parent = directory_of(memory, to, &name);
    if (node == NULL || parent == NULL || find(memory, to) != NULL)
        return false;
    node->parent = parent;
    node->name = arena_strdup(memory->arena, name);
    return true;
}

bool acl_memory_delete(struct acl_memory *memory, const char *path)
{
    struct node *node = find(memory, path);
    if (node != NULL)
        node->gone = true;
    return node != NULL;
}

bool acl_memory_describe(struct acl_memory *memory, const char *path,
                         const struct windows_descriptor *descriptor)
{
    struct node *node = find(memory, path);
    if (node != NULL)
        node->descriptor = copied(memory->arena, descriptor);
    return node != NULL;
}

bool acl_memory_refuse(struct acl_memory *memory, const char *path, bool refused)
{
    struct node *node = find(memory, path);
    if (node != NULL)
        node->refused = refused;
    return node != NULL;
}

const struct windows_descriptor *acl_memory_look(const struct acl_memory *memory, const char *path)
{
    const struct node *node = find(memory, path);
    return node != NULL ? &node->descriptor : NULL;
}

const char *acl_memory_text(struct arena *arena, const struct acl_memory *memory)
{
    struct buffer out = buffer_in(arena);
    buffer_string(&out, "");
    for (uint32_t i = 0; i < memory->nodes.count; i++) {
        const struct node *node = memory->nodes.items[i];
        if (node->gone)
            continue;
        struct buffer bytes = buffer_in(arena);
        windows_descriptor_write(&node->descriptor, &bytes);
        buffer_format(&out, "%u %s %s %s ", node->id, path_of(arena, node),
                      node->content != NULL ? node->content : "<dir>",
                      windows_descriptor_text(arena, &node->descriptor));
        for (size_t at = 0; at < bytes.length; at++)
            buffer_format(&out, "%02x", (unsigned char)bytes.bytes[at]);
        buffer_byte(&out, '\n');
    }
    return out.bytes;
}
