#include "compiler/commands/show.h"

#include "base/escape.h"
#include "base/vector.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_WIDTH = 100, INDENT = 9 };

static const char *const level_names[] = {"none", "read", "write"};

/* --- paths, by who says them ---------------------------------------------------------------------------- */

struct source_vector {
    const char **items;
    uint32_t count, capacity;
};

/* Who is answerable for a place that no rule speaks of. */
static const char *default_source(const struct showing *showing)
{
    return show_only_narrows(showing->policy) ? showing->policy->layers[0].name : "policy";
}

/* Everyone who says something of a path: the policy first, then in the order of the paths. */
static struct source_vector sources_of(const struct showing *showing)
{
    struct source_vector sources = {0};
    struct arena *arena = showing->out->arena;
    VECTOR_PUSH(arena, &sources, default_source(showing));
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct bound_rule *why = showing->regions.items[i].why;
        const char *source = why != NULL ? show_source(showing->policy, why) : default_source(showing);
        bool known = false;
        for (uint32_t j = 0; j < sources.count && !known; j++)
            known = strcmp(sources.items[j], source) == 0;
        if (!known)
            VECTOR_PUSH(arena, &sources, source);
    }
    return sources;
}

static bool is_said_by(const struct showing *showing, const struct region *region, const char *source)
{
    const char *who =
        region->why != NULL ? show_source(showing->policy, region->why) : default_source(showing);
    return strcmp(who, source) == 0;
}

/* The path, and what the policy alone would say where a managed layer changed that. */
static const char *path_shown(const struct showing *showing, const struct region *region)
{
    struct arena *arena = showing->out->arena;
    const char *path = escape_string(arena, region->path);
    enum level own = bound_layer_level(showing->bound, 0, region->path, strlen(region->path));
    if (showing->policy->layer_count == 1 || own == region->level)
        return path;
    return arena_format(arena, "%s (managed; the policy says %s)", path, level_names[own]);
}

/* Items with commas between, in lines that fit a terminal; the first line starts with `title`, the others
 * below its end. */
struct wrapped {
    struct buffer *out;
    const char *title;
    size_t indent, column; /* column 0: nothing was put yet */
};

static void put_item(struct wrapped *wrapped, const char *item)
{
    size_t width = strlen(item);
    if (wrapped->column == 0) {
        buffer_string(wrapped->out, wrapped->title);
        wrapped->column = wrapped->indent;
    } else if (wrapped->column + width + 2 > LINE_WIDTH) {
        buffer_format(wrapped->out, ",\n%*s", (int)wrapped->indent, "");
        wrapped->column = wrapped->indent;
    } else {
        buffer_string(wrapped->out, ", ");
        wrapped->column += 2;
    }
    buffer_string(wrapped->out, item);
    wrapped->column += width;
}

static void put_level(const struct showing *showing, const char *source, enum level level)
{
    struct wrapped wrapped = {showing->out, NULL, INDENT, 0};
    wrapped.title = arena_format(showing->out->arena, "  %-6s ", level_names[level]);
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct region *region = &showing->regions.items[i];
        if (region->level == level && is_said_by(showing, region, source))
            put_item(&wrapped, path_shown(showing, region));
    }
    buffer_string(showing->out, wrapped.column > 0 ? "\n" : "");
}

static void put_paths(const struct showing *showing)
{
    struct source_vector sources = sources_of(showing);
    for (uint32_t i = 0; i < sources.count; i++) {
        size_t before = showing->out->length;
        buffer_format(showing->out, "\n%s\n", escape_string(showing->out->arena, sources.items[i]));
        size_t heading = showing->out->length;
        for (int level = LEVEL_WRITE; level >= LEVEL_NONE; level--)
            put_level(showing, sources.items[i], (enum level)level);
        if (showing->out->length == heading)
            showing->out->length = before;
    }
}

/* --- the rest ------------------------------------------------------------------------------------------- */

/* Whether rules of this kind hold nothing but a name, so that many can stand in one list. */
static bool is_name_only(enum rule_kind kind)
{
    return kind == RULE_GRANT_ENV || kind == RULE_DENY_ENV || kind == RULE_LIMIT_ENV ||
           kind == RULE_GRANT_SERVICE || kind == RULE_DENY_SERVICE || kind == RULE_LIMIT_SERVICE ||
           kind == RULE_GRANT_SYSCALL || kind == RULE_DENY_SYSCALL;
}

/* A line being made of rules that follow each other and differ in their names only. */
struct rule_line {
    const struct showing *showing;
    struct wrapped wrapped;
    const struct bound_rule *first;
    const char *source;
};

static void end_line(struct rule_line *line)
{
    if (line->first != NULL)
        buffer_format(line->showing->out, "%s%s%s\n", line->source[0] != '\0' ? "  (" : "", line->source,
                      line->source[0] != '\0' ? ")" : "");
    line->first = NULL;
}

static void put_rule(struct rule_line *line, const struct bound_rule *bound)
{
    struct arena *arena = line->showing->out->arena;
    const char *source = escape_string(arena, show_source(line->showing->policy, bound));
    const char *text = rule_text(arena, bound->rule);
    source = strcmp(source, "policy") == 0 ? "" : source;
    bool listed = is_name_only(bound->rule->kind) && !bound->rule->nothing;
    if (listed && line->first != NULL && line->first->rule->kind == bound->rule->kind &&
        strcmp(line->source, source) == 0) {
        put_item(&line->wrapped, strrchr(text, ' ') + 1);
        return;
    }
    end_line(line);
    line->source = source;
    line->first = bound;
    line->wrapped = (struct wrapped){line->showing->out, "  ", 4, 0};
    put_item(&line->wrapped, text);
}

/* The rules for which `wanted` says so, under a heading, if there are any. */
static void put_rules(const struct showing *showing, const char *title,
                      bool (*wanted)(const void *context, const struct bound_rule *bound),
                      const void *context)
{
    struct rule_line line = {.showing = showing};
    const struct rule *last = NULL;
    for (uint32_t i = 0; i < showing->bound->rules.count; i++) {
        const struct bound_rule *bound = &showing->bound->rules.items[i];
        if (!show_is_written(showing->policy, bound) || bound->rule == last || !wanted(context, bound))
            continue;
        if (last == NULL)
            buffer_format(showing->out, "\n%s\n", title);
        last = bound->rule;
        put_rule(&line, bound);
    }
    end_line(&line);
}

static bool is_pattern(const void *context, const struct bound_rule *bound)
{
    (void)context;
    return bound->rule->kind == RULE_DENY && bound->at.path != NULL && bound->at.pattern;
}

static bool is_of_class(const void *context, const struct bound_rule *bound)
{
    return show_effect(context, bound->rule) != NULL;
}

static bool is_other(const void *context, const struct bound_rule *bound)
{
    (void)context;
    static const enum rule_kind kinds[] = {RULE_SET_ENV,         RULE_GRANT_SCRATCH, RULE_DENY_SCRATCH,
                                           RULE_GRANT_BYPASS,    RULE_DENY_BYPASS,   RULE_PERMIT_BYPASS,
                                           RULE_LIMIT_PROCESSES, RULE_LIMIT_FILES,   RULE_LIMIT_MEMORY,
                                           RULE_LIMIT_TIME,      RULE_ACCEPT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bound->rule->kind == kinds[i])
            return true;
    return false;
}

static bool is_about_preset(const struct showing *showing, const struct note *note)
{
    const struct policy *policy = showing->policy;
    return note->rule != NULL && note->rule->origin.source < policy->source_count &&
           policy->sources[note->rule->origin.source].kind == SOURCE_PRESET_BUILTIN;
}

static void put_note(const struct showing *showing, const struct note *note)
{
    struct arena *arena = showing->out->arena;
    const struct policy *policy = showing->policy;
    buffer_string(showing->out, "  ");
    if (note->rule != NULL && note->rule->origin.source < policy->source_count)
        buffer_format(showing->out,
                      "%s:%u: ", escape_string(arena, policy->sources[note->rule->origin.source].name),
                      note->rule->origin.line);
    buffer_format(showing->out, "%s (SBX%03u)\n", note->text, (unsigned)note->code);
}

/* What built-in presets miss on this machine is of little interest: they speak of many machines. */
static void put_notes(const struct showing *showing)
{
    const struct note_list *notes = &showing->session->notes;
    uint32_t hidden = 0;
    buffer_string(showing->out, notes->count > 0 ? "\nnotes\n" : "");
    for (uint32_t i = 0; i < notes->count; i++) {
        if (!showing->session->options.verbose && is_about_preset(showing, &notes->items[i]))
            hidden++;
        else
            put_note(showing, &notes->items[i]);
    }
    if (hidden > 0)
        buffer_format(showing->out, "  %u about built-in presets, which -v lists\n", hidden);
}

void show_text(const struct showing *showing)
{
    struct buffer *out = showing->out;
    const struct policy *policy = showing->policy;
    buffer_format(out, "%s  sha256:", escape_string(out->arena, policy->name));
    for (int i = 0; i < 6; i++)
        buffer_format(out, "%02x", policy->effective_hash[i]);
    for (uint32_t i = 1; i < policy->layer_count; i++)
        buffer_format(out, "%s%s", i == 1 ? "  under " : ", ",
                      escape_string(out->arena, policy->layers[i].name));
    buffer_byte(out, '\n');
    if (show_only_narrows(policy))
        buffer_string(out, "a managed file: it opens nothing; this is the most that it leaves to a policy\n");
    put_paths(showing);
    put_rules(showing, "patterns", is_pattern, NULL);
    for (const struct show_class *class = show_classes; class->member != NULL; class ++)
        put_rules(showing, class->title, is_of_class, class);
    put_rules(showing, "other", is_other, NULL);
    put_notes(showing);
}
