#include "emitters/seatbelt_set.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

static const char above_mark = '^';

void place_set_above(struct arena *arena, struct place_set *set, struct place place)
{
    size_t length = strlen(place.rest);
    for (size_t at = length; at-- > 1;)
        if (place.rest[at] == '/') {
            struct place above = {place.root, arena_copy(arena, place.rest, at), false};
            VECTOR_PUSH(arena, set, place_text(arena, above));
        }
    if (place.root == NULL)
        return;
    if (length > 0)
        VECTOR_PUSH(arena, set, arena_format(arena, "$%s", place.root));
    VECTOR_PUSH(arena, set, arena_format(arena, "%c$%s", above_mark, place.root));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void place_set_finish(struct place_set *set)
{
    uint32_t kept = 0;
    if (set->count > 1)
        qsort(set->items, set->count, sizeof *set->items, compare);
    for (uint32_t i = 0; i < set->count; i++)
        if (kept == 0 || strcmp(set->items[kept - 1], set->items[i]) != 0)
            set->items[kept++] = set->items[i];
    set->count = kept;
}

void place_set_write(struct profile *profile, const struct place_set *set, bool closes)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct buffer filter = buffer_in(profile->arena);
        bool above = set->items[i][0] == above_mark;
        struct place place = place_read(profile->arena, set->items[i] + above);
        place_filter(&filter, above ? "path-ancestors" : "literal", place);
        if (closes && !above)
            place_cases(&filter, place, true);
        profile_filter(profile, &filter, NULL, above ? "every directory above it" : NULL);
    }
}
