/* buffer.h - bytes that grow at their end, in an arena: how every artifact and report is written before one write(2). */
#pragma once

#include "base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    struct arena *arena;
    char *bytes; /* NUL after the last byte once anything was added; NULL before */
    size_t length, capacity;
};

/* An empty buffer in `arena`. */
struct buffer buffer_in(struct arena *arena);

/* Room for `more` bytes, so that adding them moves nothing. */
void buffer_reserve(struct buffer *buffer, size_t more);

/* `length` bytes more at the end, for the caller to fill at once: the address is good until the next call. */
char *buffer_extend(struct buffer *buffer, size_t length);

void buffer_bytes(struct buffer *buffer, const void *bytes, size_t length);
void buffer_string(struct buffer *buffer, const char *string);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_format(struct buffer *buffer, const char *format, ...) SBX_PRINTF(2, 3);
