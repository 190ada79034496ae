/* probe_print.c - what a probe found, for people and for programs (probe.h). */
#include "runtime/probe.h"

#include "base/escape.h"

#include <string.h>

static void add_member(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    if (value == NULL)
        buffer_string(out, "null");
    else
        escape_json(out, value, strlen(value));
}

static void add_json(struct buffer *out, const struct probe_result *result, const char *kernel)
{
    buffer_string(out, "{\"kernel\":");
    escape_json(out, kernel, strlen(kernel));
    buffer_string(out, ",\"backends\":[");
    for (int i = 0; i < PROBE_BACKENDS && result->backends[i].name != NULL; i++) {
        const struct probe_backend *backend = &result->backends[i];
        buffer_format(out, "%s{\"name\":\"%s\"", i == 0 ? "" : ",", backend->name);
        add_member(out, "version", backend->version);
        buffer_format(out, ",\"usable\":%s", backend->usable ? "true" : "false");
        add_member(out, "cause", backend->cause);
        add_member(out, "remedy", backend->remedy);
        buffer_byte(out, '}');
    }
    buffer_string(out, "]}\n");
}

static void add_text(struct buffer *out, const struct probe_result *result, const char *kernel)
{
    buffer_format(out, "%s (kernel %s)\n",
                  result->usable ? "policies can be enforced here" : "policies cannot be enforced here",
                  kernel);
    for (int i = 0; i < PROBE_BACKENDS && result->backends[i].name != NULL; i++) {
        const struct probe_backend *backend = &result->backends[i];
        buffer_format(
            out, "  %-8s %-8s %s%s\n", backend->name, backend->version == NULL ? "missing" : backend->version,
            backend->usable ? "usable" : "not usable",
            backend->usable && i >= PROBE_WHOLE ? ", for policies that accept what it cannot hold" : "");
        if (!backend->usable)
            buffer_format(out, "    cause:  %s\n    remedy: %s\n", backend->cause, backend->remedy);
    }
}

void probe_print(struct buffer *out, const struct probe_result *result, const char *kernel, bool json)
{
    if (json)
        add_json(out, result, kernel);
    else
        add_text(out, result, kernel);
}
