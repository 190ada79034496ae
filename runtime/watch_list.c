#include "runtime/watch_list.h"

#include "base/vector.h"
#include "runtime/link.h"

#include <stdlib.h>
#include <string.h>

/* Something mounted by the plan, or a link. */
struct item {
    const char *path;
    const struct plan_operation *operation; /* NULL: a link */
    const char *text;
};

struct items {
    struct item *items;
    uint32_t count, capacity;
};

struct maker {
    struct arena *arena;
    struct watch_list list;
    struct {
        const struct item **items; /* the mounts around the current item */
        uint32_t count, capacity;
    } around;
};

static int item_order(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = plan_path_compare(a->path, b->path);
    return order != 0 ? order : (a->operation == NULL) - (b->operation == NULL);
}

static bool is_mount(const struct plan_operation *operation)
{
    return operation->kind != PLAN_SEAL && operation->kind != PLAN_DIRECTORY && operation->kind != PLAN_LINK;
}

static bool shows_host(const struct item *item)
{
    enum plan_kind kind = item->operation->kind;
    return kind == PLAN_BIND_READ || kind == PLAN_BIND_WRITE || kind == PLAN_BIND_DEVICE;
}

/* The index in `around` of the outermost of the host's mounts that lie directly in each other, up to the
 * innermost one; equal to the count if that is none of the host's. */
static uint32_t outermost(const struct maker *maker)
{
    uint32_t top = maker->around.count;
    while (top > 0 && shows_host(maker->around.items[top - 1]))
        top--;
    return top;
}

/* Adds the directories from `top` down to the one that holds `path`. */
static void directories_add(struct maker *maker, const char *top, const char *path)
{
    if (strcmp(top, path) == 0)
        return;
    const char *directory = path_parent(maker->arena, path);
    directories_add(maker, top, directory);
    uint32_t count = maker->list.directories.count;
    /* Paths come in order: what the last one is or lies below is there already. */
    if (count == 0 || !path_covers(directory, maker->list.directories.items[count - 1]))
        VECTOR_PUSH(maker->arena, &maker->list.directories, directory);
}

/* Whether all mounts around the current item, from the index `top` on, only may be read. */
static bool is_closed(const struct maker *maker, uint32_t top)
{
    for (uint32_t i = top; i < maker->around.count; i++)
        if (maker->around.items[i]->operation->kind != PLAN_BIND_READ)
            return false;
    return true;
}

static bool kind_of(const struct item *item, const struct item *around, enum watch_kind *kind)
{
    bool writable = around->operation->kind != PLAN_BIND_READ;
    if (item->operation == NULL) {
        *kind = WATCH_LINK;
        return true;
    }
    switch (item->operation->kind) {
    case PLAN_MASK_DIRECTORY:
        *kind = WATCH_MASK;
        return true;
    case PLAN_MASK_FILE:
        *kind = item->operation->mode == 0 ? WATCH_MASK : WATCH_READ;
        return true;
    case PLAN_BIND_READ:
        *kind = WATCH_READ;
        return writable;
    case PLAN_BIND_WRITE:
        *kind = WATCH_PIN;
        return writable;
    case PLAN_BIND_DEVICE:
    case PLAN_SCRATCH:
    case PLAN_DIRECTORY:
    case PLAN_LINK:
    case PLAN_DEV:
    case PLAN_PROC:
    case PLAN_SEAL:
        break;
    }
    return false;
}

static void item_take(struct maker *maker, const struct item *item)
{
    while (maker->around.count > 0 &&
           !path_covers(maker->around.items[maker->around.count - 1]->path, item->path))
        maker->around.count--;
    uint32_t top = outermost(maker);
    if (top < maker->around.count) {
        const struct item *around = maker->around.items[maker->around.count - 1];
        struct watch_place place = {.path = item->path, .text = item->text};
        if (kind_of(item, around, &place.kind)) {
            place.directory = item->operation != NULL && item->operation->kind == PLAN_MASK_DIRECTORY;
            place.closed = is_closed(maker, top);
            directories_add(maker, maker->around.items[top]->path, item->path);
            VECTOR_PUSH(maker->arena, &maker->list, place);
        }
    }
    if (item->operation != NULL)
        VECTOR_PUSH(maker->arena, &maker->around, item);
}

struct watch_list watch_list_make(struct arena *arena, const struct plan *plan, const struct facts *facts)
{
    struct maker maker = {.arena = arena};
    struct items items = {0};

    for (uint32_t i = 0; i < plan->count; i++)
        if (is_mount(&plan->items[i]))
            VECTOR_PUSH(arena, &items,
                        (struct item){.path = plan->items[i].path, .operation = &plan->items[i]});
    for (uint32_t i = 0; i < facts->relied_link_count; i++)
        VECTOR_PUSH(
            arena, &items,
            (struct item){.path = facts->relied_links[i].path, .text = facts->relied_links[i].target});
    if (items.count > 0)
        qsort(items.items, items.count, sizeof *items.items, item_order);
    for (uint32_t i = 0; i < items.count; i++)
        item_take(&maker, &items.items[i]);
    return maker.list;
}
