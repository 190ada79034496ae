#include "base/escape.h"
#include "compiler/commands/why.h"

#include <string.h>

static const char *const level_names[] = {"none", "read", "write"};
static const char *const verdict_names[] = {"deny", "allow", "depends"};

static void put_member(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    escape_json(out, value, strlen(value));
}

static void put_reason(struct buffer *out, const struct policy *policy, const struct reason *reason)
{
    buffer_byte(out, '{');
    if (reason->rule != NULL) {
        const struct rule *rule = reason->rule->rule;
        const char *text = bound_statement_text(out->arena, policy, reason->rule);
        buffer_string(out, "\"rule\":");
        escape_json(out, text, strlen(text));
        if (!reason->rule->itself) {
            put_member(out, "file", policy->sources[rule->origin.source].name);
            buffer_format(out, ",\"line\":%u", rule->origin.line);
        } else {
            buffer_string(out, ",\"file\":null,\"line\":null");
        }
        put_member(out, "layer", rule_layer_name(policy, rule));
        buffer_byte(out, ',');
    }
    buffer_string(out, "\"effect\":");
    escape_json(out, reason->effect, strlen(reason->effect));
    buffer_byte(out, '}');
}

void why_put_question(struct buffer *out, const char *operation, size_t operation_length,
                      const char *argument, size_t length)
{
    buffer_string(out, "{\"op\":");
    escape_json(out, operation, operation_length);
    buffer_string(out, ",\"arg\":");
    if (escape_json(out, argument, length))
        buffer_string(out, ",\"raw\":true");
}

void why_put_answer(struct buffer *out, const struct policy *policy, const struct question *question,
                    const struct answer *answer)
{
    const struct decision *decision = answer->decision;
    const char *operation = operation_names[question->operation];
    why_put_question(out, operation, strlen(operation), question->argument, question->length);
    put_member(out, "decision", verdict_names[decision->verdict]);
    if (why_is_about_path(question->operation) && question->operation != OPERATION_SOCKET)
        put_member(out, "level", level_names[decision->level]);
    buffer_string(out, ",\"because\":[");
    for (uint32_t i = 0; i < decision->reason_count; i++) {
        buffer_string(out, i == 0 ? "" : ",");
        put_reason(out, policy, &decision->reasons[i]);
    }
    if (answer->resolved != NULL) {
        const char *effect =
            arena_format(out->arena, "links lead to %s", escape_string(out->arena, answer->resolved));
        buffer_byte(out, ','); /* a decision always has a reason */
        put_reason(out, policy, &(struct reason){NULL, effect});
    }
    buffer_string(out, "],\"fix\":");
    if (decision->fix == NULL)
        buffer_string(out, "null");
    else
        escape_json(out, decision->fix, strlen(decision->fix));
    buffer_string(out, "}\n");
}
