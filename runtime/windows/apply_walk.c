/* apply_walk.c - see apply_walk.h. */
#include "runtime/windows/apply_walk.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

/* Directories that are still to be listed: a stack of its own, since a tree may be as deep as a path is
 * long. */
struct pending {
    const char **items;
    uint32_t count, capacity;
};

static bool walk_refuse(const struct place_walk *walk, const char *path, const char *what, uint32_t error)
{
    return place_refuse(walk->applying, SBX483_PLACE_UNFIT, walk->said, "%s below it cannot be %s (error %u)",
                        escape_windows(walk->applying->apply->arena, path), what, (unsigned)error);
}

static const char *path_below(struct arena *arena, const char *directory, const char *name)
{
    size_t length = strlen(directory);
    return arena_format(arena, "%s%s%s", directory, directory[length - 1] == '\\' ? "" : "\\", name);
}

static bool entry_visit(const struct place_walk *walk, struct pending *pending, const char *path)
{
    const struct acl_operations *acl = walk->applying->apply->acl;
    struct arena *arena = walk->applying->apply->arena;
    struct acl_object *object;
    struct acl_identity is;
    uint32_t error = acl->open(acl, arena, path, 0, &object);
    if (error == ACL_MISSING)
        return true;
    if (error != ACL_OK)
        return walk_refuse(walk, path, "looked at", error);
    error = acl->identify(acl, arena, object, &is);
    enum walk_answer answer = WALK_FAIL;
    if (error == ACL_OK)
        answer = walk->visit(walk->context, &(struct walk_entry){path, object, &is});
    acl->close(acl, object);
    if (error != ACL_OK)
        return walk_refuse(walk, path, "looked at", error);
    if (answer == WALK_ON && is.directory && !is.link)
        VECTOR_PUSH(arena, pending, path);
    return answer != WALK_FAIL;
}

/* A directory that was exchanged for a link since it was visited is not gone into. */
static bool directory_list(const struct place_walk *walk, const char *path, struct acl_names *names)
{
    const struct acl_operations *acl = walk->applying->apply->acl;
    struct arena *arena = walk->applying->apply->arena;
    struct acl_object *object;
    struct acl_identity is;
    uint32_t error = acl->open(acl, arena, path, ACL_LIST, &object);
    if (error == ACL_MISSING)
        return true;
    if (error != ACL_OK)
        return walk_refuse(walk, path, "listed", error);
    error = acl->identify(acl, arena, object, &is);
    if (error == ACL_OK && is.directory && !is.link)
        error = acl->list(acl, arena, object, names);
    acl->close(acl, object);
    return error == ACL_OK || walk_refuse(walk, path, "listed", error);
}

bool place_walk_run(const struct place_walk *walk, const char *top)
{
    struct arena *arena = walk->applying->apply->arena;
    struct pending pending = {0};
    VECTOR_PUSH(arena, &pending, top);
    while (pending.count > 0) {
        const char *directory = pending.items[--pending.count];
        struct acl_names names = {0};
        if (!directory_list(walk, directory, &names))
            return false;
        for (uint32_t i = 0; i < names.count; i++) {
            walk->applying->entries++;
            if (!place_in_time(walk->applying, walk->said) ||
                !entry_visit(walk, &pending, path_below(arena, directory, names.items[i])))
                return false;
        }
    }
    return true;
}
