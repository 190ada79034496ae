/* write.c - base/write.h for Windows. */
#include "base/write.h"

#include <io.h>

enum { AT_A_TIME = 1 << 20 };

bool write_all(int descriptor, const void *bytes, size_t length)
{
    const char *at = bytes;

    while (length > 0) {
        int wrote = write(descriptor, at, length < AT_A_TIME ? (unsigned)length : AT_A_TIME);

        if (wrote <= 0)
            return false;
        at += wrote;
        length -= (size_t)wrote;
    }
    return true;
}
