#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

struct buffer buffer_in(struct arena *arena)
{
    return (struct buffer){.arena = arena};
}

static void reserve(struct buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->length > more)
        return;
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity * 2;
    while (capacity - buffer->length <= more)
        capacity *= 2;
    char *bytes = arena_alloc(buffer->arena, capacity);
    if (buffer->length > 0)
        memcpy(bytes, buffer->bytes, buffer->length);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
}

void buffer_bytes(struct buffer *buffer, const void *bytes, size_t length)
{
    reserve(buffer, length);
    if (length > 0)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

void buffer_string(struct buffer *buffer, const char *string)
{
    buffer_bytes(buffer, string, strlen(string));
}

void buffer_byte(struct buffer *buffer, char byte)
{
    buffer_bytes(buffer, &byte, 1);
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_string(buffer, arena_vformat(buffer->arena, format, arguments));
    va_end(arguments);
}
