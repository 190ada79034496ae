/* matches.c - what the denied patterns match now, looked for only where something is granted. */
#include "runtime/gather.h"
#include "runtime/pattern_place.h"
#include "runtime/tree.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum { ENTRIES_MOST = 1000000 };

/* One RULE_DENY on a pattern. */
struct search {
    uint32_t rule;
    struct pattern *pattern;
    const struct pattern **except_patterns; /* one for each except, NULL where it is a plain path */
    const char *start;                      /* the fixed part, canonical */
    bool active;                            /* could match below the directory that is being walked */
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

static enum tree_answer match_visit(void *context, const char *path, size_t length, unsigned char type)
{
    struct matches *matches = context;
    bool below = false, matched = false;
    for (uint32_t i = 0; i < matches->count; i++) {
        const struct search *search = &matches->items[i];
        if (!search->active)
            continue;
        if (pattern_matches(search->pattern, path, length) && !is_excepted(matches, search, path, length)) {
            if (!matched)
                match_add(matches, path, type == DT_LNK);
            matched = true;
            if (type == DT_LNK)
                match_follow(matches, search, path);
        }
        below = below || (type == DT_DIR && pattern_may_match_below(search->pattern, path, length));
    }
    /* Places granted below a closed directory are starts of their own. */
    return below && gather_level(matches->gather, path) > LEVEL_NONE ? TREE_DESCEND : TREE_SKIP;
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

static void match_closed(void *context, const char *path, int error)
{
    struct matches *matches = context;
    for (uint32_t i = 0; i < matches->count; i++) {
        const struct search *search = &matches->items[i];
        if (search->active && pattern_may_match_below(search->pattern, path, strlen(path)))
            deny_whole(matches->gather, search->rule, path, error);
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

static bool start_walk(struct matches *matches, struct tree_walk *walk, const char *start)
{
    struct gather *gather = matches->gather;
    const struct resolved *leads = resolver_find(gather->resolver, start);
    for (uint32_t i = 0; i < matches->count; i++)
        matches->items[i].active = pattern_may_match_below(matches->items[i].pattern, start, strlen(start));
    if (leads->kind != ENTRY_DIRECTORY || leads->link_count > 0 || leads->process)
        return true;
    return tree_visit(gather->arena, walk, start);
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
    struct tree_walk walk = {
        .context = &matches,
        .visit = match_visit,
        .closed = match_closed,
        .remaining = ENTRIES_MOST,
    };
    for (uint32_t i = 0; i < matches.starts.count; i++)
        if (!start_is_reached(&matches, i) && !start_walk(&matches, &walk, matches.starts.items[i])) {
            note_add(gather->notes,
                     (struct note){
                         .code = SBX456_TOO_MANY_ENTRIES,
                         .text = arena_format(gather->notes->arena,
                                              "denied patterns would have to be looked for in more than %d "
                                              "files, the last of them below %s",
                                              ENTRIES_MOST,
                                              escape_string(gather->notes->arena, matches.starts.items[i])),
                         .help = "give the pattern a longer fixed start, such as $WORK/src/**/.env",
                     });
            break;
        }
    bound_seal(gather->bound, NULL);
}
