/* diagnostic_json.c - diagnostics for programs: one JSON object a line. */
#include "base/escape.h"
#include "compiler/diagnostic_print.h"

#include <string.h>

static void put_member(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    if (value == NULL)
        buffer_string(out, "null");
    else
        escape_json(out, value, strlen(value));
}

static void put_diagnostic(struct buffer *out, struct source_list *sources,
                           const struct diagnostic *diagnostic)
{
    static const char *const severities[] = {"note", "warning", "error"};
    buffer_format(out, "{\"severity\":\"%s\",\"code\":\"SBX%03u\"", severities[diagnostic->severity],
                  (unsigned)diagnostic->code);
    if (diagnostic->at.source != SOURCE_NONE) {
        struct position position = source_position(sources, diagnostic->at);
        put_member(out, "file", sources->items[diagnostic->at.source].name);
        buffer_format(out, ",\"line\":%u,\"column\":%u", position.line, position.column);
    } else {
        buffer_string(out, ",\"file\":null,\"line\":null,\"column\":null");
    }
    put_member(out, "text", diagnostic->text);
    put_member(out, "help", diagnostic->help);
    buffer_string(out, "}\n");
}

void diagnostics_print_json(struct buffer *out, struct source_list *sources,
                            const struct diagnostic_list *list, const struct diagnostic_style *style)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].severity >= style->least)
            put_diagnostic(out, sources, &list->items[i]);
}
