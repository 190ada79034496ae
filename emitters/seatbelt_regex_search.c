/* All ways through the expression are followed at once, byte by byte, so no subject takes long. */
#include "emitters/seatbelt_regex_code.h"

static bool set_has(const struct seatbelt_set *set, unsigned char byte)
{
    return (set->bits[byte / 64] >> byte % 64 & 1) != 0;
}

/* Adds `place` and all that is reached from it without a byte. Returns whether that is the end of the
 * expression. */
static bool add_place(const struct seatbelt_regex *regex, struct seatbelt_places *places, uint32_t place,
                      bool at_end)
{
    struct seatbelt_search *search = regex->search;
    uint32_t depth = 0;
    bool found = false;
    search->stack[depth++] = place;
    while (depth > 0) {
        uint32_t at = search->stack[--depth];
        const struct seatbelt_instruction *now = &regex->code.items[at];
        if (search->mark[at] == search->round)
            continue;
        search->mark[at] = search->round;
        if (now->step == SEATBELT_STEP_SPLIT)
            search->stack[depth++] = at + (uint32_t)now->second;
        if (now->step == SEATBELT_STEP_SPLIT || now->step == SEATBELT_STEP_JUMP)
            search->stack[depth++] = at + (uint32_t)now->first;
        else if (now->step == SEATBELT_STEP_END && at_end)
            search->stack[depth++] = at + 1;
        else if (now->step == SEATBELT_STEP_FOUND)
            found = true;
        else if (now->step != SEATBELT_STEP_END)
            places->items[places->count++] = at;
    }
    return found;
}

static bool takes(const struct seatbelt_regex *regex, uint32_t place, unsigned char byte)
{
    const struct seatbelt_instruction *now = &regex->code.items[place];
    return now->step == SEATBELT_STEP_ANY || (now->step == SEATBELT_STEP_BYTE && now->value == byte) ||
           (now->step == SEATBELT_STEP_SET && set_has(&regex->sets.items[now->value], byte));
}

/* Goes over `byte`; returns whether the expression has been found then. */
static bool step(const struct seatbelt_regex *regex, unsigned char byte, bool at_end)
{
    struct seatbelt_search *search = regex->search;
    struct seatbelt_places now = search->now;
    bool found = false;
    search->next.count = 0;
    search->round++;
    for (uint32_t i = 0; i < now.count && !found; i++)
        if (takes(regex, now.items[i], byte))
            found = add_place(regex, &search->next, now.items[i] + 1, at_end);
    search->now = search->next;
    search->next = now;
    return found;
}

bool seatbelt_regex_search(const struct seatbelt_regex *regex, const char *subject, size_t length)
{
    struct seatbelt_search *search = regex->search;
    search->now.count = 0;
    search->round++;
    if (add_place(regex, &search->now, 0, length == 0))
        return true;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)subject[i];
        bool at_end = i + 1 == length;
        if (search->now.count == 0 && regex->anchored)
            return false;
        if (step(regex, byte, at_end))
            return true;
        bool begins = !regex->anchored && (at_end || regex->may_be_empty ||
                                           set_has(&regex->first, (unsigned char)subject[i + 1]));
        if (begins && add_place(regex, &search->now, 0, at_end))
            return true;
    }
    return false;
}

static void add_first(struct seatbelt_regex *regex, uint32_t place)
{
    const struct seatbelt_instruction *now = &regex->code.items[place];
    for (unsigned byte = 0; byte < 256; byte++)
        if (takes(regex, place, (unsigned char)byte))
            regex->first.bits[byte / 64] |= UINT64_C(1) << byte % 64;
    if (now->step == SEATBELT_STEP_END)
        regex->may_be_empty = true;
}

void seatbelt_regex_prepare(struct arena *arena, struct seatbelt_regex *regex)
{
    struct seatbelt_search *search = regex->search = arena_alloc(arena, sizeof *search);
    uint32_t size = regex->code.count;
    search->now.items = arena_array(arena, size, sizeof *search->now.items);
    search->next.items = arena_array(arena, size, sizeof *search->next.items);
    /* A place is put on the stack by at most two instructions before it is marked. */
    search->stack = arena_array(arena, (size_t)size * 2 + 1, sizeof *search->stack);
    search->mark = arena_array(arena, size, sizeof *search->mark);
    search->round = 1;
    regex->may_be_empty = add_place(regex, &search->now, 0, true);
    for (uint32_t i = 0; i < search->now.count; i++)
        add_first(regex, search->now.items[i]);
}
