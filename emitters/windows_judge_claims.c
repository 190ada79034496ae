#include "emitters/windows_judge.h"

#include <string.h>

static const char name_fact[] = "policy name", hash_fact[] = "policy sha256";
static const char claim[] = "control ", opening[] = "open: ";

void judge_claims_prepare(struct judge *judge)
{
    struct note_list unheard = note_list_in(judge->arena);
    judge->ground = windows_ground_of(judge->bound);
    controls_needed(judge->bound, judge->needs);
    (void)controls_check(judge->bound, CONTROL_TARGET_WINDOWS, judge->needs, judge->accepted, &unheard);
}

static const char *hash_text(const struct judge *judge, const uint8_t hash[32])
{
    struct buffer text = buffer_in(judge->arena);
    for (size_t i = 0; i < 32; i++)
        buffer_format(&text, "%02x", hash[i]);
    return text.bytes;
}

/* What this tier promises of the control, which is what the specification has to say of it. */
static const char *promised_strength(const struct judge *judge, enum control control)
{
    if (!judge->needs[control].needed || judge->accepted[control] != NULL)
        return "not said";
    return strength_names[control_windows_entry(&judge->ground, judge->spec->tier, control).strength];
}

static struct verdicts judge_control(const struct judge *judge, const char *name)
{
    const char *wanted = "not said", *found = "not said";
    for (int i = 0; i < CONTROLS; i++)
        if (strcmp(control_names[i], name) == 0)
            wanted = promised_strength(judge, (enum control)i);
    for (uint32_t i = 0; i < judge->spec->claim_count; i++)
        if (strcmp(judge->spec->claims[i].control, name) == 0) {
            found = judge->spec->claims[i].strength;
            if (strcmp(found, wanted) != 0)
                break;
        }
    return judge_differ(wanted, found);
}

static struct verdicts judge_opening(const struct judge *judge, const char *sentence)
{
    const char *wanted = "not said", *found = "not said";
    for (const char *const *open = windows_tier_open(judge->spec->tier, judge->ground.network); *open != NULL;
         open++)
        if (strcmp(*open, sentence) == 0)
            wanted = "said";
    for (uint32_t i = 0; i < judge->spec->open_count; i++)
        if (strcmp(judge->spec->open[i], sentence) == 0)
            found = "said";
    return judge_differ(wanted, found);
}

bool judge_claim(const struct judge *judge, const char *fact, struct verdicts *verdicts)
{
    const struct policy *policy = judge->bound->policy;
    if (strcmp(fact, name_fact) == 0)
        *verdicts = judge_differ(policy->name, judge->spec->policy_name);
    else if (strcmp(fact, hash_fact) == 0)
        *verdicts = judge_differ(hash_text(judge, policy->effective_hash),
                                 hash_text(judge, judge->spec->policy_hash));
    else if (strncmp(fact, claim, sizeof claim - 1) == 0)
        *verdicts = judge_control(judge, fact + sizeof claim - 1);
    else if (strncmp(fact, opening, sizeof opening - 1) == 0)
        *verdicts = judge_opening(judge, fact + sizeof opening - 1);
    else
        return false;
    return true;
}

void judge_list_claims(const struct judge *judge, struct query_set *set)
{
    struct arena *arena = judge->arena;
    queries_add_name(set, QUERY_FACT, name_fact);
    queries_add_name(set, QUERY_FACT, hash_fact);
    for (int i = 0; i < CONTROLS; i++)
        queries_add_name(set, QUERY_FACT, arena_join(arena, claim, control_names[i]));
    for (const char *const *open = windows_tier_open(judge->spec->tier, judge->ground.network); *open != NULL;
         open++)
        queries_add_name(set, QUERY_FACT, arena_join(arena, opening, *open));
    for (uint32_t i = 0; i < judge->spec->open_count; i++)
        queries_add_name(set, QUERY_FACT, arena_join(arena, opening, judge->spec->open[i]));
}
