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
    FLAG_LENGTH = 0x0FFF,
    SHA1_BYTES = 20,
    SHA256_BYTES = 32,
    PATH_LONGEST = 4096,
    BITS_MOST = 1 << 30,
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
    return true;
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

/* One entry; `path` holds the one before it, and then its own. */
struct entry {
    uint32_t mode;
    struct entry_path path;
};

static bool read_entry(struct reader *reader, uint32_t version, size_t name_bytes, struct entry *entry)
{
    size_t start = reader->at;
    if (!has(reader, STAT_BYTES + name_bytes + 2))
        return false;
    entry->mode = big_endian(reader->bytes + start + MODE_AT, 4);
    reader->at += STAT_BYTES + name_bytes;
    uint32_t flags = big_endian(reader->bytes + reader->at, 2);
    reader->at += 2;
    if ((flags & FLAG_EXTENDED) != 0) {
        if (version < 3 || !has(reader, 2))
            return false;
        reader->at += 2;
    }
    if (!read_path(reader, version, start, &entry->path))
        return false;
    /* Git goes by the length in the flags, so that a path of another length is another path to it. */
    size_t length = entry->path.length < FLAG_LENGTH ? entry->path.length : FLAG_LENGTH;
    return (flags & FLAG_LENGTH) == length;
}

static uint32_t version_of(const struct git_index *index)
{
    return big_endian((const unsigned char *)index->bytes + 4, 4);
}

static uint32_t count_of(const struct git_index *index)
{
    return big_endian((const unsigned char *)index->bytes + 8, 4);
}

/* Places of the entries without a path that are submodules, counted among those without a path. */
struct nameless {
    uint32_t *items;
    uint32_t count, capacity;
    uint32_t all; /* entries without a path */
};

static bool read_entries(struct arena *arena, struct reader *reader, struct git_index *index,
                         struct nameless *nameless)
{
    struct entry *entry = arena_alloc(arena, sizeof *entry);
    for (uint32_t i = 0; i < count_of(index); i++) {
        if (!read_entry(reader, version_of(index), index->name_bytes, entry))
            return false;
        bool submodule = entry->mode == MODE_GITLINK;
        const char *path = entry->path.bytes;
        if (entry->path.length > 0 && submodule && is_plain(path))
            VECTOR_PUSH(arena, &index->submodules, arena_copy(arena, path, entry->path.length));
        if (entry->path.length > 0)
            continue;
        /* Git wants them first, in the order of what they replace. */
        if (nameless->all != i)
            return false;
        if (submodule)
            VECTOR_PUSH(arena, nameless, i);
        nameless->all++;
    }
    return true;
}

/* A bitmap: how many bits and words, words of 64 bits, one number more. The first word of a run says a bit, how
 * many words are full of it, and how many words follow as they are. */
struct bits {
    struct reader reader;
    uint32_t words;
    uint32_t next; /* number of the first bit of the next word */
};

static bool bits_begin(struct reader *reader, struct bits *bits)
{
    if (!has(reader, 8))
        return false;
    uint32_t words = big_endian(reader->bytes + reader->at + 4, 4);
    reader->at += 8;
    if (words > (reader->length - reader->at) / 8)
        return false;
    *bits = (struct bits){.reader = *reader, .words = words};
    reader->at += (size_t)words * 8;
    if (!has(reader, 4))
        return false;
    reader->at += 4;
    return true;
}

static uint64_t bits_word(struct bits *bits)
{
    const unsigned char *at = bits->reader.bytes + bits->reader.at;
    bits->reader.at += 8;
    bits->words--;
    return (uint64_t)big_endian(at, 4) << 32 | big_endian(at + 4, 4);
}

/* The bits that are set, for each nameless entry one: those of submodules go to `index`. */
struct matching {
    struct arena *arena;
    struct git_index *index;
    const struct nameless *nameless;
    uint32_t seen, taken;
};

static bool match_word(struct matching *matching, uint64_t word, uint32_t first)
{
    const struct nameless *nameless = matching->nameless;
    for (uint32_t bit = 0; bit < 64; bit++) {
        if ((word >> bit & 1) == 0)
            continue;
        if (matching->taken < nameless->count && nameless->items[matching->taken] == matching->seen) {
            VECTOR_PUSH(matching->arena, &matching->index->replaced, first + bit);
            matching->taken++;
        }
        if (++matching->seen > nameless->all)
            return false;
    }
    return true;
}

static bool match_bits(struct matching *matching, struct bits bits)
{
    while (bits.words > 0) {
        uint64_t run = bits_word(&bits), same = run >> 1 & UINT32_MAX, literal = run >> 33;
        if (same > BITS_MOST / 64 - bits.next / 64 || literal > bits.words ||
            literal > BITS_MOST / 64 - bits.next / 64 - same)
            return false;
        for (uint64_t i = 0; (run & 1) != 0 && i < same; i++)
            if (!match_word(matching, UINT64_MAX, bits.next + (uint32_t)i * 64))
                return false;
        bits.next += (uint32_t)same * 64;
        for (uint64_t i = 0; i < literal; i++, bits.next += 64)
            if (!match_word(matching, bits_word(&bits), bits.next))
                return false;
    }
    return true;
}

/* The extension of a split index: the shared one's name, a bitmap of what it deletes there, one of what it
 * replaces. No name, or nothing after it, means that it stands alone. */
static bool read_link(struct arena *arena, struct reader link, struct git_index *index,
                      const struct nameless *nameless)
{
    static const char digits[] = "0123456789abcdef";
    struct bits deleted, replaced;
    unsigned any = 0;
    if (!has(&link, index->name_bytes))
        return false;
    char *name = arena_alloc(arena, index->name_bytes * 2 + 1);
    for (size_t i = 0; i < index->name_bytes; i++) {
        unsigned char byte = link.bytes[link.at++];
        any |= byte;
        name[2 * i] = digits[byte >> 4];
        name[2 * i + 1] = digits[byte & 15];
    }
    if (any != 0)
        index->shared = name;
    if (link.at == link.length)
        return true;
    struct matching matching = {arena, index, nameless, 0, 0};
    return bits_begin(&link, &deleted) && bits_begin(&link, &replaced) && match_bits(&matching, replaced) &&
           matching.seen == nameless->all;
}

/* What follows the entries, up to the checksum: with names of the wrong size this does not fit. */
static bool read_extensions(struct arena *arena, struct reader *reader, struct git_index *index,
                            const struct nameless *nameless)
{
    bool linked = false;
    while (reader->length - reader->at != index->name_bytes) {
        if (!has(reader, 8))
            return false;
        bool link = memcmp(reader->bytes + reader->at, "link", 4) == 0;
        size_t size = big_endian(reader->bytes + reader->at + 4, 4);
        reader->at += 8;
        if (!has(reader, size) || (link && linked))
            return false;
        struct reader inside = {reader->bytes, reader->at + size, reader->at};
        if (link && !read_link(arena, inside, index, nameless))
            return false;
        linked = linked || link;
        reader->at += size;
    }
    return linked || nameless->all == 0;
}

static struct git_index *index_of(struct arena *arena, const void *bytes, size_t length, size_t name_bytes)
{
    struct git_index *index = arena_alloc(arena, sizeof *index);
    struct nameless nameless = {0};
    struct reader reader = {bytes, length, HEADER_BYTES};
    *index = (struct git_index){.bytes = bytes, .length = length, .name_bytes = name_bytes};
    return read_entries(arena, &reader, index, &nameless) && has(&reader, name_bytes) &&
                   read_extensions(arena, &reader, index, &nameless)
               ? index
               : NULL;
}

const struct git_index *git_index_read(struct arena *arena, const void *bytes, size_t length)
{
    const unsigned char *header = bytes;
    if (length < HEADER_BYTES || memcmp(bytes, "DIRC", 4) != 0)
        return NULL;
    uint32_t version = big_endian(header + 4, 4);
    if (version < 2 || version > 4)
        return NULL;
    const struct git_index *index = index_of(arena, bytes, length, SHA1_BYTES);
    return index != NULL ? index : index_of(arena, bytes, length, SHA256_BYTES);
}

struct git_paths git_index_replaced(struct arena *arena, const struct git_index *shared,
                                    const struct git_index *split)
{
    struct git_paths paths = {0};
    struct reader reader = {shared->bytes, shared->length, HEADER_BYTES};
    struct entry *entry = arena_alloc(arena, sizeof *entry);
    uint32_t taken = 0;
    for (uint32_t i = 0; taken < split->replaced.count && i < count_of(shared); i++) {
        if (!read_entry(&reader, version_of(shared), shared->name_bytes, entry))
            break;
        if (split->replaced.items[taken] != i)
            continue;
        taken++;
        if (entry->path.length > 0 && is_plain(entry->path.bytes))
            VECTOR_PUSH(arena, &paths, arena_copy(arena, entry->path.bytes, entry->path.length));
    }
    return paths;
}
