#include "runtime/bwrap_ground.h"

#include "base/vector.h"
#include "runtime/link.h"
#include "runtime/mount_table.h"
#include "runtime/native_confine.h"
#include "runtime/remote.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

struct paths {
    const char **items;
    uint32_t count, capacity;
};

struct bwrap_ground {
    struct arena *arena;
    struct paths writable; /* the tops of what the command may write */
    struct paths closed;   /* mounts that become read-only */
    uid_t user;
    gid_t group;
};

static bool is_covered(const struct paths *tops, const char *path)
{
    for (uint32_t i = 0; i < tops->count; i++)
        if (path_covers(tops->items[i], path))
            return true;
    return false;
}

static void writable_find(struct arena *arena, const struct plan *plan, struct paths *tops)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_operation *operation = &plan->items[i];
        bool binds = operation->kind == PLAN_BIND_WRITE || operation->kind == PLAN_BIND_DEVICE;
        if (binds && !is_covered(tops, operation->path))
            VECTOR_PUSH(arena, tops, operation->path);
    }
}

/* Whether bubblewrap mounts something inside what can be changed while it does so. */
static bool reaches_into(const struct plan *plan, const struct paths *tops)
{
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t j = 0; j < tops->count; j++)
            if (strcmp(tops->items[j], plan->items[i].path) != 0 &&
                path_covers(tops->items[j], plan->items[i].path))
                return true;
    return false;
}

static bool holds_a_place(const struct plan *plan, const char *mount)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (path_covers(mount, plan->items[i].path))
            return true;
    return false;
}

/* Nothing can be created in a procfs, and bubblewrap writes its maps there. What is not local may not
 * answer, and is left alone unless a place of the plan, which did answer, lies in it. */
static bool is_to_close(const struct plan *plan, const struct mount_entry *mount)
{
    return !mount->read_only && strcmp(mount->type, "proc") != 0 &&
           (!remote_type(mount->type) || holds_a_place(plan, mount->path));
}

struct bwrap_ground *ground_prepare(struct arena *arena, const struct plan *plan)
{
    struct bwrap_ground *ground = arena_alloc(arena, sizeof *ground);
    struct mount_table table = {0};

    writable_find(arena, plan, &ground->writable);
    if (!reaches_into(plan, &ground->writable) || !mount_table_read(arena, &table))
        return NULL;
    for (uint32_t i = 0; i < table.count; i++)
        if (is_to_close(plan, &table.items[i]) && !is_covered(&ground->writable, table.items[i].path))
            VECTOR_PUSH(arena, &ground->closed, table.items[i].path);
    ground->arena = arena;
    ground->user = geteuid();
    ground->group = getegid();
    return ground;
}

/* What a mount forbids already must be said again. */
static unsigned long flags_of(const struct statvfs *status)
{
    static const struct {
        unsigned long status, mount;
    } flags[] = {
        {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
        {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME},
    };
    unsigned long found = 0;

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if ((status->f_flag & flags[i].status) != 0)
            found |= flags[i].mount;
    return found;
}

/* A mount that another one covers cannot be reached, by bubblewrap neither. */
static void mount_close(const char *path)
{
    struct statvfs status;

    if (statvfs(path, &status) == 0)
        (void)!mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags_of(&status), NULL);
}

static bool ground_make(const struct bwrap_ground *ground)
{
    if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) != 0)
        return false;
    /* A mount of its own each, which stays writable when the one around it does not. */
    for (uint32_t i = 0; i < ground->writable.count; i++)
        if (mount(ground->writable.items[i], ground->writable.items[i], NULL, MS_BIND | MS_REC, NULL) != 0)
            return false;
    for (uint32_t i = 0; i < ground->closed.count; i++)
        mount_close(ground->closed.items[i]);
    return true;
}

static bool user_enter(void)
{
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
}

static bool ground_make_as_user(const struct bwrap_ground *ground)
{
    struct native_problem unheard = {.arena = ground->arena};

    return native_map_user(&unheard, ground->user, ground->group) && ground_make(ground);
}

/* Tried in a process of its own, since there is no way back: a security module may let a namespace be made
 * in which nothing is allowed, and bubblewrap must be able to make its own in it. */
static bool works_as_user(const struct bwrap_ground *ground)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(user_enter() && ground_make_as_user(ground) && unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && status == 0;
}

bool ground_enter(const struct bwrap_ground *ground)
{
    if (ground == NULL)
        return true;
    if (unshare(CLONE_NEWNS) == 0)
        return ground_make(ground);
    return !works_as_user(ground) || !user_enter() || ground_make_as_user(ground);
}
