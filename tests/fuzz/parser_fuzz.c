/* parser_fuzz.c - any bytes are parsed without a fault, and a policy without errors is printed so that it
 * reads back.
 *
 * clang -fsanitize=fuzzer,address,undefined, linked with the grammar and base libraries built alike.
 */
#include "base/escape.h"
#include "grammar/syntax.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static struct syntax_file *parse(struct source_list *sources, struct intern_pool *pool, const char *text,
                                 size_t length, struct diagnostic_list *diagnostics)
{
    uint32_t source = source_add(sources, "fuzz.sbx", text, (uint32_t)length);
    return syntax_parse(sources->arena, pool, sources, source, diagnostics);
}

enum { TEXT_LONGEST = 2000 };

/* Whether a text can be shown on a terminal as it is. */
static bool is_safe(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\t')
            return false;
    return length <= TEXT_LONGEST && utf8_valid(text, length);
}

/* Every diagnostic can be shown: its span lies in the text, its words are safe. */
static void check_diagnostics(struct source_list *sources, const struct diagnostic_list *diagnostics)
{
    for (uint32_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        struct position position = source_position(sources, item->at);
        if (item->at.start > item->at.end || item->at.end > sources->items[item->at.source].length ||
            position.line == 0 || !is_safe(item->text) || (item->help != NULL && !is_safe(item->help)) ||
            code_page((unsigned)item->code) == NULL)
            abort();
    }
}

/* The text in `printed` has the tree `file` and no errors. */
static struct syntax_file *check_reads_back(struct source_list *sources, struct intern_pool *pool,
                                            const struct syntax_file *file, const struct buffer *printed)
{
    struct diagnostic_list diagnostics = diagnostic_list_in(sources->arena);
    struct syntax_file *back = parse(sources, pool, printed->bytes, printed->length, &diagnostics);
    if (diagnostics.count > 0 || !syntax_equal(file, back))
        abort();
    return back;
}

static void check_same(const struct buffer *a, const struct buffer *b)
{
    if (a->length != b->length || memcmp(a->bytes, b->bytes, a->length) != 0)
        abort();
}

static void check_prints(struct source_list *sources, struct intern_pool *pool,
                         const struct syntax_file *file)
{
    struct buffer first = buffer_in(sources->arena), second = buffer_in(sources->arena);
    syntax_print(&first, file);
    syntax_print(&second, check_reads_back(sources, pool, file, &first));
    check_same(&first, &second);
}

static void check_formats(struct source_list *sources, struct intern_pool *pool,
                          const struct syntax_file *file)
{
    struct buffer first = buffer_in(sources->arena), second = buffer_in(sources->arena);
    syntax_format(&first, file, &sources->items[file->source]);
    const struct syntax_file *back = check_reads_back(sources, pool, file, &first);
    syntax_format(&second, back, &sources->items[back->source]);
    check_same(&first, &second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_create(0);
    struct source_list sources = {.arena = arena};
    struct intern_pool *pool = intern_create(arena, 0);
    struct diagnostic_list diagnostics = diagnostic_list_in(arena);
    const char *text = arena_copy(arena, (const char *)bytes, length);
    struct syntax_file *file = parse(&sources, pool, text, length, &diagnostics);
    check_diagnostics(&sources, &diagnostics);
    if (diagnostics.errors == 0) {
        check_prints(&sources, pool, file);
        check_formats(&sources, pool, file);
    }
    arena_destroy(arena);
    return 0;
}
