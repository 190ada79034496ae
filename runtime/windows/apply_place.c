/* apply_place.c - see apply_place.h. */
#include "runtime/windows/apply_place.h"

#include "base/escape.h"
#include "base/vector.h"

#include <stdarg.h>
#include <string.h>

enum { PATH_MISSING = 3 }; /* Windows tells a missing directory of a path from a missing end */

bool place_refuse(const struct applying *applying, enum code code, const struct windows_object *said,
                  const char *format, ...)
{
    struct note_list *notes = applying->apply->notes;
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vformat(notes->arena, format, arguments);
    va_end(arguments);
    note_add(notes, (struct note){
                        .code = code,
                        .severity = SEVERITY_ERROR,
                        .text = arena_format(notes->arena, "%s: %s (%s)",
                                             escape_windows(notes->arena, said->path), text, said->rule),
                    });
    return false;
}

static void place_leave_out(const struct applying *applying, struct place *place, const char *why)
{
    struct note_list *notes = applying->apply->notes;
    place->there = false;
    note_add(notes,
             (struct note){
                 .code = SBX488_GRANT_LEFT_OUT,
                 .text = arena_format(notes->arena, "%s %s (%s)",
                                      escape_windows(notes->arena, place->said.path), why, place->said.rule),
             });
}

uint32_t place_allows(const struct windows_object *said)
{
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (!said->aces[i].deny)
            return said->aces[i].mask;
    return 0;
}

uint32_t place_denies(const struct windows_object *said)
{
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (said->aces[i].deny && said->aces[i].inherit)
            return said->aces[i].mask;
    return 0;
}

bool place_is_pinned(const struct windows_object *said)
{
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (said->aces[i].deny && (said->aces[i].mask & WINDOWS_DENY_DELETE) != 0)
            return true;
    return false;
}

/* A grant that was only discovered and takes nothing away can be left out: what it opens stays closed. */
static bool can_be_left_out(const struct windows_object *said)
{
    if (!said->automatic || said->cap)
        return false;
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (said->aces[i].deny)
            return false;
    return true;
}

/* The place cannot be held: an error, or a note where it can do without. */
static bool place_unfit(const struct applying *applying, struct place *place, const char *why)
{
    if (!can_be_left_out(&place->said))
        return place_refuse(applying, SBX483_PLACE_UNFIT, &place->said, "it %s", why);
    place_leave_out(applying, place, why);
    return true;
}

static const char *kind_problem(const struct windows_object *said, const struct acl_identity *is)
{
    if (said->kind == WINDOWS_DIRECTORY && !is->directory)
        return "is not a directory";
    if (said->kind == WINDOWS_FILE && is->directory)
        return "is a directory, not a file";
    return NULL;
}

/* Why the object that was opened at the path cannot stand for it, or NULL. */
static const char *object_problem(const struct applying *applying, const struct place *place)
{
    struct arena *arena = applying->apply->notes->arena;
    const struct acl_identity *is = &place->is;
    if (is->link)
        return "is a link or a junction, and what it leads to is another place";
    if (!windows_path_equal(is->path, place->said.path))
        return arena_format(arena, "leads through a link or another name to %s",
                            escape_windows(arena, is->path));
    const char *kind = kind_problem(&place->said, is);
    if (kind != NULL)
        return kind;
    const char *volume = applying->apply->judge_volume(arena, is->volume);
    return volume != NULL ? arena_format(arena, "cannot be held: %s", volume) : NULL;
}

bool place_look(const struct applying *applying, struct place *place)
{
    const struct acl_operations *acl = applying->apply->acl;
    struct arena *arena = applying->apply->arena;
    struct acl_object *object;
    place->there = false;
    uint32_t error = acl->open(acl, arena, place->said.path, 0, &object);
    if (error == ACL_MISSING || error == PATH_MISSING)
        return true;
    if (error == ACL_OK) {
        error = acl->identify(acl, arena, object, &place->is);
        acl->close(acl, object);
    }
    if (error != ACL_OK)
        return place_unfit(
            applying, place,
            arena_format(applying->apply->notes->arena, "cannot be looked at (error %u)", (unsigned)error));
    const char *problem = object_problem(applying, place);
    if (problem != NULL)
        return place_unfit(applying, place, problem);
    place->there = true;
    return true;
}

bool place_descriptor(const struct applying *applying, const char *path,
                      struct windows_descriptor *descriptor)
{
    const struct acl_operations *acl = applying->apply->acl;
    struct arena *arena = applying->apply->arena;
    struct acl_object *object;
    if (acl->open(acl, arena, path, 0, &object) != ACL_OK)
        return false;
    uint32_t error = acl->read(acl, arena, object, descriptor);
    acl->close(acl, object);
    return error == ACL_OK;
}

/* Whether a grant has nothing left to do: programs that Windows opens to every AppContainer belong to nobody
 * who starts a launcher. */
static bool is_open_already(const struct applying *applying, const struct windows_object *said)
{
    struct windows_descriptor descriptor;
    uint32_t allows = place_allows(said);
    return said->ace_count == 1 && allows != 0 && place_descriptor(applying, said->path, &descriptor) &&
           (allows & ~windows_access(applying->apply->token, &descriptor, WINDOWS_STRICT)) == 0;
}

/* The caller may not change the object. */
static void place_denied(const struct applying *applying, struct place *place)
{
    if (is_open_already(applying, &place->said))
        place->there = false;
    else if (can_be_left_out(&place->said))
        place_leave_out(applying, place, "does not belong to the caller");
    else
        place_refuse(applying, SBX484_CHANGE_REFUSED, &place->said,
                     "the caller may not change its access control list");
}

struct acl_object *place_open(const struct applying *applying, struct place *place, unsigned access)
{
    const struct acl_operations *acl = applying->apply->acl;
    struct arena *arena = applying->apply->arena;
    struct acl_object *object;
    struct acl_identity now;
    uint32_t error = acl->open(acl, arena, place->said.path, access, &object);
    if (error == ACL_DENIED) {
        place_denied(applying, place);
        return NULL;
    }
    if (error != ACL_OK) {
        place_refuse(applying, SBX484_CHANGE_REFUSED, &place->said,
                     "it cannot be opened to change its access control list (error %u)", (unsigned)error);
        return NULL;
    }
    error = acl->identify(acl, arena, object, &now);
    if (error == ACL_OK && acl_identity_same(&now, &place->is))
        return object;
    acl->close(acl, object);
    place_refuse(applying, SBX483_PLACE_UNFIT, &place->said, "it was replaced while it was looked at");
    return NULL;
}

bool place_is_opened(const struct apply *apply, const char *path, bool write)
{
    for (uint32_t i = 0; i < apply->spec->object_count; i++) {
        const struct windows_object *object = &apply->spec->objects[i];
        uint32_t allows = place_allows(object);
        if (allows != 0 && (!write || allows == WINDOWS_ALLOW_WRITE) &&
            windows_path_covers(object->path, path))
            return true;
    }
    return false;
}

struct raised_places places_raised_in(const struct applying *applying, const struct windows_object *said)
{
    struct raised_places raised = {0};
    for (uint32_t i = 0; !said->cap && i < applying->places.count; i++) {
        const struct windows_object *other = &applying->places.items[i].said;
        if (place_allows(other) != 0 && windows_path_covers(said->path, other->path))
            VECTOR_PUSH(applying->apply->arena, &raised, other->path);
    }
    return raised;
}

bool is_raised(const struct raised_places *raised, const char *path)
{
    for (uint32_t i = 0; i < raised->count; i++)
        if (windows_path_equal(raised->items[i], path))
            return true;
    return false;
}

const char *path_above(struct arena *arena, const char *path)
{
    const char *end = strrchr(path, '\\');
    if (end == NULL || end[1] == '\0')
        return NULL;
    size_t length = (size_t)(end - path);
    return arena_copy(arena, path, end[-1] == ':' ? length + 1 : length);
}

bool place_is_late(const struct applying *applying)
{
    return applying->apply->now() > applying->deadline;
}

bool place_in_time(const struct applying *applying, const struct windows_object *said)
{
    const struct apply *apply = applying->apply;
    uint32_t most = apply->entries != 0 ? apply->entries : APPLY_ENTRIES;
    if (applying->entries > most)
        return place_refuse(applying, SBX487_TOO_MUCH_TO_CHANGE, said, "more than %u objects to look through",
                            (unsigned)most);
    if (place_is_late(applying))
        return place_refuse(applying, SBX487_TOO_MUCH_TO_CHANGE, said, "looking through it takes too long");
    return true;
}
