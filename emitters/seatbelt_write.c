#include "emitters/seatbelt_write.h"

#include "base/escape.h"

#include <string.h>

enum {
    STRING_LIMIT = 900,     /* of 1024 bytes that the reader takes */
    RULE_LIMIT = 30000,     /* of 65535 bytes that the patterns of a rule may fill once compiled */
    PROFILE_LIMIT = 8 << 20 /* of which sandbox-exec makes tables in some seconds */
};

/* ---- strings ---- */

static void put_byte(struct buffer *out, char byte)
{
    unsigned char value = (unsigned char)byte;
    if (value == '"' || value == '\\')
        buffer_format(out, "\\%c", value);
    else if (value >= ' ' && value < 0x7f)
        buffer_byte(out, byte);
    else
        buffer_format(out, "\\x%02x", value);
}

/* Whether a character of several bytes can be shown as it is. */
static bool is_shown(struct arena *arena, const char *bytes, size_t length)
{
    return length > 1 && strlen(escape_text(arena, bytes, length)) == length;
}

/* Appends the next character and returns how many bytes of `bytes` it took. */
static size_t put_character(struct buffer *out, const char *bytes, size_t length)
{
    size_t size = (unsigned char)bytes[0] < 0x80 ? 1 : utf8_character(bytes, length);
    if (is_shown(out->arena, bytes, size)) {
        buffer_bytes(out, bytes, size);
        return size;
    }
    size = size > 1 ? size : 1;
    for (size_t i = 0; i < size; i++)
        put_byte(out, bytes[i]);
    return size;
}

void profile_string(struct buffer *out, const char *bytes, size_t length)
{
    struct buffer parts = buffer_in(out->arena);
    size_t start = 0, count = 1;
    buffer_byte(&parts, '"');
    for (size_t at = 0; at < length;) {
        if (parts.length - start > STRING_LIMIT) {
            buffer_string(&parts, "\" \"");
            start = parts.length;
            count++;
        }
        at += put_character(&parts, bytes + at, length - at);
    }
    buffer_byte(&parts, '"');
    if (count > 1)
        buffer_string(out, "(string-append ");
    buffer_bytes(out, parts.bytes, parts.length);
    if (count > 1)
        buffer_byte(out, ')');
}

/* ---- comments ---- */

void profile_comment(struct profile *profile, const char *text)
{
    buffer_byte(&profile->body, '\n');
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        buffer_format(&profile->body, "; %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

const char *profile_remark(const struct profile *profile, const struct bound_rule *bound)
{
    const struct policy *policy = profile->request->policy;
    const struct rule *rule = bound->service != NULL ? bound->service : bound->rule;
    const char *text = bound_rule_text(profile->arena, bound);
    const char *which = bound->holds_as_deny_write ? ", held as a deny write" : "";
    if (bound->itself || rule->origin.source >= policy->source_count)
        return arena_format(profile->arena, "%s%s", text, which);
    return arena_format(profile->arena, "%s (%s:%u)%s", text, policy->sources[rule->origin.source].name,
                        rule->origin.line, which);
}

static void put_remark(struct profile *profile, const char *remark)
{
    if (remark != NULL)
        buffer_format(&profile->body, " ; %s", escape_string(profile->arena, remark));
    buffer_byte(&profile->body, '\n');
}

/* ---- rules ---- */

void profile_line(struct profile *profile, const char *text, const char *remark)
{
    buffer_string(&profile->body, text);
    put_remark(profile, remark);
}

void profile_rule_begin(struct profile *profile, const char *operations)
{
    profile->operations = operations;
    profile->in_rule = 0;
}

void profile_rule_end(struct profile *profile)
{
    if (profile->in_rule > 0)
        buffer_string(&profile->body, ")\n");
    profile->operations = NULL;
    profile->in_rule = 0;
}

static void refuse_filter(struct profile *profile, const struct rule *rule)
{
    profile->failed = true;
    note_add(
        profile->request->notes,
        (struct note){
            .code = SBX307_RULE_TOO_LONG,
            .rule = rule,
            .text = rule == NULL
                        ? "the paths of one rule are longer than a Seatbelt rule can be"
                        : arena_format(profile->arena,
                                       "the paths that \"%s\" needs in one Seatbelt rule are longer than it "
                                       "can be",
                                       rule_text(profile->arena, rule)),
            .help = "name directories instead of the files in them, or make the list shorter",
        });
}

void profile_filter(struct profile *profile, const struct buffer *filter, const struct rule *rule,
                    const char *remark)
{
    const char *operations = profile->operations;
    if (filter->length > RULE_LIMIT) {
        refuse_filter(profile, rule);
        return;
    }
    if (profile->in_rule > 0 && profile->in_rule + filter->length > RULE_LIMIT) {
        profile_rule_end(profile);
        profile_rule_begin(profile, operations);
    }
    if (profile->in_rule == 0)
        buffer_format(&profile->body, "(%s\n", operations);
    profile->in_rule += filter->length;
    buffer_string(&profile->body, "  ");
    buffer_bytes(&profile->body, filter->bytes, filter->length);
    put_remark(profile, remark);
}

void profile_check_size(struct profile *profile)
{
    if (profile->body.length <= PROFILE_LIMIT)
        return;
    profile->failed = true;
    note_add(profile->request->notes,
             (struct note){
                 .code = SBX308_PROFILE_TOO_LONG,
                 .text = arena_format(profile->arena, "the profile would be %zu bytes long; %d are taken",
                                      profile->body.length, PROFILE_LIMIT),
                 .help = "deny or grant whole directories, or by pattern, instead of single files",
             });
}
