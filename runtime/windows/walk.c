#include "runtime/windows/walk.h"

#include "base/vector.h"

void walk_push(struct walk *walk, const char *path, const void *carried)
{
    struct walk_directory directory = {arena_strdup(walk->arena, path), carried};
    VECTOR_PUSH(walk->arena, &walk->todo, directory);
}

/* Nothing of what others do meanwhile may lead out of `root`. */
static const char *visit(struct walk *walk, struct arena *arena, const char *root,
                         const struct walk_directory *next)
{
    const struct acl_operations *acl = walk->acl;
    struct acl_object *directory;
    struct acl_identity identity;
    struct acl_names names = {0};
    const char *stop = NULL;
    uint32_t code = acl->open(acl, arena, next->path, ACL_LIST, &directory);
    if (code != ACL_OK)
        return code == ACL_MISSING ? NULL : walk->closed(walk->context, next->path, next->carried, code);
    code = acl->identify(acl, arena, directory, &identity);
    if (code == ACL_OK)
        code = acl->list(acl, arena, directory, &names);
    if (code != ACL_OK)
        stop = walk->closed(walk->context, next->path, next->carried, code);
    else if (acl_path_covers(root, identity.path))
        stop = walk->visit(walk->context, arena, directory, &identity, next->carried, &names);
    acl->close(acl, directory);
    /* cppcheck-suppress returnDanglingLifetime */
    return stop;
}

const char *walk_run(struct walk *walk, const char *path, const void *carried)
{
    const char *stop = NULL;
    walk_push(walk, path, carried);
    while (walk->todo.count > 0 && stop == NULL) {
        struct walk_directory next = walk->todo.items[--walk->todo.count];
        struct arena *arena = arena_child(walk->arena);
        stop = visit(walk, arena, path, &next);
        arena_destroy(arena);
    }
    walk->todo.count = 0;
    return stop;
}
