#include "compiler/commands/show.h"

#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

static const char *const level_names[] = {"none", "read", "write"};

static void put_string(struct buffer *out, const char *text)
{
    json_string(out, text, strlen(text));
}

/* A path as a JSON string: a backslash doubled and an invalid byte as \xHH. Returns whether either was
 * there. */
static bool put_path(struct buffer *out, const char *path)
{
    struct buffer text = buffer_in(out->arena);
    bool raw = false;
    buffer_string(&text, "");
    for (size_t left = strlen(path), size; left > 0; path += size, left -= size) {
        size_t valid = utf8_character(path, left);
        size = valid == 0 ? 1 : valid;
        if (valid == 0)
            buffer_format(&text, "\\x%02x", (unsigned)(unsigned char)*path);
        else
            buffer_bytes(&text, path, size);
        if (*path == '\\')
            buffer_byte(&text, '\\');
        raw = raw || valid == 0 || *path == '\\';
    }
    json_string(out, text.bytes, text.length);
    return raw;
}

static void put_hash(struct buffer *out, const uint8_t hash[32])
{
    buffer_string(out, "\"sha256:");
    for (int i = 0; i < 32; i++)
        buffer_format(out, "%02x", hash[i]);
    buffer_byte(out, '"');
}

/* "source", "file" and "line" of a rule, or of none. */
static void put_provenance(const struct showing *showing, const struct bound_rule *bound)
{
    struct buffer *out = showing->out;
    const struct policy *policy = showing->policy;
    if (bound == NULL) {
        buffer_string(out, ",\"source\":null,\"file\":null,\"line\":null");
        return;
    }
    buffer_string(out, ",\"source\":");
    put_string(out, show_source(policy, bound));
    if (bound->itself) {
        buffer_string(out, ",\"file\":null,\"line\":null");
        return;
    }
    buffer_string(out, ",\"file\":");
    put_string(out, policy->sources[bound->rule->origin.source].name);
    buffer_format(out, ",\"line\":%u", bound->rule->origin.line);
}

static void put_roots(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, ",\"roots\":{");
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++) {
        const struct root_value *value = &showing->bound->bindings.roots[root];
        buffer_format(out, "%s\"%s\":", root == ROOT_WORK ? "" : ",", root_names[root]);
        if (value->state == ROOT_SYMBOLIC)
            buffer_format(out, "\"$%s\"", root_names[root]);
        else if (value->state == ROOT_UNSET || value->count == 0)
            buffer_string(out, "null");
        for (uint32_t i = 0; value->state == ROOT_BOUND && i < value->count; i++) {
            buffer_string(out, i > 0 ? "," : value->count > 1 ? "[" : "");
            put_path(out, value->paths[i]);
            buffer_string(out, value->count > 1 && i + 1 == value->count ? "]" : "");
        }
    }
    buffer_byte(out, '}');
}

static void put_paths(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, ",\"paths\":[");
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct region *region = &showing->regions.items[i];
        buffer_format(out, "%s{\"path\":", i == 0 ? "" : ",");
        bool raw = put_path(out, region->path);
        buffer_format(out, ",\"level\":\"%s\"", level_names[region->level]);
        put_provenance(showing, region->why);
        buffer_string(out, raw ? ",\"raw\":true}" : "}");
    }
    buffer_byte(out, ']');
}

static void put_pattern(const struct showing *showing, const struct bound_rule *bound)
{
    struct buffer *out = showing->out;
    buffer_string(out, "{\"pattern\":");
    bool raw = !utf8_valid(bound->at.path, strlen(bound->at.path));
    put_string(out, bound->at.path);
    buffer_string(out, ",\"except\":[");
    for (uint32_t i = 0; i < bound->except_count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        raw = put_path(out, bound->except[i].path) || raw;
    }
    buffer_format(out, "],\"level\":\"%s\"", level_names[bound->rule->level]);
    put_provenance(showing, bound);
    buffer_string(out, raw ? ",\"raw\":true}" : "}");
}

static void put_patterns(const struct showing *showing)
{
    bool first = true;
    buffer_string(showing->out, ",\"patterns\":[");
    for (uint32_t i = 0; i < showing->bound->rules.count; i++) {
        const struct bound_rule *bound = &showing->bound->rules.items[i];
        if (bound->rule->kind != RULE_DENY || bound->at.path == NULL || !bound->at.pattern || bound->dropped)
            continue;
        buffer_string(showing->out, first ? "" : ",");
        put_pattern(showing, bound);
        first = false;
    }
    buffer_byte(showing->out, ']');
}

static void put_class(const struct showing *showing, const struct show_class *class)
{
    struct buffer *out = showing->out;
    const struct rule *last = NULL;
    bool first = true;
    buffer_format(out, ",\"%s\":[", class->member);
    for (uint32_t i = 0; i < showing->bound->rules.count; i++) {
        const struct bound_rule *bound = &showing->bound->rules.items[i];
        const char *effect = show_effect(class, bound->rule);
        /* A root that stands for two paths makes two bound rules of one rule. */
        if (effect == NULL || !show_is_written(showing->policy, bound) || bound->rule == last)
            continue;
        last = bound->rule;
        buffer_string(out, first ? "{\"text\":" : ",{\"text\":");
        put_string(out, rule_text(out->arena, bound->rule));
        buffer_format(out, ",\"effect\":\"%s\"", effect);
        put_provenance(showing, bound);
        buffer_byte(out, '}');
        first = false;
    }
    buffer_byte(out, ']');
}

static void put_sets(const struct showing *showing)
{
    struct buffer *out = showing->out;
    struct note_list notes = note_list_in(out->arena);
    /* Bound again without the caller's variables, only what the policy sets is left. */
    struct bound_policy bound = *showing->bound;
    bound.bindings.environment_count = 0;
    struct variable_list set = bound_environment(out->arena, &bound, &notes);
    buffer_string(out, ",\"set\":{");
    for (uint32_t i = 0; i < set.count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        put_string(out, set.items[i].name);
        buffer_byte(out, ':');
        put_string(out, set.items[i].value);
    }
    buffer_byte(out, '}');
}

static void put_limits(const struct showing *showing)
{
    static const struct {
        enum rule_kind kind;
        const char *name;
    } limits[] = {{RULE_LIMIT_PROCESSES, "processes"},
                  {RULE_LIMIT_FILES, "files"},
                  {RULE_LIMIT_MEMORY, "memory"},
                  {RULE_LIMIT_TIME, "time"}};
    const char *comma = "";
    buffer_format(showing->out, ",\"scratch\":%s,\"bypass\":%s,\"limits\":{",
                  bound_scratch(showing->bound) ? "true" : "false",
                  bound_bypass(showing->bound) ? "true" : "false");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t amount = bound_limit(showing->bound, limits[i].kind);
        if (amount == 0)
            continue;
        buffer_format(showing->out, "%s\"%s\":%" PRIu64, comma, limits[i].name, amount);
        comma = ",";
    }
    buffer_byte(showing->out, '}');
}

static void put_layers(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, ",\"layers\":[");
    for (uint32_t i = 0; i < showing->policy->layer_count; i++) {
        const struct layer *layer = &showing->policy->layers[i];
        buffer_string(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        put_string(out, layer->name);
        buffer_format(out, ",\"kind\":\"%s\",\"hash\":", layer->kind == LAYER_POLICY ? "policy" : "managed");
        put_hash(out, layer->hash);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void put_exceptions(const struct showing *showing)
{
    struct buffer *out = showing->out;
    const char *comma = "";
    buffer_string(out, ",\"exceptions\":[");
    for (uint32_t i = 0; i < showing->bound->rules.count; i++) {
        const struct rule *rule = showing->bound->rules.items[i].rule;
        if (rule->kind != RULE_ACCEPT)
            continue;
        buffer_format(out, "%s{\"control\":", comma);
        put_string(out, rule->name);
        buffer_string(out, ",\"target\":");
        put_string(out, rule->target);
        buffer_string(out, ",\"reason\":");
        put_string(out, rule->value);
        put_provenance(showing, &showing->bound->rules.items[i]);
        buffer_byte(out, '}');
        comma = ",";
    }
    buffer_byte(out, ']');
}

static void put_notes(const struct showing *showing)
{
    struct buffer *out = showing->out;
    const struct policy *policy = showing->policy;
    buffer_string(out, ",\"notes\":[");
    for (uint32_t i = 0; i < showing->session->notes.count; i++) {
        const struct note *note = &showing->session->notes.items[i];
        buffer_format(out, "%s{\"code\":\"SBX%03u\",\"text\":", i == 0 ? "" : ",", (unsigned)note->code);
        put_string(out, note->text);
        if (note->rule != NULL && note->rule->origin.source < policy->source_count) {
            buffer_string(out, ",\"file\":");
            put_string(out, policy->sources[note->rule->origin.source].name);
            buffer_format(out, ",\"line\":%u}", note->rule->origin.line);
        } else {
            buffer_string(out, ",\"file\":null,\"line\":null}");
        }
    }
    buffer_byte(out, ']');
}

void show_json(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, "{\"policy\":");
    put_string(out, showing->policy->name);
    buffer_string(out, ",\"requestedPolicyHash\":");
    put_hash(out, showing->policy->requested_hash);
    buffer_string(out, ",\"effectivePolicyHash\":");
    put_hash(out, showing->policy->effective_hash);
    put_roots(showing);
    put_paths(showing);
    put_patterns(showing);
    for (const struct show_class *class = show_classes; class->member != NULL; class ++)
        put_class(showing, class);
    put_sets(showing);
    put_limits(showing);
    put_layers(showing);
    put_exceptions(showing);
    put_notes(showing);
    buffer_string(out, "}\n");
}
