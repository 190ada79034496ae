#include "runtime/small_file.h"

#include "base/buffer.h"

#include <fcntl.h>
#include <unistd.h>

const char *small_file(struct arena *arena, int directory, const char *path)
{
    struct buffer text = buffer_in(arena);
    char chunk[4096];
    ssize_t got;
    int file = openat(directory, path, O_RDONLY | O_CLOEXEC);

    buffer_string(&text, "");
    while (file >= 0 && (got = read(file, chunk, sizeof chunk)) > 0)
        buffer_bytes(&text, chunk, (size_t)got);
    if (file >= 0)
        close(file);
    return arena_copy(arena, text.bytes, text.length);
}
