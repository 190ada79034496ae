/* allow, deny and (with ...): what makes the rules of a profile. */
#include "base/vector.h"
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_filters.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

typedef const struct seatbelt_value expression;

/* What macOS serialises of one rule's paths; and of all rules together what keeps this reader's tables
 * small. */
enum { RULE_BYTES_MOST = 65535, ENTRIES_MOST = 4 * 1000 * 1000, LIST_DEPTH_MOST = 50 };

static const struct seatbelt_modifier modifiers[] = {
    {.word = "report", .allow = true},
    {.word = "no-log", .deny = true},
    {.word = "no-report", .deny = true},
    {.word = "no-sandbox", .allow = true, .exec_only = true, .unsandboxed = true},
    {.word = "no-profile", .allow = true, .exec_only = true, .unsandboxed = true},
    {.word = "default-sandbox", .allow = true, .exec_only = true},
    {.word = "send-signal", .allow = true, .deny = true, .arguments = 1},
    {.word = "termination", .allow = true, .deny = true},
    {.word = "message", .allow = true, .deny = true, .arguments = 1},
    {.word = "telemetry", .allow = true, .deny = true},
    {.word = "user-approval", .allow = true, .deny = true},
    {.word = "deprecated", .allow = true, .deny = true},
    {.word = "no-callout", .allow = true, .deny = true},
    {.word = "partial-symbolication", .allow = true, .deny = true},
};

static bool takes_argument(const struct seatbelt_modifier *modifier, expression *argument)
{
    if (strcmp(modifier->word, "message") == 0)
        return argument->kind == SEATBELT_VALUE_STRING;
    return argument->kind == SEATBELT_VALUE_CONSTANT &&
           argument->as.constant->kind == SEATBELT_CONSTANT_SIGNAL;
}

static const struct seatbelt_modifier *find_modifier(const char *word)
{
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (strcmp(modifiers[i].word, word) == 0)
            return &modifiers[i];
    return NULL;
}

/* (with WORD), (with send-signal SIGKILL), (with message "text"). */
static expression *form_modifier(struct seatbelt_machine *machine, expression *at,
                                 struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    uint32_t length = seatbelt_length(at);
    if (length == UINT32_MAX || length < 2 || at->as.pair.tail->as.pair.head->kind != SEATBELT_VALUE_SYMBOL)
        return seatbelt_fail(machine, at, "syntax error: malformed with");
    expression *word = at->as.pair.tail->as.pair.head, *rest = at->as.pair.tail->as.pair.tail;
    const struct seatbelt_modifier *modifier = find_modifier(word->as.symbol);
    if (modifier == NULL)
        return seatbelt_fail_unbound(machine, word);
    if (length - 2 != modifier->arguments)
        return seatbelt_fail(machine, at, "modifier %s: wrong number of arguments", modifier->word);
    for (; rest->kind == SEATBELT_VALUE_PAIR; rest = rest->as.pair.tail) {
        expression *argument = seatbelt_evaluate(machine, rest->as.pair.head, environment);
        if (argument == NULL)
            return NULL;
        if (!takes_argument(modifier, argument))
            return seatbelt_fail(machine, at, "modifier %s: argument does not fit", modifier->word);
    }
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_MODIFIER, at);
    value->as.modifier = modifier;
    return value;
}

/* A rule while its parts are gathered. */
struct draft {
    struct seatbelt_rule rule;
    bool named[SEATBELT_OPERATIONS];
    struct {
        const struct seatbelt_modifier **items;
        uint32_t count, capacity;
    } modifiers;
};

static void draft_operation(struct seatbelt_machine *machine, struct draft *draft,
                            enum seatbelt_operation operation)
{
    if (!draft->named[operation])
        VECTOR_PUSH(machine->arena, &draft->rule.operations, operation);
    draft->named[operation] = true;
}

/* Adds an operation, a filter or a modifier, or a list of such. */
static bool draft_add(struct seatbelt_machine *machine, expression *at, struct draft *draft,
                      expression *value, uint32_t depth)
{
    bool is_list = value->kind == SEATBELT_VALUE_NIL || value->kind == SEATBELT_VALUE_PAIR;
    if (!seatbelt_step(machine, at))
        return false;
    if (value->kind == SEATBELT_VALUE_OPERATION)
        draft_operation(machine, draft, value->as.operation);
    else if (value->kind == SEATBELT_VALUE_FILTER)
        VECTOR_PUSH(machine->arena, &draft->rule.filters, value->as.filter);
    else if (value->kind == SEATBELT_VALUE_MODIFIER)
        VECTOR_PUSH(machine->arena, &draft->modifiers, value->as.modifier);
    else if (!is_list || depth > LIST_DEPTH_MOST)
        return seatbelt_fail(machine, at, "unexpected %s in rule", seatbelt_type(value)) != NULL;
    for (; value->kind == SEATBELT_VALUE_PAIR; value = value->as.pair.tail)
        if (!draft_add(machine, at, draft, value->as.pair.head, depth + 1))
            return false;
    return true;
}

/* with-filter: the rule's own filters count as one, and both must match. */
static bool draft_require(struct seatbelt_machine *machine, expression *at, struct draft *draft,
                          const struct seatbelt_filter *filter)
{
    struct seatbelt_filter_list both = {0}, *own = &draft->rule.filters;
    VECTOR_PUSH(machine->arena, &both, filter);
    if (own->count > 0)
        VECTOR_PUSH(machine->arena, &both, seatbelt_compose(machine, at, SEATBELT_FILTER_ANY, own));
    const struct seatbelt_filter *all =
        machine->failed ? NULL : seatbelt_compose(machine, at, SEATBELT_FILTER_ALL, &both);
    *own = (struct seatbelt_filter_list){0};
    if (all != NULL)
        VECTOR_PUSH(machine->arena, own, all);
    return all != NULL;
}

/* What stands around the rule, from the inside. */
static bool draft_surround(struct seatbelt_machine *machine, expression *at, struct draft *draft)
{
    for (const struct seatbelt_surrounding *around = machine->surrounding; around != NULL;
         around = around->outer) {
        bool is_filter = around->value->kind == SEATBELT_VALUE_FILTER;
        if (is_filter && !draft_require(machine, at, draft, around->value->as.filter))
            return false;
        if (!is_filter && !draft_add(machine, at, draft, around->value, 0))
            return false;
    }
    return true;
}

/* Filters that stand side by side are the same as require-any of them. */
static void spread(struct seatbelt_machine *machine, struct seatbelt_filter_list *out,
                   const struct seatbelt_filter *filter)
{
    if (filter->kind != SEATBELT_FILTER_ANY) {
        VECTOR_PUSH(machine->arena, out, filter);
        return;
    }
    for (uint32_t i = 0; i < filter->count; i++)
        spread(machine, out, filter->parts[i]);
}

/* The part of a filter that does not fit `sorts`. */
static const struct seatbelt_filter *find_misfit(const struct seatbelt_filter *filter, uint32_t sorts)
{
    if ((filter->sorts & ~sorts) == 0)
        return NULL;
    const struct seatbelt_filter *misfit = filter->count == 0 ? filter : NULL;
    for (uint32_t i = 0; i < filter->count && misfit == NULL; i++)
        misfit = find_misfit(filter->parts[i], sorts);
    return misfit;
}

static bool check_filters(struct seatbelt_machine *machine, expression *at, const struct seatbelt_rule *rule)
{
    size_t bytes = 0;
    for (uint32_t f = 0; f < rule->filters.count; f++) {
        bytes += rule->filters.items[f]->bytes;
        for (uint32_t o = 0; o < rule->operations.count; o++) {
            const struct seatbelt_operation_entry *operation =
                &seatbelt_operations[rule->operations.items[o]];
            const struct seatbelt_filter *misfit = find_misfit(rule->filters.items[f], operation->sorts);
            if (misfit != NULL)
                return seatbelt_fail(machine, at, "the filter %s does not fit the operation %s", misfit->word,
                                     operation->name) != NULL;
        }
    }
    /* Of rules of many paths macOS 13 to 15 call this "pattern serialization length". */
    if (bytes > RULE_BYTES_MOST)
        return seatbelt_fail(machine, at,
                             "data object length %zu exceeds maximum (65535); older systems say: pattern "
                             "serialization length %zu exceeds maximum (65535)",
                             bytes, bytes) != NULL;
    return true;
}

static bool is_exec(enum seatbelt_operation operation)
{
    return operation == SEATBELT_OPERATION_PROCESS_EXEC ||
           operation == SEATBELT_OPERATION_PROCESS_EXEC_INTERPRETER;
}

static bool check_modifiers(struct seatbelt_machine *machine, expression *at, struct draft *draft)
{
    for (uint32_t i = 0; i < draft->modifiers.count; i++) {
        const struct seatbelt_modifier *modifier = draft->modifiers.items[i];
        bool fits = draft->rule.allow ? modifier->allow : modifier->deny;
        for (uint32_t o = 0; o < draft->rule.operations.count; o++)
            fits = fits && (!modifier->exec_only || is_exec(draft->rule.operations.items[o]));
        if (!fits)
            return seatbelt_fail(machine, at, "the modifier %s does not fit this rule", modifier->word) !=
                   NULL;
        draft->rule.unsandboxed |= modifier->unsandboxed;
    }
    return true;
}

/* Enters the rule where each of its operations is looked up. */
static bool enter_rule(struct seatbelt_machine *machine, expression *at, const struct seatbelt_rule *rule)
{
    struct seatbelt_profile *profile = machine->profile;
    uint32_t number = profile->rules.count;
    uint64_t size = 1;
    for (uint32_t f = 0; f < rule->filters.count; f++)
        size += rule->filters.items[f]->size;
    profile->entries += rule->operations.count * size;
    if (profile->entries > ENTRIES_MOST)
        return seatbelt_fail(machine, at, "the profile has too many rules") != NULL;
    VECTOR_PUSH(machine->arena, &profile->rules, *rule);
    for (uint32_t o = 0; o < rule->operations.count; o++) {
        struct seatbelt_behaviour *behaviour = &profile->behaviours[rule->operations.items[o]];
        if (rule->filters.count == 0)
            behaviour->unfiltered = number + 1;
        for (uint32_t f = 0; f < rule->filters.count; f++)
            VECTOR_PUSH(machine->arena, &behaviour->entries,
                        (struct seatbelt_entry){number, rule->filters.items[f]});
    }
    return true;
}

static expression *make_rule(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    struct draft draft = {.rule.allow = arguments->self->choice,
                          .rule.line = machine->import_line > 0 ? machine->import_line : at->line};
    struct seatbelt_filter_list filters = {0};
    for (uint32_t i = 0; i < arguments->count; i++)
        if (!draft_add(machine, at, &draft, arguments->items[i], 0))
            return NULL;
    if (!draft_surround(machine, at, &draft))
        return NULL;
    if (draft.rule.operations.count == 0)
        return seatbelt_fail(machine, at, "%s: the rule names no operation", arguments->self->name);
    for (uint32_t i = 0; i < draft.rule.filters.count; i++)
        spread(machine, &filters, draft.rule.filters.items[i]);
    draft.rule.filters = filters;
    if (!check_filters(machine, at, &draft.rule) || !check_modifiers(machine, at, &draft) ||
        !enter_rule(machine, at, &draft.rule))
        return NULL;
    return seatbelt_nothing(machine, at);
}

const struct seatbelt_builtin seatbelt_rule_primitives[] = {
    {.name = "allow", .primitive = make_rule, .most = SEATBELT_ANY_NUMBER, .choice = true},
    {.name = "deny", .primitive = make_rule, .most = SEATBELT_ANY_NUMBER, .choice = false},
    {.name = "with", .form = form_modifier},
    {.name = NULL},
};
