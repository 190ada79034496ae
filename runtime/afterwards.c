#include "runtime/afterwards.h"

#include "base/vector.h"
#include "runtime/link.h"
#include "runtime/placeholder_record.h"
#include "runtime/remote.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AUTORUN_DEPTH = 2 };

struct look {
    struct arena *arena;
    struct lease *lease;
    struct remote *remote;
    struct timespec start;
    uint32_t entries, events; /* that may still be visited and told */
    bool bounded;
};

struct waiting {
    const char *path;
    int depth;
};

struct directories {
    struct waiting *items;
    uint32_t count, capacity;
};

static const char *const autorun_names[] = {
#define AUTORUN(name) name,
#include "runtime/autorun.def"
#undef AUTORUN
};

/* What Git obeys in a Git directory. */
static const char *const git_settings[] = {
    "config", "config.worktree", "commondir", "gitdir", "info/attributes", "objects/info/alternates",
};

/* What Git left half done, and goes on with by what stands there when it is told to continue. */
static const char *const git_pending[] = {"rebase-merge", "rebase-apply", "sequencer", "BISECT_START"};

/* Where a Git directory keeps those of its linked worktrees and submodules. */
static const char *const git_inner[] = {"worktrees", "modules"};

struct timespec afterwards_start(void)
{
    struct timespec now = {0};
    /* By this clock files are dated. */
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

static bool is_new(const struct look *look, const struct stat *status)
{
    const struct timespec *date = &status->st_ctim;
    bool since = date->tv_sec > look->start.tv_sec ||
                 (date->tv_sec == look->start.tv_sec && date->tv_nsec >= look->start.tv_nsec);
    return since && !((S_ISREG(status->st_mode) || S_ISSOCK(status->st_mode)) &&
                      placeholder_is_marked(status, PLACEHOLDER_HIDING));
}

static const char *join(const struct look *look, const char *directory, const char *name)
{
    return arena_format(look->arena, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
}

static void tell(struct look *look, const char *kind, const char *path)
{
    if (look->events == 0) {
        look->bounded = true;
        return;
    }
    look->events--;
    lease_event(look->arena, look->lease, kind, path);
}

/* A directory behind a file system that does not answer is left out. */
static int open_answering(struct look *look, const char *path, int flags)
{
    if (remote_ask(look->remote, path) == 0)
        return directory_open(path, flags);
    look->bounded = true;
    return -1;
}

/* What is at `name`, which may have several parts, below `directory`, following no link. */
static bool status_below(struct look *look, const char *directory, const char *name, struct stat *status)
{
    const char *path = join(look, directory, name);
    int parent = open_answering(look, path_parent(look->arena, path), O_PATH);
    bool known = parent >= 0 && fstatat(parent, strrchr(path, '/') + 1, status, AT_SYMLINK_NOFOLLOW) == 0;
    if (parent >= 0)
        close(parent);
    return known;
}

/* The entries of a directory as an iteration: NULL at the end, or where the look has to end. */
static const struct dirent *entry_next(struct look *look, DIR *directory)
{
    const struct dirent *entry;
    do
        entry = directory == NULL ? NULL : readdir(directory);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    if (entry == NULL)
        return NULL;
    if (look->entries == 0) {
        look->bounded = true;
        return NULL;
    }
    look->entries--;
    return entry;
}

static DIR *directory_list(struct look *look, const char *path)
{
    int directory = open_answering(look, path, O_RDONLY);
    DIR *list = directory < 0 ? NULL : fdopendir(directory);
    if (list == NULL && directory >= 0)
        close(directory);
    return list;
}

static void list_end(DIR *list)
{
    if (list != NULL)
        closedir(list);
}

/* Tells of each new thing in a directory, and in those below it. */
static void autorun_below(struct look *look, const char *top, int depth)
{
    DIR *list = directory_list(look, top);
    const struct dirent *entry;
    while ((entry = entry_next(look, list)) != NULL) {
        struct stat status;
        const char *path = join(look, top, entry->d_name);
        if (fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!S_ISDIR(status.st_mode) && is_new(look, &status))
            tell(look, "autorun.changed", path);
        if (S_ISDIR(status.st_mode) && depth > 1)
            autorun_below(look, path, depth - 1);
    }
    list_end(list);
}

static void autorun_look(struct look *look, const char *top)
{
    int directory = open_answering(look, top, O_PATH);
    for (size_t i = 0; directory >= 0 && i < sizeof autorun_names / sizeof autorun_names[0]; i++) {
        struct stat status;
        bool there = strchr(autorun_names[i], '/') != NULL
                         ? status_below(look, top, autorun_names[i], &status)
                         : fstatat(directory, autorun_names[i], &status, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there)
            continue;
        const char *path = join(look, top, autorun_names[i]);
        if (is_new(look, &status))
            tell(look, "autorun.changed", path);
        if (S_ISDIR(status.st_mode))
            autorun_below(look, path, AUTORUN_DEPTH);
    }
    if (directory >= 0)
        close(directory);
}

static bool is_sample(const char *name)
{
    size_t length = strlen(name);
    return length > 7 && strcmp(name + length - 7, ".sample") == 0;
}

static void hooks_look(struct look *look, const char *hooks)
{
    DIR *list = directory_list(look, hooks);
    const struct dirent *entry;
    while ((entry = entry_next(look, list)) != NULL) {
        struct stat status;
        if (!is_sample(entry->d_name) &&
            fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && is_new(look, &status))
            tell(look, "git.hook", join(look, hooks, entry->d_name));
    }
    list_end(list);
}

/* By its date of birth, or where the file system keeps none by what Git makes first and seldom touches
 * again. */
static bool is_new_repository(struct look *look, const char *directory)
{
    struct stat status = {0};
    struct statx born;
    int entry = open_answering(look, directory, O_PATH);
    bool known = entry >= 0 && statx(entry, "", AT_EMPTY_PATH, STATX_BTIME, &born) == 0 &&
                 (born.stx_mask & STATX_BTIME) != 0;
    if (entry >= 0)
        close(entry);
    if (known) {
        status.st_ctim.tv_sec = born.stx_btime.tv_sec;
        status.st_ctim.tv_nsec = born.stx_btime.tv_nsec;
    } else if (!status_below(look, directory, "description", &status) &&
               !status_below(look, directory, "refs", &status)) {
        return true;
    }
    return is_new(look, &status);
}

static bool is_git_directory(struct look *look, const char *directory)
{
    struct stat status;
    return status_below(look, directory, "HEAD", &status) &&
           status_below(look, directory, "objects", &status);
}

static bool holds_new(struct look *look, const char *directory)
{
    DIR *list = directory_list(look, directory);
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = entry_next(look, list)) != NULL) {
        struct stat status;
        found =
            fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && is_new(look, &status);
    }
    list_end(list);
    return found;
}

static void pending_look(struct look *look, const char *directory)
{
    for (size_t i = 0; i < sizeof git_pending / sizeof git_pending[0]; i++) {
        struct stat status;
        const char *path = join(look, directory, git_pending[i]);
        if (status_below(look, directory, git_pending[i], &status) &&
            (is_new(look, &status) || (S_ISDIR(status.st_mode) && holds_new(look, path))))
            tell(look, "git.pending", path);
    }
}

static void inner_look(struct look *look, const char *directory)
{
    for (size_t i = 0; i < sizeof git_inner / sizeof git_inner[0]; i++) {
        const char *path = join(look, directory, git_inner[i]);
        struct stat status;
        if (!status_below(look, directory, git_inner[i], &status) || !S_ISDIR(status.st_mode))
            continue;
        DIR *list = directory_list(look, path);
        const struct dirent *entry;
        while ((entry = entry_next(look, list)) != NULL)
            pending_look(look, join(look, path, entry->d_name));
        list_end(list);
    }
}

static void git_directory_look(struct look *look, const char *directory)
{
    struct stat status;
    const char *hooks = join(look, directory, "hooks");
    if (is_git_directory(look, directory) && is_new_repository(look, directory))
        tell(look, "git.created", directory);
    for (size_t i = 0; i < sizeof git_settings / sizeof git_settings[0]; i++)
        if (status_below(look, directory, git_settings[i], &status) && is_new(look, &status))
            tell(look, "git.settings", join(look, directory, git_settings[i]));
    pending_look(look, directory);
    inner_look(look, directory);
    if (status_below(look, directory, "hooks", &status) && S_ISLNK(status.st_mode) && is_new(look, &status))
        tell(look, "git.hook", hooks);
    else
        hooks_look(look, hooks);
}

/* A Git directory in `directory`, or a file that leads to one, or the directory itself being one. */
static void git_look(struct look *look, const char *directory)
{
    struct stat status;
    const char *git = join(look, directory, ".git");
    if (!status_below(look, directory, ".git", &status)) {
        if (is_git_directory(look, directory))
            git_directory_look(look, directory);
        else if (status_below(look, directory, "HEAD", &status))
            pending_look(look, directory); /* of a linked worktree */
    } else if (S_ISDIR(status.st_mode)) {
        git_directory_look(look, git);
    } else if (is_new(look, &status)) {
        tell(look, "git.created", git);
    }
}

/* Nearest first, so that the bound leaves out what is deepest. */
static void git_search(struct look *look, const char *top)
{
    struct directories queue = {0};
    VECTOR_PUSH(look->arena, &queue, (struct waiting){.path = top});
    for (uint32_t i = 0; i < queue.count && i < GIT_DIRECTORIES; i++) {
        struct waiting at = queue.items[i];
        git_look(look, at.path);
        if (at.depth == GIT_DEPTH)
            continue;
        DIR *list = directory_list(look, at.path);
        const struct dirent *entry;
        while ((entry = entry_next(look, list)) != NULL)
            if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
                strcmp(entry->d_name, ".git") != 0)
                VECTOR_PUSH(look->arena, &queue,
                            (struct waiting){join(look, at.path, entry->d_name), at.depth + 1});
        list_end(list);
    }
    look->bounded = look->bounded || queue.count > GIT_DIRECTORIES;
}

/* Directories that the command may write, but for those in another such. */
static struct directories tops_of(struct arena *arena, const struct plan *plan)
{
    struct directories tops = {0};
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_operation *operation = &plan->items[i];
        bool inner = tops.count > 0 && path_covers(tops.items[tops.count - 1].path, operation->path);
        if (operation->kind == PLAN_BIND_WRITE && !inner)
            VECTOR_PUSH(arena, &tops, (struct waiting){.path = operation->path});
    }
    return tops;
}

void afterwards_look(struct arena *arena, const struct plan *plan, const char *work,
                     const struct timespec *start, struct remote *remote, struct lease *lease)
{
    struct look look = {.arena = arena,
                        .lease = lease,
                        .remote = remote,
                        .start = *start,
                        .entries = AFTERWARDS_ENTRIES,
                        .events = AFTERWARDS_EVENTS};
    struct directories tops = tops_of(arena, plan);

    for (uint32_t i = 0; i < tops.count; i++) {
        autorun_look(&look, tops.items[i].path);
        if (!path_covers(tops.items[i].path, work))
            git_look(&look, tops.items[i].path);
        else if (strcmp(tops.items[i].path, work) != 0)
            autorun_look(&look, work);
    }
    git_search(&look, work);
    if (look.bounded)
        lease_event(arena, lease, "afterwards.bounded", work);
}
