#include "compiler/commands/show.h"

#include "base/escape.h"
#include "emitters/json_parts.h"

#include <string.h>

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
    json_text(out, show_source(policy, bound));
    if (bound->itself) {
        buffer_string(out, ",\"file\":null,\"line\":null");
        return;
    }
    buffer_string(out, ",\"file\":");
    json_text(out, policy->sources[bound->rule->origin.source].name);
    buffer_format(out, ",\"line\":%u", bound->rule->origin.line);
}

static void put_paths(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, ",\"paths\":[");
    for (uint32_t i = 0; i < showing->regions.count; i++) {
        const struct region *region = &showing->regions.items[i];
        buffer_format(out, "%s{\"path\":", i == 0 ? "" : ",");
        bool raw = json_path(out, region->path);
        buffer_format(out, ",\"level\":\"%s\"", json_levels[region->level]);
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
    json_text(out, bound->at.path);
    buffer_string(out, ",\"except\":[");
    for (uint32_t i = 0; i < bound->except_count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        raw = json_path(out, bound->except[i].path) || raw;
    }
    buffer_format(out, "],\"level\":\"%s\"", json_levels[bound->rule->level]);
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
        json_text(out, rule_text(out->arena, bound->rule));
        buffer_format(out, ",\"effect\":\"%s\"", effect);
        put_provenance(showing, bound);
        buffer_byte(out, '}');
        first = false;
    }
    buffer_byte(out, ']');
}

static void put_layers(const struct showing *showing)
{
    struct buffer *out = showing->out;
    buffer_string(out, ",\"layers\":[");
    for (uint32_t i = 0; i < showing->policy->layer_count; i++) {
        const struct layer *layer = &showing->policy->layers[i];
        buffer_string(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        json_text(out, layer->name);
        buffer_format(out, ",\"kind\":\"%s\",\"hash\":", layer->kind == LAYER_POLICY ? "policy" : "managed");
        json_hash(out, layer->hash);
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
        json_text(out, rule->name);
        buffer_string(out, ",\"target\":");
        json_text(out, rule->target);
        buffer_string(out, ",\"reason\":");
        json_text(out, rule->value);
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
        json_text(out, note->text);
        if (note->rule != NULL && note->rule->origin.source < policy->source_count) {
            buffer_string(out, ",\"file\":");
            json_text(out, policy->sources[note->rule->origin.source].name);
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
    json_text(out, showing->policy->name);
    buffer_string(out, ",\"requestedPolicyHash\":");
    json_hash(out, showing->policy->requested_hash);
    buffer_string(out, ",\"effectivePolicyHash\":");
    json_hash(out, showing->policy->effective_hash);
    buffer_string(out, ",\"roots\":");
    json_roots(out, &showing->bound->bindings);
    put_paths(showing);
    put_patterns(showing);
    for (const struct show_class *class = show_classes; class->member != NULL; class ++)
        put_class(showing, class);
    buffer_string(out, ",\"set\":");
    json_sets(out, showing->bound);
    buffer_format(
        out, ",\"scratch\":%s,\"bypass\":%s,\"limits\":", bound_scratch(showing->bound) ? "true" : "false",
        bound_bypass(showing->bound) ? "true" : "false");
    json_limits(out, showing->bound);
    put_layers(showing);
    put_exceptions(showing);
    put_notes(showing);
    buffer_string(out, "}\n");
}
