#include "runtime/placeholder.h"

#include "base/escape.h"
#include "base/vector.h"
#include "runtime/link.h"
#include "runtime/process.h"
#include "runtime/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MODE_FILE = S_ISVTX | 0644,
    MODE_DIRECTORY = S_ISVTX | 0755,
    LOCK_TRIES = 200,
    OTHER_DESCRIPTORS = 64
};

/* Something that was made, by this run or by one that it shares it with: `name` in the directory whose
 * descriptor is `parent`. */
struct placeholder {
    const char *path, *name;
    int parent; /* borrowed from `descriptors` */
    int own;    /* its own descriptor, in `descriptors`; holds a shared flock(2) while a run relies on it */
    struct stat status;
    bool untouched;
};

struct placeholder_set {
    struct arena *arena;
    struct placeholder_record record;
    struct placeholder *items; /* parents before children */
    uint32_t count, capacity;
    struct {
        struct opened {
            const char *path; /* of an existing directory, else NULL */
            int descriptor;
        } * items;
        uint32_t count, capacity;
    } descriptors;
};

/* Only changes of the command and of other people count, not the reading of it. What a directory holds is
 * seen when it is removed. */
static bool is_unchanged(const struct stat *before, const struct stat *now)
{
    return before->st_dev == now->st_dev && before->st_ino == now->st_ino &&
           before->st_mode == now->st_mode && before->st_uid == now->st_uid &&
           before->st_gid == now->st_gid &&
           (S_ISDIR(now->st_mode) || (before->st_size == now->st_size && before->st_nlink == now->st_nlink &&
                                      before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
                                      before->st_mtim.tv_nsec == now->st_mtim.tv_nsec));
}

/* Says that this run relies on it. Only a run that is removing it holds the lock alone, and not for long; a
 * command that does so holds up nobody whose record says the same. */
static bool rely_on(const struct placeholder_set *set, int descriptor)
{
    const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(descriptor, LOCK_SH | LOCK_NB) == 0 || set->record.file >= 0)
            return true;
        if (errno != EWOULDBLOCK)
            return true; /* no locks on this file system: as if nobody else were here */
        nanosleep(&pause, NULL);
    }
    return false;
}

static int descriptor_keep(struct placeholder_set *set, const char *path, int descriptor)
{
    if (descriptor >= 0)
        VECTOR_PUSH(set->arena, &set->descriptors, (struct opened){path, descriptor});
    return descriptor;
}

/* The descriptor of what this set holds at `path`, or -1. */
static int held_at(const struct placeholder_set *set, const char *path)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].path, path) == 0)
            return set->items[i].own;
    return -1;
}

/* Takes up what stands at the end of a made or joined path; false with errno if it is no longer that. */
static bool item_add(struct placeholder_set *set, int parent, const char *path, const char *name, int own)
{
    struct placeholder item = {.path = path, .name = name, .parent = parent, .own = own};
    struct stat now;
    if (own < 0)
        return false;
    descriptor_keep(set, NULL, own);
    VECTOR_PUSH(set->arena, set, item);
    if (!rely_on(set, own) || fstat(own, &set->items[set->count - 1].status) != 0 ||
        fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (now.st_ino == set->items[set->count - 1].status.st_ino &&
        now.st_dev == set->items[set->count - 1].status.st_dev)
        return true;
    errno = ESTALE;
    return false;
}

static int directory_make(struct placeholder_set *set, int parent, const char *path, const char *name)
{
    if (!placeholder_record_add(&set->record, path) || mkdirat(parent, name, MODE_DIRECTORY) != 0)
        return -1;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) {
        unlinkat(parent, name, AT_REMOVEDIR);
        return -1;
    }
    return item_add(set, parent, path, name, directory) ? directory : -1;
}

/* Git may look at any moment: what says how to take a place appears whole. False with errno; EOPNOTSUPP where
 * the file system has no files without a name. */
static int file_appear(int parent, const char *name, const char *content)
{
    int file = openat(parent, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE_FILE);
    if (file < 0) {
        errno = errno == EISDIR || errno == EINVAL || errno == ENOENT ? EOPNOTSUPP : errno;
        return -1;
    }
    char link[sizeof "/proc/self/fd/" + 3 * sizeof file];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (write_all(file, content, strlen(content)) &&
        linkat(AT_FDCWD, link, parent, name, AT_SYMLINK_FOLLOW) == 0)
        return file;
    int error = errno;
    close(file);
    errno = error == ENOENT ? EOPNOTSUPP : error;
    return -1;
}

/* A hidden one is a socket that nobody listens on, where the file system has such: it cannot be opened, and
 * so not locked; the records say who relies on it. */
static bool file_make(struct placeholder_set *set, int parent, const char *path, const char *name,
                      const char *content, bool hidden)
{
    if (!placeholder_record_add(&set->record, path))
        return false;
    if (hidden && set->record.file >= 0 && mknodat(parent, name, S_IFSOCK | MODE_FILE, 0) == 0)
        return item_add(set, parent, path, name, openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    int file = *content == '\0' ? -1 : file_appear(parent, name, content);
    if (file >= 0)
        return item_add(set, parent, path, name, file);
    if (*content != '\0' && errno != EOPNOTSUPP)
        return false;
    file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE_FILE);
    if (file < 0)
        return false;
    bool added = item_add(set, parent, path, name, file);
    return added && write_all(file, content, strlen(content));
}

static int parent_of(struct placeholder_set *set, const char *path);

/* Shares what another run, or one that was killed, left at `path`: the last run that relies on it removes it.
 * False with errno if it is on its way out. */
static bool join(struct placeholder_set *set, const char *path, off_t largest)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !placeholder_is_marked(&status, largest) || held_at(set, path) >= 0)
        return true;
    int parent = parent_of(set, path);
    const char *name = strrchr(path, '/') + 1;
    int how = S_ISSOCK(status.st_mode) ? O_PATH : O_RDONLY | O_NONBLOCK;
    int own = parent < 0 ? -1 : openat(parent, name, how | O_NOFOLLOW | O_CLOEXEC);
    if (own < 0)
        return errno == EACCES; /* nothing that this launcher made */
    if (fstat(own, &status) != 0 || !placeholder_is_marked(&status, largest)) {
        close(own);
        return true;
    }
    if (!placeholder_record_add(&set->record, path) || !item_add(set, parent, path, name, own))
        return false;
    return !S_ISDIR(status.st_mode) ||
           join(set, arena_format(set->arena, "%s/.gitignore", path), PLACEHOLDER_HIDING);
}

/* The directory that holds `path`, joined first if it is a placeholder itself; -1 with errno. */
static int parent_of(struct placeholder_set *set, const char *path)
{
    const char *parent = path_parent(set->arena, path);
    if (strcmp(parent, "/") != 0 && !join(set, parent, PLACEHOLDER_CONTENT))
        return -1;
    int held = held_at(set, parent);
    return held >= 0 ? held : descriptor_keep(set, NULL, directory_open(parent, O_PATH));
}

/* The deepest existing directory above a missing path, if only the caller decides what happens in it. */
static int ancestor_open(struct placeholder_set *set, const char *path, const char **error)
{
    for (uint32_t i = 0; i < set->descriptors.count; i++)
        if (set->descriptors.items[i].path != NULL && strcmp(set->descriptors.items[i].path, path) == 0)
            return set->descriptors.items[i].descriptor;
    struct stat status;
    if (strcmp(path, "/") != 0 && !join(set, path, PLACEHOLDER_CONTENT)) {
        *error = strerror(errno);
        return -1;
    }
    int held = held_at(set, path);
    int directory = held >= 0 ? held : descriptor_keep(set, path, directory_open(path, O_PATH));
    if (directory < 0 || fstat(directory, &status) != 0) {
        *error = strerror(errno);
        return -1;
    }
    if (status.st_uid != geteuid()) {
        *error = "it belongs to another user";
        return -1;
    }
    return directory;
}

/* Makes what stands at the end of a missing path. */
static bool end_make(struct placeholder_set *set, const struct missing_path *missing, int parent,
                     const char *path, const char *name)
{
    if (!missing->directory)
        return file_make(set, parent, path, name, missing->content, missing->hidden);
    int directory = directory_make(set, parent, path, name);
    if (directory < 0 || *missing->content == '\0')
        return directory >= 0;
    const char *ignore = arena_format(set->arena, "%s/.gitignore", path);
    return file_make(set, directory, ignore, ".gitignore", missing->content, false);
}

/* A directory that is missing on the way. In a work tree Git would clean it away, but for a file in it that
 * is ignored; what the command makes there is not. */
static int parent_make(struct placeholder_set *set, const struct missing_path *missing, int parent,
                       const char *path, const char *name)
{
    int directory = directory_make(set, parent, path, name);
    bool in_work_tree = missing->hidden || strcmp(missing->content, "*\n") == 0;
    if (directory < 0 || !in_work_tree)
        return directory;
    const char *ignore = arena_format(set->arena, "%s/.gitignore", path);
    return file_make(set, directory, ignore, ".gitignore", "/.gitignore\n", false) ? directory : -1;
}

/* Makes what is missing of one path, from its deepest existing directory on. */
static bool path_make(struct placeholder_set *set, const struct missing_path *missing, const char **error)
{
    int parent = ancestor_open(set, missing->ancestor, error);
    if (parent < 0)
        return false;
    const char *name = missing->path + (strcmp(missing->ancestor, "/") == 0 ? 0 : strlen(missing->ancestor));
    while (*(name += strspn(name, "/")) != '\0') {
        size_t length = strcspn(name, "/");
        bool last = name[length] == '\0';
        const char *path = arena_copy(set->arena, missing->path, (size_t)(name + length - missing->path));
        const char *own = arena_copy(set->arena, name, length);
        int made = last ? -1 : held_at(set, path);
        name += length;
        if (made >= 0) {
            parent = made;
            continue;
        }
        bool done = last ? end_make(set, missing, parent, path, own)
                         : (parent = parent_make(set, missing, parent, path, own)) >= 0;
        if (!done) {
            *error = strerror(errno);
            return false;
        }
    }
    return true;
}

/* What was made or joined, from number `first` on, must still be what stands there. */
static bool statuses_record(struct placeholder_set *set, uint32_t first)
{
    bool all = true;
    for (uint32_t i = set->count; i > first; i--) {
        struct placeholder *item = &set->items[i - 1];
        struct stat now;
        if (fstatat(item->parent, item->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
            now.st_ino == item->status.st_ino && now.st_dev == item->status.st_dev)
            item->status = now;
        else
            all = false;
    }
    return all;
}

/* Where the record cannot be written, its place is to blame and not the path. */
static void refuse_record(const struct placeholder_set *set, const char *path, const char *error,
                          struct note_list *notes)
{
    note_add(notes, (struct note){
                        .code = SBX463_PLACEHOLDER_FAILED,
                        .text = arena_format(notes->arena, "what holds %s cannot be recorded in %s: %s",
                                             escape_string(notes->arena, path),
                                             escape_string(notes->arena, set->record.place), error),
                        .help = "make room there, or set XDG_STATE_HOME to another place",
                    });
}

static void refuse(const struct placeholder_set *set, const struct missing_path *missing, const char *error,
                   struct note_list *notes)
{
    if (set->record.failed) {
        refuse_record(set, missing->path, error, notes);
        return;
    }
    note_add(notes, (struct note){
                        .code = SBX463_PLACEHOLDER_FAILED,
                        .rule = missing->rule,
                        .text = arena_format(notes->arena,
                                             "%s does not exist, and nothing can be put there to hold it: in "
                                             "%s: %s",
                                             escape_string(notes->arena, missing->path),
                                             escape_string(notes->arena, missing->ancestor), error),
                        .help = "create the path, or deny write its directory",
                    });
}

static void refuse_join(const struct placeholder_set *set, const char *path, struct note_list *notes)
{
    const char *error = strerror(errno);
    if (set->record.failed) {
        refuse_record(set, path, error, notes);
        return;
    }
    note_add(notes,
             (struct note){.code = SBX463_PLACEHOLDER_FAILED,
                           .text = arena_format(notes->arena, "%s is what another run is just removing: %s",
                                                escape_string(notes->arena, path), error),
                           .help = "launch again"});
}

/* Places that exist only because another run holds a deny there. */
static bool places_join(struct placeholder_set *set, const struct facts *facts, struct note_list *notes)
{
    for (uint32_t i = 0; i < facts->place_count; i++) {
        const struct plan_place *place = &facts->places[i];
        bool may_be =
            place->level != LEVEL_WRITE &&
            (place->kind == ENTRY_FILE || place->kind == ENTRY_EMPTY || place->kind == ENTRY_DIRECTORY) &&
            strcmp(place->path, "/") != 0;
        if (may_be && !join(set, place->path, PLACEHOLDER_CONTENT)) {
            refuse_join(set, place->path, notes);
            return false;
        }
    }
    return true;
}

/* How many files and directories it takes, but for those that hide a directory from Git. */
static rlim_t entries_wanted(const struct facts *facts)
{
    rlim_t entries = 0;
    const char *before = "";
    for (uint32_t i = 0; i < facts->missing_count; i++) {
        const char *path = facts->missing[i].path;
        for (size_t end = strlen(facts->missing[i].ancestor); path[end] != '\0';) {
            end += 1 + strcspn(path + end + 1, "/");
            bool shared = strncmp(before, path, end) == 0 && (before[end] == '/' || before[end] == '\0');
            entries += !shared;
        }
        before = path;
    }
    return entries;
}

/* Each is held by a descriptor while the run lasts. The command gets its own limit back. */
static bool descriptors_reserve(const struct facts *facts, struct note_list *notes)
{
    struct rlimit files;
    rlim_t wanted = entries_wanted(facts);
    if (wanted == 0 || getrlimit(RLIMIT_NOFILE, &files) != 0)
        return true;
    if (files.rlim_max < wanted + OTHER_DESCRIPTORS) {
        note_add(notes,
                 (struct note){.code = SBX463_PLACEHOLDER_FAILED,
                               .text = arena_format(notes->arena,
                                                    "what holds the missing denied paths takes %llu open "
                                                    "files, and no more than %llu are allowed",
                                                    (unsigned long long)wanted + OTHER_DESCRIPTORS,
                                                    (unsigned long long)files.rlim_max),
                               .help = "raise the limit (ulimit -Hn), or deny a directory that is there"});
        return false;
    }
    rlim_t room = files.rlim_max - files.rlim_cur;
    files.rlim_cur += 2 * wanted < room ? 2 * wanted : room;
    setrlimit(RLIMIT_NOFILE, &files);
    return true;
}

struct placeholder_set *placeholders_make(struct arena *arena, const struct facts *facts,
                                          const struct placeholder_record *record, struct note_list *notes)
{
    struct placeholder_set *set = arena_alloc(arena, sizeof *set);
    set->arena = arena;
    set->record = *record;
    bool made = descriptors_reserve(facts, notes) && places_join(set, facts, notes);
    for (uint32_t i = 0; made && i < facts->missing_count; i++) {
        const char *error = "it changed meanwhile";
        made = path_make(set, &facts->missing[i], &error);
        if (!made)
            refuse(set, &facts->missing[i], error, notes);
    }
    if (statuses_record(set, 0) && made)
        return set;
    if (made)
        note_add(notes, (struct note){.code = SBX463_PLACEHOLDER_FAILED,
                                      .text = "what holds a missing denied path changed at once",
                                      .help = "launch again"});
    placeholders_remove(set);
    return NULL;
}

/* Whether what was made still stands at its path, as seen from its directory. */
static bool still_stands(const struct placeholder *item)
{
    struct stat now;
    return fstatat(item->parent, item->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_ino == item->status.st_ino && now.st_dev == item->status.st_dev;
}

/* During a run anything may have been removed or renamed: what was opened by path is opened again. */
static void paths_forget(struct placeholder_set *set)
{
    for (uint32_t i = 0; i < set->descriptors.count; i++)
        set->descriptors.items[i].path = NULL;
    for (uint32_t i = 0; i < set->count; i++)
        if (!still_stands(&set->items[i]))
            set->items[i].path = "";
}

bool placeholders_add(struct placeholder_set *set, const struct missing_path *missing, const char **error)
{
    uint32_t first = set->count;
    paths_forget(set);
    *error = "it changed meanwhile";
    return path_make(set, missing, error) && statuses_record(set, first);
}

void placeholders_remove(struct placeholder_set *set)
{
    if (set == NULL)
        return;
    for (uint32_t i = 0; i < set->count; i++) {
        struct placeholder *item = &set->items[i];
        struct stat now;
        item->untouched = fstatat(item->parent, item->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
                          is_unchanged(&item->status, &now);
    }
    struct buffer others = placeholder_claims(set->arena, set->record.directory, set->record.name);
    bool all = true;
    for (uint32_t i = set->count; i > 0; i--) {
        const struct placeholder *item = &set->items[i - 1];
        if (item->untouched && !placeholder_is_claimed(&others, item->path))
            all =
                placeholder_unlink(item->parent, item->name, item->own, S_ISDIR(item->status.st_mode)) && all;
    }
    set->count = 0;
    placeholder_record_end(&set->record, all);
    for (; set->descriptors.count > 0; set->descriptors.count--)
        close(set->descriptors.items[set->descriptors.count - 1].descriptor);
}
