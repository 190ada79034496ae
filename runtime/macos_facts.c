/* macos_facts.c - facts.h on macOS: links are followed and patterns looked for as everywhere; Seatbelt itself holds
 * missing paths and sockets, so nothing is prepared for them.
 */
#include "runtime/facts.h"

#include "runtime/gather.h"

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
    gather_denials(&gather);
    facts->missing_count = 0;
    facts->seen = gather.resolver;
    facts->matches = gather.matches.items;
    facts->match_count = gather.matches.count;
    return notes->errors == errors;
}
