#include "compiler/expect.h"

#include "base/escape.h"
#include "base/vector.h"
#include "compiler/diagnostic_print.h"
#include "compiler/place.h"

#include <stdlib.h>
#include <string.h>

struct checker {
    struct compilation *compilation;
    const struct policy *policy;
    struct diagnostic_list *diagnostics;
    const struct bound_policy *bound;
    const char *command; /* whose rules hold in this round, or NULL */
    uint8_t *reported;   /* one for each rule of the policy: it failed on another system or command already */
};

static const char *const system_names[SYSTEMS] = {"linux", "macos", "windows"};

static struct span span_of(const struct checker *checker, const struct rule *rule)
{
    struct span none = {.source = SOURCE_NONE};
    uint32_t source = compilation_source(checker->compilation, checker->policy, rule->origin.source);
    if (source == SOURCE_NONE)
        return none;
    return place_span(&checker->compilation->sources, source, rule->origin.line, rule->origin.column);
}

static void add_at(struct checker *checker, const struct rule *rule, struct diagnostic diagnostic)
{
    diagnostic_place(&diagnostic, checker->compilation, checker->policy, rule);
    diagnostic_add(checker->diagnostics, diagnostic);
}

/* What decided, in the words of the rules. */
static const char *explain(const struct checker *checker, const struct decision *decision)
{
    struct arena *arena = checker->diagnostics->arena;
    const struct reason *first = &decision->reasons[0];
    if (first->rule == NULL)
        return first->effect;
    const char *text = bound_statement_text(arena, checker->policy, first->rule);
    return arena_format(arena, "`%s` %s", text, first->effect);
}

static void report(struct checker *checker, const struct rule *rule, const char *argument,
                   const struct decision *decision)
{
    static const char *const verdicts[] = {"denied", "allowed", "left open"};
    struct arena *arena = checker->diagnostics->arena;
    struct diagnostic diagnostic = {.code = SBX148_EXPECT_FAILED};
    diagnostic.text = arena_format(
        arena, "%s %s is %s on %s%s%s: %s", operation_names[rule->operation], escape_string(arena, argument),
        verdicts[decision->verdict], system_names[checker->bound->bindings.system],
        checker->command != NULL ? " for " : "",
        checker->command != NULL ? escape_string(arena, checker->command) : "", explain(checker, decision));
    diagnostic_place(&diagnostic, checker->compilation, checker->policy, rule);
    if (rule->allow && decision->fix != NULL)
        diagnostic.help = decision->fix;
    else
        diagnostic.help =
            rule->allow ? "grant it, or change what is expected" : "deny it, or change what is expected";
    for (uint32_t i = 0, placed = 0; i < decision->reason_count && placed < DIAGNOSTIC_MORE; i++) {
        const struct bound_rule *because = decision->reasons[i].rule;
        struct span at =
            because != NULL ? span_of(checker, because->rule) : (struct span){.source = SOURCE_NONE};
        if (at.source == SOURCE_NONE)
            continue;
        diagnostic.more[placed].at = at;
        diagnostic.more[placed++].text = arena_format(arena, "this rule %s", decision->reasons[i].effect);
    }
    diagnostic_add(checker->diagnostics, diagnostic);
}

static void check_rule(struct checker *checker, const struct bound_rule *bound)
{
    const struct rule *rule = bound->rule;
    const char *error = NULL, *argument = bound->at.path != NULL ? bound->at.path : rule->name;
    uint8_t *reported = &checker->reported[rule - checker->policy->rules];
    if (*reported != 0)
        return;
    if (bound->dropped || argument == NULL)
        return;
    const struct decision *decision = bound_decide(checker->diagnostics->arena, checker->bound,
                                                   rule->operation, argument, strlen(argument), &error);
    if (decision == NULL) {
        *reported = 1;
        add_at(checker, rule, (struct diagnostic){.code = SBX147_EXPECT_ARGUMENT, .text = error});
    } else if (decision->verdict != (rule->allow ? VERDICT_ALLOW : VERDICT_DENY)) {
        *reported = 1;
        report(checker, rule, argument, decision);
    }
}

/* Without a command whoever binds the policy says the same. */
static void add_left_out(struct checker *checker, const struct note_list *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->items[i];
        if (note->code == SBX164_EXPECT_LEFT_OUT && note->rule->commands != NULL)
            add_at(
                checker, note->rule,
                (struct diagnostic){
                    .code = note->code,
                    .text = arena_strdup(checker->diagnostics->arena, note->text),
                    .help = note->help != NULL ? arena_strdup(checker->diagnostics->arena, note->help) : NULL,
                });
    }
}

static void check_bound(struct checker *checker, const struct bound_policy *bound)
{
    const char *command = bound->bindings.command;
    checker->bound = bound;
    checker->command = command;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->rule->kind == RULE_EXPECT && (rule->rule->commands != NULL) == (command != NULL))
            check_rule(checker, rule);
    }
}

static void check_round(struct checker *checker, const struct bindings *bindings)
{
    struct arena *arena = checker->diagnostics->arena, *scratch = arena_child(arena);
    struct note_list notes = note_list_in(scratch);
    struct bound_policy *bound = policy_bind(scratch, checker->policy, bindings, &notes);
    if (notes.errors > 0) {
        arena_destroy(scratch);
        return; /* whoever binds for this system reports that */
    }
    bound_seal(bound, NULL);
    add_left_out(checker, &notes);
    check_bound(checker, bound);
    arena_destroy(scratch);
}

/* --- which rounds --------------------------------------------------------------------------------------- */

struct name_vector {
    const char **items;
    uint32_t count, capacity;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The commands under which something is expected on `system`, and whether something is without. */
static struct name_vector commands_of(struct arena *arena, const struct policy *policy, enum system system,
                                      bool *without)
{
    struct name_vector names = {0};
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule->kind != RULE_EXPECT || (rule->systems & 1u << system) == 0)
            continue;
        *without = *without || rule->commands == NULL;
        for (uint32_t j = 0; rule->commands != NULL && j < rule->commands->count; j++)
            VECTOR_PUSH(arena, &names, rule->commands->names[j]);
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    return names;
}

static struct bindings bindings_of(enum system system, const struct bindings *selected)
{
    struct bindings bindings = *selected;
    if (system == selected->system)
        return bindings;
    bindings = (struct bindings){.system = system};
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    return bindings;
}

static bool expects_something(const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].kind == RULE_EXPECT)
            return true;
    return false;
}

void expectations_check(struct compilation *compilation, const struct policy *policy,
                        const struct bindings *selected, const struct bound_policy *bound,
                        struct diagnostic_list *diagnostics)
{
    struct checker checker = {.compilation = compilation, .policy = policy, .diagnostics = diagnostics};
    /* Without a policy beneath them managed layers allow nothing; what they expect is asked when there is
     * one. */
    if (!expects_something(policy) || policy->layers[0].kind == LAYER_MANAGED)
        return;
    checker.reported = arena_array(diagnostics->arena, policy->rule_count, sizeof *checker.reported);
    for (uint32_t system = 0; system < SYSTEMS; system++) {
        bool without = false;
        struct bindings bindings = bindings_of((enum system)system, selected);
        struct name_vector commands = commands_of(diagnostics->arena, policy, (enum system)system, &without);
        bindings.command = NULL;
        bool is_bound = bound != NULL && system == selected->system && selected->command == NULL;
        if (without && is_bound)
            check_bound(&checker, bound);
        else if (without)
            check_round(&checker, &bindings);
        for (uint32_t i = 0; i < commands.count; i++) {
            bindings.command = commands.items[i];
            if (i == 0 || strcmp(commands.items[i], commands.items[i - 1]) != 0)
                check_round(&checker, &bindings);
        }
    }
    diagnostics_sort(diagnostics);
}
