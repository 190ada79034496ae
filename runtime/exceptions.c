/* exceptions.c - what the patterns after `except` match now: places left open inside what a deny closes. */
#include "runtime/gather.h"
#include "runtime/pattern_place.h"
#include "runtime/tree.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <dirent.h>
#include <string.h>

enum { ENTRIES_MOST = 1000000 };

struct search {
    struct gather *gather;
    struct pattern *pattern;
};

/* A link that matches opens nothing: the command could have planted it. */
static enum tree_answer entry_visit(void *context, const char *path, size_t length, unsigned char type)
{
    const struct search *search = context;
    struct gather *gather = search->gather;
    if (type != DT_LNK && pattern_matches(search->pattern, path, length) &&
        gather_level(gather, path) > LEVEL_NONE) {
        const char *kept = arena_strdup(gather->arena, path);
        VECTOR_PUSH(gather->arena, &gather->open, kept);
    }
    return type == DT_DIR && pattern_may_match_below(search->pattern, path, length) ? TREE_DESCEND
                                                                                    : TREE_SKIP;
}

/* What cannot be listed stays closed. */
static void entry_closed(void *context, const char *path, int error)
{
    (void)context;
    (void)path;
    (void)error;
}

static void refuse(struct gather *gather, const struct bound_rule *rule)
{
    struct arena *arena = gather->notes->arena;
    note_add(gather->notes,
             (struct note){
                 .code = SBX456_TOO_MANY_ENTRIES,
                 .rule = rule->rule,
                 .text = arena_format(arena,
                                      "the exceptions of denies would have to be looked for in more than %d "
                                      "files, the last of them by %s",
                                      ENTRIES_MOST, gather_rule(gather, rule)),
                 .help = "give the pattern after except a longer fixed start",
             });
}

void gather_exceptions(struct gather *gather)
{
    struct search search = {.gather = gather};
    struct tree_walk walk = {
        .context = &search,
        .visit = entry_visit,
        .closed = entry_closed,
        .remaining = ENTRIES_MOST,
    };
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        for (uint32_t j = 0; rule_denies(rule) && j < rule->except_count; j++) {
            const struct bound_path *except = &rule->except[j];
            if (!except->pattern || except->path[0] != '/')
                continue;
            const struct resolved *start = place_find(gather->resolver, gather->arena, except);
            if (start->kind != ENTRY_DIRECTORY || start->link_count > 0 || start->process)
                continue; /* with links the rule has an exception without them */
            search.pattern = pattern_compile(gather->arena, except->path, false);
            if (!tree_visit(gather->arena, &walk, start->path)) {
                refuse(gather, rule);
                return;
            }
        }
    }
}
