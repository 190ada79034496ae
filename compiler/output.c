#include "compiler/output.h"

#include "base/escape.h"
#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_standard(const char *bytes, size_t length)
{
    return write_all(STDOUT_FILENO, bytes, length);
}

void output_error(const char *bytes, size_t length)
{
    (void)!write_all(STDERR_FILENO, bytes, length);
}

static const char *failed(struct arena *arena, const char *what, const char *path)
{
    const char *reason = strerror(errno);
    return arena_format(arena, "cannot %s %s: %s", what, escape_string(arena, path), reason);
}

/* What stands at the name must be something that may be replaced. */
static const char *check_place(struct arena *arena, int directory, const char *name, const char *path)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? NULL : failed(arena, "write", path);
    if (S_ISREG(status.st_mode))
        return NULL;
    if (S_ISLNK(status.st_mode))
        return arena_format(arena,
                            "cannot write %s: it is a symbolic link; name the file itself, or -o - for "
                            "standard output",
                            escape_string(arena, path));
    return arena_format(arena, "cannot write %s: it is no regular file", escape_string(arena, path));
}

static int create_temporary(struct arena *arena, int directory, const char *name, mode_t mode,
                            const char **temporary)
{
    for (int attempt = 0; attempt < 16; attempt++) {
        uint64_t number = 0;
        if (getentropy(&number, sizeof number) != 0)
            return -1;
        *temporary = arena_format(arena, ".%.200s.%016llx", name, (unsigned long long)number);
        int file = openat(directory, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

static bool write_synced(int file, const char *bytes, size_t length)
{
    bool good = write_all(file, bytes, length) && fsync(file) == 0;
    int reason = errno;
    if (close(file) != 0 && good)
        return false;
    errno = reason;
    return good;
}

static const char *replace_in(struct arena *arena, int directory, const char *name, const char *path,
                              const char *bytes, size_t length)
{
    const char *temporary = NULL, *problem = check_place(arena, directory, name, path);
    if (problem != NULL)
        return problem;
    bool script = length > 2 && memcmp(bytes, "#!", 2) == 0;
    int file = create_temporary(arena, directory, name, script ? 0777 : 0666, &temporary);
    if (file < 0)
        return failed(arena, "write", path);
    if (write_synced(file, bytes, length) && renameat(directory, temporary, directory, name) == 0) {
        fsync(directory); /* a directory that cannot be synced still holds the whole new file */
        return NULL;
    }
    problem = failed(arena, "write", path);
    unlinkat(directory, temporary, 0);
    return problem;
}

const char *output_replace(struct arena *arena, const char *path, const char *bytes, size_t length)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *folder = slash == NULL ? "." : arena_copy(arena, path, (size_t)(slash - path) + 1);
    if (*name == '\0')
        return arena_format(arena, "cannot write %s: it names a directory", escape_string(arena, path));
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return failed(arena, "write", path);
    const char *problem = replace_in(arena, directory, name, path, bytes, length);
    close(directory);
    return problem;
}
