#include "runtime/limit_group.h"

#include "base/escape.h"
#include "runtime/launch_steps.h"
#include "runtime/limit_systemd.h"
#include "runtime/report.h"
#include "runtime/small_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = 4 };

static const enum control controls[CGROUP_CONTROLLERS] = {CONTROL_LIMIT_PROCESSES, CONTROL_LIMIT_MEMORY};

static const char *proc_text(struct arena *arena, pid_t process, const char *name)
{
    return small_file(arena, AT_FDCWD, arena_format(arena, "/proc/%ld/%s", (long)process, name));
}

static bool is_process_one(struct arena *arena, pid_t process)
{
    const char *line = strstr(proc_text(arena, process, "status"), "\nNSpid:");

    if (line == NULL)
        return false;
    /* One number for each namespace, the innermost last. */
    size_t length = strcspn(line + 1, "\n");
    return length > 2 && strncmp(line + 1 + length - 2, "\t1", 2) == 0 && process != 1;
}

/* Process 1 of the sandbox, by its number here: `from` or one of those that come from it. 0 if it is not
 * found. */
static pid_t process_one(struct arena *arena, pid_t from, int levels)
{
    const char *at = proc_text(arena, from, arena_format(arena, "task/%ld/children", (long)from));
    pid_t found = is_process_one(arena, from) ? from : 0;
    char *end;

    for (long child; found == 0 && levels > 0 && (child = strtol(at, &end, 10)) > 0; at = end)
        found = process_one(arena, (pid_t)child, levels - 1);
    return found;
}

static bool lies_below(const char *path, const char *above)
{
    size_t length = strlen(above);

    return strncmp(path, above, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* What of the control groups the command could write, and so leave its own; NULL if nothing. */
static const char *way_out(const struct launch *launch, const struct cgroup_view *view)
{
    for (const char *const *point = cgroup_mounts(launch->arena, view); *point != NULL; point++) {
        if (bound_level(launch->prepared.bound, *point, strlen(*point)) == LEVEL_WRITE)
            return *point;
        for (uint32_t i = 0; i < launch->facts.place_count; i++) {
            const struct plan_place *place = &launch->facts.places[i];
            if (place->level == LEVEL_WRITE && lies_below(place->path, *point))
                return place->path;
        }
    }
    return NULL;
}

/* The group of this launch in that place, made if there is none yet. */
static struct cgroup *group_in(struct launch *launch, const struct cgroup_place *place, const char **why)
{
    struct limit_groups *groups = &launch->groups;

    for (uint32_t i = 0; i < groups->count; i++)
        if (lies_below(groups->items[i].path, place->parent))
            return &groups->items[i];
    struct cgroup *group = &groups->items[groups->count];
    if (!cgroup_make(launch->arena, place, launch->lease.id, group, why))
        return NULL;
    groups->count++;
    return group;
}

static bool limit_tasks(struct launch *launch, const struct cgroup *group, uint64_t limit, const char **why)
{
    /* Process 1 is a task too. */
    if (!cgroup_limit_tasks(launch->arena, group, limit + 1, why))
        return false;
    launch->groups.held[CGROUP_PIDS] =
        arena_format(launch->arena, "pids.max %llu, process 1 included, in %s (control groups version %d)",
                     (unsigned long long)limit + 1, group->path, group->version);
    return true;
}

static bool limit_memory(struct launch *launch, const struct cgroup *group, uint64_t limit, const char **why)
{
    if (!cgroup_limit_memory(launch->arena, group, limit, why))
        return false;
    launch->groups.held[CGROUP_MEMORY] = arena_format(
        launch->arena, "%llu bytes of memory, and no swap beyond, in %s (control groups version %d)",
        (unsigned long long)limit, group->path, group->version);
    return true;
}

/* The process to put into a group, by its number here. Without namespaces the stage inside knows it. */
static pid_t first_inside(const struct launch *launch)
{
    return launch->alone ? (pid_t)launch->evidence.process_id
                         : process_one(launch->arena, launch->sandbox.process, LEVELS);
}

/* Puts process 1 into a limited group of the launcher's own. */
static bool hold(struct launch *launch, const struct cgroup_view *view, enum cgroup_controller controller,
                 uint64_t limit, const char **why)
{
    struct cgroup_place place;

    if (!cgroup_find(launch->arena, view, controller, &place, why))
        return false;
    pid_t process = first_inside(launch);
    struct cgroup *group = group_in(launch, &place, why);
    if (group == NULL)
        return false;
    if (process == 0) {
        *why = "process 1 of the sandbox is not found in /proc";
        return false;
    }
    return (controller == CGROUP_PIDS ? limit_tasks : limit_memory)(launch, group, limit, why) &&
           cgroup_enter(launch->arena, group, process, why);
}

static bool hold_by_systemd(struct launch *launch, const struct cgroup_view *view,
                            const uint64_t limits[CGROUP_CONTROLLERS])
{
    struct scope scope = {.id = launch->lease.id,
                          .process = first_inside(launch),
                          .tasks = limits[CGROUP_PIDS] == 0 ? 0 : limits[CGROUP_PIDS] + 1,
                          .memory = limits[CGROUP_MEMORY]};

    if (scope.process == 0 || !scope_make(launch->arena, view, &scope))
        return false;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        if (limits[i] != 0)
            launch->groups.held[i] =
                arena_format(launch->arena, "%s %llu in %s, a scope of systemd",
                             i == CGROUP_PIDS ? "pids.max" : "memory.max",
                             (unsigned long long)(i == CGROUP_PIDS ? scope.tasks : limits[i]), scope.path);
    return true;
}

/* One that is not held: an error, or the policy's own exception. */
static bool give_up(struct launch *launch, enum cgroup_controller controller, const char *why)
{
    enum control control = controls[controller];
    const struct control_entry entry = {
        .strength = STRENGTH_UNENFORCEABLE,
        .reason = why,
        .instead = "start the launcher where it may make control groups: as root, in a unit of systemd with "
                   "Delegate=yes, or in a session of systemd with busctl installed",
    };

    launch->groups.held[controller] = NULL;
    return control_check(
        launch->prepared.bound, launch->alone ? CONTROL_TARGET_LANDLOCK : CONTROL_TARGET_BWRAP,
        "this machine", control, &launch->needs[control], &entry, &launch->accepted[control], &launch->notes);
}

bool step_groups(struct launch *launch)
{
    const struct bound_policy *bound = launch->prepared.bound;
    uint64_t limits[CGROUP_CONTROLLERS] = {bound_limit(bound, RULE_LIMIT_PROCESSES),
                                           bound_limit(bound, RULE_LIMIT_MEMORY)};
    const char *why[CGROUP_CONTROLLERS] = {NULL};
    bool all = true;

    if (launch->evidence.processes != 0)
        limits[CGROUP_PIDS] = 0;
    if (limits[CGROUP_PIDS] == 0 && limits[CGROUP_MEMORY] == 0)
        return true;
    struct cgroup_view view = cgroup_view_read(launch->arena);
    const char *out = way_out(launch, &view);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (limits[i] == 0)
            continue;
        if (out != NULL)
            why[i] = arena_format(launch->arena,
                                  "the policy lets the command write %s, and so leave its control group",
                                  escape_string(launch->arena, out));
        else
            hold(launch, &view, (enum cgroup_controller)i, limits[i], &why[i]);
        all = all && why[i] == NULL;
    }
    if (all || (out == NULL && hold_by_systemd(launch, &view, limits)))
        return true;
    all = true;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        all = (why[i] == NULL || give_up(launch, (enum cgroup_controller)i, why[i])) && all;
    return all;
}

void groups_end(struct launch *launch)
{
    uint64_t refused = 0, killed = 0;

    for (uint32_t i = 0; i < launch->groups.count; i++) {
        refused += cgroup_refused(launch->arena, &launch->groups.items[i]);
        killed += cgroup_killed(launch->arena, &launch->groups.items[i]);
        cgroup_remove(&launch->groups.items[i]);
    }
    launch->groups.count = 0;
    if (refused > 0)
        lease_event(launch->arena, &launch->lease, "limit.processes",
                    arena_format(launch->arena, "refused %llu", (unsigned long long)refused));
    if (killed == 0)
        return;
    lease_event(launch->arena, &launch->lease, "limit.memory",
                arena_format(launch->arena, "killed %llu", (unsigned long long)killed));
    report_line(launch->arena, "the memory (limit memory) was used up; processes killed: %llu",
                (unsigned long long)killed);
}
