#include "runtime/placeholder_record.h"

#include "base/vector.h"
#include "runtime/link.h"
#include "runtime/process.h"
#include "runtime/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_BYTES = 16 << 20, ENDING_MILLISECONDS = 2000 };

bool placeholder_is_marked(const struct stat *status, off_t largest)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_ISVTX | S_IWGRP | S_IWOTH)) == S_ISVTX &&
           (S_ISDIR(status->st_mode) || (S_ISSOCK(status->st_mode) && status->st_nlink == 1) ||
            (S_ISREG(status->st_mode) && status->st_size <= largest && status->st_nlink == 1));
}

bool placeholder_unlink(int parent, const char *name, int own, bool directory)
{
    if (flock(own, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return unlinkat(parent, name, directory ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT ||
           errno == ENOTEMPTY || errno == EEXIST;
}

/* The directory of the records; -1 if there is none that is the caller's own. */
static int records_open(struct arena *arena, const char *state)
{
    int top = state_open(arena, state);
    if (top < 0)
        return -1;
    mkdirat(top, "placeholders", 0700);
    int records = openat(top, "placeholders", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(top);
    return records;
}

/* The launcher's own lock, which its children do not have. */
static struct flock launcher_lock(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* Whether nothing of the record's run is left. What a killed launcher had started ends by itself, but may
 * until then still be making the sandbox, and its mount points with it. */
static bool is_abandoned(int file)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    for (int i = 0; i < ENDING_MILLISECONDS; i++) {
        struct flock lock = launcher_lock();
        if (flock(file, LOCK_SH | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK)
            return true; /* no locks on this file system: as if nobody else were here */
        if (fcntl(file, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The paths in a record, each with its NUL; false if they cannot be read. */
static bool record_read(int file, struct buffer *paths)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > RECORD_BYTES)
        return false;
    char *bytes = arena_alloc(paths->arena, (size_t)status.st_size + 1);
    if (pread(file, bytes, (size_t)status.st_size, 0) != (ssize_t)status.st_size)
        return false;
    buffer_bytes(paths, bytes, (size_t)status.st_size);
    return true;
}

struct buffer placeholder_claims(struct arena *arena, int directory, const char *except)
{
    struct buffer claims = buffer_in(arena);
    int copy = directory < 0 ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *records = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    buffer_byte(&claims, '\0');
    while (records != NULL && (entry = readdir(records)) != NULL) {
        /* To close a file that is locked by this process would unlock it. */
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, except) == 0)
            continue;
        int file = openat(copy, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
            continue;
        if (flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            record_read(file, &claims);
        close(file);
    }
    if (records != NULL)
        closedir(records);
    return claims;
}

bool placeholder_is_claimed(const struct buffer *claims, const char *path)
{
    size_t length = strlen(path) + 1;
    const char *at = claims->bytes, *end = at + claims->length;
    while ((at = memmem(at, (size_t)(end - at), path, length)) != NULL)
        if (at[-1] == '\0')
            return true;
        else
            at++;
    return false;
}

/* False if something of ours stands there that cannot be removed now. */
static bool leftover_remove(struct arena *arena, const struct buffer *others, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    int parent = directory_open(path_parent(arena, path), O_PATH);
    if (parent < 0)
        return errno != EACCES && errno != EIO;
    struct stat status;
    off_t largest = strcmp(name, ".gitignore") == 0 ? PLACEHOLDER_HIDING : PLACEHOLDER_CONTENT;
    bool socket = fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode);
    int how = socket ? O_PATH : O_RDONLY | O_NONBLOCK;
    int own = openat(parent, name, how | O_NOFOLLOW | O_CLOEXEC);
    bool gone = true;
    if (own >= 0 && fstat(own, &status) == 0 && placeholder_is_marked(&status, largest) &&
        !placeholder_is_claimed(others, path))
        gone = placeholder_unlink(parent, name, own, S_ISDIR(status.st_mode));
    if (own >= 0)
        close(own);
    close(parent);
    return gone;
}

/* Children were recorded after their parents. A last path without its NUL was being written when its run
 * died: nothing had been made there. */
static bool leftovers_remove(struct arena *arena, const struct buffer *others, const char *paths,
                             size_t length)
{
    bool all = true;
    while (length > 0 && paths[length - 1] != '\0')
        length--;
    while (length > 0) {
        size_t start = length - 1;
        while (start > 0 && paths[start - 1] != '\0')
            start--;
        if (paths[start] == '/')
            all = leftover_remove(arena, others, paths + start) && all;
        length = start;
    }
    return all;
}

static void record_settle(struct arena *arena, int directory, const char *name)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct buffer paths = buffer_in(arena);
    if (file < 0)
        return;
    if (is_abandoned(file) && record_read(file, &paths)) {
        struct buffer others = placeholder_claims(arena, directory, name);
        if (leftovers_remove(arena, &others, paths.bytes, paths.length))
            unlinkat(directory, name, 0);
    }
    close(file);
}

void placeholders_recover(struct arena *arena, const char *state)
{
    int directory = records_open(arena, state);
    DIR *records = directory < 0 ? NULL : fdopendir(directory);
    const struct dirent *entry;
    if (records == NULL) {
        if (directory >= 0)
            close(directory);
        return;
    }
    while ((entry = readdir(records)) != NULL)
        if (entry->d_name[0] != '.')
            record_settle(arena, directory, entry->d_name);
    closedir(records);
}

struct placeholder_record placeholder_record_begin(struct arena *arena, const char *state, const char *name)
{
    return (struct placeholder_record){
        .directory = records_open(arena, state),
        .file = -1,
        .name = arena_strdup(arena, name),
        .place = state == NULL ? NULL : arena_format(arena, "%s/placeholders", state)};
}

bool placeholder_record_add(struct placeholder_record *record, const char *path)
{
    size_t length = strlen(path) + 1;
    if (record->directory < 0)
        return true;
    if (record->file < 0) {
        struct flock lock = launcher_lock();
        /* Whoever makes the sandbox inherits it, and with it the flock(2); the other lock stays the
         * launcher's. */
        record->file =
            openat(record->directory, record->name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600);
        if (record->file < 0) {
            record->failed = true;
            return false;
        }
        flock(record->file, LOCK_EX | LOCK_NB);
        fcntl(record->file, F_SETLK, &lock);
    }
    ssize_t written = write(record->file, path, length);
    if (written >= 0 && (size_t)written < length)
        errno = ENOSPC;
    record->failed = written != (ssize_t)length;
    return !record->failed;
}

void placeholder_record_end(struct placeholder_record *record, bool all)
{
    if (record->file >= 0) {
        if (all)
            unlinkat(record->directory, record->name, 0);
        close(record->file);
    }
    if (record->directory >= 0)
        close(record->directory);
    record->directory = record->file = -1;
}
