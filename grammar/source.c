#include "grammar/source.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

uint32_t source_add(struct source_list *list, const char *name, const char *text, uint32_t length)
{
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    VECTOR_PUSH(list->arena, list, (struct source){.name = name, .text = text, .length = length});
    return list->count - 1;
}

static void map_lines(struct arena *arena, struct source *source)
{
    uint32_t lines = 1;
    for (uint32_t i = 0; i < source->length; i++)
        lines += source->text[i] == '\n';
    source->line_starts = arena_array(arena, lines, sizeof *source->line_starts);
    for (uint32_t i = 0; i < source->length; i++)
        if (source->text[i] == '\n')
            source->line_starts[++source->line_count] = i + 1;
    source->line_count++;
}

/* Index of the line that holds `offset`. */
static uint32_t line_of(const struct source *source, uint32_t offset)
{
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t line_length(const struct source *source, uint32_t start)
{
    uint32_t rest = source->length - start;
    const char *end = memchr(source->text + start, '\n', rest);
    uint32_t length = end == NULL ? rest : (uint32_t)(end - (source->text + start));
    return end != NULL && length > 0 && end[-1] == '\r' ? length - 1 : length;
}

static uint32_t count_characters(const char *bytes, uint32_t length)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < length; count++) {
        size_t size = utf8_character(bytes + i, length - i);
        i += size == 0 ? 1 : (uint32_t)size;
    }
    return count;
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

struct position source_position(struct source_list *list, struct span span)
{
    struct source *source = &list->items[span.source];
    if (source->line_starts == NULL)
        map_lines(list->arena, source);
    uint32_t offset = at_most(span.start, source->length);
    uint32_t line = line_of(source, offset), start = source->line_starts[line];
    uint32_t length = line_length(source, start);
    uint32_t first = at_most(offset - start, length);
    uint32_t last = span.end > start ? at_most(span.end - start, length) : first;
    return (struct position){
        .line = line + 1,
        .column = count_characters(source->text + start, first) + 1,
        .text = source->text + start,
        .text_length = length,
        .first_byte = first,
        .last_byte = last > first ? last : first + 1,
    };
}
