#include "runtime/engine.h"

#include "runtime/backend_bwrap.h"
#include "runtime/landlock_engine.h"
#include "runtime/native.h"

bool engine_choose(struct arena *arena, enum engine_wish wanted, struct engine_use *use,
                   struct note_list *notes)
{
    if (wanted == ENGINE_LANDLOCK) {
        *use = (struct engine_use){.engine = &engine_landlock};
        return true;
    }
    const char *missing = wanted == ENGINE_BWRAP ? NULL : native_missing(arena);

    *use = (struct engine_use){.engine = wanted == ENGINE_BWRAP ? &engine_bwrap : &engine_native};
    if (missing != NULL && wanted == ENGINE_NATIVE) {
        note_add(notes, (struct note){
                            .code = SBX420_ENGINE,
                            .text = arena_format(arena, "the native engine cannot be used here: %s", missing),
                            .help = "leave --engine out: bubblewrap then makes the sandbox"});
        return false;
    }
    if (missing != NULL) {
        use->engine = &engine_bwrap;
        use->instead = missing;
        note_add(notes,
                 (struct note){.code = SBX434_ENGINE_FALLBACK,
                               .text = arena_format(arena, "bubblewrap makes the sandbox, for %s", missing)});
    }
    if (use->engine->seek != NULL)
        use->engine->seek(arena, use);
    return true;
}

bool engine_find(struct arena *arena, struct engine_use *use, const struct bound_policy *bound,
                 const char *search, struct note_list *notes)
{
    return use->engine->find == NULL || use->engine->find(arena, use, bound, search, notes);
}

bool engine_prepare(struct arena *arena, struct engine_use *use, const struct sandbox_request *request,
                    struct note_list *notes)
{
    return use->engine->prepare == NULL || use->engine->prepare(arena, use, request, notes);
}

bool engine_reserve(struct arena *arena, struct engine_use *use, struct note_list *notes)
{
    return use->engine->reserve == NULL || use->engine->reserve(arena, use, notes);
}

bool engine_check(struct arena *arena, struct engine_use *use, struct note_list *notes)
{
    return use->engine->check == NULL || use->engine->check(arena, use, notes);
}
