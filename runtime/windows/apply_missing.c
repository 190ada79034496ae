/* apply_missing.c - see apply_missing.h. */
#include "runtime/windows/apply_missing.h"

#include "runtime/windows/apply_plan.h"

#include <string.h>

enum { TRIES = 4, PATH_MISSING = 3 };

/* Git refuses an empty `commondir`; with its own directory there it reads what it would read without the
 * file. */
static const char *content_for(const char *path)
{
    const char *name = strrchr(path, '\\');
    return name != NULL && windows_path_equal(name + 1, "commondir") ? ".\n" : "";
}

/* What was made lies where it should: no directory on the way was exchanged for a junction meanwhile. */
static bool made_is_here(const struct applying *applying, struct place *place, struct acl_object *object)
{
    const struct acl_operations *acl = applying->apply->acl;
    uint32_t error = acl->identify(acl, applying->apply->arena, object, &place->is);
    acl->close(acl, object);
    place->there = error == ACL_OK && windows_path_equal(place->is.path, place->said.path);
    return place->there || place_refuse(applying, SBX483_PLACE_UNFIT, &place->said,
                                        "a directory above it was replaced while the placeholder was made");
}

static bool missing_fail(const struct applying *applying, const struct place *place, uint32_t error,
                         const char *why)
{
    return place_refuse(applying, SBX463_PLACEHOLDER_FAILED, &place->said,
                        "nothing is there, and no placeholder can be made (%s, error %u)",
                        why != NULL ? why : "refused", (unsigned)error);
}

/* Makes what is missing of `path`, the topmost first. The directories above get their own place, so that they
 * are pinned like any that was there. */
static bool made_at(struct applying *applying, const struct windows_object *said, struct place *place)
{
    const struct apply *apply = applying->apply;
    bool file = place->said.missing == WINDOWS_CREATE_FILE;
    /* What the command may not even see is nobody's but the user's from its first moment: not that of another
     * sandbox which may write around it either. What it may see inherits that. */
    struct windows_descriptor closed = identity_closed(apply->arena, apply->identity, NULL, !file);
    bool hidden = place_denies(&place->said) == WINDOWS_DENY_ALL;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        const char *why = NULL;
        struct acl_object *object;
        uint32_t error =
            journal_placeholder(apply->journal, place->said.path, file ? content_for(place->said.path) : NULL,
                                hidden ? &closed : NULL, &object, &why);
        if (error == ACL_OK)
            return made_is_here(applying, place, object);
        if (error != ACL_EXISTS)
            return missing_fail(applying, place, error, why);
        if (!place_look(applying, place))
            return false;
        if (place->there)
            return true;
    }
    return place_refuse(applying, SBX463_PLACEHOLDER_FAILED, said, "what lies there comes and goes");
}

/* Looks for the nearest directory above that is there. */
static bool above_make(struct applying *applying, const struct windows_object *said)
{
    const char *path = path_above(applying->apply->arena, said->path);
    if (path == NULL)
        return place_refuse(applying, SBX463_PLACEHOLDER_FAILED, said, "its drive is not there");
    struct place above = {
        .said = {.path = path, .missing = WINDOWS_CREATE_DIRECTORY, .rule = said->rule, .cap = true}};
    if (!place_look(applying, &above))
        return false;
    if (above.there && !above.is.directory)
        return place_refuse(applying, SBX455_DENY_BELOW_FILE, said, "%s is a file", path);
    return above.there || (above_make(applying, &above.said) && made_at(applying, said, &above));
}

bool missing_make(struct applying *applying, struct place *place)
{
    /* What the command cannot make stays missing. */
    if (place->said.missing == WINDOWS_SKIP || !place_is_opened(applying->apply, place->said.path, true))
        return true;
    struct windows_object said = place->said;
    if (!above_make(applying, &said) || !made_at(applying, &said, place))
        return false;
    plan_pin_above(applying, said.path, said.rule);
    return true;
}
