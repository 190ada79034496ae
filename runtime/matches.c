/* matches.c - what the denied patterns match now, looked for only where something is granted. */
#include "runtime/findings.h"
#include "runtime/gather.h"
#include "runtime/pattern_place.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum { MATCHES_MOST = 100000 };

/* One RULE_DENY on a pattern. */
struct search {
    uint32_t rule;
    struct pattern *pattern;
    const struct pattern **except_patterns; /* one for each except, NULL where it is a plain path */
    const char *start;                      /* the fixed part, canonical */
    bool followed;                          /* pattern_can_follow */
};

/* A pattern whose fixed part cannot be followed to its end. */
struct blocked {
    uint32_t rule;
    const struct resolved *leads;
};

struct matches {
    struct gather *gather;
    struct search *items;
    uint32_t count, capacity;
    struct path_vector starts;
    struct findings findings; /* of the walk in hand */
    struct {
        struct blocked *items;
        uint32_t count, capacity;
    } blocked;
};

static bool is_excepted(const struct matches *matches, const struct search *search, const char *path,
                        size_t length)
{
    const struct bound_rule *rule = &matches->gather->bound->rules.items[search->rule];
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (search->except_patterns[i] != NULL ? pattern_covers(search->except_patterns[i], path, length)
                                               : path_covers(rule->except[i].path, path))
            return true;
    return false;
}

/* What a denied match leads to is denied like it; a target around the match would deny the search's own
 * ground. */
static void match_follow(struct matches *matches, const struct search *search, const char *path)
{
    struct gather *gather = matches->gather;
    struct arena *arena = gather->notes->arena;
    const struct resolved *leads = resolver_find(gather->resolver, path);
    if (leads->kind == ENTRY_UNKNOWN)
        return;
    const struct rule *rule = gather->bound->rules.items[search->rule].rule;
    const char *link = escape_string(arena, path), *target = escape_string(arena, leads->path);
    if (path_covers(leads->path, path)) {
        note_add(gather->notes,
                 (struct note){
                     .code = SBX459_MATCH_LEADS_ABOVE,
                     .rule = rule,
                     .text = arena_format(arena, "%s is a link to %s: denying that would deny all around it",
                                          link, target),
                     .help = arena_format(arena, "remove %s, or name it in the rule's except", link),
                 });
        return;
    }
    note_add(gather->notes, (struct note){
                                .code = SBX457_MATCH_IS_LINK,
                                .rule = rule,
                                .text = arena_format(arena, "%s is a link: %s is denied too", link, target),
                            });
    gather_repeat(gather, search->rule, leads->path, "pattern");
}

static void match_add(struct matches *matches, const char *path, bool link)
{
    struct gather *gather = matches->gather;
    const char *kept = arena_strdup(gather->arena, path);
    VECTOR_PUSH(gather->arena, &gather->matches, kept);
    /* Nothing can be mounted on a link; only what it leads to has a level of its own. */
    if (!link)
        VECTOR_PUSH(gather->arena, &gather->extra, kept);
}

/* How far a search has come at `path`; PATTERN_NOWHERE also where its except covers the place, and so all
 * below. */
static pattern_progress search_enter(const struct matches *matches, const struct search *search,
                                     const char *path, size_t length)
{
    if (is_excepted(matches, search, path, length))
        return PATTERN_NOWHERE;
    if (search->followed)
        return pattern_follow(search->pattern, path, length);
    return pattern_may_match_below(search->pattern, path, length);
}

/* The state of a directory is how far each search has come there: its name is all that an entry adds. */
static enum tree_answer match_visit(void *context, const struct tree_entry *entry)
{
    struct matches *matches = context;
    const pattern_progress *here = entry->state;
    pattern_progress *below = entry->below;
    bool goes_on = false;
    for (uint32_t i = 0; i < matches->count; i++) {
        const struct search *search = &matches->items[i];
        if (here[i] == PATTERN_NOWHERE)
            continue;
        bool arrived, further;
        if (search->followed) {
            pattern_progress next = pattern_step(search->pattern, here[i], entry->name, entry->name_length);
            arrived = pattern_has_arrived(search->pattern, next);
            further = pattern_goes_on(search->pattern, next) && entry->type == DT_DIR;
            below[i] = next;
        } else {
            arrived = pattern_matches(search->pattern, entry->path, entry->length);
            further =
                entry->type == DT_DIR && pattern_may_match_below(search->pattern, entry->path, entry->length);
            below[i] = further;
        }
        if ((arrived || further) && is_excepted(matches, search, entry->path, entry->length))
            arrived = further = false;
        if (!further)
            below[i] = PATTERN_NOWHERE;
        goes_on = goes_on || further;
        if (arrived && !findings_add(&matches->findings, entry->path,
                                     (struct finding){.number = i, .type = entry->type}))
            return TREE_FAIL;
    }
    /* Places granted below a closed directory are starts of their own. */
    return goes_on && gather_level(matches->gather, entry->path) > LEVEL_NONE ? TREE_DESCEND : TREE_SKIP;
}

static void deny_whole(struct gather *gather, uint32_t rule, const char *path, int error)
{
    struct arena *arena = gather->notes->arena;
    note_add(gather->notes, (struct note){
                                .code = SBX458_DIRECTORY_DENIED_WHOLE,
                                .rule = gather->bound->rules.items[rule].rule,
                                .text = arena_format(arena, "%s is denied whole: it cannot be listed (%s)",
                                                     escape_string(arena, path), strerror(error)),
                            });
    gather_repeat(gather, rule, arena_strdup(gather->arena, path), "pattern");
}

static bool match_closed(void *context, const char *path, const void *state, int error)
{
    struct matches *matches = context;
    const pattern_progress *here = state;
    bool kept = true;
    for (uint32_t i = 0; i < matches->count && kept; i++)
        if (here[i] != PATTERN_NOWHERE)
            kept = findings_add(&matches->findings, path, (struct finding){.number = i, .error = error});
    return kept;
}

/* Findings of one path stand beside each other. */
static void findings_heed(struct matches *matches)
{
    const char *last = NULL;
    for (size_t i = 0; i < matches->findings.count; i++) {
        const struct finding *finding = &matches->findings.items[i];
        const struct search *search = &matches->items[finding->number];
        if (finding->error != 0) {
            deny_whole(matches->gather, search->rule, finding->path, finding->error);
            continue;
        }
        if (last == NULL || strcmp(last, finding->path) != 0)
            match_add(matches, finding->path, finding->type == DT_LNK);
        if (finding->type == DT_LNK)
            match_follow(matches, search, finding->path);
        last = finding->path;
    }
}

static void searches_find(struct matches *matches)
{
    struct gather *gather = matches->gather;
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        if (!rule_denies(rule) || !rule->at.pattern || rule->at.path[0] != '/')
            continue;
        const struct resolved *leads = place_find(gather->resolver, gather->arena, &rule->at);
        if (leads->kind == ENTRY_UNKNOWN)
            VECTOR_PUSH(gather->arena, &matches->blocked, (struct blocked){i, leads});
        if (leads->kind == ENTRY_UNKNOWN || leads->link_count > 0)
            continue; /* with links the rule is repeated without them */
        struct search search = {
            .rule = i,
            .pattern = pattern_compile(gather->arena, rule->at.path, false),
            .except_patterns = arena_array(gather->arena, rule->except_count, sizeof(struct pattern *)),
            .start = leads->path,
        };
        search.followed = pattern_can_follow(search.pattern);
        for (uint32_t j = 0; j < rule->except_count; j++)
            if (rule->except[j].pattern)
                search.except_patterns[j] = pattern_compile(gather->arena, rule->except[j].path, false);
        VECTOR_PUSH(gather->arena, matches, search);
    }
}

static bool is_start(const struct matches *matches, const char *path)
{
    for (uint32_t i = 0; i < matches->count; i++) {
        const struct search *search = &matches->items[i];
        if (strcmp(search->start, path) == 0 || pattern_may_match_below(search->pattern, path, strlen(path)))
            return true;
    }
    return false;
}

/* Walks begin where a pattern's fixed part ends, and at each granted place in closed ground below it. */
static void starts_find(struct matches *matches)
{
    struct gather *gather = matches->gather;
    struct region_list regions = bound_regions(gather->arena, gather->bound, NULL, 0);
    for (uint32_t i = 0; i < matches->count; i++)
        if (gather_level(gather, matches->items[i].start) > LEVEL_NONE)
            VECTOR_PUSH(gather->arena, &matches->starts, matches->items[i].start);
    for (uint32_t i = 0; i < regions.count; i++) {
        const char *path = regions.items[i].path;
        if (path[0] == '/' && regions.items[i].level > LEVEL_NONE &&
            gather_level(gather, path_parent(gather->arena, path)) == LEVEL_NONE && is_start(matches, path))
            VECTOR_PUSH(gather->arena, &matches->starts, path);
    }
}

/* Whether a walk from `top` comes to `path`. */
static bool walk_reaches(const struct gather *gather, const char *top, const char *path)
{
    if (!path_covers(top, path))
        return false;
    while (strcmp(top, path) != 0) {
        path = path_parent(gather->arena, path);
        if (gather_level(gather, path) == LEVEL_NONE)
            return false;
    }
    return true;
}

static bool start_is_reached(const struct matches *matches, uint32_t start)
{
    const struct path_vector *starts = &matches->starts;
    for (uint32_t i = 0; i < starts->count; i++) {
        bool same = strcmp(starts->items[i], starts->items[start]) == 0;
        if ((same ? i < start : true) && i != start &&
            walk_reaches(matches->gather, starts->items[i], starts->items[start]))
            return true;
    }
    return false;
}

static bool start_walk(struct matches *matches, const char *start)
{
    static const struct walk_purpose purpose = {
        .what = "denied patterns would have to be looked for",
        .help = "give the pattern a longer fixed start, such as $WORK/src/**/.env",
    };
    struct gather *gather = matches->gather;
    const struct resolved *leads = resolver_find(gather->resolver, start);
    if (leads->kind != ENTRY_DIRECTORY || leads->link_count > 0 || leads->process)
        return true;
    pattern_progress *state = arena_array(gather->arena, matches->count, sizeof *state);
    struct tree_walk walk = {
        .context = matches,
        .state_size = matches->count * sizeof *state,
        .visit = match_visit,
        .closed = match_closed,
    };
    for (uint32_t i = 0; i < matches->count; i++)
        state[i] = search_enter(matches, &matches->items[i], start, strlen(start));
    findings_begin(&matches->findings);
    bool walked = gather_walk(gather, &walk, start, state, &purpose);
    findings_sort(&matches->findings);
    if (walked)
        findings_heed(matches);
    findings_end(&matches->findings);
    return walked;
}

/* Links in a circle lead nowhere, so there is nothing to deny. */
static void blocked_deny(const struct matches *matches)
{
    for (uint32_t i = 0; i < matches->blocked.count; i++) {
        const struct blocked *blocked = &matches->blocked.items[i];
        if (blocked->leads->error != ELOOP &&
            gather_level(matches->gather, blocked->leads->path) > LEVEL_NONE)
            deny_whole(matches->gather, blocked->rule, blocked->leads->path, blocked->leads->error);
    }
}

void gather_matches(struct gather *gather)
{
    struct matches matches = {.gather = gather};
    searches_find(&matches);
    blocked_deny(&matches);
    starts_find(&matches);
    for (uint32_t i = 0; i < matches.starts.count; i++)
        if (!start_is_reached(&matches, i) && !start_walk(&matches, matches.starts.items[i]))
            break;
    if (gather->matches.count > MATCHES_MOST)
        note_add(gather->notes, (struct note){
                                    .code = SBX476_TOO_MANY_MATCHES,
                                    .text = arena_format(gather->notes->arena,
                                                         "denied patterns match %u files, more than %d",
                                                         gather->matches.count, MATCHES_MOST),
                                    .help = "deny the directories that hold them instead",
                                });
    bound_seal(gather->bound, NULL);
}
