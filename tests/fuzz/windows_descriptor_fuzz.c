/* windows_descriptor_fuzz.c - feeds security descriptors of Windows to their readers, as bytes and as text.
 *
 * What is read is written and read again, and stays what it is.
 */
#include "emitters/windows_descriptor.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(struct arena *arena, const struct windows_descriptor *descriptor)
{
    struct windows_descriptor again;
    struct buffer bytes = buffer_in(arena);
    if (!windows_descriptor_write(descriptor, &bytes))
        return; /* a text may say more than a descriptor holds */
    if (!windows_descriptor_parse(arena, (const uint8_t *)bytes.bytes, bytes.length, &again) ||
        !windows_descriptor_equal(descriptor, &again))
        abort();
    if (!windows_descriptor_read(arena, windows_descriptor_text(arena, descriptor), &again) ||
        !windows_descriptor_equal(descriptor, &again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(0);
    struct windows_descriptor descriptor;
    struct windows_sid sid;
    if (arena == NULL)
        return 0;
    const char *text = arena_copy(arena, (const char *)data, size);
    if (windows_descriptor_parse(arena, data, size, &descriptor))
        write_again(arena, &descriptor);
    if (windows_descriptor_read(arena, text, &descriptor))
        write_again(arena, &descriptor);
    (void)windows_sid_parse(text, &sid);
    arena_destroy(arena);
    return 0;
}
