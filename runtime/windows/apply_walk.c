/* apply_walk.c - see apply_walk.h. */
#include "runtime/windows/apply_walk.h"

#include "runtime/windows/walk.h"

#include "base/escape.h"

#include <string.h>

static const char failed[] = "";

struct looking {
    const struct place_walk *for_whom;
    struct walk walk;
};

static const char *looking_fail(const struct looking *looking, const char *path, const char *what,
                                uint32_t error)
{
    const struct place_walk *walk = looking->for_whom;
    place_refuse(walk->applying, SBX483_PLACE_UNFIT, walk->said, "%s below it cannot be %s (error %u)",
                 escape_windows(walk->applying->apply->arena, path), what, (unsigned)error);
    return failed;
}

/* A directory on the way is another one by now, or the entry was moved. */
static const char *looking_replaced(const struct looking *looking, const char *path, const char *now)
{
    const struct place_walk *walk = looking->for_whom;
    struct arena *arena = walk->applying->apply->arena;
    place_refuse(walk->applying, SBX483_PLACE_UNFIT, walk->said,
                 "%s below it was replaced while it was looked at, and leads to %s",
                 escape_windows(arena, path), escape_windows(arena, now));
    return failed;
}

static bool is_left_out(const struct looking *looking, uint32_t error)
{
    return error == ACL_DENIED && looking->for_whom->refused_is_closed;
}

static const char *entry_look(struct looking *looking, struct arena *arena, const char *path)
{
    const struct acl_operations *acl = looking->walk.acl;
    struct acl_object *object;
    struct acl_identity is;
    uint32_t error = acl->open(acl, arena, path, 0, &object);
    if (error == ACL_MISSING || is_left_out(looking, error))
        return NULL;
    if (error != ACL_OK)
        return looking_fail(looking, path, "looked at", error);
    error = acl->identify(acl, arena, object, &is);
    bool elsewhere = error == ACL_OK && !windows_path_equal(is.path, path);
    enum walk_answer answer = WALK_NOT_BELOW;
    if (error == ACL_OK && !elsewhere)
        answer = looking->for_whom->visit(looking->for_whom->context,
                                          &(struct walk_entry){path, object, &is, arena});
    acl->close(acl, object);
    if (error != ACL_OK)
        return looking_fail(looking, path, "looked at", error);
    if (elsewhere)
        return looking_replaced(looking, path, is.path);
    if (answer == WALK_ON && is.directory)
        walk_push(&looking->walk, path, NULL);
    return answer != WALK_FAIL ? NULL : failed;
}

static const char *path_below(struct arena *arena, const char *directory, const char *name)
{
    size_t length = strlen(directory);
    return arena_format(arena, "%s%s%s", directory, directory[length - 1] == '\\' ? "" : "\\", name);
}

static const char *directory_visit(void *context, struct arena *arena, struct acl_object *directory,
                                   const struct acl_identity *identity, const void *carried,
                                   const struct acl_names *names)
{
    struct looking *looking = context;
    struct applying *applying = looking->for_whom->applying;
    const char *stop = NULL;
    (void)directory;
    (void)carried;
    for (uint32_t i = 0; i < names->count && stop == NULL; i++) {
        applying->entries++;
        stop = place_in_time(applying, looking->for_whom->said)
                   ? entry_look(looking, arena, path_below(arena, identity->path, names->items[i]))
                   : failed;
    }
    return stop;
}

static const char *directory_closed(void *context, const char *path, const void *carried, uint32_t code)
{
    (void)carried;
    return is_left_out(context, code) ? NULL : looking_fail(context, path, "listed", code);
}

bool place_walk_run(const struct place_walk *walk, const char *top)
{
    struct looking looking = {
        .for_whom = walk,
        .walk =
            {
                .acl = walk->applying->apply->acl,
                .arena = walk->applying->apply->arena,
                .visit = directory_visit,
                .closed = directory_closed,
                .context = &looking,
            },
    };
    return walk_run(&looking.walk, top, NULL) == NULL;
}
