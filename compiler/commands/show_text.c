#include "compiler/commands/show.h"

#include "base/escape.h"
#include "base/vector.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_WIDTH = 100, INDENT = 9 };

static const char *const level_names[] = {"none", "read", "write"};

/* --- paths, by who says them ------------------------------------------------------------------------------------- */

struct source_vector {
    const char **items;
    uint32_t count, capacity;
};

/* Everyone who says something of a path: the policy first, then in the order of the paths. */
static struct source_vector sources_of(const struct showing *showing)
{
    struct source_vector sources = {0};
    struct arena *arena = showing->out->arena;
    VECTOR_PUSH(arena, &sources, "policy");
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct bound_rule *why = showing->regions.items[i].why;
        const char *source = why != NULL ? show_source(showing->policy, why->rule) : "policy";
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
    const char *who = region->why != NULL ? show_source(showing->policy, region->why->rule) : "policy";
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

/* The paths of one source and level in lines that fit a terminal. */
static void put_level(const struct showing *showing, const char *source, enum level level)
{
    struct buffer *out = showing->out;
    size_t column = 0;
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct region *region = &showing->regions.items[i];
        if (region->level != level || !is_said_by(showing, region, source))
            continue;
        const char *path = path_shown(showing, region);
        size_t width = strlen(path);
        if (column == 0)
            buffer_format(out, "  %-6s ", level_names[level]);
        else if (column + width + 2 > LINE_WIDTH)
            buffer_format(out, ",\n%*s", INDENT, "");
        else
            buffer_string(out, ", ");
        column = column == 0 || column + width + 2 > LINE_WIDTH ? INDENT + width : column + width + 2;
        buffer_string(out, path);
    }
    buffer_string(out, column > 0 ? "\n" : "");
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

/* --- the rest ---------------------------------------------------------------------------------------------------- */

static void put_rule(const struct showing *showing, const struct rule *rule)
{
    struct arena *arena = showing->out->arena;
    const char *source = show_source(showing->policy, rule);
    buffer_format(showing->out, "  %s%s%s%s\n", rule_text(arena, rule),
                  strcmp(source, "policy") == 0 ? "" : "  (",
                  strcmp(source, "policy") == 0 ? "" : escape_string(arena, source),
                  strcmp(source, "policy") == 0 ? "" : ")");
}

/* The rules for which `wanted` says so, under a heading, if there are any. */
static void put_rules(const struct showing *showing, const char *title,
                      bool (*wanted)(const void *context, const struct bound_rule *bound),
                      const void *context)
{
    const struct rule *last = NULL;
    for (uint32_t i = 0; i < showing->bound->rules.count; i++) {
        const struct bound_rule *bound = &showing->bound->rules.items[i];
        if (!show_is_written(bound) || bound->rule == last || !wanted(context, bound))
            continue;
        if (last == NULL)
            buffer_format(showing->out, "\n%s\n", title);
        last = bound->rule;
        put_rule(showing, bound->rule);
    }
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

static void put_notes(const struct showing *showing)
{
    const struct note_list *notes = &showing->session->notes;
    struct arena *arena = showing->out->arena;
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->items[i];
        buffer_string(showing->out, i == 0 ? "\nnotes\n  " : "  ");
        if (note->rule != NULL && note->rule->origin.source < showing->policy->source_count)
            buffer_format(showing->out, "%s:%u: ",
                          escape_string(arena, showing->policy->sources[note->rule->origin.source].name),
                          note->rule->origin.line);
        buffer_format(showing->out, "%s (SBX%03u)\n", note->text, (unsigned)note->code);
    }
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
    put_paths(showing);
    put_rules(showing, "patterns", is_pattern, NULL);
    for (const struct show_class *class = show_classes; class->member != NULL; class ++)
        put_rules(showing, class->title, is_of_class, class);
    put_rules(showing, "other", is_other, NULL);
    put_notes(showing);
}
