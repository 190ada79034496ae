#include "emitters/json.h"

#include "base/escape.h"
#include "emitters/json_rule.h"

#include <inttypes.h>
#include <string.h>

static void put_string(struct buffer *out, const char *text)
{
    json_string(out, text, strlen(text));
}

static void put_hash(struct buffer *out, const char *member, const uint8_t hash[32])
{
    buffer_format(out, "\"%s\":\"sha256:", member);
    for (int i = 0; i < 32; i++)
        buffer_format(out, "%02x", hash[i]);
    buffer_byte(out, '"');
}

/* Each root: its path, a list where it stands for several, its name where it is symbolic, null where it is
 * unset. */
static void put_root(struct buffer *out, enum root root, const struct root_value *value)
{
    if (value->state == ROOT_SYMBOLIC) {
        buffer_format(out, "\"$%s\"", root_names[root]);
    } else if (value->state == ROOT_UNSET || value->count == 0) {
        buffer_string(out, "null");
    } else if (value->count == 1) {
        json_path(out, value->paths[0]);
    } else {
        for (uint32_t i = 0; i < value->count; i++) {
            buffer_byte(out, i == 0 ? '[' : ',');
            json_path(out, value->paths[i]);
        }
        buffer_byte(out, ']');
    }
}

static void put_roots(struct buffer *out, const struct bindings *bindings)
{
    buffer_string(out, "  \"roots\":{");
    for (int root = ROOT_WORK; root < ROOT_ENV; root++) {
        buffer_format(out, "%s\"%s\":", root == ROOT_WORK ? "" : ",", root_names[root]);
        put_root(out, (enum root)root, &bindings->roots[root]);
    }
    buffer_string(out, "},\n");
}

/* Variables that the policy sets, after managed layers removed theirs. */
static void put_sets(struct buffer *out, const struct emit_request *request)
{
    struct note_list ignored = note_list_in(request->arena);
    struct bound_policy alone = *request->bound;
    alone.bindings.environment_count = 0;
    struct variable_list set = bound_environment(request->arena, &alone, &ignored);
    buffer_string(out, "  \"set\":{");
    for (uint32_t i = 0; i < set.count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        put_string(out, set.items[i].name);
        buffer_byte(out, ':');
        put_string(out, set.items[i].value);
    }
    buffer_string(out, "},\n");
}

static void put_limits(struct buffer *out, const struct bound_policy *bound)
{
    static const struct {
        enum rule_kind kind;
        const char *name;
    } limits[] = {{RULE_LIMIT_PROCESSES, "processes"},
                  {RULE_LIMIT_FILES, "files"},
                  {RULE_LIMIT_MEMORY, "memory"},
                  {RULE_LIMIT_TIME, "time"}};
    const char *comma = "";
    buffer_string(out, "  \"limits\":{");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t amount = bound_limit(bound, limits[i].kind);
        if (amount == 0)
            continue;
        buffer_format(out, "%s\"%s\":%" PRIu64, comma, limits[i].name, amount);
        comma = ",";
    }
    buffer_string(out, "},\n");
}

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
        put_string(out, layer->name);
        buffer_format(out, ",\"kind\":\"%s\",", layer->kind == LAYER_POLICY ? "policy" : "managed");
        put_hash(out, "hash", layer->hash);
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
        put_string(out, rule->value);
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
    put_string(out, request->policy->name);
    buffer_format(out, ",\n  \"madeBy\":\"sbxc %s\",\n  \"system\":\"%s\",\n  ", request->version,
                  systems[request->bound->bindings.system]);
    put_hash(out, "requestedPolicyHash", request->policy->requested_hash);
    buffer_string(out, ",\n  ");
    put_hash(out, "effectivePolicyHash", request->policy->effective_hash);
    buffer_string(out, ",\n");
    put_roots(out, &request->bound->bindings);
    buffer_format(out, "  \"scratch\":%s,\n  \"bypass\":%s,\n",
                  bound_scratch(request->bound) ? "true" : "false",
                  bound_bypass(request->bound) ? "true" : "false");
    put_limits(out, request->bound);
    put_sets(out, request);
    put_layers(out, request->policy);
    put_exceptions(out, request);
    put_paths(out, request);
    put_rules(out, request);
    buffer_string(out, "}\n");
    return true;
}
