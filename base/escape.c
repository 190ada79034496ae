#include "base/escape.h"

#include <string.h>

size_t utf8_character(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || size > length)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    /* RFC 3629 section 4: the second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF. */
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
        (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

bool utf8_valid(const char *bytes, size_t length)
{
    while (length > 0) {
        size_t size = utf8_character(bytes, length);
        if (size == 0)
            return false;
        bytes += size;
        length -= size;
    }
    return true;
}

static uint32_t code_point(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    if (size == 1)
        return at[0];
    uint32_t point = at[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        point = point << 6 | (at[i] & 0x3Fu);
    return point;
}

static bool is_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x200E || point == 0x200F ||
           (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

static void hex_escape(struct buffer *buffer, const char *bytes, size_t length, const char *prefix)
{
    for (size_t i = 0; i < length; i++)
        buffer_format(buffer, "%s%02x", prefix, (unsigned)(unsigned char)bytes[i]);
}

static const char *escape_as(struct arena *arena, const char *bytes, size_t length, const char *backslash)
{
    struct buffer buffer = buffer_in(arena);
    buffer_string(&buffer, "");
    for (size_t i = 0, size; i < length; i += size) {
        size_t valid = utf8_character(bytes + i, length - i);
        size = valid == 0 ? 1 : valid;
        if (valid == 0 || is_unsafe(code_point(bytes + i, size)))
            hex_escape(&buffer, bytes + i, size, "\\x");
        else if (bytes[i] == '\\')
            buffer_string(&buffer, backslash);
        else
            buffer_bytes(&buffer, bytes + i, size);
    }
    return buffer.bytes;
}

const char *escape_text(struct arena *arena, const char *bytes, size_t length)
{
    return escape_as(arena, bytes, length, "\\\\");
}

const char *escape_string(struct arena *arena, const char *string)
{
    return escape_text(arena, string, strlen(string));
}

const char *escape_windows(struct arena *arena, const char *string)
{
    return escape_as(arena, string, strlen(string), "\\");
}

bool escape_json(struct buffer *buffer, const char *bytes, size_t length)
{
    bool raw = !utf8_valid(bytes, length);
    buffer_byte(buffer, '"');
    for (size_t i = 0, size; i < length; i += size) {
        size_t valid = utf8_character(bytes + i, length - i);
        size = valid == 0 ? 1 : valid;
        if (valid == 0)
            hex_escape(buffer, bytes + i, 1, "\\\\x");
        else if (bytes[i] == '"')
            buffer_string(buffer, "\\\"");
        else if (bytes[i] == '\\')
            buffer_string(buffer, raw ? "\\\\\\\\" : "\\\\");
        else if (is_unsafe(code_point(bytes + i, size)))
            buffer_format(buffer, "\\u%04x", code_point(bytes + i, size));
        else
            buffer_bytes(buffer, bytes + i, size);
    }
    buffer_byte(buffer, '"');
    return raw;
}
