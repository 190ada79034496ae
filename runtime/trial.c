#include "runtime/trial.h"

#include "base/attributes.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const step_names[] = {
    "making a user namespace",         "writing the user map",
    "making the other namespaces",     "making the mount table private",
    "mounting a new directory",        "mounting a new /proc",
    "starting the loopback interface", "nothing",
};

const char *step_name(enum step step)
{
    return step_names[step];
}

static bool write_maps(uid_t user, gid_t group)
{
    char text[64];

    snprintf(text, sizeof text, "%u %u 1", (unsigned)user, (unsigned)user);
    if (!text_write(AT_FDCWD, "/proc/self/uid_map", text) ||
        !text_write(AT_FDCWD, "/proc/self/setgroups", "deny"))
        return false;
    snprintf(text, sizeof text, "%u %u 1", (unsigned)group, (unsigned)group);
    return text_write(AT_FDCWD, "/proc/self/gid_map", text);
}

/* The address that bubblewrap gives the interface; one that has it already says EEXIST. */
static bool add_loopback_address(int netlink)
{
    struct {
        struct nlmsghdr header;
        struct ifaddrmsg message;
        struct nlattr attributes[2][2]; /* each followed by its four bytes */
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = RTM_NEWADDR,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
        .message = {.ifa_family = AF_INET,
                    .ifa_prefixlen = 8,
                    .ifa_flags = IFA_F_PERMANENT,
                    .ifa_scope = RT_SCOPE_HOST,
                    .ifa_index = if_nametoindex("lo")},
    };
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char room[256];
    } answer;
    const uint32_t address = htonl(INADDR_LOOPBACK);

    for (int i = 0; i < 2; i++) {
        struct nlattr *attribute = request.attributes[i];
        *attribute = (struct nlattr){.nla_len = sizeof *attribute + sizeof address,
                                     .nla_type = (uint16_t)(i == 0 ? IFA_LOCAL : IFA_ADDRESS)};
        memcpy(attribute + 1, &address, sizeof address);
    }
    if (send(netlink, &request, sizeof request, 0) != (ssize_t)sizeof request ||
        recv(netlink, &answer, sizeof answer, 0) < (ssize_t)(sizeof answer.header + sizeof answer.error))
        return false;
    errno = -answer.error.error;
    return answer.error.error == 0;
}

static bool start_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (descriptor < 0 || netlink < 0 || !add_loopback_address(netlink) ||
        ioctl(descriptor, SIOCGIFFLAGS, &request) != 0)
        return false;
    request.ifr_flags |= IFF_UP;
    return ioctl(descriptor, SIOCSIFFLAGS, &request) == 0;
}

/* The steps that must happen in a process of the new process namespace. */
static enum step try_inside(void)
{
    if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) != 0)
        return STEP_MOUNT_PRIVATE;
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) != 0)
        return STEP_MOUNT_TMPFS;
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        return STEP_MOUNT_PROC;
    return start_loopback() ? STEP_NONE : STEP_LOOPBACK;
}

SBX_NORETURN static void report_step(int to, enum step step)
{
    struct trial trial = {.failed = step, .error = errno};
    ssize_t ignored = write(to, &trial, sizeof trial);

    (void)ignored;
    _exit(0);
}

SBX_NORETURN static void try_steps(int to)
{
    uid_t user = geteuid();
    gid_t group = getegid();

    if (unshare(CLONE_NEWUSER) != 0)
        report_step(to, STEP_USER_NAMESPACE);
    if (!write_maps(user, group))
        report_step(to, STEP_USER_MAP);
    if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
        report_step(to, STEP_NAMESPACES);
    pid_t child = fork();
    if (child < 0)
        report_step(to, STEP_NAMESPACES);
    if (child == 0)
        report_step(to, try_inside());
    waitpid(child, NULL, 0);
    _exit(0);
}

struct trial trial_make(void)
{
    struct trial trial = {.failed = STEP_NAMESPACES, .error = EIO};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return trial;
    pid_t child = fork();
    if (child == 0)
        try_steps(ends[1]);
    close(ends[1]);
    if (child > 0) {
        struct trial told;
        if (read(ends[0], &told, sizeof told) == (ssize_t)sizeof told)
            trial = told;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return trial;
}
