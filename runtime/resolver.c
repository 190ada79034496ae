/* resolver.c - what resolvers keep of the paths that they were asked about (link.h). */
#include "runtime/link.h"

#include "base/intern.h"

#include <string.h>

struct resolver {
    struct arena *arena;
    struct remote *remote; /* NULL: every file system answers */
    struct {
        const char *path;
        const struct resolved *found;
    } * slots; /* open addressing, at most half full */
    uint32_t capacity, count;
};

const char *path_parent(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

bool path_covers(const char *top, const char *path)
{
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    return strncmp(top, path, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

struct resolver *resolver_create(struct arena *arena)
{
    struct resolver *resolver = arena_alloc(arena, sizeof *resolver);
    resolver->arena = arena;
    resolver->capacity = 256;
    resolver->slots = arena_array(arena, resolver->capacity, sizeof *resolver->slots);
    return resolver;
}

void resolver_ask(struct resolver *resolver, struct remote *remote)
{
    resolver->remote = remote;
}

static uint32_t slot_of(const struct resolver *resolver, const char *path)
{
    uint32_t slot = (uint32_t)hash_bytes(path, strlen(path)) & (resolver->capacity - 1);
    while (resolver->slots[slot].path != NULL && strcmp(resolver->slots[slot].path, path) != 0)
        slot = (slot + 1) & (resolver->capacity - 1);
    return slot;
}

static void resolver_grow(struct resolver *resolver)
{
    struct resolver larger = {.arena = resolver->arena, .capacity = resolver->capacity * 2};
    larger.slots = arena_array(larger.arena, larger.capacity, sizeof *larger.slots);
    for (uint32_t i = 0; i < resolver->capacity; i++)
        if (resolver->slots[i].path != NULL)
            larger.slots[slot_of(&larger, resolver->slots[i].path)] = resolver->slots[i];
    resolver->slots = larger.slots;
    resolver->capacity = larger.capacity;
}

const struct resolved *resolver_find(struct resolver *resolver, const char *path)
{
    uint32_t slot = slot_of(resolver, path);
    if (resolver->slots[slot].path != NULL)
        return resolver->slots[slot].found;
    if (++resolver->count > resolver->capacity / 2) {
        resolver_grow(resolver);
        slot = slot_of(resolver, path);
    }
    const char *kept = arena_strdup(resolver->arena, path);
    resolver->slots[slot].path = kept;
    resolver->slots[slot].found = link_resolve(resolver->arena, resolver->remote, kept);
    return resolver->slots[slot].found;
}
