#include "runtime/native_confine.h"

#include "base/measure.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

bool native_map_user(struct native_problem *problem, uid_t user, gid_t group)
{
    char text[64];

    snprintf(text, sizeof text, "%u %u 1", (unsigned)user, (unsigned)user);
    if (!text_write(AT_FDCWD, "/proc/self/uid_map", text))
        return native_fail(problem, "map the user", NULL);
    if (!text_write(AT_FDCWD, "/proc/self/setgroups", "deny"))
        return native_fail(problem, "forbid other groups", NULL);
    snprintf(text, sizeof text, "%u %u 1", (unsigned)group, (unsigned)group);
    return text_write(AT_FDCWD, "/proc/self/gid_map", text) || native_fail(problem, "map the group", NULL);
}

bool native_start_loopback(struct native_problem *problem)
{
    struct ifreq request = {.ifr_name = "lo"};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool started = descriptor >= 0 && ioctl(descriptor, SIOCGIFFLAGS, &request) == 0;

    request.ifr_flags |= IFF_UP;
    started = started && ioctl(descriptor, SIOCSIFFLAGS, &request) == 0;
    /* A kernel without IPv4 has no such interface to start. */
    if (!started && !(descriptor < 0 && errno == EAFNOSUPPORT))
        return native_fail(problem, "start the loopback interface", NULL);
    if (descriptor >= 0)
        close(descriptor);
    return true;
}

bool native_forbid_nesting(struct native_problem *problem, int processes)
{
    return text_write(processes, "sys/user/max_user_namespaces", "0") ||
           native_fail(problem, "forbid further user namespaces", NULL);
}

static bool capabilities_drop(bool keep_bounding)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    /* Beyond the last one that the kernel knows prctl says EINVAL. */
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && !keep_bounding)
            return false;
    /* What is no longer permitted is not ambient either. */
    return syscall(SYS_capset, &header, none) == 0;
}

static bool filter_load(const struct buffer *filter)
{
    struct sock_fprog program = {.len = (unsigned short)(filter->length / sizeof(struct sock_filter)),
                                 .filter = (struct sock_filter *)(void *)filter->bytes};

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool native_confine(struct native_problem *problem, const struct buffer *filter, bool keep_bounding)
{
    if (measure_holds(MEASURE_CAPABILITIES) && !capabilities_drop(keep_bounding))
        return native_fail(problem, "give up capabilities", NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return native_fail(problem, "give up new privileges", NULL);
    return filter == NULL || filter_load(filter) || native_fail(problem, "load the system call filter", NULL);
}
