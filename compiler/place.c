#include "compiler/place.h"

#include "base/escape.h"

#include <stdbool.h>

static uint32_t skip_characters(const struct source *source, uint32_t at, uint32_t count)
{
    for (; count > 0 && at < source->length && source->text[at] != '\n'; count--) {
        size_t size = utf8_character(source->text + at, source->length - at);
        at += size == 0 ? 1 : (uint32_t)size;
    }
    return at;
}

static uint32_t word_end(const struct source *source, uint32_t at)
{
    bool quoted = source->text[at] == '"';
    for (uint32_t start = at; at < source->length && source->text[at] != '\n'; at++) {
        char byte = source->text[at];
        if (quoted && byte == '"' && at > start)
            return at + 1;
        if (!quoted && (byte == ' ' || byte == '\t' || byte == ',' || byte == '\r'))
            return at;
        if (byte == '\\' && at + 1 < source->length && source->text[at + 1] != '\n')
            at++;
    }
    return at;
}

struct span place_span(struct source_list *sources, uint32_t number, uint32_t line, uint32_t column)
{
    /* The first question makes the line map. */
    source_position(sources, (struct span){number, 0, 0});
    const struct source *source = &sources->items[number];
    if (line == 0 || line > source->line_count)
        return (struct span){number, 0, 0};
    uint32_t start = skip_characters(source, source->line_starts[line - 1], column > 0 ? column - 1 : 0);
    return (struct span){number, start, start < source->length ? word_end(source, start) : start};
}
