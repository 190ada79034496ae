#include "runtime/streams.h"

#include <fcntl.h>
#include <unistd.h>

const char *stream_name(int i)
{
    static const char *const names[] = {"standard input", "standard output", "standard error"};

    return names[i];
}

bool streams_reserve(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        /* The lowest free descriptor is the one that is closed. */
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) != i)
            return false;
    return true;
}
