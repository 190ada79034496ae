#include "policy/host.h"

#include "base/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024 };

/* Reads to the end; `expected` is how many bytes that will probably be. */
static char *read_all(struct arena *arena, int file, size_t expected, size_t limit, size_t *length,
                      const char **cause)
{
    char chunk[READ_SIZE];
    struct buffer bytes = buffer_in(arena);
    bytes.capacity = (expected < limit ? expected : limit) + 1;
    bytes.bytes = arena_alloc(arena, bytes.capacity);
    buffer_string(&bytes, "");
    for (;;) {
        ssize_t size = read(file, chunk, sizeof chunk);
        if (size == 0)
            break;
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            *cause = strerror(errno);
            return NULL;
        }
        if ((size_t)size > limit - bytes.length) {
            *cause = arena_format(arena, "it is larger than %zu bytes", limit);
            return NULL;
        }
        buffer_bytes(&bytes, chunk, (size_t)size);
    }
    *length = bytes.length;
    return bytes.bytes;
}

/* Why an open file is none that may be read, or NULL; `*size` is what the system says of its size. */
static const char *kind_problem(int file, size_t *size)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return strerror(errno);
    if (S_ISDIR(about.st_mode))
        return "it is a directory";
    if (!S_ISREG(about.st_mode))
        return "it is not a regular file";
    *size = about.st_size > 0 ? (size_t)about.st_size : 0;
    return NULL;
}

char *file_read(struct arena *arena, const char *path, size_t limit, size_t *length, const char **error)
{
    const char *cause = NULL;
    char *bytes = NULL;
    size_t size = 0;
    if (strcmp(path, "-") == 0) {
        bytes = read_all(arena, STDIN_FILENO, READ_SIZE, limit, length, &cause);
        if (bytes == NULL)
            *error = arena_format(arena, "cannot read standard input: %s", cause);
        return bytes;
    }
    /* Without O_NONBLOCK opening a FIFO would wait for whoever made it. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        *error = arena_format(arena, "cannot open %s: %s", escape_string(arena, path), strerror(errno));
        return NULL;
    }
    cause = kind_problem(file, &size);
    if (cause == NULL)
        bytes = read_all(arena, file, size, limit, length, &cause);
    close(file);
    if (bytes == NULL)
        *error = arena_format(arena, "cannot read %s: %s", escape_string(arena, path), cause);
    return bytes;
}
