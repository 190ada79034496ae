#include "runtime/expected.h"

#include "base/vector.h"

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

struct expected_mount *mounts_expected(struct arena *arena, const struct plan *plan, uint32_t *count)
{
    struct {
        struct expected_mount *items;
        uint32_t count, capacity;
    } mounts = {0};

    /* The root itself: an empty directory of its own, sealed at the end. */
    VECTOR_PUSH(arena, &mounts,
                (struct expected_mount){.path = "/", .expectation = MOUNT_READ_ONLY, .type = "tmpfs"});
    for (uint32_t i = 0; i < plan->count; i++) {
        struct expected_mount mount;
        uint32_t at = 0;
        if (!mounts_at(&plan->items[i], &mount))
            continue;
        while (at < mounts.count && strcmp(mounts.items[at].path, mount.path) != 0)
            at++;
        if (at < mounts.count)
            mounts.items[at] = mount;
        else
            VECTOR_PUSH(arena, &mounts, mount);
    }
    *count = mounts.count;
    return mounts.items;
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
