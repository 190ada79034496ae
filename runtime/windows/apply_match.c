/* apply_match.c - see apply_match.h. */
#include "runtime/windows/apply_match.h"

#include "runtime/windows/apply_plan.h"
#include "runtime/windows/apply_walk.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <string.h>

struct search {
    const struct windows_match *match;
    struct windows_object said; /* its rule and pattern, for messages */
    struct pattern *pattern;
    struct pattern **excepts; /* NULL: a plain path */
};

/* All patterns, so that each tree is gone through once. */
struct searches {
    struct applying *applying;
    struct search *items;
    uint32_t count;
    struct {
        const char **items;
        uint32_t count, capacity;
    } tops; /* where walks begin */
};

/* Patterns and paths as policy/pattern.h has them: "/C:/a/b". */
static const char *model_of(struct arena *arena, const char *path)
{
    return arena_join(arena, "/", windows_path_to_model(arena, path));
}

/* --- at one entry
 * ----------------------------------------------------------------------------------------- */

/* A plain path is the same object in any case; of a pattern only what its bytes match stays open. */
static bool is_excepted(const struct search *search, const char *path, const char *model)
{
    for (uint32_t i = 0; i < search->match->except_count; i++)
        if (search->excepts[i] != NULL ? pattern_covers(search->excepts[i], model, strlen(model))
                                       : windows_path_covers(search->match->excepts[i], path))
            return true;
    return false;
}

/* An exception that opens what it matches: a link opens nothing, and names count as they are spelled. */
static bool is_allowing(const struct windows_match *match)
{
    return match->ace.mask != 0 && !match->ace.deny;
}

/* Where an exception opens nothing: below another deny, which an entry of the match's own would come before,
 * and at places that belong to Windows or to the whole account. */
static bool stays_closed(const struct apply *apply, const struct windows_match *match, const char *path)
{
    for (uint32_t i = 0; i < apply->spec->object_count; i++) {
        const struct windows_object *object = &apply->spec->objects[i];
        if (object->cap && (place_denies(object) & match->ace.mask) != 0 &&
            windows_path_covers(object->path, path))
            return true;
    }
    return windows_path_is_protected(path);
}

static bool search_found(struct applying *applying, const struct search *search,
                         const struct walk_entry *entry)
{
    const struct windows_match *match = search->match;
    const char *path = arena_strdup(applying->apply->arena, entry->path);
    if (is_allowing(match)) {
        if (!entry->is->link && !stays_closed(applying->apply, match, path))
            plan_allow(applying, path, match->ace.mask, match->rule);
        return true;
    }
    if (entry->is->link)
        return place_refuse(applying, SBX483_PLACE_UNFIT, &search->said,
                            "%s is a link or a junction: remove it, or name it in the rule's except",
                            escape_windows(applying->apply->notes->arena, entry->path));
    plan_deny(applying, path, match->ace.mask, &match->label, match->rule);
    return true;
}

static enum walk_answer searches_visit(void *context, const struct walk_entry *entry)
{
    const struct searches *searches = context;
    const char *model = model_of(entry->arena, entry->path);
    size_t length = strlen(model);
    enum walk_answer answer = WALK_NOT_BELOW;
    for (uint32_t i = 0; i < searches->count; i++) {
        const struct search *search = &searches->items[i];
        bool found = pattern_matches(search->pattern, model, length);
        bool below = !found && pattern_may_match_below(search->pattern, model, length);
        if ((!found && !below) || is_excepted(search, entry->path, model))
            continue;
        if (found && !search_found(searches->applying, search, entry))
            return WALK_FAIL;
        if (below)
            answer = WALK_ON;
    }
    return answer;
}

/* --- where to look
 * ------------------------------------------------------------------------------------------ */

static void top_add(struct searches *searches, const char *path)
{
    struct arena *arena = searches->applying->apply->arena;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < searches->tops.count; i++) {
        if (windows_path_covers(searches->tops.items[i], path))
            return;
        if (!windows_path_covers(path, searches->tops.items[i]))
            searches->tops.items[kept++] = searches->tops.items[i];
    }
    searches->tops.count = kept;
    VECTOR_PUSH(arena, &searches->tops, path);
}

/* In a tier that closes reads nothing can be seen but what is opened: walks begin there. */
static void tops_opened(struct searches *searches, const struct search *search, const char *start)
{
    const struct apply *apply = searches->applying->apply;
    for (uint32_t i = 0; i < apply->spec->object_count && !place_is_late(searches->applying); i++) {
        const char *path = apply->spec->objects[i].path, *model;
        if (place_allows(&apply->spec->objects[i]) == 0 || !windows_path_covers(start, path))
            continue;
        model = model_of(apply->arena, path);
        if (pattern_may_match_below(search->pattern, model, strlen(model)))
            top_add(searches, path);
    }
}

static bool search_begin(struct searches *searches, const struct windows_match *match)
{
    const struct apply *apply = searches->applying->apply;
    struct search *search = &searches->items[searches->count++];
    const char *model = model_of(apply->arena, match->pattern);
    *search = (struct search){
        .match = match,
        .said = {.path = match->pattern, .rule = match->rule},
        .pattern = pattern_compile(apply->arena, model, !is_allowing(match)),
        .excepts = arena_array(apply->arena, match->except_count, sizeof *search->excepts),
    };
    for (uint32_t i = 0; i < match->except_count; i++)
        if (strpbrk(match->excepts[i], "*?[") != NULL)
            search->excepts[i] =
                pattern_compile(apply->arena, model_of(apply->arena, match->excepts[i]), false);
    const char *start = windows_path_from_model(
        apply->arena, pattern_plain(apply->arena, model, pattern_fixed_prefix(model)) + 1);
    if (start == NULL)
        return place_refuse(searches->applying, SBX483_PLACE_UNFIT, &search->said,
                            "it starts at no path of Windows");
    bool everywhere = apply->spec->tier != WINDOWS_APPCONTAINER || is_allowing(match);
    if (everywhere || place_is_opened(apply, start, false))
        top_add(searches, start);
    else
        tops_opened(searches, search, start);
    return true;
}

/* Whether there is a directory at `path` to look through. */
static bool is_directory(const struct apply *apply, const char *path)
{
    struct acl_object *object;
    struct acl_identity is;
    if (apply->acl->open(apply->acl, apply->arena, path, 0, &object) != ACL_OK)
        return false;
    uint32_t error = apply->acl->identify(apply->acl, apply->arena, object, &is);
    apply->acl->close(apply->acl, object);
    return error == ACL_OK && is.directory && !is.link;
}

static bool tops_walk(struct searches *searches)
{
    for (uint32_t i = 0; i < searches->tops.count; i++) {
        struct windows_object said = {.path = searches->tops.items[i], .rule = "patterns that are denied"};
        struct place_walk walk = {
            .applying = searches->applying,
            .said = &said,
            .context = searches,
            .visit = searches_visit,
        };
        if (is_directory(searches->applying->apply, said.path) && !place_walk_run(&walk, said.path))
            return false;
    }
    return true;
}

/* What is granted by the name of one root may be what a pattern of another one closes: no walk gets there, since walks
 * look at what lies below, and the grant's own entry would come before an inherited deny. */
static bool opened_deny(const struct searches *searches)
{
    const struct apply *apply = searches->applying->apply;
    for (uint32_t i = 0; i < apply->spec->object_count; i++) {
        const char *path = apply->spec->objects[i].path, *model = model_of(apply->arena, path);
        if (!place_in_time(searches->applying, &apply->spec->objects[i]))
            return false;
        for (uint32_t j = 0; place_allows(&apply->spec->objects[i]) != 0 && j < searches->count; j++) {
            const struct search *search = &searches->items[j];
            const struct windows_match *match = search->match;
            if (!is_allowing(match) && pattern_covers(search->pattern, model, strlen(model)) &&
                !is_excepted(search, path, model))
                plan_deny(searches->applying, path, match->ace.mask, &match->label, match->rule);
        }
    }
    return true;
}

bool matches_find(struct applying *applying)
{
    const struct apply *apply = applying->apply;
    struct searches searches = {
        .applying = applying,
        .items = arena_array(apply->arena, apply->spec->match_count, sizeof *searches.items),
    };
    for (uint32_t i = 0; i < apply->spec->match_count; i++)
        if (!search_begin(&searches, &apply->spec->matches[i]) ||
            !place_in_time(applying, &searches.items[i].said))
            return false;
    return opened_deny(&searches) && tops_walk(&searches);
}
