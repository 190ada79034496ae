/* socket.c - covers the host's Unix sockets that the command could otherwise reach, and shows those that
 * are granted. */
#include "runtime/findings.h"
#include "runtime/gather.h"
#include "runtime/mount_table.h"
#include "runtime/socket_list.h"

#include "base/escape.h"
#include "base/vector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sockets {
    struct gather *gather;
    struct path_vector found;       /* canonical paths of sockets */
    struct host_socket_list sought; /* sockets that are not where their names say */
    struct mount_table mounts;
    struct findings seen; /* of the walk in hand */
};

/* Devices are compared as the mount table names them: what stat(2) says differs on btrfs. */
static bool is_same(const struct sockets *sockets, const struct host_socket *socket,
                    const struct resolved *leads)
{
    const struct mount_entry *mount = mount_table_find(&sockets->mounts, leads->path);
    return leads->socket && (uint32_t)leads->inode == socket->inode && mount != NULL &&
           mount->device == socket->device;
}

/* A socket with further hard links may be in reach by those. */
static void socket_locate(struct sockets *sockets, const struct host_socket *socket)
{
    struct gather *gather = sockets->gather;
    const struct resolved *leads =
        socket->path[0] == '/' ? resolver_find(gather->resolver, socket->path) : NULL;
    if (leads != NULL && leads->socket)
        VECTOR_PUSH(gather->arena, &sockets->found, leads->path);
    if (leads == NULL || !is_same(sockets, socket, leads) || leads->hard_links > 1)
        VECTOR_PUSH(gather->arena, &sockets->sought, *socket);
}

static bool is_sought_on(const struct sockets *sockets, const struct mount_entry *mount)
{
    for (uint32_t i = 0; mount != NULL && i < sockets->sought.count; i++)
        if (sockets->sought.items[i].device == mount->device)
            return true;
    return mount == NULL;
}

static enum tree_answer socket_visit(void *context, const struct tree_entry *entry)
{
    struct sockets *sockets = context;
    if (entry->type == DT_SOCK &&
        !findings_add(&sockets->seen, entry->path, (struct finding){.type = entry->type}))
        return TREE_FAIL;
    if (entry->type != DT_DIR || gather_level(sockets->gather, entry->path) == LEVEL_NONE)
        return TREE_SKIP;
    /* What is mounted below is a start of its own if a sought socket can be there. */
    return mount_table_has(&sockets->mounts, entry->path) ? TREE_SKIP : TREE_DESCEND;
}

static bool socket_closed(void *context, const char *path, const void *state, int error)
{
    struct sockets *sockets = context;
    (void)state;
    return findings_add(&sockets->seen, path, (struct finding){.type = DT_DIR, .error = error});
}

/* Names in a directory that can be searched but not listed may be known to the command. */
static void directory_cover(struct gather *gather, const char *path, int error)
{
    if (error == EACCES && access(path, X_OK) != 0)
        return;
    struct arena *arena = gather->notes->arena;
    note_add(
        gather->notes,
        (struct note){
            .code = SBX458_DIRECTORY_DENIED_WHOLE,
            .text = arena_format(arena, "%s is covered whole: it may hold sockets and cannot be listed (%s)",
                                 escape_string(arena, path), strerror(error)),
        });
    struct plan_place place = {
        .path = arena_strdup(gather->arena, path),
        .level = LEVEL_NONE,
        .kind = ENTRY_DIRECTORY,
    };
    VECTOR_PUSH(gather->arena, &gather->places, place);
}

static bool walk_from(struct sockets *sockets, struct tree_walk *walk, const char *start)
{
    static const struct walk_purpose purpose = {
        .what = "a host socket is not where its name says, and would have to be looked for",
        .help = "leave out scratch and socket grants, or grant less",
    };
    struct gather *gather = sockets->gather;
    const struct resolved *leads = resolver_find(gather->resolver, start);
    if (leads->kind != ENTRY_DIRECTORY || leads->link_count > 0 || leads->process)
        return true;
    findings_begin(&sockets->seen);
    bool walked = gather_walk(gather, walk, start, NULL, &purpose);
    findings_sort(&sockets->seen);
    for (size_t i = 0; walked && i < sockets->seen.count; i++) {
        const struct finding *seen = &sockets->seen.items[i];
        if (seen->error != 0)
            directory_cover(gather, seen->path, seen->error);
        else
            VECTOR_PUSH(gather->arena, &sockets->found, arena_strdup(gather->arena, seen->path));
    }
    findings_end(&sockets->seen);
    return walked;
}

/* Walks what is granted on each file system that holds a sought socket. */
static bool sought_find(struct sockets *sockets)
{
    struct gather *gather = sockets->gather;
    struct tree_walk walk = {
        .context = sockets,
        .visit = socket_visit,
        .closed = socket_closed,
    };
    struct region_list regions = bound_regions(gather->arena, gather->bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++) {
        const char *path = regions.items[i].path;
        if (path[0] != '/' || regions.items[i].level == LEVEL_NONE ||
            gather_level(gather, path_parent(gather->arena, path)) > LEVEL_NONE)
            continue;
        if (is_sought_on(sockets, mount_table_find(&sockets->mounts, path)) &&
            !walk_from(sockets, &walk, path))
            return false;
    }
    for (uint32_t i = 0; i < sockets->mounts.count; i++) {
        const struct mount_entry *mount = &sockets->mounts.items[i];
        if (is_sought_on(sockets, mount) && gather_level(gather, mount->path) > LEVEL_NONE &&
            gather_level(gather, path_parent(gather->arena, mount->path)) > LEVEL_NONE &&
            !walk_from(sockets, &walk, mount->path))
            return false;
    }
    return true;
}

static void granted_find(struct sockets *sockets)
{
    struct gather *gather = sockets->gather;
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        if (rule->dropped || rule->rule->kind != RULE_GRANT_SOCKET || rule->at.path[0] != '/')
            continue;
        const struct resolved *leads = resolver_find(gather->resolver, rule->at.path);
        if (leads->socket)
            VECTOR_PUSH(gather->arena, &sockets->found, leads->path);
    }
}

static int path_order(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static void socket_judge(struct gather *gather, struct path_vector *masked, const char *path)
{
    struct plan_place place = {.path = path, .level = gather_level(gather, path), .kind = ENTRY_OTHER};
    if (bound_socket(gather->bound, path, strlen(path))) {
        place.socket = true;
    } else if (place.level > LEVEL_NONE) {
        place.level = LEVEL_NONE;
        VECTOR_PUSH(gather->arena, masked, path);
    } else {
        return;
    }
    VECTOR_PUSH(gather->arena, &gather->places, place);
}

static int place_order(const void *left, const void *right)
{
    return plan_path_compare(((const struct plan_place *)left)->path,
                             ((const struct plan_place *)right)->path);
}

/* A path may be a place of the policy already: what is lower holds. */
static void places_unite(struct gather *gather)
{
    if (gather->places.count == 0)
        return;
    qsort(gather->places.items, gather->places.count, sizeof *gather->places.items, place_order);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < gather->places.count; i++) {
        const struct plan_place *next = &gather->places.items[i];
        struct plan_place *last = &gather->places.items[kept];
        if (strcmp(last->path, next->path) != 0) {
            gather->places.items[++kept] = *next;
            continue;
        }
        last->socket = last->socket || next->socket;
        last->level = next->level < last->level ? next->level : last->level;
    }
    gather->places.count = kept + 1;
}

static void unlisted_note(struct gather *gather, const char *what)
{
    struct arena *arena = gather->notes->arena;
    note_add(gather->notes, (struct note){
                                .code = SBX460_SOCKETS_UNKNOWN,
                                .text = arena_format(arena, "%s: %s", what, strerror(errno)),
                                .help = "leave out scratch and socket grants",
                            });
}

void gather_sockets(struct gather *gather)
{
    struct sockets sockets = {.gather = gather};
    struct host_socket_list listed = {0};
    if (!host_sockets_list(gather->arena, &listed)) {
        unlisted_note(gather, "the kernel does not list the host's Unix sockets");
        return;
    }
    if (!mount_table_read(gather->arena, &sockets.mounts)) {
        unlisted_note(gather, "the mount table cannot be read");
        return;
    }
    for (uint32_t i = 0; i < listed.count; i++)
        socket_locate(&sockets, &listed.items[i]);
    if (sockets.sought.count > 0 && !sought_find(&sockets))
        return;
    granted_find(&sockets);

    struct path_vector masked = {0};
    if (sockets.found.count > 0)
        qsort(sockets.found.items, sockets.found.count, sizeof *sockets.found.items, path_order);
    for (uint32_t i = 0; i < sockets.found.count; i++)
        if (i == 0 || strcmp(sockets.found.items[i - 1], sockets.found.items[i]) != 0)
            socket_judge(gather, &masked, sockets.found.items[i]);
    places_unite(gather);
    gather->facts->masked_sockets = masked.items;
    gather->facts->masked_socket_count = masked.count;
}
