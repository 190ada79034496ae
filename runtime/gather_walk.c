/* gather_walk.c - walks through trees of the host, no further and no longer than a launch may take. */
#include "runtime/gather.h"
#include "runtime/patience.h"
#include "runtime/remote.h"

#include "base/escape.h"

static int walk_admit(void *keeper, const char *path)
{
    const struct gather *gather = keeper;
    return remote_ask(gather->request->remote, path);
}

static bool walk_stop(void *keeper, uint64_t entries)
{
    const struct gather *gather = keeper;
    return patience_stop(gather->request->patience, entries);
}

static void refuse(struct gather *gather, enum code code, const char *text, const char *help)
{
    note_add(gather->notes, (struct note){.code = code, .text = text, .help = help});
}

static void refuse_stopped(struct gather *gather, const char *start, const struct walk_purpose *purpose)
{
    const struct patience *patience = gather->request->patience;
    struct arena *arena = gather->notes->arena;
    if (patience->end == PATIENCE_INTERRUPTED)
        refuse(gather, SBX424_INTERRUPTED,
               arena_format(arena, "signal %d came before the command was started", patience->number), NULL);
    else
        refuse(gather, SBX475_LOOKING_LATE,
               arena_format(arena, "%s for more than %d seconds, at last below %s", purpose->what,
                            LOOK_SECONDS, escape_string(arena, start)),
               purpose->help);
}

bool gather_walk(struct gather *gather, struct tree_walk *walk, const char *start, const void *state,
                 const struct walk_purpose *purpose)
{
    struct arena *arena = gather->notes->arena;
    if (gather->given_up)
        return false;
    walk->keeper = gather;
    walk->admit = gather->request->remote != NULL ? walk_admit : NULL;
    walk->stop = gather->request->patience != NULL ? walk_stop : NULL;
    walk->remaining = gather->entries_left;
    enum tree_end end = tree_visit(walk, start, state);
    gather->entries_left = walk->remaining;
    switch (end) {
    case TREE_DONE:
        break;
    case TREE_TOO_MANY:
        refuse(gather, SBX456_TOO_MANY_ENTRIES,
               arena_format(arena, "%s in more than %d files, the last of them below %s", purpose->what,
                            GATHER_ENTRIES_MOST, escape_string(arena, start)),
               purpose->help);
        break;
    case TREE_STOPPED:
        refuse_stopped(gather, start, purpose);
        break;
    case TREE_NO_MEMORY:
        refuse(
            gather, SBX456_TOO_MANY_ENTRIES,
            arena_format(arena, "there is not enough memory to look through %s", escape_string(arena, start)),
            purpose->help);
        break;
    }
    gather->given_up = end != TREE_DONE;
    return !gather->given_up;
}
