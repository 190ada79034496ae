#include "runtime/placeholder.h"

#include "base/escape.h"
#include "base/vector.h"
#include "runtime/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Something that was made: `name` in the directory whose descriptor is `parent`. */
struct placeholder {
    const char *path, *name;
    int parent;    /* borrowed from `descriptors` */
    int directory; /* O_PATH descriptor of it, or -1 for a file */
    struct stat status;
    bool untouched;
};

struct placeholder_set {
    struct arena *arena;
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

/* Only changes of the command and of other people count, not the reading of it. */
static bool is_unchanged(const struct stat *before, const struct stat *now)
{
    return before->st_dev == now->st_dev && before->st_ino == now->st_ino &&
           before->st_mode == now->st_mode && before->st_uid == now->st_uid &&
           before->st_gid == now->st_gid && before->st_size == now->st_size &&
           before->st_nlink == now->st_nlink && before->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

static int descriptor_keep(struct placeholder_set *set, const char *path, int descriptor)
{
    if (descriptor >= 0)
        VECTOR_PUSH(set->arena, &set->descriptors, (struct opened){path, descriptor});
    return descriptor;
}

/* The descriptor of a directory that this set made at `path`, or -1. */
static int made_directory(const struct placeholder_set *set, const char *path)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].path, path) == 0)
            return set->items[i].directory;
    return -1;
}

static int directory_make(struct placeholder_set *set, int parent, const char *path, const char *name)
{
    if (mkdirat(parent, name, 0755) != 0)
        return -1;
    struct placeholder made = {.path = path, .name = name, .parent = parent, .directory = -1};
    VECTOR_PUSH(set->arena, set, made);
    int directory = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return -1;
    set->items[set->count - 1].directory = descriptor_keep(set, NULL, directory);
    return fstat(directory, &set->items[set->count - 1].status) == 0 ? directory : -1;
}

static bool file_make(struct placeholder_set *set, int parent, const char *path, const char *name,
                      const char *content)
{
    int file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    struct placeholder made = {.path = path, .name = name, .parent = parent, .directory = -1};
    VECTOR_PUSH(set->arena, set, made);
    ssize_t length = (ssize_t)strlen(content);
    bool written = write(file, content, (size_t)length) == length;
    bool known = fstat(file, &set->items[set->count - 1].status) == 0;
    close(file);
    return written && known;
}

/* The deepest existing directory above a missing path, if only the caller decides what happens in it. */
static int ancestor_open(struct placeholder_set *set, const char *path, const char **error)
{
    for (uint32_t i = 0; i < set->descriptors.count; i++)
        if (set->descriptors.items[i].path != NULL && strcmp(set->descriptors.items[i].path, path) == 0)
            return set->descriptors.items[i].descriptor;
    int directory = descriptor_keep(set, path, directory_open(path, O_PATH));
    struct stat status;
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
        return file_make(set, parent, path, name, missing->content);
    int directory = directory_make(set, parent, path, name);
    if (directory < 0 || *missing->content == '\0')
        return directory >= 0;
    const char *ignore = arena_format(set->arena, "%s/.gitignore", path);
    return file_make(set, directory, ignore, ".gitignore", missing->content);
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
        int made = last ? -1 : made_directory(set, path);
        name += length;
        if (made >= 0) {
            parent = made;
            continue;
        }
        bool done = last ? end_make(set, missing, parent, path, own)
                         : (parent = directory_make(set, parent, path, own)) >= 0;
        if (!done) {
            *error = strerror(errno);
            return false;
        }
    }
    return true;
}

/* Making children changed their parents' times; what was made must still be what stands there. */
static bool statuses_record(struct placeholder_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct placeholder *made = &set->items[i];
        struct stat now;
        if (fstatat(made->parent, made->name, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
            now.st_ino != made->status.st_ino || now.st_dev != made->status.st_dev)
            return false;
        made->status = now;
    }
    return true;
}

static void refuse(const struct missing_path *missing, const char *error, struct note_list *notes)
{
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

struct placeholder_set *placeholders_make(struct arena *arena, const struct facts *facts,
                                          struct note_list *notes)
{
    struct placeholder_set *set = arena_alloc(arena, sizeof *set);
    set->arena = arena;
    for (uint32_t i = 0; i < facts->missing_count; i++) {
        const char *error = "it changed meanwhile";
        bool last = i + 1 == facts->missing_count;
        if (path_make(set, &facts->missing[i], &error) && (!last || statuses_record(set)))
            continue;
        refuse(&facts->missing[i], error, notes);
        statuses_record(set);
        placeholders_remove(set);
        return NULL;
    }
    return set;
}

void placeholders_remove(struct placeholder_set *set)
{
    if (set == NULL)
        return;
    /* All are judged first, since removing a child changes its parent. */
    for (uint32_t i = 0; i < set->count; i++) {
        struct placeholder *made = &set->items[i];
        struct stat now;
        made->untouched = fstatat(made->parent, made->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
                          is_unchanged(&made->status, &now);
    }
    for (; set->count > 0; set->count--) {
        const struct placeholder *made = &set->items[set->count - 1];
        if (made->untouched)
            unlinkat(made->parent, made->name, S_ISDIR(made->status.st_mode) ? AT_REMOVEDIR : 0);
    }
    for (; set->descriptors.count > 0; set->descriptors.count--)
        close(set->descriptors.items[set->descriptors.count - 1].descriptor);
}
