#include "policy/fold.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

/* Lower case letters for ASCII; returns whether there was nothing else. */
static bool fold_ascii(const char *bytes, size_t length, char *out)
{
    unsigned char seen = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        seen |= byte;
        out[i] = (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
    }
    return seen < 0x80;
}

ptrdiff_t fold_text(const char *bytes, size_t length, char *out, size_t capacity)
{
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD;
    utf8proc_int32_t points[FOLD_CAPACITY / sizeof(utf8proc_int32_t) * 2];
    const utf8proc_ssize_t room = (utf8proc_ssize_t)(sizeof points / sizeof *points) - 1;

    if (length > capacity)
        return FOLD_TOO_LONG;
    if (fold_ascii(bytes, length, out))
        return (ptrdiff_t)length;
    utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, points, room, options);
    if (count < 0)
        return (ptrdiff_t)length; /* not UTF-8: ASCII alone was folded */
    if (count > room)
        return FOLD_TOO_LONG;
    /* Encodes in place and adds a NUL; a code point never needs more than its own four bytes. */
    utf8proc_ssize_t size = utf8proc_reencode(points, count, options);
    if (size < 0 || (size_t)size > capacity)
        return FOLD_TOO_LONG;
    memcpy(out, points, (size_t)size);
    return size;
}
