#include "runtime/lease.h"

#include "base/escape.h"
#include "base/vector.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void lease_event(struct arena *arena, struct lease *lease, const char *kind, const char *argument)
{
    struct lease_event event = {.kind = kind, .argument = argument};

    if (lease->events.count > EVENTS_KEPT)
        return;
    if (lease->events.count == EVENTS_KEPT) {
        event.kind = "events.full";
        event.argument = "later events are left out";
    }
    lease_now(event.at);
    VECTOR_PUSH(arena, &lease->events, event);
}

static void add_string(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    escape_json(out, value, strlen(value));
}

/* Of a text that was escaped already: it holds no control character, and its backslashes are not doubled again. */
static void add_escaped(struct buffer *out, const char *name, const char *text)
{
    buffer_format(out, ",\"%s\":\"", name);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, *at);
    }
    buffer_byte(out, '"');
}

static void add_hash(struct buffer *out, const char *name, const uint8_t hash[32])
{
    buffer_format(out, ",\"%s\":\"sha256:", name);
    for (int i = 0; i < 32; i++)
        buffer_format(out, "%02x", hash[i]);
    buffer_byte(out, '"');
}

static void add_origin(struct buffer *out, const struct policy *policy, const struct rule *rule)
{
    if (rule == NULL || rule->origin.source >= policy->source_count) {
        buffer_string(out, ",\"file\":null,\"line\":null");
        return;
    }
    add_string(out, "file", policy->sources[rule->origin.source].name);
    buffer_format(out, ",\"line\":%u", rule->origin.line);
}

static void add_controls(struct buffer *out, const struct lease *lease)
{
    buffer_string(out, ",\"enforcedControls\":[");
    for (uint32_t i = 0; i < lease->controls.count; i++) {
        const struct lease_control *control = &lease->controls.items[i];
        buffer_format(out, "%s{\"control\":\"%s\",\"how\":\"%s\"", i == 0 ? "" : ",",
                      control_names[control->control], strength_names[control->how]);
        add_string(out, "evidence", control->evidence);
        buffer_byte(out, '}');
    }
    buffer_string(out, "],\"acceptedExceptions\":[");
    const char *comma = "";
    for (int i = 0; i < CONTROLS && lease->accepted != NULL; i++) {
        if (lease->accepted[i] == NULL)
            continue;
        buffer_format(out, "%s{\"control\":\"%s\"", comma, control_names[i]);
        add_string(out, "target", lease->accepted[i]->target);
        add_string(out, "because", lease->accepted[i]->value);
        add_origin(out, lease->policy, lease->accepted[i]);
        buffer_byte(out, '}');
        comma = ",";
    }
    buffer_byte(out, ']');
}

static void add_layers(struct buffer *out, const struct policy *policy)
{
    buffer_string(out, ",\"layers\":[");
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        buffer_string(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        escape_json(out, policy->layers[i].name, strlen(policy->layers[i].name));
        buffer_format(out, ",\"kind\":\"%s\"",
                      policy->layers[i].kind == LAYER_MANAGED ? "managed" : "policy");
        add_hash(out, "hash", policy->layers[i].hash);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_notes(struct buffer *out, const struct lease *lease)
{
    buffer_string(out, ",\"notes\":[");
    for (uint32_t i = 0; i < lease->notes->count; i++) {
        const struct note *note = &lease->notes->items[i];
        buffer_format(out, "%s{\"code\":\"SBX%03u\"", i == 0 ? "" : ",", (unsigned)note->code);
        add_escaped(out, "text", note->text);
        add_origin(out, lease->policy, note->rule);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_events(struct buffer *out, const struct lease_event_list *events)
{
    buffer_string(out, ",\"events\":[");
    for (uint32_t i = 0; i < events->count; i++) {
        buffer_format(out, "%s{\"at\":\"%s\"", i == 0 ? "" : ",", events->items[i].at);
        add_string(out, "kind", events->items[i].kind);
        add_string(out, "arg", events->items[i].argument);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_end(struct buffer *out, const struct lease *lease)
{
    buffer_format(out, ",\"pid\":%ld,\"startedAt\":\"%s\",\"expiresAt\":null", (long)getpid(),
                  lease->started);
    if (lease->ended[0] == '\0') {
        buffer_string(out, ",\"endedAt\":null,\"exit\":null");
    } else if (lease->exit_signal != 0) {
        buffer_format(out, ",\"endedAt\":\"%s\",\"exit\":{\"signal\":%d}", lease->ended, lease->exit_signal);
    } else {
        buffer_format(out, ",\"endedAt\":\"%s\",\"exit\":{\"code\":%" PRIu32 "}", lease->ended,
                      lease->exit_code);
    }
    if (lease->unterminated == 0)
        buffer_string(out, ",\"unterminated\":[]");
    else
        buffer_format(out, ",\"unterminated\":[%ld]", (long)lease->unterminated);
    add_events(out, &lease->events);
    buffer_string(out, "}\n");
}

struct buffer lease_text(struct arena *arena, const struct lease *lease)
{
    struct buffer out = buffer_in(arena);

    buffer_format(&out, "{\"leaseId\":\"%s\"", lease->id);
    add_string(&out, "policy", lease->policy->name);
    add_hash(&out, "requestedPolicyHash", lease->policy->requested_hash);
    add_hash(&out, "effectivePolicyHash", lease->policy->effective_hash);
    add_string(&out, "backend", lease->backend);
    add_string(&out, "backendVersion", lease->backend_version);
    add_string(&out, "kernel", lease->kernel);
    add_controls(&out, lease);
    add_layers(&out, lease->policy);
    add_notes(&out, lease);
    add_end(&out, lease);
    return out;
}
