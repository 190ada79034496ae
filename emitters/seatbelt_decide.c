#include "emitters/seatbelt_decide.h"

#include "base/intern.h"
#include "base/vector.h"
#include "emitters/seatbelt_fold.h"
#include "emitters/seatbelt_index.h"

#include <string.h>

enum { NAME_SLOTS = 1024, FOLDED_LEAST = 4096, FOLD_GROWTH = 3 };

/* Operations by name, their other names too. */
static struct seatbelt_name_slot *slot_of(struct seatbelt_name_slot *slots, const char *name)
{
    uint64_t at = hash_bytes(name, strlen(name)) % NAME_SLOTS;
    while (slots[at].name != NULL && strcmp(slots[at].name, name) != 0)
        at = (at + 1) % NAME_SLOTS;
    return &slots[at];
}

static void prepare_names(struct seatbelt_profile *profile)
{
    profile->operations = arena_array(profile->arena, NAME_SLOTS, sizeof *profile->operations);
    for (uint32_t i = 0; i < SEATBELT_OPERATIONS; i++)
        *slot_of(profile->operations, seatbelt_operations[i].name) =
            (struct seatbelt_name_slot){seatbelt_operations[i].name, (enum seatbelt_operation)i};
    for (const struct seatbelt_operation_alias *alias = seatbelt_operation_aliases; alias->name != NULL;
         alias++)
        *slot_of(profile->operations, alias->name) =
            (struct seatbelt_name_slot){alias->name, alias->operation};
}

void seatbelt_decide_prepare(struct seatbelt_profile *profile)
{
    uint64_t expected = 0;
    prepare_names(profile);
    for (uint32_t o = 0; o < SEATBELT_OPERATIONS; o++)
        expected += profile->behaviours[o].entries.count;
    profile->index = seatbelt_index_create(profile->arena, expected, false);
    profile->folded_index = seatbelt_index_create(profile->arena, expected, true);
    for (uint32_t o = 0; o < SEATBELT_OPERATIONS; o++) {
        struct seatbelt_behaviour *behaviour = &profile->behaviours[o];
        for (uint32_t i = 0; i < behaviour->entries.count; i++) {
            const struct seatbelt_entry *entry = &behaviour->entries.items[i];
            bool indexed = seatbelt_index_add(profile->index, (enum seatbelt_operation)o, entry) &&
                           seatbelt_index_add(profile->folded_index, (enum seatbelt_operation)o, entry);
            if (!indexed)
                VECTOR_PUSH(profile->arena, &behaviour->others, *entry);
        }
    }
    profile->scratch = arena_alloc(profile->arena, sizeof *profile->scratch);
}

/* The folded path of a question (not empty), good until the next one. */
static struct seatbelt_text fold_path(const struct seatbelt_profile *profile,
                                      const struct seatbelt_text *path)
{
    struct seatbelt_scratch *scratch = profile->scratch;
    if (scratch->room < path->length * FOLD_GROWTH) {
        scratch->room = path->length * FOLD_GROWTH + FOLDED_LEAST;
        scratch->bytes = arena_alloc(profile->arena, scratch->room);
        scratch->path = arena_alloc(profile->arena, scratch->room);
        scratch->path_length = 0;
    }
    /* Many operations are asked about one path. */
    if (scratch->path_length != path->length || memcmp(scratch->path, path->bytes, path->length) != 0) {
        memcpy(scratch->path, path->bytes, path->length);
        scratch->path_length = path->length;
        scratch->length = seatbelt_fold_into(scratch->bytes, scratch->room, path->bytes, path->length, true);
    }
    return (struct seatbelt_text){scratch->bytes, scratch->length};
}

static struct seatbelt_subject subject_of(const struct seatbelt_profile *profile,
                                          const struct seatbelt_question *question)
{
    struct seatbelt_subject subject = {.question = question};
    bool over_ip =
        question->protocol != SEATBELT_PROTOCOL_NONE && question->protocol != SEATBELT_PROTOCOL_UNIX;
    if (question->path == NULL || over_ip)
        return subject;
    subject.path = (struct seatbelt_text){question->path, strlen(question->path)};
    if (question->fold_case && subject.path.length > 0)
        subject.path = fold_path(profile, &subject.path);
    return subject;
}

/* Rules that cannot be judged and could have decided: their numbers + 1. */
struct open_rules {
    uint32_t allow, deny;
};

static void keep_open(uint32_t *kept, uint32_t open, uint32_t last)
{
    if (*kept == 0 && open > last)
        *kept = open;
}

/* The rule of this very operation that decides, + 1; 0: none. */
static uint32_t deciding_rule(const struct seatbelt_profile *profile, enum seatbelt_operation operation,
                              const struct seatbelt_subject *subject, bool plainly, struct open_rules *open)
{
    const struct seatbelt_behaviour *behaviour = &profile->behaviours[operation];
    bool by_index = !plainly && subject->path.bytes != NULL;
    const struct seatbelt_entries *rest = by_index ? &behaviour->others : &behaviour->entries;
    struct seatbelt_verdict verdict = {.rules = profile->rules.items};
    if (by_index && rest->count < behaviour->entries.count)
        seatbelt_index_consider(subject->question->fold_case ? profile->folded_index : profile->index,
                                operation, subject, &verdict);
    for (uint32_t i = rest->count; i-- > 0 && rest->items[i].rule >= verdict.last;)
        seatbelt_consider(&verdict, &rest->items[i], subject);
    keep_open(&open->allow, verdict.open_allow, verdict.last);
    keep_open(&open->deny, verdict.open_deny, verdict.last);
    return verdict.last > 0 ? verdict.last : behaviour->unfiltered;
}

/* Gives the answer unless a rule that cannot be judged could give the other one. */
static enum seatbelt_answer answer(const struct seatbelt_profile *profile, bool allow, uint32_t number,
                                   const struct open_rules *open, const struct seatbelt_rule **rule)
{
    uint32_t other = allow ? open->deny : open->allow;
    number = other > 0 ? other : number;
    *rule = number > 0 ? &profile->rules.items[number - 1] : NULL;
    if (other > 0)
        return SEATBELT_UNKNOWN;
    return allow ? SEATBELT_ALLOW : SEATBELT_DENY;
}

static enum seatbelt_answer decide(const struct seatbelt_profile *profile,
                                   const struct seatbelt_question *question, bool plainly,
                                   const struct seatbelt_rule **rule)
{
    const struct seatbelt_name_slot *named = slot_of(profile->operations, question->operation);
    struct seatbelt_subject subject = subject_of(profile, question);
    struct open_rules open = {0};
    *rule = NULL;
    if (named->name == NULL)
        return SEATBELT_UNKNOWN;
    for (enum seatbelt_operation operation = named->operation;;
         operation = seatbelt_operations[operation].parent) {
        uint32_t number = deciding_rule(profile, operation, &subject, plainly, &open);
        if (number > 0)
            return answer(profile, profile->rules.items[number - 1].allow, number, &open, rule);
        if (seatbelt_operations[operation].parent == SEATBELT_NO_PARENT)
            return answer(profile, true, 0, &open, rule);
        if (operation == SEATBELT_OPERATION_DEFAULT)
            return answer(profile, false, 0, &open, rule);
    }
}

enum seatbelt_answer seatbelt_decide_rule(const struct seatbelt_profile *profile,
                                          const struct seatbelt_question *question,
                                          const struct seatbelt_rule **rule)
{
    return decide(profile, question, false, rule);
}

static enum seatbelt_answer decide_line(const struct seatbelt_profile *profile,
                                        const struct seatbelt_question *question, bool plainly,
                                        uint32_t *line)
{
    const struct seatbelt_rule *rule;
    enum seatbelt_answer decided = decide(profile, question, plainly, &rule);
    if (line != NULL)
        *line = rule != NULL ? rule->line : 0;
    return decided;
}

enum seatbelt_answer seatbelt_decide(const struct seatbelt_profile *profile,
                                     const struct seatbelt_question *question, uint32_t *line)
{
    return decide_line(profile, question, false, line);
}

enum seatbelt_answer seatbelt_decide_plainly(const struct seatbelt_profile *profile,
                                             const struct seatbelt_question *question, uint32_t *line)
{
    return decide_line(profile, question, true, line);
}
