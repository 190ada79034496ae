#include "runtime/keeper.h"

#include "runtime/keeper_mount.h"
#include "runtime/link.h"
#include "runtime/pass.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW,
    EVENT_BYTES = 1 << 16,
    TRIES = 100
};

struct keeper {
    struct arena *arena;
    const struct watch_list *list;
    int socket, events;
    struct keeper_masks masks;
    struct held {
        uint64_t mount; /* what is mounted there; 0: nothing is known to be */
        bool missing;
    } * held;     /* of each place */
    int *watches; /* of each directory; -1: none */
    char *buffer;
};

static bool tell(const struct keeper *keeper, struct keeper_message message)
{
    return packet_send(keeper->socket, &message, sizeof message, -1);
}

static bool lost(const struct keeper *keeper, uint32_t place, const char *step, int error)
{
    struct keeper_message message = {.kind = KEEPER_LOST, .place = place, .error = error};
    snprintf(message.step, sizeof message.step, "%s", step);
    tell(keeper, message);
    return false;
}

/* The number of the mount whose top stands at `path`; 0 with errno if none does. */
static uint64_t mount_at(const char *path)
{
    struct statx status;
    int entry = keeper_open(path);
    if (entry < 0)
        return 0;
    bool top = statx(entry, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &status) == 0 &&
               (status.stx_mask & STATX_MNT_ID) != 0 && (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    close(entry);
    errno = 0;
    return top ? status.stx_mnt_id : 0;
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

/* Nothing is there: what would be put there by the command has to be prevented by the launcher. A pin needs
 * nothing. */
static bool missing_settle(struct keeper *keeper, uint32_t at)
{
    struct held *held = &keeper->held[at];
    held->mount = 0;
    if (held->missing || keeper->list->items[at].kind == WATCH_PIN)
        return true;
    held->missing = true;
    return tell(keeper, (struct keeper_message){.kind = KEEPER_MISSING, .place = at});
}

/* Makes `at` hold again, whatever is there now; false if the run has to end. */
static bool place_settle(struct keeper *keeper, uint32_t at)
{
    const struct watch_place *place = &keeper->list->items[at];
    struct held *held = &keeper->held[at];
    bool put = false;
    const char *step = "looking at it";

    if (place->kind == WATCH_LINK)
        return link_settle(keeper, at);
    for (int i = 0; i < TRIES; i++) {
        uint64_t mount = mount_at(place->path);
        if (mount == 0 && is_gone(errno))
            return missing_settle(keeper, at);
        if (mount == 0 && errno != 0)
            return lost(keeper, at, step, errno);
        if (mount != 0 && mount == held->mount) {
            held->missing = false;
            return !put || place->kind == WATCH_PIN ||
                   tell(keeper, (struct keeper_message){.kind = KEEPER_PUT_BACK, .place = at});
        }
        held->mount = keeper_cover(&keeper->masks, place, &step);
        if (held->mount == 0 && !is_gone(errno))
            return lost(keeper, at, step, errno);
        put = true;
    }
    return lost(keeper, at, "covering it", EAGAIN);
}

/* A directory that cannot be watched would be a hole that nobody speaks of. */
static bool directory_watch(struct keeper *keeper, uint32_t at)
{
    int before = keeper->watches[at];
    keeper->watches[at] = inotify_add_watch(keeper->events, keeper->list->directories.items[at], EVENTS);
    if (before >= 0 && before != keeper->watches[at])
        inotify_rm_watch(keeper->events, before);
    return keeper->watches[at] >= 0 || is_gone(errno);
}

/* Settles everything at or below `path`. Watches come first: what changes later is then heard of. */
static bool settle(struct keeper *keeper, const char *path)
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
        if (path_covers(path, list->items[i].path) && !place_settle(keeper, i))
            return false;
    return true;
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
        return settle(keeper, "/");
    for (uint32_t i = 0; event->len > 0 && i < keeper->list->directories.count; i++) {
        const char *directory = keeper->list->directories.items[i];
        if (keeper->watches[i] != event->wd)
            continue;
        snprintf(path, sizeof path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, event->name);
        if (matters(keeper, path) && !settle(keeper, path))
            return false;
    }
    return true;
}

static bool events_heed(struct keeper *keeper)
{
    ssize_t got = read(keeper->events, keeper->buffer, EVENT_BYTES);
    for (ssize_t at = 0; at < got;) {
        const struct inotify_event *event = (const void *)(keeper->buffer + at);
        if (!event_heed(keeper, event))
            return false;
        at += (ssize_t)(sizeof *event + event->len);
    }
    return got > 0 || errno == EAGAIN || errno == EINTR;
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
        if (list->items[i].kind != WATCH_LINK)
            keeper->held[i].mount = mount_at(list->items[i].path);
        if (keeper->held[i].mount == 0 && !place_settle(keeper, i))
            return false;
    }
    return tell(keeper, ready);
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
    close(namespace);
    return inside || unable(keeper, step);
}

void keeper_run(struct arena *arena, const struct watch_list *list, int socket)
{
    struct keeper keeper = {.arena = arena, .list = list, .socket = socket, .events = -1};

    keeper.held = arena_array(arena, (size_t)list->count + 1, sizeof *keeper.held);
    keeper.watches = arena_array(arena, (size_t)list->directories.count + 1, sizeof *keeper.watches);
    keeper.buffer = arena_alloc(arena, EVENT_BYTES);
    if (!enter(&keeper) || !begin(&keeper))
        return;
    for (;;) {
        struct pollfd ready[] = {{.fd = keeper.events, .events = POLLIN},
                                 {.fd = keeper.socket, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            return;
        if (ready[1].revents != 0 || (ready[0].revents != 0 && !events_heed(&keeper)))
            return;
    }
}
