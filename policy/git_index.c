#include "policy/git_index.h"

#include "base/vector.h"

#include <stdbool.h>
#include <string.h>

enum {
    HEADER_BYTES = 12,
    STAT_BYTES = 40, /* ctime to size; the mode stands at byte 24 */
    MODE_AT = 24,
    MODE_GITLINK = 0160000,
    FLAG_EXTENDED = 0x4000,
    SHA1_BYTES = 20,
    SHA256_BYTES = 32,
    PATH_LONGEST = 4096,
};

struct reader {
    const unsigned char *bytes;
    size_t length, at;
};

static uint32_t big_endian(const unsigned char *at, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static bool has(const struct reader *reader, size_t bytes)
{
    return reader->length - reader->at >= bytes;
}

/* Version 4 says by how many bytes the previous path is cut, as the offset encoding of gitformat-pack(5). */
static bool read_cut(struct reader *reader, size_t *cut)
{
    *cut = 0;
    for (unsigned i = 0; i < 4 && has(reader, 1); i++) {
        unsigned char byte = reader->bytes[reader->at++];
        *cut = (i == 0 ? 0 : (*cut + 1) << 7) | (byte & 0x7Fu);
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

struct entry_path {
    char bytes[PATH_LONGEST + 1];
    size_t length;
};

/* Reads the path after the flags into `path`, which holds the previous entry's. */
static bool read_path(struct reader *reader, uint32_t version, size_t entry_start, struct entry_path *path)
{
    size_t kept = 0;
    if (version == 4) {
        size_t cut;
        if (!read_cut(reader, &cut) || cut > path->length)
            return false;
        kept = path->length - cut;
    }
    const unsigned char *start = reader->bytes + reader->at;
    const unsigned char *end = memchr(start, 0, reader->length - reader->at);
    if (end == NULL || (size_t)(end - start) > PATH_LONGEST - kept)
        return false;
    memcpy(path->bytes + kept, start, (size_t)(end - start) + 1);
    path->length = kept + (size_t)(end - start);
    reader->at += (size_t)(end - start) + 1;
    if (version < 4) {
        /* One to eight NULs fill the entry up to a multiple of eight; one was read above. */
        size_t size = reader->at - 1 - entry_start, padded = (size / 8 + 1) * 8;
        if (!has(reader, padded - size - 1))
            return false;
        reader->at += padded - size - 1;
    }
    return path->length > 0;
}

static bool is_plain(const char *path)
{
    for (const char *start = path;; start++) {
        size_t length = strcspn(start, "/");
        if (length == 0 || (length == 1 && start[0] == '.') ||
            (length == 2 && start[0] == '.' && start[1] == '.'))
            return false;
        start += length;
        if (*start == '\0')
            return true;
    }
}

static struct git_paths *read_entries(struct arena *arena, struct reader reader, size_t name_bytes)
{
    struct git_paths *paths = arena_alloc(arena, sizeof *paths);
    uint32_t version = big_endian(reader.bytes + 4, 4), count = big_endian(reader.bytes + 8, 4);
    struct entry_path *path = arena_alloc(arena, sizeof *path);
    reader.at = HEADER_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        size_t start = reader.at;
        if (!has(&reader, STAT_BYTES + name_bytes + 2))
            return NULL;
        uint32_t mode = big_endian(reader.bytes + start + MODE_AT, 4);
        reader.at += STAT_BYTES + name_bytes;
        uint32_t flags = big_endian(reader.bytes + reader.at, 2);
        reader.at += 2;
        if ((flags & FLAG_EXTENDED) != 0) {
            if (version < 3 || !has(&reader, 2))
                return NULL;
            reader.at += 2;
        }
        if (!read_path(&reader, version, start, path))
            return NULL;
        if (mode == MODE_GITLINK && is_plain(path->bytes))
            VECTOR_PUSH(arena, paths, arena_copy(arena, path->bytes, path->length));
    }
    /* Extensions may follow; the trailing checksum always does. With names of the wrong size this rarely fits. */
    return has(&reader, name_bytes) ? paths : NULL;
}

struct git_paths *git_index_submodules(struct arena *arena, const void *bytes, size_t length)
{
    struct reader reader = {bytes, length, 0};
    if (length < HEADER_BYTES || memcmp(bytes, "DIRC", 4) != 0)
        return NULL;
    uint32_t version = big_endian(reader.bytes + 4, 4);
    if (version < 2 || version > 4)
        return NULL;
    struct git_paths *paths = read_entries(arena, reader, SHA1_BYTES);
    return paths != NULL ? paths : read_entries(arena, reader, SHA256_BYTES);
}
