#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

struct buffer buffer_in(struct arena *arena)
{
    return (struct buffer){.arena = arena};
}

void buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->length > more)
        return;
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity * 2;
    if (more >= SIZE_MAX / 2)
        (void)arena_alloc(buffer->arena, SIZE_MAX); /* counts as out of memory */
    if (capacity - buffer->length <= more)
        capacity = buffer->length + more + 1;
    buffer->bytes = arena_grow(buffer->arena, buffer->bytes, buffer->capacity, capacity);
    buffer->capacity = capacity;
}

char *buffer_extend(struct buffer *buffer, size_t length)
{
    buffer_reserve(buffer, length);
    char *end = buffer->bytes + buffer->length;
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
    return end;
}

void buffer_bytes(struct buffer *buffer, const void *bytes, size_t length)
{
    char *end = buffer_extend(buffer, length);
    if (length > 0)
        memcpy(end, bytes, length);
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
