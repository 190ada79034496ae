/* macos_facts.c - facts.h on macOS: links are followed and patterns looked for as everywhere; Seatbelt itself holds
 * missing paths and sockets, so nothing is prepared for them.
 */
#include "runtime/facts.h"

#include "runtime/gather.h"

#include "policy/pattern.h"

#include <string.h>

/* Each match becomes a path that is denied by itself, so that the directories above it are kept where they are. */
static void matches_repeat(struct gather *gather)
{
    uint32_t count = gather->bound->rules.count;

    for (uint32_t i = 0; i < count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        if (!rule_denies(rule) || !rule->at.pattern || rule->at.path[0] != '/')
            continue;
        const struct pattern *pattern = pattern_compile(gather->arena, rule->at.path, false);
        for (uint32_t j = 0; j < gather->matches.count; j++) {
            const char *path = gather->matches.items[j];
            if (pattern_matches(pattern, path, strlen(path)))
                gather_repeat(gather, i, path, "pattern");
        }
    }
    bound_seal(gather->bound, NULL);
}

bool facts_gather(struct arena *arena, struct bound_policy *bound, const struct facts_request *request,
                  struct facts *facts, struct note_list *notes)
{
    uint32_t errors = notes->errors;
    struct gather gather = {
        .arena = arena,
        .bound = bound,
        .request = request,
        .facts = facts,
        .notes = notes,
        .resolver = resolver_create(arena),
        .entries_left = GATHER_ENTRIES_MOST,
    };

    *facts = (struct facts){0};
    gather_follow(&gather);
    gather_matches(&gather);
    matches_repeat(&gather);
    gather_denials(&gather);
    facts->missing_count = 0;
    facts->seen = gather.resolver;
    facts->matches = gather.matches.items;
    facts->match_count = gather.matches.count;
    return notes->errors == errors;
}
