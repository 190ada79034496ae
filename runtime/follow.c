/* follow.c - repeats the policy's rules at what their links lead to, as far as the links can be trusted
 * (language.md 7). */
#include "base/measure.h"
#include "runtime/gather.h"
#include "runtime/pattern_place.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

enum { NOT_EXCEPT = UINT32_MAX };

/* A spelling whose links, if they are followed, let the command have more: a grant, an item of a limit or
 * an except. */
struct opening {
    uint32_t rule;
    uint32_t except; /* index into the rule's except, or NOT_EXCEPT */
    const struct resolved *leads;
    const struct resolved *given; /* where it leads as it was before its root's links were resolved */
    const char *repeated;         /* the path or pattern text that says the same without links */
    enum { OPENING_UNJUDGED, OPENING_FOLLOWED, OPENING_PLANTED } state;
};

struct follow {
    struct gather *gather;
    struct bound_rule *rules; /* as bound, with denies repeated and empty grants dropped */
    uint32_t rule_count;
    struct {
        struct opening *items;
        uint32_t count, capacity;
    } openings;
};

static bool is_closing(enum rule_kind kind)
{
    return kind == RULE_DENY || kind == RULE_DENY_EXEC || kind == RULE_DENY_SOCKET;
}

static bool is_grant(enum rule_kind kind)
{
    return kind == RULE_GRANT || kind == RULE_GRANT_SOCKET;
}

static bool is_limit(enum rule_kind kind)
{
    return kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE || kind == RULE_LIMIT_SOCKET;
}

static bool is_absolute(const struct bound_path *at)
{
    return at->path != NULL && at->path[0] == '/';
}

static void denies_repeat(struct gather *gather)
{
    uint32_t count = measure_holds(MEASURE_DENIED_TARGETS) ? gather->bound->rules.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bound_rule rule = gather->bound->rules.items[i];
        if (rule.dropped || !is_closing(rule.rule->kind) || !is_absolute(&rule.at))
            continue;
        const struct resolved *leads = place_find(gather->resolver, gather->arena, &rule.at);
        if (leads->link_count == 0 || leads->kind == ENTRY_UNKNOWN)
            continue;
        rule.at.path = place_without_links(gather->arena, &rule.at, leads);
        rule.because = "link";
        VECTOR_PUSH(gather->bound->arena, &gather->bound->rules, rule);
    }
}

static void note_missing(struct gather *gather, const struct bound_rule *rule, const struct resolved *leads)
{
    const char *path = escape_string(gather->arena, rule->at.path);
    const char *text = gather_rule(gather, rule);
    if (leads->kind == ENTRY_MISSING)
        note_add(gather->notes, (struct note){
                                    .code = SBX450_GRANT_MISSING,
                                    .rule = rule->rule,
                                    .text = arena_format(gather->notes->arena,
                                                         "%s is left out: %s does not exist", text, path),
                                });
    else
        note_add(gather->notes,
                 (struct note){
                     .code = SBX462_GRANT_UNSEEN,
                     .rule = rule->rule,
                     .text = arena_format(gather->notes->arena, "%s is left out: %s cannot be looked at (%s)",
                                          text, path, strerror(leads->error)),
                 });
}

static void grants_drop_empty(struct gather *gather)
{
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        struct bound_rule *rule = &gather->bound->rules.items[i];
        if (rule->dropped || !is_grant(rule->rule->kind) || !is_absolute(&rule->at))
            continue;
        const struct resolved *leads = resolver_find(gather->resolver, rule->at.path);
        bool socket = rule->rule->kind == RULE_GRANT_SOCKET;
        if (leads->kind != ENTRY_UNKNOWN && (leads->kind != ENTRY_MISSING || socket))
            continue;
        rule->dropped = true;
        note_missing(gather, rule, leads);
    }
}

static void opening_add(struct follow *follow, uint32_t rule, uint32_t except, const struct bound_path *at)
{
    struct gather *gather = follow->gather;
    if (!is_absolute(at))
        return;
    const struct resolved *leads = place_find(gather->resolver, gather->arena, at);
    const struct resolved *given = leads;
    if (at->given != NULL && at->given[0] == '/')
        given = place_find(gather->resolver, gather->arena,
                           &(struct bound_path){.path = at->given, .pattern = at->pattern});
    if ((leads->link_count == 0 && given->link_count == 0) || leads->kind == ENTRY_UNKNOWN)
        return;
    struct opening opening = {
        .rule = rule,
        .except = except,
        .leads = leads,
        .given = given,
        .repeated = place_without_links(gather->arena, at, leads),
    };
    VECTOR_PUSH(gather->arena, &follow->openings, opening);
}

static void openings_find(struct follow *follow)
{
    for (uint32_t i = 0; i < follow->rule_count; i++) {
        const struct bound_rule *rule = &follow->rules[i];
        if (rule->dropped)
            continue;
        if (is_grant(rule->rule->kind) || is_limit(rule->rule->kind))
            opening_add(follow, i, NOT_EXCEPT, &rule->at);
        for (uint32_t j = 0; j < rule->except_count; j++)
            opening_add(follow, i, j, &rule->except[j]);
    }
}

/* A copy of the rule's except without item `without` (NOT_EXCEPT: with all) and with `more` at its end, if
 * not NULL. */
static void except_change(struct arena *arena, struct bound_rule *rule, uint32_t without,
                          const struct bound_path *more)
{
    struct bound_path *except = arena_array(arena, (size_t)rule->except_count + 1, sizeof *except);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (i != without)
            except[count++] = rule->except[i];
    if (more != NULL)
        except[count++] = *more;
    rule->except = except;
    rule->except_count = count;
}

static void opening_follow(struct bound_policy *bound, const struct opening *opening)
{
    struct bound_rule *rule = &bound->rules.items[opening->rule];
    if (opening->leads->link_count == 0)
        return; /* only its root passed links, and they are resolved */
    if (opening->except != NOT_EXCEPT) {
        struct bound_path more = {.path = opening->repeated,
                                  .pattern = rule->except[opening->except].pattern};
        except_change(bound->arena, rule, NOT_EXCEPT, &more);
        return;
    }
    struct bound_rule repeated = *rule;
    repeated.at.path = opening->repeated;
    repeated.because = "link";
    VECTOR_PUSH(bound->arena, &bound->rules, repeated);
}

/* What is not followed says nothing about where it leads: a grant is left out, and so is whatever has a
 * root that leads there. */
static void opening_close(struct bound_policy *bound, const struct opening *opening)
{
    struct bound_rule *rule = &bound->rules.items[opening->rule];
    bool root = opening->given->link_count > 0 && opening->given != opening->leads;
    if (opening->except != NOT_EXCEPT && root)
        except_change(bound->arena, rule, opening->except, NULL);
    else if (opening->except == NOT_EXCEPT &&
             (root || (opening->state == OPENING_PLANTED && is_grant(rule->rule->kind))))
        rule->dropped = true;
}

/* Makes the rule list anew from what was bound and from the openings' states. Backwards, so that what is
 * taken out of an except leaves the indices of the openings to come. */
static void openings_apply(struct follow *follow)
{
    struct bound_policy *bound = follow->gather->bound;
    bound->rules.count = 0;
    for (uint32_t i = 0; i < follow->rule_count; i++)
        VECTOR_PUSH(bound->arena, &bound->rules, follow->rules[i]);
    for (uint32_t i = follow->openings.count; i > 0; i--) {
        const struct opening *opening = &follow->openings.items[i - 1];
        if (opening->state == OPENING_FOLLOWED)
            opening_follow(bound, opening);
        else
            opening_close(bound, opening);
    }
    bound_seal(bound, NULL);
}

static const struct passed_link *planted_link(const struct gather *gather, const struct resolved *leads)
{
    for (uint32_t i = 0; i < leads->link_count; i++)
        if (gather_level(gather, leads->links[i].directory) == LEVEL_WRITE)
            return &leads->links[i];
    return NULL;
}

/* A root that leads elsewhere than when it was bound has just been changed. */
static bool is_planted(const struct gather *gather, const struct opening *opening)
{
    return measure_holds(MEASURE_PLANTED_LINKS) &&
           (planted_link(gather, opening->leads) != NULL || planted_link(gather, opening->given) != NULL ||
            strcmp(opening->given->path, opening->leads->path) != 0);
}

/* What is followed can make more of the file system writable, and so more links could have been planted.
 * What is found planted stays out, so that this ends: each round but the first and the last takes at least
 * one opening away. */
static void openings_judge(struct follow *follow)
{
    bool changed = true;
    for (bool first = true; changed; first = false) {
        openings_apply(follow);
        changed = false;
        for (uint32_t i = 0; i < follow->openings.count; i++) {
            struct opening *opening = &follow->openings.items[i];
            if (opening->state == OPENING_PLANTED || (opening->state == OPENING_UNJUDGED && !first))
                continue;
            bool planted = is_planted(follow->gather, opening);
            changed = changed || first || planted;
            opening->state = planted ? OPENING_PLANTED : OPENING_FOLLOWED;
        }
    }
}

static void note_planted(struct gather *gather, const struct bound_rule *rule, const struct opening *opening)
{
    const struct resolved *leads = opening->leads;
    const struct passed_link *link = planted_link(gather, leads);
    if (link == NULL)
        link = planted_link(gather, opening->given);
    if (link == NULL)
        link = &(opening->given->link_count > 0 ? opening->given : leads)->links[0];
    struct arena *arena = gather->notes->arena;
    const char *target = escape_string(arena, leads->path);
    note_add(gather->notes,
             (struct note){
                 .code = SBX451_GRANT_THROUGH_PLANTED_LINK,
                 .rule = rule->rule,
                 .text = arena_format(arena,
                                      "%s is left out: the command could have placed the link %s, "
                                      "which leads to %s",
                                      gather_rule(gather, rule), escape_string(arena, link->path), target),
                 .help = arena_format(arena, "if that is meant, grant %s itself", target),
             });
}

static void planted_grants_note(const struct follow *follow)
{
    for (uint32_t i = 0; i < follow->openings.count; i++) {
        const struct opening *opening = &follow->openings.items[i];
        const struct rule *rule = follow->rules[opening->rule].rule;
        bool left_out =
            opening->state == OPENING_PLANTED && opening->except == NOT_EXCEPT && is_grant(rule->kind);
        /* Nothing is lost where another rule grants the target anyway. */
        bool granted =
            rule->kind == RULE_GRANT && gather_level(follow->gather, opening->leads->path) >= rule->level;
        if (left_out && !granted)
            note_planted(follow->gather, &follow->rules[opening->rule], opening);
    }
}

/* A configured grant that was left out may have been what kept the command from writing there. */
static void dropped_grants_hold(struct gather *gather)
{
    struct bound_policy *bound = gather->bound;
    uint32_t count = bound->rules.count;
    for (uint32_t i = 0; i < count; i++) {
        struct bound_rule *rule = &bound->rules.items[i];
        if (!rule->dropped || rule->rule->kind != RULE_GRANT || rule->rule->automatic ||
            rule->rule->level != LEVEL_READ || !is_absolute(&rule->at))
            continue;
        const struct resolved *leads = resolver_find(gather->resolver, rule->at.path);
        bool spelled = gather_level(gather, rule->at.path) == LEVEL_WRITE;
        bool resolved = leads->kind == ENTRY_MISSING && gather_level(gather, leads->path) == LEVEL_WRITE;
        if (!spelled && !resolved)
            continue;
        rule->dropped = false;
        rule->holds_as_deny_write = true;
        if (resolved && leads->link_count > 0)
            gather_repeat(gather, i, leads->path, "link");
    }
}

void gather_follow(struct gather *gather)
{
    denies_repeat(gather);
    grants_drop_empty(gather);

    struct follow follow = {.gather = gather, .rule_count = gather->bound->rules.count};
    follow.rules = arena_array(gather->arena, follow.rule_count, sizeof *follow.rules);
    if (follow.rule_count > 0)
        memcpy(follow.rules, gather->bound->rules.items, follow.rule_count * sizeof *follow.rules);
    openings_find(&follow);
    openings_judge(&follow);
    planted_grants_note(&follow);
    dropped_grants_hold(gather);
    bound_seal(gather->bound, NULL);
}
