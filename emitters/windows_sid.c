#include "emitters/windows_descriptor.h"

#include <string.h>

enum { SID_HEADER = 8, SID_PARTS = 15 };

bool windows_sid_equal(const struct windows_sid *a, const struct windows_sid *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

bool windows_sid_from_bytes(const uint8_t *bytes, size_t length, struct windows_sid *sid)
{
    if (length < SID_HEADER || bytes[0] != 1 || bytes[1] > SID_PARTS)
        return false;
    size_t needed = SID_HEADER + 4 * (size_t)bytes[1];
    if (length < needed)
        return false;
    *sid = (struct windows_sid){.length = (uint8_t)needed};
    memcpy(sid->bytes, bytes, needed);
    return true;
}

/* --- text ----------------------------------------------------------------------------------------------- */

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return 16;
}

/* A number of at most `limit` at `*at`, which moves behind it; false if there is none. */
static bool read_number(const char **at, int base, uint64_t limit, uint64_t *value)
{
    if (digit_value(**at) >= base)
        return false;
    for (*value = 0; digit_value(**at) < base; ++*at) {
        uint64_t digit = (uint64_t)digit_value(**at);
        if (*value > (limit - digit) / (uint64_t)base)
            return false;
        *value = *value * (uint64_t)base + digit;
    }
    return true;
}

bool windows_sid_parse(const char *text, struct windows_sid *sid)
{
    static const uint64_t most_authority = (UINT64_C(1) << 48) - 1;
    uint64_t value;
    if (strncmp(text, "S-1-", 4) != 0)
        return false;
    text += 4;
    bool hexadecimal = text[0] == '0' && text[1] == 'x';
    text += hexadecimal ? 2 : 0;
    if (!read_number(&text, hexadecimal ? 16 : 10, most_authority, &value))
        return false;
    *sid = (struct windows_sid){.length = SID_HEADER, .bytes = {1}};
    for (int i = 0; i < 6; i++)
        sid->bytes[2 + i] = (uint8_t)(value >> (8 * (5 - i)));
    while (*text == '-') {
        text++;
        if (sid->bytes[1] == SID_PARTS || !read_number(&text, 10, UINT32_MAX, &value))
            return false;
        for (int i = 0; i < 4; i++)
            sid->bytes[sid->length++] = (uint8_t)(value >> (8 * i));
        sid->bytes[1]++;
    }
    return *text == '\0';
}

const char *windows_sid_text(struct arena *arena, const struct windows_sid *sid)
{
    struct buffer text = buffer_in(arena);
    uint64_t authority = 0;
    if (sid->length == 0)
        return "";
    for (int i = 2; i < SID_HEADER; i++)
        authority = authority << 8 | sid->bytes[i];
    buffer_format(&text, authority > UINT32_MAX ? "S-1-0x%012llx" : "S-1-%llu",
                  (unsigned long long)authority);
    for (size_t i = 0; i < sid->bytes[1]; i++) {
        const uint8_t *part = sid->bytes + SID_HEADER + 4 * i;
        buffer_format(&text, "-%lu",
                      (unsigned long)part[3] << 24 | (unsigned long)part[2] << 16 |
                          (unsigned long)part[1] << 8 | part[0]);
    }
    return text.bytes;
}
