#include "runtime/watch.h"

#include "base/escape.h"
#include "base/measure.h"
#include "runtime/evidence.h"
#include "runtime/link.h"
#include "runtime/pass.h"
#include "runtime/process.h"
#include "runtime/turn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORTEST_TURN = 100 * 1000 }; /* nanoseconds, the least that the kernel takes */

/* struct sched_attr, whose header cannot be had beside sched.h. */
struct turns {
    uint32_t size, policy; /* 0: SCHED_OTHER */
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn, deadline, period;
};

/* Asks the scheduler for short turns: since Linux 6.12 such a process goes before one that is using up a
 * longer one as soon as there is something for it to do. Elsewhere this changes nothing. */
static void turns_shorten(void)
{
    struct turns wish = {.size = sizeof wish, .turn = SHORTEST_TURN};
    syscall(SYS_sched_setattr, 0, &wish, 0);
}

SBX_NORETURN static void become_keeper(struct arena *arena, const struct watch *watch, int socket,
                                       pid_t launcher)
{
    arena_on_exhausted(arena, NULL);
    descriptors_close(0, &socket, 1);
    setsid();
    if (prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == launcher) {
        prctl(PR_SET_NAME, "sbx-keeper");
        turns_shorten();
        keeper_run(arena, &watch->list, watch->stop, socket);
    }
    _exit(EXIT_FAILURE);
}

void watch_start(struct arena *arena, const struct plan *plan, const struct facts *facts, bool nested,
                 struct watch *watch)
{
    int ends[2];
    pid_t launcher = getpid();

    *watch = (struct watch){.list = watch_list_make(arena, plan, facts), .socket = -1};
    if (watch->list.count == 0 || !measure_holds(MEASURE_WATCH))
        return;
    watch->list.nested = nested;
    watch->why = "no process could be started for it";
    watch->stop = mmap(NULL, sizeof *watch->stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch->stop == MAP_FAILED) {
        watch->stop = NULL;
        return;
    }
    watch->gone = arena_array(arena, watch->list.count, sizeof *watch->gone);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    watch->keeper = fork();
    if (watch->keeper == 0)
        become_keeper(arena, watch, ends[1], launcher);
    close(ends[1]);
    if (watch->keeper < 0) {
        watch->keeper = 0;
        close(ends[0]);
        return;
    }
    watch->socket = ends[0];
}

static const char *place_name(struct arena *arena, const struct watch *watch, uint32_t place)
{
    return escape_string(arena, watch->list.items[place < watch->list.count ? place : 0].path);
}

static const char *lost_text(struct arena *arena, const struct watch *watch,
                             const struct keeper_message *message)
{
    return arena_format(
        arena,
        "the host replaced %s, or something on the way to it, and it cannot be held any more: %.*s%s%s",
        place_name(arena, watch, message->place), (int)sizeof message->step, message->step,
        message->error == 0 ? "" : ": ", message->error == 0 ? "" : strerror(message->error));
}

static bool message_take(const struct watch *watch, struct keeper_message *message)
{
    int none;
    return packet_take(watch->socket, message, sizeof *message, &none) && message->place < watch->list.count;
}

bool watch_enter(struct watch *watch, const struct watch_run *run, int mount_namespace, const char **error)
{
    struct arena *arena = run->arena;
    struct keeper_message message = {.kind = KEEPER_UNABLE, .error = ETIMEDOUT, .step = "waiting for it"};
    struct pollfd ready = {.fd = watch->socket, .events = POLLIN};

    watch->run = *run;
    if (watch->socket < 0)
        return true;
    if (mount_namespace < 0 || !packet_send(watch->socket, "n", 1, mount_namespace)) {
        watch->why = "the sandbox's mounts are not known";
        watch_end(watch);
        return true;
    }
    do {
        if (poll(&ready, 1, WATCH_START_MILLISECONDS) <= 0 || !message_take(watch, &message))
            break;
    } while (message.kind == KEEPER_PUT_BACK);
    if (message.kind == KEEPER_MISSING || message.kind == KEEPER_LOST) {
        *error = arena_format(arena, "%s was replaced while the sandbox was made",
                              place_name(arena, watch, message.place));
        return false;
    }
    watch->directories = message.directories;
    watch->holds = message.kind == KEEPER_READY && message.unwatched == 0;
    watch->why = NULL;
    if (message.kind == KEEPER_READY && message.unwatched > 0)
        watch->why = arena_format(arena, "%u of %u directories cannot be watched (%s)", message.unwatched,
                                  message.directories + message.unwatched, strerror(message.error));
    if (message.kind != KEEPER_READY) {
        watch->why = arena_format(arena, "nothing can be watched: %.*s: %s", (int)sizeof message.step,
                                  message.step, strerror(message.error));
        watch_end(watch);
    }
    return true;
}

int watch_timeout(const struct watch *watch, int milliseconds)
{
    if (watch->deadline == 0)
        return milliseconds;
    int64_t left = watch->deadline - now_milliseconds();
    left = left < 0 ? 0 : left;
    return milliseconds >= 0 && milliseconds < left ? milliseconds : (int)left;
}

static void gone_set(struct watch *watch, uint32_t place, bool gone)
{
    if (watch->gone[place] == gone)
        return;
    watch->gone[place] = gone;
    watch->missing += gone ? 1 : UINT32_MAX;
    if (gone && watch->missing == 1)
        watch->deadline = now_milliseconds() + WATCH_GRACE_MILLISECONDS;
    if (!gone && watch->missing == 0) {
        watch->deadline = 0;
        watch->placed = false;
    }
}

/* Puts a placeholder where the host left nothing. The keeper sees it come, and covers it. */
static bool placeholder_put(struct watch *watch, uint32_t place)
{
    const struct watch_place *item = &watch->list.items[place];
    const struct resolved *leads = resolver_find(resolver_create(watch->run.arena), item->path);
    struct missing_path missing = {
        .path = item->path, .ancestor = leads->ancestor, .directory = item->directory, .content = ""};
    const char *error = "something else is on the way to it";

    if (leads->kind != ENTRY_MISSING)
        return true; /* it came meanwhile: the keeper will say so */
    lease_event(watch->run.arena, watch->run.lease, "mask.removed", item->path);
    if (leads->link_count == 0 && placeholders_add(watch->run.placeholders, &missing, &error))
        return true;
    watch->lost =
        arena_format(watch->run.arena, "the host removed %s, and nothing can be put there to hold it: %s",
                     escape_string(watch->run.arena, item->path), error);
    return false;
}

static bool placeholders_put(struct watch *watch)
{
    struct note_list unheard = note_list_in(watch->run.arena);
    if (watch->placed) {
        watch->lost = "what holds a removed path was put there, and could not be covered in time";
        return false;
    }
    watch->placed = true;
    int turn = turn_begin(watch->run.arena, watch->run.state, watch->run.directory, &unheard);
    bool all = turn >= 0;

    watch->lost = all ? NULL : "other launches did not let this one put a placeholder";
    for (uint32_t i = 0; all && i < watch->list.count; i++)
        all = !watch->gone[i] || placeholder_put(watch, i);
    turn_end(turn);
    watch->deadline = now_milliseconds() + WATCH_START_MILLISECONDS;
    return all;
}

static bool message_heed(struct watch *watch, const struct keeper_message *message)
{
    const char *path = watch->list.items[message->place].path;

    if (message->kind == KEEPER_MISSING)
        gone_set(watch, message->place, true);
    if (message->kind == KEEPER_PUT_BACK) {
        lease_event(watch->run.arena, watch->run.lease, "mask.replaced", path);
        gone_set(watch, message->place, false);
    }
    if (message->kind == KEEPER_MISSING || message->kind == KEEPER_PUT_BACK)
        return true;
    watch->lost = lost_text(watch->run.arena, watch, message);
    lease_event(watch->run.arena, watch->run.lease, "mask.lost", path);
    return false;
}

bool watch_heed(struct watch *watch, short events)
{
    struct keeper_message message;

    if (events != 0) {
        if (message_take(watch, &message))
            return message_heed(watch, &message);
        watch->lost = "the process that watches what the host replaces has ended";
        lease_event(watch->run.arena, watch->run.lease, "mask.lost", "");
        return false;
    }
    if (watch->deadline == 0 || now_milliseconds() < watch->deadline)
        return true;
    return placeholders_put(watch);
}

bool watch_heed_last(struct watch *watch)
{
    struct pollfd ready = {.fd = watch->socket, .events = POLLIN};
    while (watch->lost == NULL && poll(&ready, 1, 0) > 0)
        watch_heed(watch, ready.revents);
    return watch->lost == NULL;
}

bool watch_stopped(const struct watch *watch)
{
    return watch->stop != NULL &&
           (atomic_load(&watch->stop->until) == INT64_MAX ||
            now_milliseconds() - atomic_load(&watch->stop->until) < WATCH_ECHO_MILLISECONDS);
}

void watch_end(struct watch *watch)
{
    if (watch->socket >= 0)
        close(watch->socket);
    if (watch->keeper > 0)
        kill(watch->keeper, SIGKILL);
    watch->socket = -1;
    watch->holds = false;
}

void watch_reap(struct watch *watch)
{
    if (watch->keeper > 0)
        waitpid(watch->keeper, NULL, 0);
    watch->keeper = 0;
}
