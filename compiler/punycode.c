#include "compiler/punycode.h"

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* RFC 3492 section 5. */
enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700, INITIAL_BIAS = 72, INITIAL_N = 128 };

static char digit(uint32_t value)
{
    return (char)(value < 26 ? 'a' + value : '0' + (value - 26));
}

/* RFC 3492 section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / points;
    for (; delta > ((BASE - TMIN) * TMAX) / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

static void put_delta(struct buffer *out, uint32_t delta, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t threshold = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
        if (delta < threshold)
            break;
        buffer_byte(out, digit(threshold + (delta - threshold) % (BASE - threshold)));
        delta = (delta - threshold) / (BASE - threshold);
    }
    buffer_byte(out, digit(delta));
}

/* RFC 3492 section 6.3. A label of a host name is short, so nothing here can overflow. */
static void put_label(struct buffer *out, const uint32_t *points, uint32_t count)
{
    uint32_t basic = 0, n = INITIAL_N, delta = 0, bias = INITIAL_BIAS;
    for (uint32_t i = 0; i < count; i++)
        if (points[i] < INITIAL_N)
            buffer_byte(out, (char)points[i]), basic++;
    if (basic > 0)
        buffer_byte(out, '-');
    for (uint32_t handled = basic; handled < count; delta++, n++) {
        uint32_t smallest = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (points[i] >= n && points[i] < smallest)
                smallest = points[i];
        delta += (smallest - n) * (handled + 1);
        n = smallest;
        for (uint32_t i = 0; i < count; i++) {
            delta += points[i] < n ? 1 : 0;
            if (points[i] != n)
                continue;
            put_delta(out, delta, bias);
            bias = adapt(delta, handled + 1, handled == basic);
            delta = 0;
            handled++;
        }
    }
}

enum { LABEL_LONGEST = 63 };

static bool put_host(struct buffer *out, const utf8proc_uint8_t *text)
{
    uint32_t points[LABEL_LONGEST], count = 0;
    bool ascii = true;
    for (;;) {
        utf8proc_int32_t point = 0;
        text += utf8proc_iterate(text, -1, &point);
        if (point != '.' && point != 0) {
            if (count == LABEL_LONGEST)
                return false;
            points[count++] = (uint32_t)point;
            ascii = ascii && point < INITIAL_N;
            continue;
        }
        buffer_string(out, ascii ? "" : "xn--");
        for (uint32_t i = 0; ascii && i < count; i++)
            buffer_byte(out, (char)points[i]);
        if (!ascii)
            put_label(out, points, count);
        if (point == 0)
            return true;
        buffer_byte(out, '.');
        count = 0;
        ascii = true;
    }
}

const char *host_to_ascii(struct arena *arena, const char *host, size_t length)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t size = utf8proc_map((const utf8proc_uint8_t *)host, (utf8proc_ssize_t)length, &folded,
                                         UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
    struct buffer out = buffer_in(arena);
    bool done = size > 0 && put_host(&out, folded);
    free(folded);
    return done ? out.bytes : NULL;
}
