#include "compiler/build.h"

#include "base/escape.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* --- when ----------------------------------------------------------------------------------------------- */

static uint8_t systems_of(const struct word_list *words)
{
    static const char *const names[SYSTEMS] = {"linux", "macos", "windows"};
    unsigned systems = 0;
    for (uint32_t i = 0; i < words->count; i++)
        for (uint32_t system = 0; system < SYSTEMS; system++)
            if (strcmp(words->items[i].bytes, names[system]) == 0)
                systems |= 1u << system;
    return (uint8_t)systems;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const struct command_set *commands_of(struct builder *builder, const struct word_list *words)
{
    struct command_set *set = arena_alloc(builder->arena, sizeof *set);
    const char **names = arena_array(builder->arena, words->count, sizeof *names);
    uint32_t count = 0;
    for (uint32_t i = 0; i < words->count; i++) {
        const struct word *word = &words->items[i];
        if (!word_is_text(builder, word))
            continue;
        if (word->length == 0 || strchr(word->bytes, '/') != NULL)
            build_error(builder, SBX128_COMMAND, word->span,
                        "a command is named as it is called, without a directory",
                        "write the name that the PATH search finds, such as git");
        else
            names[count++] = word->bytes;
    }
    qsort(names, count, sizeof *names, compare_strings);
    for (uint32_t i = 0; i < count; i++)
        if (set->count == 0 || strcmp(names[set->count - 1], names[i]) != 0)
            names[set->count++] = names[i];
    set->names = names;
    return set;
}

/* The commands for which both hold; NULL holds for all. */
static const struct command_set *commands_both(struct arena *arena, const struct command_set *a,
                                               const struct command_set *b)
{
    if (a == NULL || b == NULL || a == b)
        return a != NULL ? a : b;
    struct command_set *both = arena_alloc(arena, sizeof *both);
    const char **names = arena_array(arena, a->count, sizeof *names);
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        int order = strcmp(a->names[i], b->names[j]);
        if (order == 0)
            names[both->count++] = a->names[i];
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    both->names = names;
    return both;
}

void build_when(struct builder *builder, const struct statement *statement)
{
    bool os =
        strcmp(statement->parts->subject.bytes != NULL ? statement->parts->subject.bytes : "", "os") == 0;
    const struct statement **enclosing = os ? &builder->when_os : &builder->when_command;
    const struct statement *outer = *enclosing;
    uint8_t systems = builder->systems;
    const struct command_set *commands = builder->commands;
    if (statement->broken) {
        build_statements(builder, statement->children);
        return;
    }
    if (os)
        builder->systems &= systems_of(&statement->words);
    else
        builder->commands = commands_of(builder, &statement->words);
    *enclosing = statement;
    build_statements(builder, statement->children);
    *enclosing = outer;
    builder->systems = systems;
    builder->commands = commands;
}

/* --- use ------------------------------------------------------------------------------------------------ */

/* The names of a used unit hold in the using one from here on, unless one is taken by something else. */
static void import_names(struct builder *builder, const struct statement *statement,
                         const struct prepared *used)
{
    for (uint32_t i = 0; i < used->names.capacity; i++) {
        const struct definition *definition = used->names.slots[i];
        if (definition == NULL)
            continue;
        const struct definition *other =
            name_find(&builder->here->names, definition->name, strlen(definition->name));
        if (other == NULL)
            name_add(builder->arena, &builder->here->names, definition);
        else if (other != definition)
            diagnostic_add(
                builder->diagnostics,
                (struct diagnostic){
                    .code = SBX115_NAME_TAKEN,
                    .at = statement->parts->subject.span,
                    .more = {{definition->at, "defined here"}, {other->at, "and here"}},
                    .text = arena_format(builder->arena, "this brings a second $%s", definition->name),
                    .help = "rename one of the two: a name keeps its meaning for the whole file",
                });
    }
}

static void remember(const struct statement **first, const struct statement *statement)
{
    if (*first == NULL)
        *first = statement;
}

static void report_contents(struct builder *builder, const struct word *used, enum code code,
                            const struct statement *offence, const char *what, const char *help)
{
    const char *name = escape_text(builder->arena, used->bytes, used->length);
    diagnostic_add(builder->diagnostics, (struct diagnostic){
                                             .code = code,
                                             .at = used->span,
                                             .more = {{offence->span, "this is the statement"}},
                                             .text = arena_format(builder->arena, what, name),
                                             .help = help,
                                         });
}

/* What a used unit may hold depends on the file that started it all; it is reported where that file uses
 * it. */
static void check_contents(struct builder *builder, const struct word *name, const struct prepared *used)
{
    remember(&builder->here->grants, used->grants);
    remember(&builder->here->limits, used->limits);
    remember(&builder->here->environment, used->environment);
    if (builder->unit->index != 0)
        return;
    if (builder->managed && used->grants != NULL)
        report_contents(builder, name, SBX130_MANAGED_USE, used->grants,
                        "a managed file only narrows, and %s opens something",
                        "use presets that only deny or define names, such as std/paths");
    else if (builder->managed && used->environment != NULL)
        report_contents(builder, name, SBX133_MANAGED_ENV, used->environment,
                        "a managed file cannot depend on the caller's environment, and %s does",
                        "use presets that only deny or define names, such as std/paths");
    else if (!builder->managed && used->limits != NULL)
        report_contents(builder, name, SBX131_MANAGED_ONLY, used->limits,
                        "only managed files limit, and %s holds such a limit",
                        "keep limits for managed files in a preset of their own");
}

void build_use(struct builder *builder, const struct statement *statement)
{
    struct prepared *here = builder->here;
    struct unit *unit = builder->unit->uses[builder->next_use++].unit;
    const struct path_list *except = build_path_list(builder, &statement->except, PATH_PATTERNS);
    if (builder->managed && statement->except.count > 0)
        build_error(builder, SBX132_MANAGED_EXCEPT, statement->except.items[0].span,
                    "a managed file cannot make exceptions from what it uses",
                    "write the denies that are meant into the managed file itself");
    if (unit == NULL)
        return;
    const struct prepared *used = build_prepare(builder, unit);
    check_contents(builder, &statement->parts->subject, used);
    here->has_rules = here->has_rules || used->has_rules;
    if (builder->managed && builder->commands != NULL && used->has_rules)
        build_error(builder, SBX134_MANAGED_COMMAND, statement->parts->subject.span,
                    "what a managed file denies cannot depend on the command", "use it outside the block");
    if (builder->when_os == NULL && builder->when_command == NULL)
        import_names(builder, statement, used);
    struct prepared_use use = {unit, builder->systems, builder->commands, except, statement};
    VECTOR_PUSH(builder->arena, &here->uses, use);
}

/* --- bringing the rules in ------------------------------------------------------------------------------ */

/* The conditions and exceptions under which a unit's rules come in. */
struct conditions {
    uint8_t systems;
    const struct command_set *commands;
    const struct path_list *except;
};

static const struct path_list *paths_both(struct arena *arena, const struct path_list *a,
                                          const struct path_list *b)
{
    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    struct path_list *both = arena_alloc(arena, sizeof *both);
    struct policy_path *items = arena_array(arena, (size_t)a->count + b->count, sizeof *items);
    memcpy(items, a->items, a->count * sizeof *items);
    memcpy(items + a->count, b->items, b->count * sizeof *items);
    both->items = items;
    both->count = a->count + b->count;
    return both;
}

static void add_paths(struct buffer *key, struct arena *arena, const struct path_list *paths)
{
    uint32_t count = paths != NULL ? paths->count : 0;
    const char **texts = arena_array(arena, count, sizeof *texts);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = path_text(arena, &paths->items[i]);
    qsort(texts, count, sizeof *texts, compare_strings);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
            buffer_format(key, "\n%s", texts[i]);
}

/* Whether `unit` came in under these conditions before; remembers that it does now. */
static bool seen_before(struct builder *builder, const struct unit *unit, const struct conditions *conditions)
{
    struct buffer key = buffer_in(builder->arena);
    buffer_format(&key, "%u %u", (unsigned)unit->index, (unsigned)conditions->systems);
    for (uint32_t i = 0; conditions->commands != NULL && i < conditions->commands->count; i++)
        buffer_format(&key, "/%s", conditions->commands->names[i]);
    add_paths(&key, builder->arena, conditions->except);
    if (intern_find(builder->seen, key.bytes, key.length) != NULL)
        return true;
    intern(builder->seen, key.bytes, key.length);
    return false;
}

bool rule_takes_except(const struct rule *rule)
{
    return rule->kind == RULE_DENY || rule->kind == RULE_DENY_EXEC || rule->kind == RULE_DENY_SOCKET;
}

static void bring_rules(struct builder *builder, const struct prepared *prepared,
                        const struct conditions *conditions)
{
    /* The rules of a statement stand together and share their list, so remembering one pair shares the sum as
     * well. */
    const struct path_list *own = NULL, *sum = conditions->except;
    const struct command_set *commands = NULL, *narrowed = conditions->commands;
    for (uint32_t i = 0; i < prepared->rules.count; i++) {
        struct rule rule = prepared->rules.items[i];
        rule.systems &= conditions->systems;
        if (rule.commands != commands) {
            commands = rule.commands;
            narrowed = commands_both(builder->arena, commands, conditions->commands);
        }
        rule.commands = narrowed;
        if (rule_takes_except(&rule)) {
            if (rule.except != own) {
                own = rule.except;
                sum = paths_both(builder->arena, own, conditions->except);
            }
            rule.except = sum;
        }
        rule_add(builder, rule);
    }
}

/* Each exception of each level multiplies: presets that bring in nothing could still take forever. */
static void too_many_uses(struct builder *builder)
{
    build_error(builder, SBX125_RULE_LIMIT, (struct span){builder->unit->source, 0, 0},
                arena_format(builder->arena, "presets come in more than %d times under different conditions",
                             USES_LIMIT),
                "use each preset once, with all its exceptions");
    builder->too_many = true;
}

static void bring_uses(struct builder *builder, const struct prepared *prepared,
                       const struct conditions *outer)
{
    for (uint32_t i = 0; i < prepared->uses.count && !builder->too_many; i++) {
        const struct prepared_use *use = &prepared->uses.items[i];
        struct conditions conditions = {
            .systems = use->systems & outer->systems,
            .commands = commands_both(builder->arena, use->commands, outer->commands),
            .except = paths_both(builder->arena, use->except, outer->except),
        };
        bool never =
            conditions.systems == 0 || (conditions.commands != NULL && conditions.commands->count == 0);
        if (never || seen_before(builder, use->unit, &conditions))
            continue;
        if (builder->brought++ == USES_LIMIT)
            too_many_uses(builder);
        bring_rules(builder, use->unit->prepared, &conditions);
        bring_uses(builder, use->unit->prepared, &conditions);
    }
}

void build_instantiate(struct builder *builder)
{
    struct unit *unit = builder->load->units[0];
    const struct conditions all = {.systems = SYSTEM_ALL};
    size_t count = builder->rules.count;
    for (uint32_t i = 1; i < builder->load->unit_count; i++)
        if (builder->load->units[i]->prepared != NULL)
            count += builder->load->units[i]->prepared->rules.count;
    VECTOR_RESERVE(builder->arena, &builder->rules, count); /* each usually comes in once */
    builder->unit = unit;
    builder->here = unit->prepared;
    builder->statement = NULL; /* what comes in now stands in other files */
    builder->seen = intern_create(builder->arena, 0);
    bring_uses(builder, unit->prepared, &all);
}
