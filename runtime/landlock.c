#include "runtime/landlock.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As of ABI 6; the header of an older kernel ends earlier. */
struct ruleset_attributes {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

enum { SCOPE_ABSTRACT_UNIX_SOCKET = 1, SCOPE_SIGNAL = 2 };

uint32_t landlock_abi(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return version < 0 ? 0 : (uint32_t)version;
}

bool landlock_scope(void)
{
    struct ruleset_attributes attributes = {.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);

    if (ruleset < 0)
        return false;
    bool held = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return held;
}
