#include "runtime/probe.h"

#include "base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a sandbox does, in its order. */
enum step {
    STEP_USER_NAMESPACE,
    STEP_USER_MAP,
    STEP_NAMESPACES,
    STEP_MOUNT_PRIVATE,
    STEP_MOUNT_TMPFS,
    STEP_MOUNT_PROC,
    STEP_LOOPBACK,
    STEP_NONE /* all of it worked */
};

static const char *const step_names[] = {
    "making a user namespace",         "writing the user map",
    "making the other namespaces",     "making the mount table private",
    "mounting a new directory",        "mounting a new /proc",
    "starting the loopback interface", "nothing",
};

struct trial {
    enum step failed;
    int error;
};

static bool write_text(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    bool written = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);
    int error = errno;

    if (descriptor >= 0)
        close(descriptor);
    errno = error;
    return written;
}

static bool write_maps(uid_t user, gid_t group)
{
    char text[64];

    snprintf(text, sizeof text, "%u %u 1", (unsigned)user, (unsigned)user);
    if (!write_text("/proc/self/uid_map", text) || !write_text("/proc/self/setgroups", "deny"))
        return false;
    snprintf(text, sizeof text, "%u %u 1", (unsigned)group, (unsigned)group);
    return write_text("/proc/self/gid_map", text);
}

static bool start_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool started = false;

    if (descriptor >= 0 && ioctl(descriptor, SIOCGIFFLAGS, &request) == 0) {
        request.ifr_flags |= IFF_UP;
        started = ioctl(descriptor, SIOCSIFFLAGS, &request) == 0;
    }
    return started;
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

static struct trial try_namespaces(void)
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

/* The facts by which causes are told apart. */
struct machine {
    struct arena *arena;
    struct trial trial;
};

static const char *text_of(const struct machine *machine, const char *path)
{
    struct buffer text = buffer_in(machine->arena);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[4096];
    ssize_t got;

    buffer_string(&text, "");
    while (descriptor >= 0 && (got = read(descriptor, chunk, sizeof chunk)) > 0)
        buffer_bytes(&text, chunk, (size_t)got);
    if (descriptor >= 0)
        close(descriptor);
    return text.bytes;
}

static bool setting_is(const struct machine *machine, const char *path, const char *value)
{
    const char *text = text_of(machine, path);
    size_t length = strcspn(text, "\n");

    return length == strlen(value) && strncmp(text, value, length) == 0;
}

static bool proc_missing(const struct machine *machine)
{
    (void)machine;
    return access("/proc/self/status", R_OK) != 0;
}

static bool is_wsl1(const struct machine *machine)
{
    return strstr(text_of(machine, "/proc/version"), "Microsoft") != NULL &&
           access("/proc/self/ns/user", F_OK) != 0;
}

static bool no_user_namespaces(const struct machine *machine)
{
    return access("/proc/self/ns/user", F_OK) != 0 ||
           (machine->trial.failed == STEP_USER_NAMESPACE &&
            (machine->trial.error == EINVAL || machine->trial.error == ENOSYS));
}

static bool clone_switched_off(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/kernel/unprivileged_userns_clone", "0");
}

static bool none_allowed(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/user/max_user_namespaces", "0");
}

static bool nested_too_deep(const struct machine *machine)
{
    return machine->trial.error == ENOSPC;
}

static bool apparmor_restricts(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") &&
           strncmp(text_of(machine, "/proc/self/attr/current"), "unconfined", 10) == 0;
}

/* A mount table without an entry for / is that of a process whose root lies inside a mount. */
static bool root_is_no_mount(const struct machine *machine)
{
    char *rest = arena_strdup(machine->arena, text_of(machine, "/proc/self/mountinfo")), *line;
    bool listed = false, found = false;

    while ((line = strsep(&rest, "\n")) != NULL) {
        /* The beginning of the fifth field, long enough to tell / from /x. */
        char point[3];
        bool read = sscanf(line, "%*s %*s %*s %*s %2s", point) == 1;
        listed = listed || read;
        found = found || (read && strcmp(point, "/") == 0);
    }
    return listed && !found;
}

static bool in_chroot(const struct machine *machine)
{
    struct stat own, first;

    if (machine->trial.failed != STEP_USER_NAMESPACE || machine->trial.error != EPERM || stat("/", &own) != 0)
        return false;
    /* Only the privileged may look at the root of process 1. */
    if (stat("/proc/1/root/", &first) == 0 && (own.st_dev != first.st_dev || own.st_ino != first.st_ino))
        return true;
    return root_is_no_mount(machine);
}

static bool filtered(const struct machine *machine)
{
    const char *seccomp = strstr(text_of(machine, "/proc/self/status"), "\nSeccomp:\t");

    return (machine->trial.failed == STEP_USER_NAMESPACE || machine->trial.failed == STEP_NAMESPACES) &&
           machine->trial.error == EPERM && seccomp != NULL && seccomp[10] == '2';
}

static bool refused_outright(const struct machine *machine)
{
    return machine->trial.failed == STEP_USER_NAMESPACE && machine->trial.error == EPERM;
}

static bool proc_covered(const struct machine *machine)
{
    return machine->trial.failed == STEP_MOUNT_PROC && machine->trial.error == EPERM;
}

static bool selinux_refuses(const struct machine *machine)
{
    return machine->trial.failed == STEP_MOUNT_TMPFS && machine->trial.error == EACCES &&
           access("/sys/fs/selinux", F_OK) == 0;
}

static bool landlock_refuses(const struct machine *machine)
{
    return (machine->trial.failed == STEP_USER_MAP && machine->trial.error == EACCES) ||
           (machine->trial.failed == STEP_MOUNT_PRIVATE && machine->trial.error == EPERM);
}

/* The first row that holds is the cause. */
static const struct cause {
    bool (*holds)(const struct machine *machine);
    const char *cause, *remedy;
} causes[] = {
    {proc_missing, "/proc is not mounted here", "mount it first: mount -t proc proc /proc"},
    {is_wsl1, "this is WSL 1, which has no namespaces", "use WSL 2: wsl --set-version DISTRIBUTION 2"},
    {no_user_namespaces, "this kernel has no user namespaces", "boot a kernel built with CONFIG_USER_NS=y"},
    {clone_switched_off, "user namespaces are switched off (kernel.unprivileged_userns_clone=0)",
     "sudo sysctl kernel.unprivileged_userns_clone=1"},
    {none_allowed, "no user namespace is allowed (user.max_user_namespaces=0)",
     "sudo sysctl user.max_user_namespaces=15000"},
    {nested_too_deep,
     "no further user namespace is allowed: this is already inside a sandbox that forbids nesting",
     "start sbx-launch outside that sandbox"},
    {apparmor_restricts,
     "AppArmor limits user namespaces here (kernel.apparmor_restrict_unprivileged_userns=1)",
     "install the profile that lets bubblewrap use them: sudo apt install apparmor-profiles, then sudo ln -s "
     "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and sudo apparmor_parser -r "
     "/etc/apparmor.d/bwrap-userns-restrict"},
    {in_chroot, "user namespaces cannot be made from a chroot",
     "enter the tree by pivot_root, or start outside it"},
    {filtered, "a container's system call filter forbids new namespaces",
     "start the container with a seccomp profile that allows unshare, clone and mount (docker run "
     "--security-opt "
     "seccomp=PROFILE, or seccomp=unconfined)"},
    {refused_outright, "the system refuses user namespaces to this user",
     "look for what forbids them: security modules (dmesg), limits of the container or of the service "
     "manager"},
    {proc_covered, "the container covers parts of /proc, so the kernel refuses a new one",
     "Docker: --security-opt systempaths=unconfined; Podman: --security-opt unmask=ALL"},
    {selinux_refuses, "SELinux refuses mounts here", "start the container with --security-opt label=disable"},
    {landlock_refuses, "this is already inside a Landlock sandbox, where nothing can be mounted",
     "start sbx-launch outside that sandbox"},
};

bool probe_diagnose(struct arena *arena, const char **cause, const char **remedy)
{
    struct machine machine = {.arena = arena, .trial = try_namespaces()};

    if (machine.trial.failed == STEP_NONE)
        return false;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].holds(&machine)) {
            *cause = causes[i].cause;
            *remedy = causes[i].remedy;
            return true;
        }
    *cause =
        arena_format(arena, "%s failed: %s", step_names[machine.trial.failed], strerror(machine.trial.error));
    *remedy = "see dmesg for what refused it";
    return true;
}
