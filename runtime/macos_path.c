#include "runtime/macos_sandbox.h"

const char *sandbox_exec_path(struct arena *arena)
{
    (void)arena;
    return "/usr/bin/sandbox-exec";
}
