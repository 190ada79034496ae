#include "runtime/windows/environment.h"

#include "base/buffer.h"
#include "runtime/windows/wide.h"

const wchar_t *environment_block(struct arena *arena, const struct variable_list *variables)
{
    struct buffer block = buffer_in(arena);

    for (uint32_t i = 0; i < variables->count; i++) {
        const wchar_t *text = wide_from(
            arena, arena_format(arena, "%s=%s", variables->items[i].name, variables->items[i].value));
        if (text != NULL)
            buffer_bytes(&block, text, (wcslen(text) + 1) * sizeof *text);
    }
    /* An empty block ends with two as well. */
    buffer_bytes(&block, L"\0", 2 * sizeof(wchar_t));
    return (const wchar_t *)(const void *)block.bytes;
}
