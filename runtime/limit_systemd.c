#include "runtime/limit_systemd.h"

#include "runtime/process.h"
#include "runtime/small_file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ASK_SECONDS = 10,
    ARRIVE_MILLISECONDS = 5000,
    LOOK_MILLISECONDS = 5,
    ANSWER_BYTES = 65536,
    WORDS = 48
};

static const char helper_path[] = "/usr/bin/busctl";

struct call {
    const char *words[WORDS];
    int count;
};

static void say(struct call *call, const char *word)
{
    if (call->count < WORDS - 1)
        call->words[call->count++] = word;
}

static void say_property(struct arena *arena, struct call *call, const char *name, const char *type,
                         uint64_t value)
{
    say(call, name);
    say(call, type);
    say(call, arena_format(arena, "%llu", (unsigned long long)value));
}

/* StartTransientUnit(name, mode, properties, no further units). */
static struct call call_make(struct arena *arena, const struct scope *scope, const char *name)
{
    struct call call = {0};
    int properties = 3 + (scope->tasks == 0 ? 0 : 1) + (scope->memory == 0 ? 0 : 2);

    say(&call, "busctl");
    /* The helper's environment is empty, so that it is told where the bus is. */
    say(&call, geteuid() == 0
                   ? "--system"
                   : arena_format(arena, "--address=unix:path=/run/user/%u/bus", (unsigned)geteuid()));
    say(&call, "call");
    say(&call, "org.freedesktop.systemd1");
    say(&call, "/org/freedesktop/systemd1");
    say(&call, "org.freedesktop.systemd1.Manager");
    say(&call, "StartTransientUnit");
    say(&call, "ssa(sv)a(sa(sv))");
    say(&call, name);
    say(&call, "fail");
    say(&call, arena_format(arena, "%d", properties));
    say(&call, "PIDs");
    say(&call, "au");
    say(&call, "1");
    say(&call, arena_format(arena, "%ld", (long)scope->process));
    say(&call, "CollectMode");
    say(&call, "s");
    say(&call, "inactive-or-failed");
    say(&call, "Description");
    say(&call, "s");
    say(&call, "sbx sandbox");
    if (scope->tasks != 0)
        say_property(arena, &call, "TasksMax", "t", scope->tasks);
    if (scope->memory != 0) {
        say_property(arena, &call, "MemoryMax", "t", scope->memory);
        say_property(arena, &call, "MemorySwapMax", "t", 0);
    }
    say(&call, "0");
    return call;
}

/* The path of the process's group of version 2, once it is the scope `name`; else NULL. */
static const char *group_of(struct arena *arena, pid_t process, const char *name)
{
    const char *text = small_file(arena, AT_FDCWD, arena_format(arena, "/proc/%ld/cgroup", (long)process));
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");

    if (line == NULL)
        return NULL;
    line += *line == '\n' ? 4 : 3;
    const char *path = arena_copy(arena, line, strcspn(line, "\n"));
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash + 1, name) == 0 ? path : NULL;
}

static bool limit_holds(struct arena *arena, const char *directory, const char *name, uint64_t limit)
{
    const char *text = small_file(arena, AT_FDCWD, arena_format(arena, "%s/%s", directory, name));
    char *end;
    uint64_t holds = strtoull(text, &end, 10);

    return limit == 0 || (end != text && holds <= limit);
}

bool scope_make(struct arena *arena, const struct cgroup_view *view, struct scope *scope)
{
    const char *name = arena_format(arena, "sbx-%s.scope", scope->id), *error = NULL, *path = NULL;
    struct call call = call_make(arena, scope, name);
    struct buffer answer = buffer_in(arena);
    struct helper helper = {.argv = (char *const *)call.words, .seconds = ASK_SECONDS, .limit = ANSWER_BYTES};
    struct stat running;

    /* A scope beside it would be free of that limit. */
    if (cgroup_own_is_limited(arena, view))
        return false;
    helper.program = open(helper_path, O_RDONLY | O_CLOEXEC);
    if (helper.program < 0)
        return false;
    bool asked = stat("/run/systemd/system", &running) == 0 && helper_run(&helper, &answer, &error) == 0;
    close(helper.program);
    int64_t deadline = now_milliseconds() + ARRIVE_MILLISECONDS;
    while (asked && (path = group_of(arena, scope->process, name)) == NULL && now_milliseconds() < deadline)
        poll(NULL, 0, LOOK_MILLISECONDS);
    scope->path = path == NULL ? NULL : cgroup_directory(arena, view, path);
    return scope->path != NULL && limit_holds(arena, scope->path, "pids.max", scope->tasks) &&
           limit_holds(arena, scope->path, "memory.max", scope->memory);
}
