/* apply_match.c - see apply_match.h. */
#include "runtime/windows/apply_match.h"

#include "runtime/windows/apply_plan.h"
#include "runtime/windows/apply_walk.h"

#include "base/escape.h"
#include "policy/pattern.h"

#include <string.h>

struct search {
    struct applying *applying;
    const struct windows_match *match;
    struct windows_object said; /* the match's rule and pattern, for messages */
    struct pattern *pattern;
    struct pattern **excepts; /* NULL: a plain path */
};

/* Patterns and paths as policy/pattern.h has them: "/C:/a/b". */
static const char *model_of(struct arena *arena, const char *path)
{
    return arena_join(arena, "/", windows_path_to_model(arena, path));
}

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

/* Where an exception opens nothing: below another deny, which an entry of the match's own would come before, and at
 * places that belong to Windows or to the whole account. */
static bool stays_closed(const struct search *search, const char *path)
{
    const struct windows_spec *spec = search->applying->apply->spec;
    for (uint32_t i = 0; i < spec->object_count; i++)
        if (spec->objects[i].cap && (place_denies(&spec->objects[i]) & search->match->ace.mask) != 0 &&
            windows_path_covers(spec->objects[i].path, path))
            return true;
    return windows_path_is_protected(path);
}

static enum walk_answer search_visit(void *context, const struct walk_entry *entry)
{
    const struct search *search = context;
    const char *model = model_of(entry->arena, entry->path);
    size_t length = strlen(model);
    if (is_excepted(search, entry->path, model))
        return WALK_NOT_BELOW;
    if (!pattern_matches(search->pattern, model, length))
        return pattern_may_match_below(search->pattern, model, length) ? WALK_ON : WALK_NOT_BELOW;
    const char *path = arena_strdup(search->applying->apply->arena, entry->path);
    if (is_allowing(search->match)) {
        if (!entry->is->link && !stays_closed(search, path))
            plan_allow(search->applying, path, search->match->ace.mask, search->match->rule);
        return WALK_NOT_BELOW;
    }
    if (entry->is->link) {
        place_refuse(search->applying, SBX483_PLACE_UNFIT, &search->said,
                     "%s is a link or a junction: remove it, or name it in the rule's except",
                     escape_windows(search->applying->apply->notes->arena, entry->path));
        return WALK_FAIL;
    }
    plan_deny(search->applying, path, search->match->ace.mask, &search->match->label, search->match->rule);
    return WALK_NOT_BELOW;
}

/* Whether there is a directory at `path` to look through. */
static bool is_directory(const struct search *search, const char *path)
{
    const struct acl_operations *acl = search->applying->apply->acl;
    struct arena *arena = search->applying->apply->arena;
    struct acl_object *object;
    struct acl_identity is;
    if (acl->open(acl, arena, path, 0, &object) != ACL_OK)
        return false;
    uint32_t error = acl->identify(acl, arena, object, &is);
    acl->close(acl, object);
    return error == ACL_OK && is.directory && !is.link;
}

static bool search_below(const struct search *search, const char *top)
{
    struct place_walk walk = {
        .applying = search->applying,
        .said = &search->said,
        .context = (void *)search,
        .visit = search_visit,
    };
    return !is_directory(search, top) || place_walk_run(&walk, top);
}

/* The top of the drive for a pattern without a fixed part. */
static const char *search_start(const struct search *search)
{
    struct arena *arena = search->applying->apply->arena;
    const char *model = model_of(arena, search->match->pattern);
    const char *plain = pattern_plain(arena, model, pattern_fixed_prefix(model));
    return windows_path_from_model(arena, plain + 1);
}

/* In a tier that closes reads nothing can be seen but what is opened: walks begin there. */
static bool search_opened(const struct search *search, const char *start)
{
    const struct windows_spec *spec = search->applying->apply->spec;
    for (uint32_t i = 0; i < spec->object_count; i++) {
        const char *path = spec->objects[i].path, *model;
        if (place_allows(&spec->objects[i]) == 0 || !windows_path_covers(start, path))
            continue;
        model = model_of(search->applying->apply->arena, path);
        if (pattern_may_match_below(search->pattern, model, strlen(model)) && !search_below(search, path))
            return false;
    }
    return true;
}

static bool match_find(struct applying *applying, const struct windows_match *match)
{
    struct arena *arena = applying->apply->arena;
    struct search search = {
        .applying = applying,
        .match = match,
        .said = {.path = match->pattern, .rule = match->rule},
        .pattern = pattern_compile(arena, model_of(arena, match->pattern), !is_allowing(match)),
        .excepts = arena_array(arena, match->except_count, sizeof *search.excepts),
    };
    for (uint32_t i = 0; i < match->except_count; i++)
        if (strpbrk(match->excepts[i], "*?[") != NULL)
            search.excepts[i] = pattern_compile(arena, model_of(arena, match->excepts[i]), false);
    const char *start = search_start(&search);
    if (start == NULL)
        return place_refuse(applying, SBX483_PLACE_UNFIT, &search.said, "it starts at no path of Windows");
    bool everywhere = applying->apply->spec->tier != WINDOWS_APPCONTAINER || is_allowing(match);
    if (everywhere || place_is_opened(applying->apply, start, false))
        return search_below(&search, start);
    return search_opened(&search, start);
}

bool matches_find(struct applying *applying)
{
    for (uint32_t i = 0; i < applying->apply->spec->match_count; i++)
        if (!match_find(applying, &applying->apply->spec->matches[i]))
            return false;
    return true;
}
