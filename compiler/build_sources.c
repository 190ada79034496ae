/* build_sources.c - the list of texts that a policy came from, and which use of its own file brought each in. */
#include "compiler/build.h"

/* By the index of a unit: the number of the one use that brings it in, or one of these. */
enum { USE_NONE = -1, USE_SEVERAL = -2 };

/* Marks what `unit` brings in by use number `use`. No unit is marked more than twice. */
static void mark_used(const struct unit *unit, int32_t use, int32_t *marks)
{
    int32_t *mark = &marks[unit->index];
    if (*mark == use || *mark == USE_SEVERAL)
        return;
    *mark = *mark == USE_NONE ? use : USE_SEVERAL;
    for (uint32_t i = 0; i < unit->prepared->uses.count; i++)
        mark_used(unit->prepared->uses.items[i].unit, use, marks);
}

/* The statement as a person would write it, up to where a further exception goes. */
static const char *use_text(struct arena *arena, const struct prepared_use *use)
{
    struct buffer text = buffer_in(arena);
    buffer_format(&text, use->unit->preset != NULL ? "use %s except " : "use \"%s\" except ",
                  use->unit->record);
    for (uint32_t i = 0; use->except != NULL && i < use->except->count; i++)
        buffer_format(&text, "%s, ", path_text(arena, &use->except->items[i]));
    return text.bytes;
}

const struct policy_source *build_sources(const struct load *load)
{
    struct policy_source *sources = arena_array(load->arena, load->unit_count, sizeof *sources);
    int32_t *marks = arena_array(load->arena, load->unit_count, sizeof *marks);
    const struct prepared *own = load->units[0]->prepared;
    for (uint32_t i = 0; i < load->unit_count; i++)
        marks[i] = USE_NONE;
    for (uint32_t i = 0; i < own->uses.count; i++)
        mark_used(own->uses.items[i].unit, (int32_t)i, marks);
    for (uint32_t i = 0; i < load->unit_count; i++) {
        const struct unit *unit = load->units[i];
        sources[i].name = unit->record;
        sources[i].kind = i == 0                 ? (load->managed ? SOURCE_MANAGED : SOURCE_POLICY)
                          : unit->preset != NULL ? SOURCE_PRESET_BUILTIN
                                                 : SOURCE_PRESET_FILE;
        sources[i].use = marks[i] >= 0 ? use_text(load->arena, &own->uses.items[marks[i]]) : NULL;
    }
    return sources;
}
