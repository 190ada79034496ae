#include "policy/note.h"

#include "base/vector.h"

struct note_list note_list_in(struct arena *arena)
{
    return (struct note_list){.arena = arena};
}

void note_add(struct note_list *list, struct note note)
{
    const struct code_page *page = code_page((unsigned)note.code);
    if (note.severity == SEVERITY_NOTE && page != NULL)
        note.severity = page->severity;
    if (note.severity == SEVERITY_ERROR)
        list->errors++;
    VECTOR_PUSH(list->arena, list, note);
}
