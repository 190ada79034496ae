#include "runtime/windows/acl.h"

#include <string.h>

bool acl_identity_same(const struct acl_identity *a, const struct acl_identity *b)
{
    return strcmp(a->volume, b->volume) == 0 && memcmp(a->id, b->id, ACL_ID_SIZE) == 0;
}
