#include "emitters/json.h"

#include "emitters/json_parts.h"
#include "emitters/json_rule.h"

/* Starts the next entry of a list on its own line. */
static void put_next(struct buffer *out, uint32_t *count)
{
    buffer_string(out, (*count)++ == 0 ? "\n    " : ",\n    ");
}

static void put_layers(struct buffer *out, const struct policy *policy)
{
    uint32_t count = 0;
    buffer_string(out, "  \"layers\":[");
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        const struct layer *layer = &policy->layers[i];
        put_next(out, &count);
        buffer_string(out, "{\"name\":");
        json_text(out, layer->name);
        buffer_format(out, ",\"kind\":\"%s\",", layer->kind == LAYER_POLICY ? "policy" : "managed");
        buffer_string(out, "\"hash\":");
        json_hash(out, layer->hash);
        buffer_byte(out, '}');
    }
    buffer_string(out, "],\n");
}

static void put_exceptions(struct buffer *out, const struct emit_request *request)
{
    uint32_t count = 0;
    buffer_string(out, "  \"exceptions\":[");
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct rule *rule = request->bound->rules.items[i].rule;
        if (rule->kind != RULE_ACCEPT || rule->target == NULL)
            continue;
        put_next(out, &count);
        buffer_format(out, "{\"control\":\"%s\",\"target\":\"%s\",\"reason\":", rule->name, rule->target);
        json_text(out, rule->value);
        json_origin(out, request->policy, rule);
        buffer_byte(out, '}');
    }
    buffer_string(out, "],\n");
}

static void put_paths(struct buffer *out, const struct emit_request *request)
{
    struct region_list regions = bound_regions(request->arena, request->bound, NULL, 0);
    uint32_t count = 0;
    buffer_string(out, "  \"paths\":[");
    for (uint32_t i = 0; i < regions.count; i++) {
        const struct region *region = &regions.items[i];
        put_next(out, &count);
        buffer_string(out, "{\"path\":");
        bool raw = json_path(out, region->path);
        buffer_format(out, ",\"level\":\"%s\"", json_levels[region->level]);
        json_origin(out, request->policy, region->why != NULL ? region->why->rule : NULL);
        buffer_string(out, raw ? ",\"raw\":true}" : "}");
    }
    buffer_string(out, "],\n");
}

static void put_rules(struct buffer *out, const struct emit_request *request)
{
    uint32_t count = 0;
    buffer_string(out, "  \"rules\":[");
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        struct buffer entry = buffer_in(request->arena);
        if (!json_rule(&entry, request->policy, &request->bound->rules.items[i]))
            continue;
        put_next(out, &count);
        buffer_bytes(out, entry.bytes, entry.length);
    }
    buffer_string(out, "]\n");
}

bool emit_json(const struct emit_request *request, struct buffer *out)
{
    static const char *const systems[SYSTEMS] = {"linux", "macos", "windows"};
    buffer_string(out, "{\n  \"sbx\":1,\n  \"policy\":");
    json_text(out, request->policy->name);
    buffer_format(out, ",\n  \"madeBy\":\"sbxc %s\",\n  \"system\":\"%s\",\n  ", request->version,
                  systems[request->bound->bindings.system]);
    buffer_string(out, "\"requestedPolicyHash\":");
    json_hash(out, request->policy->requested_hash);
    buffer_string(out, ",\n  \"effectivePolicyHash\":");
    json_hash(out, request->policy->effective_hash);
    buffer_string(out, ",\n  \"roots\":");
    json_roots(out, &request->bound->bindings);
    buffer_format(out, ",\n  \"scratch\":%s,\n  \"bypass\":%s,\n  \"limits\":",
                  bound_scratch(request->bound) ? "true" : "false",
                  bound_bypass(request->bound) ? "true" : "false");
    json_limits(out, request->bound);
    buffer_string(out, ",\n  \"set\":");
    json_sets(out, request->bound);
    buffer_string(out, ",\n");
    put_layers(out, request->policy);
    put_exceptions(out, request);
    put_paths(out, request);
    put_rules(out, request);
    buffer_string(out, "}\n");
    return true;
}
