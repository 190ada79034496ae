#include "emitters/windows_write.h"

#include "base/escape.h"

#include <string.h>

/* Bytes of the character at the start of `text` if XML can hold it, else 0. */
static size_t holdable(const char *text, size_t left)
{
    size_t size = utf8_character(text, left);
    unsigned char first = (unsigned char)*text;
    bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0);
    bool no_character =
        size == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
    return control || no_character ? 0 : size;
}

bool xml_can_hold(const char *text)
{
    size_t left = strlen(text), size = 1;
    for (; left > 0 && size > 0; text += size, left -= size)
        size = holdable(text, left);
    return size > 0;
}

static void put_character(struct buffer *out, const char *text, size_t size)
{
    const char *name = *text == '&'   ? "&amp;"
                       : *text == '<' ? "&lt;"
                       : *text == '>' ? "&gt;"
                       : *text == '"' ? "&quot;"
                                      : NULL;
    if (name != NULL)
        buffer_string(out, name);
    else
        buffer_bytes(out, text, size);
}

void xml_text(struct buffer *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = holdable(text, left);
        if (size > 0)
            put_character(out, text, size);
        else
            buffer_format(out, "\\x%02x", (unsigned)(unsigned char)*text);
        size += size == 0;
        text += size;
        left -= size;
    }
}

void xml_attribute(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, " %s=\"", name);
    xml_text(out, value);
    buffer_byte(out, '"');
}

void xml_number(struct buffer *out, const char *name, uint64_t value)
{
    buffer_format(out, " %s=\"%llu\"", name, (unsigned long long)value);
}

void xml_comment_line(struct buffer *out, const char *text)
{
    struct buffer safe = buffer_in(out->arena);
    xml_text(&safe, text);
    buffer_string(out, "     ");
    for (size_t i = 0; i < safe.length; i++) {
        buffer_byte(out, safe.bytes[i]);
        if (safe.bytes[i] == '-' && (safe.bytes[i + 1] == '-' || safe.bytes[i + 1] == '\0'))
            buffer_byte(out, ' ');
    }
    buffer_byte(out, '\n');
}
