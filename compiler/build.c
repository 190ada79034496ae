#include "compiler/build.h"

#include "base/escape.h"
#include "base/vector.h"
#include "compiler/build_except.h"

#include <string.h>

/* --- shared helpers ------------------------------------------------------------------------------------- */

void build_error(struct builder *builder, enum code code, struct span at, const char *text, const char *help)
{
    diagnostic_add(builder->diagnostics,
                   (struct diagnostic){.code = code, .at = at, .text = text, .help = help});
}

void build_too_many(struct builder *builder, struct span at)
{
    if (!builder->too_many)
        build_error(builder, SBX125_RULE_LIMIT, at,
                    arena_format(builder->arena, "a policy holds at most %d rules in all", RULES_LIMIT),
                    "grant or deny directories instead of each file in them");
    builder->too_many = true;
}

static const char *text_at(const struct builder *builder, struct span span)
{
    return builder->load->sources->items[span.source].text + span.start;
}

/* Bytes that the byte at `text` of a word takes in its spelling. */
static uint32_t spelled_width(const char *text)
{
    if (text[0] != '\\')
        return 1;
    return text[1] == 'x' ? 4 : 2;
}

struct span word_part(const struct builder *builder, const struct word *word, uint32_t first, uint32_t last)
{
    const char *text = text_at(builder, word->span);
    uint32_t at = word->quoted ? 1 : 0, length = word->span.end - word->span.start, start = 0;
    for (uint32_t byte = 0; byte < last && at < length; byte++) {
        if (byte == first)
            start = at;
        at += spelled_width(text + at);
    }
    if (last <= first || start >= length)
        return word->span;
    return (struct span){word->span.source, word->span.start + start, word->span.start + at};
}

const char *word_spelling(struct builder *builder, const struct word *word)
{
    return arena_copy(builder->arena, text_at(builder, word->span), word->span.end - word->span.start);
}

bool word_sign(const struct word *word, uint32_t at, char sign)
{
    return at < word->length && word->bytes[at] == sign && (word->literal == NULL || !word->literal[at]);
}

static bool has_control(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i], next = i + 1 < length ? (unsigned char)bytes[i + 1] : 0;
        if (byte < 0x20 || byte == 0x7F || (byte == 0xC2 && next >= 0x80 && next <= 0x9F))
            return true;
    }
    return false;
}

bool word_is_text(struct builder *builder, const struct word *word)
{
    const char *problem = NULL;
    if (!utf8_valid(word->bytes, word->length))
        problem = "this is not valid UTF-8";
    else if (has_control(word->bytes, word->length))
        problem = "control characters stand only in paths";
    if (problem != NULL)
        build_error(builder, SBX146_TEXT, word->span, problem, "leave the escape out");
    return problem == NULL;
}

struct origin origin_at(struct builder *builder, struct span at)
{
    const char *text = builder->load->sources->items[at.source].text;
    if (builder->place.source != at.source || builder->place.line_start > at.start ||
        builder->place.line == 0) {
        builder->place.source = at.source;
        builder->place.offset = builder->place.line_start = 0;
        builder->place.line = 1;
    }
    uint32_t from = builder->place.offset;
    for (const char *newline;
         from < at.start && (newline = memchr(text + from, '\n', at.start - from)) != NULL;) {
        from = builder->place.line_start = (uint32_t)(newline - text) + 1;
        builder->place.line++;
    }
    builder->place.offset = at.start;
    uint32_t column = 1;
    for (uint32_t i = builder->place.line_start; i < at.start; column++) {
        size_t size = utf8_character(text + i, at.start - i);
        i += size == 0 ? 1 : (uint32_t)size;
    }
    return (struct origin){builder->unit->index, builder->place.line, column};
}

struct rule rule_here(const struct builder *builder, enum rule_kind kind)
{
    return (struct rule){.kind = kind, .systems = builder->systems, .commands = builder->commands};
}

/* Where rules of the current unit are collected. Those of a used file are copied when it comes in, and then gone. */
static struct rule_list *rules_here(struct builder *builder, struct arena **arena)
{
    bool used = builder->unit->index != 0;
    *arena = used ? builder->load->syntax_arena : builder->arena;
    return used ? &builder->here->rules : &builder->rules;
}

void rule_add(struct builder *builder, struct rule rule)
{
    struct arena *arena;
    struct rule_list *rules = rules_here(builder, &arena);
    builder->here->has_rules = true;
    /* Under conditions that exclude each other it can never hold. */
    if (rule.systems == 0 || (rule.commands != NULL && rule.commands->count == 0))
        return;
    if (rules->count < RULES_LIMIT)
        VECTOR_PUSH(arena, rules, rule);
    else
        build_too_many(builder, builder->statement != NULL ? builder->statement->keyword
                                                           : (struct span){builder->unit->source, 0, 0});
}

void rule_add_at(struct builder *builder, struct rule rule, struct span at)
{
    rule.origin = origin_at(builder, at);
    rule_add(builder, rule);
}

/* --- statements ----------------------------------------------------------------------------------------- */

static void (*const build_statement[])(struct builder *, const struct statement *) = {
    [STATEMENT_USE] = build_use,
    [STATEMENT_LET] = build_let,
    [STATEMENT_PATH] = build_path_rule,
    [STATEMENT_SOCKET] = build_socket,
    [STATEMENT_NETWORK] = build_network,
    [STATEMENT_LISTEN] = build_listen,
    [STATEMENT_ENV] = build_env,
    [STATEMENT_SET_ENV] = build_set_env,
    [STATEMENT_SERVICE] = build_service,
    [STATEMENT_SYSCALL] = build_syscall,
    [STATEMENT_SCRATCH] = build_switch,
    [STATEMENT_BYPASS] = build_switch,
    [STATEMENT_LIMIT_PATHS] = build_limit_paths,
    [STATEMENT_LIMIT_NETWORK] = build_limit_network,
    [STATEMENT_LIMIT_NAMES] = build_limit_names,
    [STATEMENT_PERMIT_BYPASS] = build_switch,
    [STATEMENT_LIMIT_AMOUNT] = build_amount,
    [STATEMENT_ACCEPT_CONTROL] = build_accept,
    [STATEMENT_ACCEPT_CODE] = build_accept,
    [STATEMENT_EXPECT] = build_expect,
    [STATEMENT_WHEN] = build_when,
};

void build_statements(struct builder *builder, const struct statement *statement)
{
    for (; statement != NULL && !builder->too_many; statement = statement->next) {
        builder->statement = statement;
        if (build_allowed(builder, statement))
            build_statement[statement->kind](builder, statement);
    }
}

/* About how many rules these statements make: exact where no name stands for a list and nothing is
 * limited. */
static size_t count_items(const struct statement *statement)
{
    size_t count = 0;
    for (; statement != NULL; statement = statement->next) {
        size_t items = statement->words.count + statement->parts->targets.count;
        bool lists = statement->kind != STATEMENT_LET && statement->kind != STATEMENT_WHEN;
        count += items == 0 ? 1 : lists ? items : 0;
        if (statement->kind == STATEMENT_WHEN)
            count += count_items(statement->children);
    }
    return count;
}

struct prepared *build_prepare(struct builder *builder, struct unit *unit)
{
    if (unit->prepared != NULL)
        return unit->prepared;
    struct builder saved = *builder;
    unit->prepared = arena_alloc(builder->arena, sizeof *unit->prepared);
    builder->unit = unit;
    builder->here = unit->prepared;
    builder->systems = SYSTEM_ALL;
    builder->commands = NULL;
    builder->when_os = builder->when_command = NULL;
    builder->next_use = 0;
    struct arena *arena;
    struct rule_list *rules = rules_here(builder, &arena);
    VECTOR_RESERVE(arena, rules, count_items(unit->syntax->statements));
    build_statements(builder, unit->syntax->statements);

    builder->unit = saved.unit;
    builder->statement = saved.statement;
    builder->here = saved.here;
    builder->systems = saved.systems;
    builder->commands = saved.commands;
    builder->when_os = saved.when_os;
    builder->when_command = saved.when_command;
    builder->next_use = saved.next_use;
    return unit->prepared;
}

static struct policy *policy_of(const struct builder *builder)
{
    const struct load *load = builder->load;
    struct policy *policy = arena_alloc(load->arena, sizeof *policy);
    struct layer *layer = arena_alloc(load->arena, sizeof *layer);
    const struct word *name = &load->units[0]->syntax->name;
    layer->kind = load->managed ? LAYER_MANAGED : LAYER_POLICY;
    layer->name = arena_copy(load->arena, name->bytes, name->length);
    policy->arena = load->arena;
    policy->name = layer->name;
    policy->layers = layer;
    policy->layer_count = 1;
    policy->sources = build_sources(load);
    policy->source_count = load->unit_count;
    policy->rules = builder->rules.items;
    policy->rule_count = builder->rules.count;
    memcpy(policy->requested_hash, load->hash, sizeof policy->requested_hash);
    return policy;
}

struct policy *build_policy(struct load *load)
{
    struct builder builder = {
        .arena = load->arena,
        .pool = load->pool,
        .load = load,
        .diagnostics = load->diagnostics,
        .managed = load->managed,
        .bytes = buffer_in(load->arena),
    };
    struct unit *unit = load->units[0];
    build_prepare(&builder, unit);
    if (load->diagnostics->errors == 0) {
        build_instantiate(&builder);
        except_check(&builder);
    }
    if (load->diagnostics->errors == 0)
        build_check(&builder);
    if (load->diagnostics->errors != 0)
        return NULL;
    return policy_of(&builder);
}
