/* apply_judge.c - see apply_judge.h. */
#include "runtime/windows/apply_judge.h"

#include "runtime/windows/apply_walk.h"

#include "base/escape.h"

enum { SYNCHRONISE = 0x100000, WRITES_CHECKED = 0x116 };

/* What a label above Low takes from the command, whatever entries say. */
static uint32_t hidden_by(const struct windows_label *label)
{
    const uint32_t all = WINDOWS_NO_READ_UP | WINDOWS_NO_WRITE_UP | WINDOWS_NO_EXECUTE_UP;
    if (!label->present || label->level == WINDOWS_LOW)
        return 0;
    return (label->policy & all) == all ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE;
}

/* Which of the rights in a deny this tier claims to withhold: all by a package, what a label takes, and else
 * only what Windows surely asks the restricting list for. */
static uint32_t claimed(const struct applying *applying, const struct windows_object *said, uint32_t denies)
{
    if (applying->apply->spec->tier != WINDOWS_APPCONTAINER)
        denies = hidden_by(&said->label) | (denies & WRITES_CHECKED);
    return denies & ~(uint32_t)SYNCHRONISE;
}

static bool judge_closed(const struct applying *applying, const struct windows_object *said, const char *path,
                         const struct windows_descriptor *descriptor, uint32_t withheld)
{
    uint32_t open = windows_access(applying->apply->token, descriptor, WINDOWS_LOOSE) & withheld;
    return open == 0 || place_refuse(applying, SBX485_STILL_OPEN, said,
                                     "%s may be open to the command still (rights 0x%x)",
                                     escape_windows(applying->apply->notes->arena, path), (unsigned)open);
}

/* What the caller may not do the command may not do either, whatever is granted. */
static bool judge_opened(const struct applying *applying, const struct windows_object *said,
                         const struct windows_descriptor *descriptor)
{
    uint32_t wanted = place_allows(said);
    for (uint32_t i = 0; i < said->ace_count; i++)
        if (said->aces[i].deny)
            wanted &= ~said->aces[i].mask;
    wanted &= windows_access(applying->apply->caller, descriptor, WINDOWS_STRICT);
    uint32_t closed = wanted & ~windows_access(applying->apply->token, descriptor, WINDOWS_LOOSE);
    return closed == 0 ||
           place_refuse(applying, SBX485_STILL_OPEN, said,
                        "another entry closes what the rule opens (rights 0x%x)", (unsigned)closed);
}

struct judge {
    struct applying *applying;
    struct windows_object said;
    uint32_t withheld;
    struct raised_places raised;
};

static enum walk_answer judge_visit(void *context, const struct walk_entry *entry)
{
    struct judge *judge = context;
    const struct acl_operations *acl = judge->applying->apply->acl;
    struct windows_descriptor descriptor;
    if (is_raised(&judge->raised, entry->path))
        return WALK_NOT_BELOW;
    if (entry->is->link)
        return WALK_ON;
    if (acl->read(acl, entry->arena, entry->object, &descriptor) != ACL_OK) {
        place_refuse(judge->applying, SBX485_STILL_OPEN, &judge->said,
                     "the access control list of %s cannot be read back",
                     escape_windows(judge->applying->apply->notes->arena, entry->path));
        return WALK_FAIL;
    }
    return judge_closed(judge->applying, &judge->said, entry->path, &descriptor, judge->withheld) ? WALK_ON
                                                                                                  : WALK_FAIL;
}

static bool judge_below(struct applying *applying, const struct place *place, uint32_t withheld)
{
    struct judge judge = {applying, place->said, withheld, places_raised_in(applying, &place->said)};
    struct place_walk walk = {
        .applying = applying,
        .said = &judge.said,
        .context = &judge,
        .visit = judge_visit,
    };
    return !place->is.directory || place_walk_run(&walk, judge.said.path);
}

/* A name can also be taken away by who may delete whatever a directory holds. Only an AppContainer can be
 * kept from that: of the other tiers the specification says that it stays open. */
static bool judge_pin(const struct applying *applying, const struct windows_object *said)
{
    struct windows_descriptor descriptor;
    const char *above = path_above(applying->apply->arena, said->path);
    if (applying->apply->spec->tier != WINDOWS_APPCONTAINER || !place_is_pinned(said) || above == NULL)
        return true;
    if (!place_descriptor(applying, above, &descriptor))
        return place_refuse(applying, SBX485_STILL_OPEN, said,
                            "the access control list of the directory that holds it cannot be read");
    return judge_closed(applying, said, above, &descriptor, WINDOWS_RIGHT_DELETE_CHILD);
}

static bool place_judge(struct applying *applying, const struct place *place)
{
    struct windows_descriptor descriptor;
    struct windows_object said = place->said;
    if (!place_descriptor(applying, said.path, &descriptor))
        return place_refuse(applying, SBX485_STILL_OPEN, &said,
                            "its access control list cannot be read back");
    uint32_t own = 0;
    for (uint32_t i = 0; i < said.ace_count; i++)
        if (said.aces[i].deny)
            own |= claimed(applying, &said, said.aces[i].mask);
    uint32_t below = claimed(applying, &said, place_denies(&said));
    return judge_closed(applying, &said, said.path, &descriptor, own) &&
           judge_opened(applying, &said, &descriptor) && judge_pin(applying, &said) &&
           (below == 0 || place->within || judge_below(applying, place, below));
}

bool places_judge(struct applying *applying)
{
    for (uint32_t i = 0; i < applying->places.count; i++)
        if (!place_in_time(applying, &applying->places.items[i].said) ||
            (applying->places.items[i].there && !place_judge(applying, &applying->places.items[i])))
            return false;
    return true;
}

struct finding {
    const struct applying *applying;
    uint32_t withheld;
    bool open;
};

static enum walk_answer finding_visit(void *context, const struct walk_entry *entry)
{
    struct finding *finding = context;
    const struct acl_operations *acl = finding->applying->apply->acl;
    struct windows_descriptor descriptor;
    if (entry->is->link)
        return WALK_NOT_BELOW;
    finding->open = acl->read(acl, entry->arena, entry->object, &descriptor) != ACL_OK ||
                    (windows_access(finding->applying->apply->token, &descriptor, WINDOWS_LOOSE) &
                     finding->withheld) != 0;
    return finding->open ? WALK_FAIL : WALK_ON;
}

bool place_find_closed(struct applying *applying, const struct place *place, uint32_t denies, bool *closed)
{
    struct windows_descriptor descriptor;
    struct windows_object said = place->said;
    struct finding finding = {.applying = applying, .withheld = claimed(applying, &said, denies)};
    struct place_walk walk = {
        .applying = applying,
        .said = &said,
        .refused_is_closed = true,
        .context = &finding,
        .visit = finding_visit,
    };
    *closed = place_descriptor(applying, said.path, &descriptor) &&
              (windows_access(applying->apply->token, &descriptor, WINDOWS_LOOSE) & finding.withheld) == 0;
    if (!*closed || !place->is.directory || place_walk_run(&walk, said.path))
        return true;
    *closed = false;
    return finding.open;
}
