/* exceptions.c - what the patterns after `except` match now: places left open inside what a deny closes. */
#include "runtime/findings.h"
#include "runtime/gather.h"
#include "runtime/pattern_place.h"

#include "base/vector.h"
#include "policy/pattern.h"

#include <dirent.h>

struct search {
    struct gather *gather;
    const struct pattern *pattern;
    struct findings findings;
};

static const struct walk_purpose purpose = {
    .what = "the exceptions of denies would have to be looked for",
    .help = "give the pattern after except a longer fixed start",
};

/* A link that matches opens nothing: the command could have planted it. */
static enum tree_answer entry_visit(void *context, const struct tree_entry *entry)
{
    struct search *search = context;
    if (entry->type != DT_LNK && pattern_matches(search->pattern, entry->path, entry->length) &&
        gather_level(search->gather, entry->path) > LEVEL_NONE &&
        !findings_add(&search->findings, entry->path, (struct finding){.type = entry->type}))
        return TREE_FAIL;
    return entry->type == DT_DIR && pattern_may_match_below(search->pattern, entry->path, entry->length)
               ? TREE_DESCEND
               : TREE_SKIP;
}

/* What cannot be listed stays closed. */
static bool entry_closed(void *context, const char *path, const void *state, int error)
{
    (void)context;
    (void)path;
    (void)state;
    (void)error;
    return true;
}

static bool except_find(struct gather *gather, const struct bound_path *except)
{
    const struct resolved *start = place_find(gather->resolver, gather->arena, except);
    if (start->kind != ENTRY_DIRECTORY || start->link_count > 0 || start->process)
        return true; /* with links the rule has an exception without them */
    struct search search = {.gather = gather, .pattern = pattern_compile(gather->arena, except->path, false)};
    struct tree_walk walk = {.context = &search, .visit = entry_visit, .closed = entry_closed};
    findings_begin(&search.findings);
    bool found = gather_walk(gather, &walk, start->path, NULL, &purpose);
    findings_sort(&search.findings);
    for (size_t i = 0; found && i < search.findings.count; i++) {
        const char *kept = arena_strdup(gather->arena, search.findings.items[i].path);
        VECTOR_PUSH(gather->arena, &gather->open, kept);
    }
    findings_end(&search.findings);
    return found;
}

void gather_exceptions(struct gather *gather)
{
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        for (uint32_t j = 0; rule_denies(rule) && j < rule->except_count; j++) {
            const struct bound_path *except = &rule->except[j];
            if (except->pattern && except->path[0] == '/' && !except_find(gather, except))
                return;
        }
    }
}
