#include "runtime/windows/plan_print.h"

#include "base/escape.h"

static void add_ace(struct buffer *out, const struct windows_ace *ace)
{
    buffer_format(out, "  %s %s 0x%x%s\n", ace->deny ? "deny" : "allow",
                  ace->principal == WINDOWS_PACKAGE ? "package" : "run", (unsigned)ace->mask,
                  ace->inherit ? ", inherited" : "");
}

static void add_label(struct buffer *out, const struct windows_label *label)
{
    if (!label->present)
        return;
    buffer_format(out, "  label %s%s%s%s\n", label->level == WINDOWS_LOW ? "low" : "medium",
                  (label->policy & WINDOWS_NO_WRITE_UP) != 0 ? ", no write up" : "",
                  (label->policy & WINDOWS_NO_READ_UP) != 0 ? ", no read up" : "",
                  (label->policy & WINDOWS_NO_EXECUTE_UP) != 0 ? ", no execute up" : "");
}

static void add_object(struct buffer *out, const struct windows_object *object)
{
    static const char *const missing[] = {"", " (a directory if it is missing)",
                                          " (a file if it is missing)"};

    buffer_format(out, "%s%s: %s\n", escape_windows(out->arena, object->path), missing[object->missing],
                  escape_windows(out->arena, object->rule));
    add_label(out, &object->label);
    for (uint32_t i = 0; i < object->ace_count; i++)
        add_ace(out, &object->aces[i]);
}

static void add_match(struct buffer *out, const struct windows_match *match)
{
    buffer_format(out, "each %s: %s\n", escape_windows(out->arena, match->pattern),
                  escape_windows(out->arena, match->rule));
    for (uint32_t i = 0; i < match->except_count; i++)
        buffer_format(out, "  but not %s\n", escape_windows(out->arena, match->excepts[i]));
    add_label(out, &match->label);
    add_ace(out, &match->ace);
}

static void add_limits(struct buffer *out, const struct windows_spec *spec)
{
    buffer_string(out, "# the job: ends with the launcher, nothing leaves it");
    if (spec->processes != 0)
        buffer_format(out, ", %llu processes", (unsigned long long)spec->processes);
    if (spec->memory != 0)
        buffer_format(out, ", %llu bytes", (unsigned long long)spec->memory);
    if (spec->time != 0)
        buffer_format(out, ", %llu milliseconds", (unsigned long long)spec->time);
    buffer_byte(out, '\n');
}

void plan_print(struct buffer *out, const struct plan_print *plan)
{
    const struct windows_spec *spec = plan->spec;

    buffer_format(out, "# tier %s; access control lists, taken back when the command has ended:\n",
                  windows_tier_names[spec->tier]);
    for (uint32_t i = 0; i < spec->object_count; i++)
        add_object(out, &spec->objects[i]);
    for (uint32_t i = 0; i < spec->match_count; i++)
        add_match(out, &spec->matches[i]);
    for (uint32_t i = 0; i < spec->open_count; i++)
        buffer_format(out, "# open besides: %s\n", escape_windows(out->arena, spec->open[i]));
    add_limits(out, spec);
    buffer_format(out, "# started in %s with these variables:\n",
                  escape_windows(out->arena, plan->directory));
    for (uint32_t i = 0; i < plan->variables->count; i++)
        buffer_format(out, "%s=%s\n", escape_windows(out->arena, plan->variables->items[i].name),
                      escape_windows(out->arena, plan->variables->items[i].value));
    if (plan->program == NULL)
        buffer_string(out, "# the program is not found\n");
    else
        buffer_format(out, "# %s with this line:\n%s\n", escape_windows(out->arena, plan->program),
                      escape_windows(out->arena, plan->line));
}
