/* windows_load_fuzz.c - feeds specifications of Windows to their reader: whole documents, or what stands between the
 * tags of the list of access in one that is valid.
 *
 * What is read has to pass the checks again, and what is refused has to have a reason.
 */
#include "base/buffer.h"
#include "emitters/windows_spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char before[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<sbx-windows xmlns=\"urn:sbx:windows:1\" version=\"1\" tier=\"appcontainer\" policy=\"a\" "
    "policy-sha256=\""
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\" min-build=\"19041\"><guarantees/>"
    "<token integrity=\"low\" write-restricted=\"false\" drop-privileges=\"true\"/><appcontainer/>"
    "<job kill-on-close=\"true\" breakaway=\"false\"/><desktop mode=\"private\"/><environment/><acl>";
static const char after[] = "</acl></sbx-windows>";

static void load(struct arena *arena, const char *bytes, size_t length)
{
    const char *error = NULL;
    const struct windows_spec *spec = windows_load(arena, bytes, length, &error);
    if ((spec == NULL) == (error == NULL))
        abort();
    if (spec != NULL && windows_spec_check(arena, spec) != NULL)
        abort();
    if (error != NULL && (strlen(error) == 0 || strlen(error) > 100000))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return 0;
    load(arena, (const char *)data, size);
    struct buffer document = buffer_in(arena);
    buffer_string(&document, before);
    buffer_bytes(&document, data, size);
    buffer_string(&document, after);
    load(arena, document.bytes, document.length);
    arena_destroy(arena);
    return 0;
}
