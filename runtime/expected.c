#include "runtime/expected.h"

#include <stdlib.h>
#include <string.h>

static const char *source_of(const struct plan_operation *operation)
{
    return operation->source != NULL ? operation->source : operation->path;
}

static bool mounts_at(const struct plan_operation *operation, struct expected_mount *mount)
{
    *mount = (struct expected_mount){
        .path = operation->path, .expectation = MOUNT_READ_ONLY, .optional = operation->optional};
    switch (operation->kind) {
    case PLAN_BIND_READ:
        mount->source = source_of(operation);
        return true;
    case PLAN_MASK_FILE:
        return true;
    case PLAN_MASK_DIRECTORY:
        mount->type = "tmpfs";
        return true;
    case PLAN_BIND_WRITE:
    case PLAN_BIND_DEVICE:
        mount->expectation = MOUNT_WRITABLE;
        mount->source = source_of(operation);
        return true;
    case PLAN_SCRATCH:
        mount->expectation = MOUNT_WRITABLE;
        mount->type = "tmpfs";
        return true;
    case PLAN_DEV:
        mount->expectation = MOUNT_DEVICES;
        mount->type = "tmpfs";
        return true;
    case PLAN_PROC:
        mount->expectation = MOUNT_WRITABLE;
        mount->type = "proc";
        return true;
    case PLAN_SEAL:
    case PLAN_DIRECTORY:
    case PLAN_LINK:
        break;
    }
    return false;
}

struct placed {
    struct expected_mount mount;
    uint32_t order;
};

static int placed_order(const void *a, const void *b)
{
    const struct placed *first = a, *second = b;
    int order = strcmp(first->mount.path, second->mount.path);

    return order != 0 ? order : first->order < second->order ? -1 : 1;
}

struct expected_mount *mounts_expected(struct arena *arena, const struct plan *plan, uint32_t *count)
{
    struct placed *placed = arena_array(arena, (size_t)plan->count + 1, sizeof *placed);
    uint32_t made = 0;

    /* The root itself: an empty directory of its own, sealed at the end. */
    placed[made++].mount =
        (struct expected_mount){.path = "/", .expectation = MOUNT_READ_ONLY, .type = "tmpfs"};
    for (uint32_t i = 0; i < plan->count; i++)
        if (mounts_at(&plan->items[i], &placed[made].mount)) {
            placed[made].order = made;
            made++;
        }
    qsort(placed, made, sizeof *placed, placed_order);

    struct expected_mount *mounts = arena_array(arena, made, sizeof *mounts);
    *count = 0;
    for (uint32_t i = 0; i < made; i++)
        if (i + 1 == made || strcmp(placed[i].mount.path, placed[i + 1].mount.path) != 0)
            mounts[(*count)++] = placed[i].mount;
    return mounts;
}

static int path_order(const void *path, const void *mount)
{
    return strcmp(path, ((const struct expected_mount *)mount)->path);
}

const struct expected_mount *mount_expected_at(const struct expected_mount *mounts, uint32_t count,
                                               const char *path)
{
    return count == 0 ? NULL : bsearch(path, mounts, count, sizeof *mounts, path_order);
}

const char *mounts_identify(struct arena *arena, struct resolver *seen, struct expected_mount *mounts,
                            uint32_t count)
{
    struct resolver *now = resolver_create(arena);

    for (uint32_t i = 0; i < count; i++) {
        struct expected_mount *mount = &mounts[i];
        if (mount->source == NULL)
            continue;
        const struct resolved *found = resolver_find(seen, mount->source);
        if (found->kind == ENTRY_MISSING)
            found = resolver_find(now, mount->source);
        /* procfs is not looked into, and nobody can replace what is in it. */
        if (found->process)
            continue;
        if (found->kind == ENTRY_MISSING || found->kind == ENTRY_UNKNOWN || found->link_count > 0)
            return mount->source;
        mount->known = true;
        mount->device = found->device;
        mount->inode = found->inode;
    }
    return NULL;
}
