#include "emitters/json_parts.h"

#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

const char *const json_levels[] = {[LEVEL_NONE] = "none", [LEVEL_READ] = "read", [LEVEL_WRITE] = "write"};

void json_text(struct buffer *out, const char *text)
{
    escape_json(out, text, strlen(text));
}

bool json_path(struct buffer *out, const char *path)
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
    escape_json(out, text.bytes, text.length);
    return raw;
}

void json_hash(struct buffer *out, const uint8_t hash[32])
{
    buffer_string(out, "\"sha256:");
    for (int i = 0; i < 32; i++)
        buffer_format(out, "%02x", hash[i]);
    buffer_byte(out, '"');
}

void json_origin(struct buffer *out, const struct policy *policy, const struct rule *rule)
{
    if (rule == NULL || rule->origin.line == 0 || rule->origin.source >= policy->source_count) {
        buffer_string(out, ",\"file\":null,\"line\":null");
        return;
    }
    buffer_string(out, ",\"file\":");
    json_text(out, policy->sources[rule->origin.source].name);
    buffer_format(out, ",\"line\":%u", rule->origin.line);
}

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

void json_roots(struct buffer *out, const struct bindings *bindings)
{
    for (int root = ROOT_WORK; root < ROOT_ENV; root++) {
        buffer_format(out, "%s\"%s\":", root == ROOT_WORK ? "{" : ",", root_names[root]);
        put_root(out, (enum root)root, &bindings->roots[root]);
    }
    buffer_byte(out, '}');
}

void json_sets(struct buffer *out, const struct bound_policy *bound)
{
    struct note_list ignored = note_list_in(out->arena);
    /* Bound again without the caller's variables, only what the policy sets is left. */
    struct bound_policy alone = *bound;
    alone.bindings.environment_count = 0;
    struct variable_list set = bound_environment(out->arena, &alone, &ignored);
    buffer_byte(out, '{');
    for (uint32_t i = 0; i < set.count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        json_text(out, set.items[i].name);
        buffer_byte(out, ':');
        json_text(out, set.items[i].value);
    }
    buffer_byte(out, '}');
}

void json_limits(struct buffer *out, const struct bound_policy *bound)
{
    static const struct {
        enum rule_kind kind;
        const char *name;
    } limits[] = {{RULE_LIMIT_PROCESSES, "processes"},
                  {RULE_LIMIT_FILES, "files"},
                  {RULE_LIMIT_MEMORY, "memory"},
                  {RULE_LIMIT_TIME, "time"}};
    const char *comma = "";
    buffer_byte(out, '{');
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t amount = bound_limit(bound, limits[i].kind);
        if (amount == 0)
            continue;
        buffer_format(out, "%s\"%s\":%" PRIu64, comma, limits[i].name, amount);
        comma = ",";
    }
    buffer_byte(out, '}');
}
