/* apply.c - see apply.h. */
#include "runtime/windows/apply.h"

#include "runtime/windows/apply_judge.h"
#include "runtime/windows/apply_match.h"
#include "runtime/windows/apply_missing.h"
#include "runtime/windows/apply_plan.h"
#include "runtime/windows/apply_repeat.h"

#include "base/escape.h"

#include <string.h>

/* Whether nothing has to be done for a deny: nothing that the policy opens is around it, and what lies there
 * is closed already. (Where a label hides it, everything else is open for reading.) False with an error
 * note. */
static bool moot_find(struct applying *applying, const struct place *place, bool *moot)
{
    const struct apply *apply = applying->apply;
    bool hidden = place->said.label.present && (place->said.label.policy & WINDOWS_NO_READ_UP) != 0;
    *moot = place->said.cap && !hidden && !place_is_opened(apply, place->said.path, false);
    if (!*moot || !place->there || apply->spec->tier != WINDOWS_APPCONTAINER)
        return true;
    return place_find_closed(applying, place, place_denies(&place->said), moot);
}

static void note_missing(const struct applying *applying, const struct windows_object *said)
{
    struct note_list *notes = applying->apply->notes;
    if (place_allows(said) != 0)
        note_add(notes, (struct note){
                            .code = SBX450_GRANT_MISSING,
                            .text = arena_format(notes->arena, "%s does not exist (%s)",
                                                 escape_windows(notes->arena, said->path), said->rule),
                        });
}

/* Making what is missing can add places: `number`, not a pointer. */
static bool place_settle(struct applying *applying, uint32_t number)
{
    struct place place = applying->places.items[number];
    bool moot;
    if (place.there)
        return true;
    if (!place_in_time(applying, &place.said) || !place_look(applying, &place) ||
        !moot_find(applying, &place, &moot))
        return false;
    if (moot) {
        place.there = false;
    } else if (!place.there) {
        if (!missing_make(applying, &place))
            return false;
        if (!place.there)
            note_missing(applying, &place.said);
    }
    applying->places.items[number] = place;
    return true;
}

static bool places_settle(struct applying *applying, uint32_t from)
{
    for (uint32_t i = from; i < applying->places.count; i++)
        if (!place_settle(applying, i))
            return false;
    return true;
}

/* The entries of one kind, and with the denies the label. */
static struct journal_change change_of(const struct applying *applying, const struct place *place,
                                       bool denies)
{
    const struct windows_object *said = &place->said;
    struct arena *arena = applying->apply->arena;
    struct windows_entry *entries = arena_array(arena, said->ace_count, sizeof *entries);
    struct journal_change change = {.entries = entries};
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (said->aces[i].deny == denies)
            entries[change.count++] =
                identity_entry(applying->apply->identity, &said->aces[i], place->is.directory);
    if (denies && said->label.present) {
        struct windows_entry *label = arena_alloc(arena, sizeof *label);
        *label = identity_label(&said->label, place->is.directory);
        change.label = label;
    }
    return change;
}

static bool place_change(struct applying *applying, struct place *place, bool denies)
{
    const struct apply *apply = applying->apply;
    struct journal_change change = change_of(applying, place, denies);
    if (!place->there || (change.count == 0 && change.label == NULL))
        return true;
    unsigned access = ACL_WRITE | (change.label != NULL ? (unsigned)ACL_WRITE_LABEL : 0);
    struct acl_object *object = place_open(applying, place, access);
    if (object == NULL)
        return !place->there;
    const char *problem = journal_apply(apply->journal, object, &change);
    apply->acl->close(apply->acl, object);
    return problem == NULL || place_refuse(applying, SBX484_CHANGE_REFUSED, &place->said, "%s", problem);
}

/* Were anything to end here, more would be closed than before and nothing open. */
static bool places_change(struct applying *applying, bool denies)
{
    for (uint32_t i = 0; i < applying->places.count; i++)
        if (!place_in_time(applying, &applying->places.items[i].said) ||
            !place_change(applying, &applying->places.items[i], denies))
            return false;
    return true;
}

static bool places_spread(struct applying *applying)
{
    const struct apply *apply = applying->apply;
    struct journal_sentences left_out = {0};
    const char *problem = journal_spread(apply->journal, &left_out);
    for (uint32_t i = 0; i < left_out.count; i++)
        note_add(apply->notes, (struct note){.code = SBX489_NOT_CARRIED_ON, .text = left_out.items[i]});
    if (problem == NULL)
        return true;
    note_add(apply->notes, (struct note){.code = SBX484_CHANGE_REFUSED, .text = problem});
    return false;
}

static void clock_start(struct applying *applying)
{
    const struct apply *apply = applying->apply;
    applying->deadline = apply->now() + (apply->time != 0 ? apply->time : APPLY_TIME);
}

/* What is written in between takes as long as the trees are large; the journal can be told to stop. */
bool apply_run(const struct apply *apply)
{
    struct applying applying = {.apply = apply};
    clock_start(&applying);
    if (!plan_places(&applying) || !places_settle(&applying, 0))
        return false;
    uint32_t settled = applying.places.count;
    if (!matches_find(&applying) || !places_settle(&applying, settled) || !denies_repeat(&applying) ||
        !places_change(&applying, true) || !places_change(&applying, false) || !places_spread(&applying))
        return false;
    clock_start(&applying);
    return places_judge(&applying);
}
