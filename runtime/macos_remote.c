/* macos_remote.c - file systems that do not answer (remote.h): on macOS none is known beforehand, since only calls that
 * POSIX does not have list what is mounted. One that hangs keeps the launcher waiting, and nothing runs.
 */
#include "runtime/remote.h"

int remote_ask(struct remote *remote, const char *path)
{
    (void)remote, (void)path;
    return 0;
}
