#include "runtime/keeper.h"

#include "base/vector.h"
#include "runtime/inmates.h"
#include "runtime/keeper_mount.h"
#include "runtime/link.h"
#include "runtime/pass.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW,
    EVENT_BYTES = 1 << 16,
    ARRIVALS = IN_CREATE | IN_MOVED_TO,
    TRIES = 100,
    REST_MILLISECONDS = 10 /* between two looks whether what is stopped is still so */
};

struct held {
    struct own_mounts own;
    bool missing; /* nothing is there */
    bool fresh;   /* put back, or missing, and not yet looked into */
    int below;    /* what was put back stands on; -1: nothing */
    /* What changes before this was heard of, in bytes of events, came before the place was held. */
    uint64_t until;
};

struct keeper {
    struct arena *arena;
    const struct watch_list *list;
    struct keeper_stop *stop;
    struct inmates inmates;
    int socket, events;
    struct keeper_masks masks;
    struct held *held; /* of each place */
    int *watches;      /* of each directory; -1: none */
    char *buffer;
    uint64_t heard, at; /* bytes of events read, and where the one begins that is being heeded */
    uint64_t rest;      /* since when all are stopped, in such bytes */
    bool running;       /* the command may be */
};

/* A launcher that is stopped reads nothing, and must not hold this up. */
static bool tell(const struct keeper *keeper, struct keeper_message message)
{
    return send(keeper->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof message;
}

static bool lost(const struct keeper *keeper, uint32_t place, const char *step, int error)
{
    struct keeper_message message = {.kind = KEEPER_LOST, .place = place, .error = error};
    snprintf(message.step, sizeof message.step, "%s", step);
    tell(keeper, message);
    inmates_kill(&keeper->inmates);
    return false;
}

/* How many bytes of events there have been. */
static uint64_t events_until_now(const struct keeper *keeper)
{
    int waiting = 0;
    return ioctl(keeper->events, FIONREAD, &waiting) != 0 ? UINT64_MAX : keeper->heard + (uint64_t)waiting;
}

/* The number of the mount whose top stands at `path`; 0 with errno, which is 0 if none does. */
static uint64_t mount_at(const char *path)
{
    bool top;
    int entry = keeper_open(path);
    if (entry < 0)
        return 0;
    uint64_t number = mount_of(entry, "", AT_EMPTY_PATH, &top);
    int error = number == 0 ? errno : 0;
    close(entry);
    errno = error;
    return top ? number : 0;
}

static bool is_gone(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

/* A link must lead where it led. */
static bool link_settle(const struct keeper *keeper, uint32_t at)
{
    const struct watch_place *place = &keeper->list->items[at];
    char text[PATH_MAX];
    int entry = keeper_open(place->path);
    ssize_t length = entry < 0 ? -1 : readlinkat(entry, "", text, sizeof text);
    if (entry >= 0)
        close(entry);
    if (length == (ssize_t)strlen(place->text) && memcmp(text, place->text, (size_t)length) == 0)
        return true;
    return lost(keeper, at, "following a link", entry < 0 ? errno : ESTALE);
}

static bool is_counted(const struct keeper *keeper, uint32_t at)
{
    return keeper->list->items[at].kind != WATCH_PIN;
}

/* Whether what happens now could be the command's doing, had it the chance: before it runs it has none, nor while
 * everything is stopped, nor
 * where it may not write. */
static bool is_open(const struct keeper *keeper, uint32_t at)
{
    return keeper->running && !keeper->list->items[at].closed &&
           !(keeper->inmates.stopped && keeper->at >= keeper->rest);
}

/* Whether `event` came after the one that took the cover away, and before the place was held again. */
static bool is_between(const struct keeper *keeper, const struct held *held, uint32_t event)
{
    return keeper->at < held->until && (!held->missing || (event & ARRIVALS) != 0);
}

/* Whether the command could have put there, or in it, what is at the place and not covered. A file that is
 * renamed over a covered one is the host's; what comes where nothing was left may not be. */
static bool is_doubtful(const struct keeper *keeper, const struct held *held, uint32_t event, bool above)
{
    return is_between(keeper, held, event) || (event & ARRIVALS) == 0 || above;
}

/* Makes `at` hold again, whatever is there now after `event` at it or `above` it; false if the run has to end. */
static bool place_settle(struct keeper *keeper, uint32_t at, uint32_t event, bool above)
{
    const struct watch_place *place = &keeper->list->items[at];
    struct held *held = &keeper->held[at];
    const char *step = "looking at it";

    if (place->kind == WATCH_LINK)
        return link_settle(keeper, at);
    for (int i = 0; i < TRIES; i++) {
        uint64_t mount = mount_at(place->path);
        if (mount == 0 && is_gone(errno)) {
            if ((event & ARRIVALS) != 0 && is_open(keeper, at))
                return lost(keeper, at, "what came there went away uncovered", 0);
            held->fresh = held->fresh || !held->missing;
            held->missing = true;
            return true;
        }
        if (mount == 0 && errno != 0)
            return lost(keeper, at, step, errno);
        bool own = mount != 0 && own_mounts_have(&held->own, mount);
        if (!own && keeper->running && keeper->list->nested)
            return lost(keeper, at, "the command may have mounts of its own", 0);
        if (i == 0 && is_open(keeper, at) &&
            (own ? is_between(keeper, held, event) : is_doubtful(keeper, held, event, above)))
            return lost(keeper, at, "the command could have put it there", 0);
        if (own) {
            held->fresh = held->fresh || held->missing;
            held->missing = false;
            return true;
        }
        if (held->below >= 0)
            close(held->below);
        mount = keeper_cover(&keeper->masks, place, &held->below, &step);
        if (mount == 0 && !is_gone(errno))
            return lost(keeper, at, step, errno);
        if (mount != 0)
            VECTOR_PUSH(keeper->arena, &held->own, mount);
        held->fresh = held->fresh || mount != 0;
        held->until = mount != 0 ? events_until_now(keeper) : held->until;
    }
    return lost(keeper, at, "covering it", EAGAIN);
}

/* All are stopped, and so it stays while nothing is at a place. */
static bool missing_look(struct keeper *keeper, uint32_t at)
{
    struct held *held = &keeper->held[at];
    uint64_t mount = mount_at(keeper->list->items[at].path);

    if (mount != 0 && own_mounts_have(&held->own, mount)) {
        held->missing = false;
        return true;
    }
    if (mount != 0 || !is_gone(errno))
        return lost(keeper, at, "the command could have put it there", 0);
    held->until = keeper->rest;
    return !is_counted(keeper, at) ||
           tell(keeper, (struct keeper_message){.kind = KEEPER_MISSING, .place = at}) ||
           lost(keeper, at, "telling the launcher", errno);
}

/* All are stopped: whether anything got hold of what was there before it was covered. */
static bool covered_look(struct keeper *keeper, uint32_t at)
{
    const struct watch_place *place = &keeper->list->items[at];
    struct held *held = &keeper->held[at];
    struct stat status;
    bool other_name = held->below >= 0 &&
                      (fstat(held->below, &status) != 0 || (S_ISREG(status.st_mode) && status.st_nlink > 1));

    if (held->below >= 0)
        close(held->below);
    held->below = -1;
    if (other_name)
        return lost(keeper, at, "it has a second name", 0);
    if (inmates_hold(&keeper->inmates, place, &held->own))
        return lost(keeper, at, "the command has it open", 0);
    if (is_counted(keeper, at))
        tell(keeper, (struct keeper_message){.kind = KEEPER_PUT_BACK, .place = at});
    return true;
}

static bool all_stop(struct keeper *keeper, uint32_t at)
{
    if (keeper->inmates.stopped)
        return true;
    atomic_store(&keeper->stop->until, INT64_MAX);
    if (!inmates_stop(&keeper->inmates))
        return lost(keeper, at, "stopping everything in the sandbox", 0);
    keeper->rest = events_until_now(keeper);
    return true;
}

static void all_continue(struct keeper *keeper)
{
    if (!keeper->inmates.stopped)
        return;
    inmates_continue(&keeper->inmates);
    atomic_store(&keeper->stop->until, now_milliseconds());
}

static bool fresh_look(struct keeper *keeper, uint32_t at)
{
    struct held *held = &keeper->held[at];
    if (keeper->list->nested)
        return lost(keeper, at, "the command may have mounts of its own", 0);
    if (!all_stop(keeper, at))
        return false;
    /* It may have come meanwhile, by nobody but the host. */
    if (held->missing && keeper->list->items[at].closed && !place_settle(keeper, at, IN_MOVED_TO, false))
        return false;
    return held->missing ? missing_look(keeper, at) : covered_look(keeper, at);
}

/* Looks into what was settled, while everything is stopped; it stays so as long as nothing is at a place. */
static bool settled_look(struct keeper *keeper)
{
    bool missing = false;

    for (uint32_t i = 0; i < keeper->list->count; i++) {
        struct held *held = &keeper->held[i];
        if (held->fresh && !fresh_look(keeper, i))
            return false;
        held->fresh = false;
        missing = missing || (held->missing && is_counted(keeper, i));
    }
    if (!missing)
        all_continue(keeper);
    return true;
}

/* A directory that cannot be watched would be a hole that nobody speaks of. */
static bool directory_watch(struct keeper *keeper, uint32_t at)
{
    int before = keeper->watches[at], error;
    keeper->watches[at] = inotify_add_watch(keeper->events, keeper->list->directories.items[at], EVENTS);
    error = errno;
    if (before >= 0 && before != keeper->watches[at])
        inotify_rm_watch(keeper->events, before);
    errno = error;
    return keeper->watches[at] >= 0 || is_gone(error);
}

/* Settles everything at or below `path`, where `event` was. Watches come first: what changes later is then heard of. */
static bool settle(struct keeper *keeper, const char *path, uint32_t event)
{
    const struct watch_list *list = keeper->list;
    for (uint32_t i = 0; i < list->directories.count; i++)
        if (path_covers(path, list->directories.items[i]) && !directory_watch(keeper, i)) {
            uint32_t place = 0;
            while (place + 1 < list->count &&
                   !path_covers(list->directories.items[i], list->items[place].path))
                place++;
            return lost(keeper, place, "watching its directory", errno);
        }
    for (uint32_t i = 0; i < list->count; i++)
        if (path_covers(path, list->items[i].path) &&
            !place_settle(keeper, i, event, strcmp(path, list->items[i].path) != 0))
            return false;
    return settled_look(keeper);
}

/* Whether something that is watched for is at `path` or below it. */
static bool matters(const struct keeper *keeper, const char *path)
{
    uint32_t low = 0, high = keeper->list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan_path_compare(keeper->list->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < keeper->list->count && path_covers(path, keeper->list->items[low].path);
}

static bool event_heed(struct keeper *keeper, const struct inotify_event *event)
{
    char path[PATH_MAX + NAME_MAX + 2];
    if ((event->mask & IN_Q_OVERFLOW) != 0)
        return settle(keeper, "/", IN_DELETE);
    for (uint32_t i = 0; event->len > 0 && i < keeper->list->directories.count; i++) {
        const char *directory = keeper->list->directories.items[i];
        if (keeper->watches[i] != event->wd)
            continue;
        snprintf(path, sizeof path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, event->name);
        if (matters(keeper, path) && !settle(keeper, path, event->mask))
            return false;
    }
    return true;
}

static bool events_heed(struct keeper *keeper)
{
    ssize_t got = read(keeper->events, keeper->buffer, EVENT_BYTES);
    uint64_t first = keeper->heard;
    keeper->heard += got > 0 ? (uint64_t)got : 0;
    for (ssize_t at = 0; at < got;) {
        const struct inotify_event *event = (const void *)(keeper->buffer + at);
        keeper->at = first + (uint64_t)at;
        if (!event_heed(keeper, event))
            return false;
        at += (ssize_t)(sizeof *event + event->len);
    }
    return got > 0 || errno == EAGAIN || errno == EINTR;
}

/* Nothing runs yet that could have made use of what had to be put right. */
static bool beginning_tell(struct keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->list->count; i++) {
        struct held *held = &keeper->held[i];
        if (held->below >= 0)
            close(held->below);
        held->below = -1;
        if (held->fresh && is_counted(keeper, i) &&
            !tell(keeper, (struct keeper_message){.kind = held->missing ? KEEPER_MISSING : KEEPER_PUT_BACK,
                                                  .place = i}))
            return false;
        held->fresh = false;
    }
    return true;
}

/* Watches, and takes down what is mounted. What the host replaced before that is put right at once. */
static bool begin(struct keeper *keeper)
{
    const struct watch_list *list = keeper->list;
    struct keeper_message ready = {.kind = KEEPER_READY};

    keeper->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    for (uint32_t i = 0; i < list->directories.count; i++) {
        keeper->watches[i] =
            keeper->events < 0 ? -1 : inotify_add_watch(keeper->events, list->directories.items[i], EVENTS);
        if (keeper->watches[i] >= 0)
            ready.directories++;
        else if (ready.unwatched++ == 0)
            ready.error = errno;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t mount = list->items[i].kind == WATCH_LINK ? 0 : mount_at(list->items[i].path);
        keeper->held[i].below = -1;
        if (mount != 0)
            VECTOR_PUSH(keeper->arena, &keeper->held[i].own, mount);
        else if (!place_settle(keeper, i, IN_MOVED_TO, false))
            return false;
    }
    if (!beginning_tell(keeper) || !tell(keeper, ready))
        return false;
    keeper->running = true;
    return true;
}

static bool unable(const struct keeper *keeper, const char *step)
{
    struct keeper_message message = {.kind = KEEPER_UNABLE, .error = errno};
    snprintf(message.step, sizeof message.step, "%s", step);
    tell(keeper, message);
    return false;
}

static bool enter(struct keeper *keeper)
{
    char byte;
    int namespace;
    const char *step = "the mount namespace";
    if (!packet_take(keeper->socket, &byte, sizeof byte, &namespace) || namespace < 0)
        return false;
    bool inside = keeper_enter(namespace, &step) && keeper_masks_make(&keeper->masks, keeper->list, &step);
    if (inside && !inmates_find(&keeper->inmates, keeper->arena)) {
        step = "the sandbox's processes";
        inside = false;
    }
    close(namespace);
    return inside || unable(keeper, step);
}

void keeper_run(struct arena *arena, const struct watch_list *list, struct keeper_stop *stop, int socket)
{
    struct keeper keeper = {.arena = arena, .list = list, .stop = stop, .socket = socket, .events = -1};

    keeper.held = arena_array(arena, (size_t)list->count + 1, sizeof *keeper.held);
    keeper.watches = arena_array(arena, (size_t)list->directories.count + 1, sizeof *keeper.watches);
    keeper.buffer = arena_alloc(arena, EVENT_BYTES);
    if (!enter(&keeper) || !begin(&keeper))
        return;
    for (;;) {
        struct pollfd ready[] = {{.fd = keeper.events, .events = POLLIN},
                                 {.fd = keeper.socket, .events = POLLIN}};
        int count = poll(ready, 2, keeper.inmates.stopped ? REST_MILLISECONDS : -1);
        if (count < 0 && errno != EINTR)
            return;
        if (keeper.inmates.stopped && !inmates_rest(&keeper.inmates)) {
            lost(&keeper, 0, "something in the sandbox was continued", 0);
            return;
        }
        if (ready[1].revents != 0 || (ready[0].revents != 0 && !events_heed(&keeper)))
            return;
    }
}
