#include "runtime/windows/acl.h"

#include "emitters/windows_spec.h"

#include <string.h>
#ifdef _WIN32
#include "runtime/windows/wide.h"
#endif

bool acl_identity_same(const struct acl_identity *a, const struct acl_identity *b)
{
    return memcmp(a->id, b->id, ACL_ID_SIZE) == 0 && strcmp(a->volume, b->volume) == 0;
}

bool acl_path_covers(const char *directory, const char *path)
{
    return windows_path_covers(directory, path);
}

const char *acl_error(struct arena *arena, uint32_t code)
{
#ifdef _WIN32
    return wide_error(arena, code);
#else
    return arena_format(arena, "Windows error %u", code);
#endif
}
