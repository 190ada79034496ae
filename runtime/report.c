#include "runtime/report.h"

#include "base/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *report_safe(struct arena *arena, const char *string)
{
#ifdef _WIN32
    return escape_windows(arena, string);
#else
    return escape_string(arena, string);
#endif
}

static void add_note(struct buffer *out, const struct policy *policy, const struct note *note)
{
    static const char *const words[] = {"note", "warning", "error"};
    const struct rule *rule = note->rule;

    if (rule != NULL && policy != NULL && rule->origin.source < policy->source_count)
        buffer_format(out, "%s:%u:%u: ", report_safe(out->arena, policy->sources[rule->origin.source].name),
                      rule->origin.line, rule->origin.column);
    else
        buffer_string(out, "sbx-launch: ");
    /* Texts were escaped by who added them (diagnostic.h). */
    buffer_format(out, "%s[SBX%03u]: %s\n", words[note->severity], (unsigned)note->code, note->text);
    if (note->help != NULL)
        buffer_format(out, "help: %s\n", note->help);
}

static bool said_before(const struct note_list *notes, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (notes->items[i].code == notes->items[at].code && notes->items[i].rule == notes->items[at].rule &&
            strcmp(notes->items[i].text, notes->items[at].text) == 0)
            return true;
    return false;
}

static bool is_about_own_rule(const struct policy *policy, const struct note *note)
{
    if (note->rule == NULL || policy == NULL || note->rule->origin.source >= policy->source_count)
        return false;
    enum source_kind kind = policy->sources[note->rule->origin.source].kind;
    return kind == SOURCE_POLICY || kind == SOURCE_PRESET_FILE;
}

static bool is_reported(const struct policy *policy, const struct note *note, enum report_level level)
{
    static const enum severity lowest[] = {SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE};

    return note->severity >= lowest[level] || (level == REPORT_WARNINGS && is_about_own_rule(policy, note));
}

void report_notes(struct arena *arena, const struct policy *policy, const struct note_list *notes,
                  enum report_level level)
{
    struct buffer out = buffer_in(arena);

    for (uint32_t i = 0; i < notes->count; i++)
        if (is_reported(policy, &notes->items[i], level) && !said_before(notes, i))
            add_note(&out, policy, &notes->items[i]);
    if (out.length > 0)
        write_all(STDERR_FILENO, out.bytes, out.length);
}

int report_answer(struct arena *arena, const struct buffer *answer)
{
    if (write_all(STDOUT_FILENO, answer->bytes, answer->length))
        return EXIT_SUCCESS;
    report_line(arena, "cannot write to standard output: %s", strerror(errno));
    return EXIT_REFUSED;
}

void report_line(struct arena *arena, const char *format, ...)
{
    struct buffer out = buffer_in(arena);
    va_list arguments;

    va_start(arguments, format);
    const char *text = arena_vformat(arena, format, arguments);
    va_end(arguments);
    buffer_format(&out, "sbx-launch: %s\n", report_safe(arena, text));
    write_all(STDERR_FILENO, out.bytes, out.length);
}
