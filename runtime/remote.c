#include "runtime/remote.h"

#include "base/vector.h"
#include "runtime/link.h"
#include "runtime/mount_table.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel answers for these by itself, or by a disk. */
static const char *const local_types[] = {
    "bcachefs", "binfmt_misc", "bpf",      "btrfs",      "cgroup",     "cgroup2",   "configfs", "cramfs",
    "debugfs",  "devpts",      "devtmpfs", "ecryptfs",   "efivarfs",   "erofs",     "exfat",    "ext2",
    "ext3",     "ext4",        "f2fs",     "fusectl",    "hugetlbfs",  "iso9660",   "jfs",      "mqueue",
    "msdos",    "nilfs2",      "nsfs",     "ntfs3",      "overlay",    "proc",      "pstore",   "ramfs",
    "reiserfs", "rootfs",      "romfs",    "rpc_pipefs", "securityfs", "selinuxfs", "smackfs",  "squashfs",
    "sysfs",    "tmpfs",       "tracefs",  "ubifs",      "udf",        "vfat",      "xfs",      "zfs",
};

struct remote_place {
    const char *path;
    bool triggers; /* autofs: looking below it mounts something */
    bool answered, silent;
    char *silent_path; /* of those at and below an autofs mount, the last one that did not answer */
};

struct remote {
    pthread_mutex_t lock;
    struct remote_place *items; /* in the order of the mount table: what lies above comes first */
    uint32_t count, capacity;
};

bool remote_type(const char *type)
{
    for (size_t i = 0; i < sizeof local_types / sizeof local_types[0]; i++)
        if (strcmp(local_types[i], type) == 0)
            return false;
    return true;
}

struct remote *remote_find(struct arena *arena)
{
    struct mount_table table = {0};
    struct remote *remote = arena_alloc(arena, sizeof *remote);

    if (!mount_table_read(arena, &table) || pthread_mutex_init(&remote->lock, NULL) != 0)
        return NULL;
    for (uint32_t i = 0; i < table.count; i++)
        if (remote_type(table.items[i].type))
            VECTOR_PUSH(arena, remote,
                        (struct remote_place){.path = table.items[i].path,
                                              .triggers = strcmp(table.items[i].type, "autofs") == 0});
    return remote->count == 0 ? NULL : remote;
}

/* Where the server is asked too, not only what the kernel remembers of it. */
static void look(const char *path)
{
    struct statx status;
    int place = directory_open(path, O_PATH);

    if (place >= 0)
        (void)!statx(place, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
}

/* The process that looks is nobody's child: one that cannot be ended is waited for by nobody. It tells its
 * number first, and then that it got an answer. */
SBX_NORETURN static void ask(const char *path, int to)
{
    pid_t own;

    if (fork() != 0)
        _exit(0);
    /* Whoever reads the launcher's output must not wait for this process. */
    descriptors_close(0, &to, 1);
    own = getpid();
    if (write(to, &own, sizeof own) == (ssize_t)sizeof own)
        look(path);
    (void)!write(to, "a", 1);
    _exit(0);
}

static bool read_in_time(int from, void *bytes, size_t length, int milliseconds)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    int got;

    while ((got = poll(&ready, 1, milliseconds)) < 0 && errno == EINTR)
        continue;
    return got > 0 && read(from, bytes, length) == (ssize_t)length;
}

static bool answers(const char *path)
{
    int ends[2];
    pid_t asked = 0;
    char answer;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        ask(path, ends[1]);
    close(ends[1]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    bool started = child > 0 && read_in_time(ends[0], &asked, sizeof asked, REMOTE_MILLISECONDS);
    bool answered = started && read_in_time(ends[0], &answer, 1, REMOTE_MILLISECONDS);
    if (started && !answered)
        kill(asked, SIGKILL);
    close(ends[0]);
    return answered;
}

static bool place_answers(struct remote_place *place, const char *path)
{
    if (place->answered || place->silent)
        return place->answered;
    if (place->triggers) {
        if (place->silent_path != NULL && path_covers(place->silent_path, path))
            return false;
        bool answered = answers(path);
        if (!answered) {
            free(place->silent_path);
            place->silent_path = strdup(path);
        }
        return answered;
    }
    place->answered = answers(place->path);
    place->silent = !place->answered;
    return place->answered;
}

int remote_ask(struct remote *remote, const char *path)
{
    int error = 0;

    if (remote == NULL)
        return 0;
    pthread_mutex_lock(&remote->lock);
    for (uint32_t i = 0; i < remote->count && error == 0; i++)
        if (path_covers(remote->items[i].path, path) && !place_answers(&remote->items[i], path))
            error = ETIMEDOUT;
    pthread_mutex_unlock(&remote->lock);
    return error;
}
