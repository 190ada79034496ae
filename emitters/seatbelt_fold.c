#include "emitters/seatbelt_fold.h"

#include "base/escape.h"

#include <string.h>
#include <utf8proc.h>

/* One folded character has at most three code points, twelve bytes. */
enum { POINTS_MOST = 8, FOLDED_MOST = 32, GROWTH = 3 };

/* Folds the character at `bytes`, `size` bytes, to `out`. */
static size_t fold_character(char *out, const char *bytes, size_t size)
{
    utf8proc_int32_t point, points[POINTS_MOST];
    int boundary = 0;
    size_t length = 0;
    (void)utf8proc_iterate((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)size, &point);
    utf8proc_ssize_t count =
        utf8proc_decompose_char(point, points, POINTS_MOST, UTF8PROC_CASEFOLD, &boundary);
    if (count < 1 || count > POINTS_MOST) {
        memcpy(out, bytes, size);
        return size;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++)
        length += (size_t)utf8proc_encode_char(points[i], (utf8proc_uint8_t *)out + length);
    return length;
}

static size_t fold_next(char *out, const char *bytes, size_t size, bool ascii)
{
    if ((unsigned char)*bytes < 0x80) {
        *out = ascii && *bytes >= 'A' && *bytes <= 'Z' ? (char)(*bytes - 'A' + 'a') : *bytes;
        return 1;
    }
    if (size > 1)
        return fold_character(out, bytes, size);
    *out = *bytes;
    return 1;
}

static size_t character_size(const char *bytes, size_t length)
{
    if ((unsigned char)*bytes < 0x80)
        return 1;
    size_t size = utf8_character(bytes, length < 4 ? length : 4);
    return size > 0 ? size : 1;
}

size_t seatbelt_fold_into(char *out, size_t room, const char *bytes, size_t length, bool ascii)
{
    size_t at = 0;
    for (size_t i = 0, size; i < length; i += size) {
        char folded[FOLDED_MOST];
        size = character_size(bytes + i, length - i);
        size_t count = fold_next(folded, bytes + i, size, ascii);
        if (count > room - at)
            return room + 1;
        memcpy(out + at, folded, count);
        at += count;
    }
    return at;
}

static const char *fold(struct arena *arena, const char *bytes, size_t length, bool ascii, size_t *folded)
{
    size_t room = length * GROWTH;
    char *out = arena_alloc(arena, room + 1);
    *folded = seatbelt_fold_into(out, room, bytes, length, ascii);
    return out;
}

const char *seatbelt_fold(struct arena *arena, const char *bytes, size_t length, size_t *folded)
{
    return fold(arena, bytes, length, true, folded);
}

const char *seatbelt_fold_beyond_ascii(struct arena *arena, const char *bytes, size_t length, size_t *folded)
{
    return fold(arena, bytes, length, false, folded);
}
