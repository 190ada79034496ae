#include "policy/bound.h"
#include "policy/network.h"
#include "policy/question.h"

#include <string.h>

/* The lowest configured grant at the deepest path on the way to a path. */
struct decider {
    const struct bound_rule *rule;
    bool same_path; /* it stands at the asked path itself */
};

static const struct bound_rule *lowest_grant_at(const struct bound_policy *bound, const struct mark *mark)
{
    const struct decision_index *index = bound->index;
    const struct bound_rule *lowest = NULL;
    for (uint32_t i = mark->first_rule; i != 0; i = index->links.items[i - 1].next) {
        const struct bound_rule *rule = &bound->rules.items[index->links.items[i - 1].rule];
        bool configured = bound_rule_kind(rule) == RULE_GRANT && !rule->rule->automatic;
        if (configured && rule->rule->level + 1 == mark->configured)
            lowest = rule;
    }
    return lowest;
}

static struct decider decider_of(const struct bound_policy *bound, const struct bound_rule *rule)
{
    const struct decision_index *index = bound->index;
    struct question question;
    struct decider decider = {0};
    uint32_t node = index->layers[rule->rule->layer].open, found = TRIE_NONE;

    index_ask(index, rule->at.path, strlen(rule->at.path), &question);
    for (uint32_t depth = 0;; depth++) {
        node = trie_child(index->trie, node, &question.exact, depth);
        if (node == TRIE_NONE)
            break;
        if (index->marks[node].configured != 0) {
            found = node;
            decider.same_path = depth + 1 == question.exact.count;
        }
    }
    if (found != TRIE_NONE)
        decider.rule = lowest_grant_at(bound, &index->marks[found]);
    return decider;
}

static const char *line_for(struct arena *arena, const struct rule *rule)
{
    return arena_format(arena, "grant %s %s", rule->level == LEVEL_WRITE ? "write" : "read",
                        path_text(arena, &rule->path));
}

static void note_grant(const struct bound_policy *bound, const struct bound_rule *rule,
                       struct note_list *notes)
{
    struct arena *arena = notes->arena;
    struct decider decider = decider_of(bound, rule);
    if (decider.rule == NULL || decider.rule->rule->level >= rule->rule->level)
        return;
    const char *low = rule_text(arena, decider.rule->rule), *high = rule_text(arena, rule->rule);
    if (rule->rule->automatic)
        note_add(
            notes,
            (struct note){
                .code = SBX159_AUTOMATIC_GRANT_HIGHER,
                .rule = rule->rule,
                .text = arena_format(arena, "%s is above %s, which covers it and decides", high, low),
                .help = arena_format(arena, "if that is not meant, write %s", line_for(arena, rule->rule)),
            });
    else if (decider.same_path)
        note_add(notes, (struct note){
                            .code = SBX160_GRANTS_MEET,
                            .rule = rule->rule,
                            .text = arena_format(arena, "%s and %s are one path here; the lower level holds",
                                                 high, low),
                            .help = arena_format(arena, "keep one of them; for more, write only %s",
                                                 line_for(arena, rule->rule)),
                        });
}

void bound_seal(struct bound_policy *bound, struct note_list *notes)
{
    bound->index = index_build(bound);
    bound->index->network = network_index_build(bound);
    if (notes == NULL)
        return;
    const struct rule_numbers *grants = &bound->index->kinds[RULE_GRANT];
    for (uint32_t i = 0; i < grants->count; i++) {
        const struct bound_rule *rule = &bound->rules.items[grants->items[i]];
        if (rule->rule->automatic || bound->index->grants_meet)
            note_grant(bound, rule, notes);
    }
}
