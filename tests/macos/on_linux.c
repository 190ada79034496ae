/* on_linux.c - what stands for macOS in the launcher's test build on Linux: where its program lies, and a stand-in for
 * sandbox-exec beside it. The stand-in enforces nothing, so the program says so whenever it starts.
 */
#include "base/write.h"
#include "runtime/macos_sandbox.h"
#include "runtime/process.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

int _NSGetExecutablePath(char *path, uint32_t *size);
int launcher_main(int argc, char **argv);

int _NSGetExecutablePath(char *path, uint32_t *size)
{
    ssize_t length = readlink("/proc/self/exe", path, *size - 1);

    if (length <= 0)
        return -1;
    path[length] = '\0';
    return 0;
}

const char *sandbox_exec_path(struct arena *arena)
{
    const char *self = own_program(arena);
    const char *slash = self == NULL ? NULL : strrchr(self, '/');

    return slash == NULL ? "/nonexistent"
                         : arena_format(arena, "%.*s/macos-stand-in", (int)(slash - self), self);
}

int main(int argc, char **argv)
{
    static const char banner[] = "sbx-launch-macos-test: FOR TESTS ONLY, nothing is enforced\n";

    return write_all(STDERR_FILENO, banner, sizeof banner - 1) ? launcher_main(argc, argv) : 125;
}
