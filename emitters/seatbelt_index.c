#include "emitters/seatbelt_index.h"

#include "emitters/seatbelt_fold.h"

#include <string.h>

/* A filter that may match at its place or below: the last rule's first. */
struct conditional {
    struct seatbelt_entry entry;
    const struct conditional *next;
};

/* What holds at one path for one operation: numbers of rules, + 1. */
struct place {
    struct seatbelt_text path; /* bytes NULL: a free slot */
    enum seatbelt_operation operation;
    uint32_t literal, subpath;
    const struct conditional *conditionals;
};

struct seatbelt_index {
    struct arena *arena;
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
    index->arena = arena;
    index->folded = folded;
    for (index->size = 16; index->size < expected * 2; index->size *= 2)
        ;
    index->slots = arena_array(arena, index->size, sizeof *index->slots);
    return index;
}

/* The directory that all paths beginning with `text` are below: up to its last slash. */
static struct seatbelt_text directory_of(const struct seatbelt_text *text)
{
    size_t length = text->length;
    while (length > 0 && text->bytes[length - 1] != '/')
        length--;
    return (struct seatbelt_text){text->bytes, length > 0 ? length - 1 : 0};
}

/* The bytes that whatever an anchored expression matches begins with. */
static struct seatbelt_text fixed_beginning(struct arena *arena, const struct seatbelt_text *expression)
{
    char *bytes = arena_alloc(arena, expression->length + 1);
    size_t length = 0, at = 1;
    if (expression->length == 0 || expression->bytes[0] != '^')
        return (struct seatbelt_text){bytes, 0};
    for (; at < expression->length && strchr(".[$()|*+?{", expression->bytes[at]) == NULL; at++) {
        at += expression->bytes[at] == '\\';
        bytes[length++] = expression->bytes[at];
    }
    /* What is repeated may be there not at all. */
    if (at < expression->length && strchr("*?{", expression->bytes[at]) != NULL && length > 0)
        length--;
    return (struct seatbelt_text){bytes, length};
}

struct seatbelt_text seatbelt_guard(struct arena *arena, const struct seatbelt_filter *filter)
{
    struct seatbelt_text guard = {"", 0};
    if (filter->kind == SEATBELT_FILTER_LITERAL || filter->kind == SEATBELT_FILTER_SUBPATH)
        return filter->text;
    if (filter->kind == SEATBELT_FILTER_PREFIX)
        return directory_of(&filter->text);
    if (filter->kind == SEATBELT_FILTER_REGEX && !seatbelt_regex_is_uncertain(filter->regex)) {
        guard = fixed_beginning(arena, &filter->text);
        return directory_of(&guard);
    }
    for (uint32_t i = 0; filter->kind == SEATBELT_FILTER_ALL && i < filter->count && guard.length == 0; i++)
        guard = seatbelt_guard(arena, filter->parts[i]);
    return guard;
}

static struct place *place_of(struct seatbelt_index *index, enum seatbelt_operation operation,
                              const struct seatbelt_text *path)
{
    uint64_t hash = hash_empty;
    for (size_t i = 0; i < path->length; i++)
        hash = hash_more(hash, path->bytes[i]);
    struct place *place = place_at(index, operation, path, hash);
    place->path = *path;
    place->operation = operation;
    return place;
}

bool seatbelt_index_add(struct seatbelt_index *index, enum seatbelt_operation operation,
                        const struct seatbelt_entry *entry)
{
    struct seatbelt_text guard = seatbelt_guard(index->arena, entry->filter);
    if (guard.length == 0)
        return false;
    if (index->folded)
        guard.bytes = seatbelt_fold(index->arena, guard.bytes, guard.length, &guard.length);
    struct place *place = place_of(index, operation, &guard);
    if (entry->filter->kind == SEATBELT_FILTER_LITERAL) {
        place->literal = entry->rule + 1;
    } else if (entry->filter->kind == SEATBELT_FILTER_SUBPATH) {
        place->subpath = entry->rule + 1;
    } else {
        struct conditional *conditional = arena_alloc(index->arena, sizeof *conditional);
        *conditional = (struct conditional){*entry, place->conditionals};
        place->conditionals = conditional;
    }
    return true;
}

static void consider_place(const struct place *place, bool itself, const struct seatbelt_subject *subject,
                           struct seatbelt_verdict *verdict)
{
    if (place->subpath > verdict->last)
        verdict->last = place->subpath;
    if (itself && place->literal > verdict->last)
        verdict->last = place->literal;
    for (const struct conditional *each = place->conditionals;
         each != NULL && each->entry.rule >= verdict->last; each = each->next)
        seatbelt_consider(verdict, &each->entry, subject);
}

void seatbelt_index_consider(const struct seatbelt_index *index, enum seatbelt_operation operation,
                             const struct seatbelt_subject *subject, struct seatbelt_verdict *verdict)
{
    const struct seatbelt_text *path = &subject->path;
    uint64_t hash = hash_empty;
    for (size_t i = 0; i < path->length; i++) {
        /* Here ends a directory above the path; the root's name is its slash. */
        struct seatbelt_text above = {path->bytes, i > 0 ? i : 1};
        if (path->bytes[i] == '/')
            consider_place(place_at(index, operation, &above, i > 0 ? hash : hash_more(hash, '/')), false,
                           subject, verdict);
        hash = hash_more(hash, path->bytes[i]);
    }
    consider_place(place_at(index, operation, path, hash), true, subject, verdict);
}
