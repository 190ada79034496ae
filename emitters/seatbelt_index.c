#include "emitters/seatbelt_index.h"

#include <string.h>

/* What holds at one path for one operation: numbers of rules, + 1. */
struct place {
    struct seatbelt_text path; /* bytes NULL: a free slot */
    enum seatbelt_operation operation;
    uint32_t literal, subpath;
};

struct seatbelt_index {
    struct place *slots;
    uint64_t size; /* a power of two, twice the filters at least */
    bool folded;
};

/* The hash of a path can be carried on from that of the directory above. */
static const uint64_t hash_empty = UINT64_C(0xCBF29CE484222325);

static uint64_t hash_more(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001B3);
}

static struct place *place_at(const struct seatbelt_index *index, enum seatbelt_operation operation,
                              const struct seatbelt_text *path, uint64_t hash)
{
    hash = (hash ^ (uint64_t)operation << 48) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint64_t at = (hash >> 20) & (index->size - 1);; at = (at + 1) & (index->size - 1)) {
        struct place *place = &index->slots[at];
        if (place->path.bytes == NULL ||
            (place->operation == operation && place->path.length == path->length &&
             memcmp(place->path.bytes, path->bytes, path->length) == 0))
            return place;
    }
}

struct seatbelt_index *seatbelt_index_create(struct arena *arena, uint64_t expected, bool folded)
{
    struct seatbelt_index *index = arena_alloc(arena, sizeof *index);
    index->folded = folded;
    for (index->size = 16; index->size < expected * 2; index->size *= 2)
        ;
    index->slots = arena_array(arena, index->size, sizeof *index->slots);
    return index;
}

bool seatbelt_index_add(struct seatbelt_index *index, enum seatbelt_operation operation,
                        const struct seatbelt_entry *entry)
{
    bool literal = entry->filter->kind == SEATBELT_FILTER_LITERAL;
    if (!literal && entry->filter->kind != SEATBELT_FILTER_SUBPATH)
        return false;
    const struct seatbelt_text *path = index->folded ? &entry->filter->folded : &entry->filter->text;
    uint64_t hash = hash_empty;
    for (size_t i = 0; i < path->length; i++)
        hash = hash_more(hash, path->bytes[i]);
    struct place *place = place_at(index, operation, path, hash);
    place->path = *path;
    place->operation = operation;
    *(literal ? &place->literal : &place->subpath) = entry->rule + 1;
    return true;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t seatbelt_index_last(const struct seatbelt_index *index, enum seatbelt_operation operation,
                             const struct seatbelt_text *path)
{
    uint64_t hash = hash_empty;
    uint32_t last = 0;
    for (size_t i = 0; i < path->length; i++) {
        /* Here ends a directory above the path; the root's name is its slash. */
        struct seatbelt_text above = {path->bytes, i > 0 ? i : 1};
        if (path->bytes[i] == '/' && i == 0)
            last = place_at(index, operation, &above, hash_more(hash, '/'))->subpath;
        else if (path->bytes[i] == '/')
            last = later(last, place_at(index, operation, &above, hash)->subpath);
        hash = hash_more(hash, path->bytes[i]);
    }
    const struct place *self = place_at(index, operation, path, hash);
    return later(last, later(self->literal, self->subpath));
}
