#include "base/write.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

bool write_all(int descriptor, const void *bytes, size_t length)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t wrote = write(descriptor, at, length);

        if (wrote < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        length -= (size_t)wrote;
    }
    return true;
}
