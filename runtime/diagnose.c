#include "runtime/diagnose.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "runtime/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- this machine ---- */

static struct trial own_trial(void *context)
{
    (void)context;
    return trial_make();
}

static const char *own_text(void *context, struct arena *arena, const char *path)
{
    struct buffer text = buffer_in(arena);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[4096];
    ssize_t got;

    (void)context;
    buffer_string(&text, "");
    while (descriptor >= 0 && (got = read(descriptor, chunk, sizeof chunk)) > 0)
        buffer_bytes(&text, chunk, (size_t)got);
    if (descriptor >= 0)
        close(descriptor);
    return text.bytes;
}

static bool own_exists(void *context, const char *path)
{
    (void)context;
    return access(path, F_OK) == 0;
}

static bool own_identity(void *context, const char *path, dev_t *device, ino_t *inode)
{
    struct stat status;

    (void)context;
    if (stat(path, &status) != 0)
        return false;
    *device = status.st_dev;
    *inode = status.st_ino;
    return true;
}

const struct machine_calls this_machine = {
    .try_steps = own_trial, .text = own_text, .exists = own_exists, .identity = own_identity};

/* ---- causes ---- */

struct machine {
    struct arena *arena;
    const struct machine_calls *calls;
    struct trial trial;
};

static const char *text_of(const struct machine *machine, const char *path)
{
    return machine->calls->text(machine->calls->context, machine->arena, path);
}

static bool exists(const struct machine *machine, const char *path)
{
    return machine->calls->exists(machine->calls->context, path);
}

static bool setting_is(const struct machine *machine, const char *path, const char *value)
{
    const char *text = text_of(machine, path);
    size_t length = strcspn(text, "\n");

    return length == strlen(value) && strncmp(text, value, length) == 0;
}

static bool failed_with(const struct machine *machine, enum step step, int error)
{
    return machine->trial.failed == step && machine->trial.error == error;
}

static bool namespaces_refused(const struct machine *machine, int error)
{
    return failed_with(machine, STEP_USER_NAMESPACE, error) || failed_with(machine, STEP_NAMESPACES, error);
}

static bool proc_missing(const struct machine *machine)
{
    return !exists(machine, "/proc/self/status");
}

/* WSL 2 writes its name in small letters. */
static bool is_wsl1(const struct machine *machine)
{
    return strstr(text_of(machine, "/proc/version"), "Microsoft") != NULL &&
           !exists(machine, "/proc/self/ns/user");
}

static bool no_user_namespaces(const struct machine *machine)
{
    return !exists(machine, "/proc/self/ns/user") || failed_with(machine, STEP_USER_NAMESPACE, EINVAL) ||
           failed_with(machine, STEP_USER_NAMESPACE, ENOSYS);
}

static bool clone_switched_off(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/kernel/unprivileged_userns_clone", "0") &&
           failed_with(machine, STEP_USER_NAMESPACE, EPERM);
}

/* The first user namespace maps every number to itself. */
static bool in_user_namespace(const struct machine *machine)
{
    unsigned long inside, outside, count;
    return sscanf(text_of(machine, "/proc/self/uid_map"), "%lu %lu %lu", &inside, &outside, &count) == 3 &&
           (inside != 0 || outside != 0 || count != UINT32_MAX);
}

static bool none_allowed_here(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/user/max_user_namespaces", "0") && in_user_namespace(machine);
}

static bool none_allowed(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/user/max_user_namespaces", "0");
}

static bool other_kind_not_allowed(const struct machine *machine)
{
    static const char *const kinds[] = {"mnt", "pid", "net", "ipc", "uts"};
    bool none = false;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        none = none ||
               setting_is(machine, arena_format(machine->arena, "/proc/sys/user/max_%s_namespaces", kinds[i]),
                          "0");
    return none && failed_with(machine, STEP_NAMESPACES, ENOSPC);
}

static bool nested_too_deep(const struct machine *machine)
{
    return machine->trial.error == ENOSPC;
}

static bool is_unconfined(const struct machine *machine)
{
    const char *label = text_of(machine, "/proc/self/attr/apparmor/current");

    if (label[0] == '\0')
        label = text_of(machine, "/proc/self/attr/current");
    return strncmp(label, "unconfined", strlen("unconfined")) == 0;
}

static bool apparmor_restricts(const struct machine *machine)
{
    return setting_is(machine, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") &&
           is_unconfined(machine) && (machine->trial.error == EACCES || machine->trial.error == EPERM);
}

/* The module answers only where it is in use. */
static bool apparmor_confines(const struct machine *machine)
{
    return setting_is(machine, "/sys/module/apparmor/parameters/enabled", "Y") && !is_unconfined(machine) &&
           (machine->trial.error == EACCES || failed_with(machine, STEP_NAMESPACES, EPERM));
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
    const struct machine_calls *calls = machine->calls;
    dev_t own_device, first_device;
    ino_t own, first;

    if (!failed_with(machine, STEP_USER_NAMESPACE, EPERM) ||
        !calls->identity(calls->context, "/", &own_device, &own))
        return false;
    /* Only the privileged may look at the root of process 1. */
    if (calls->identity(calls->context, "/proc/1/root/", &first_device, &first) &&
        (own_device != first_device || own != first))
        return true;
    return root_is_no_mount(machine);
}

static bool filtered(const struct machine *machine)
{
    const char *seccomp = strstr(text_of(machine, "/proc/self/status"), "\nSeccomp:\t");

    return (namespaces_refused(machine, EPERM) || namespaces_refused(machine, ENOSYS)) && seccomp != NULL &&
           seccomp[strlen("\nSeccomp:\t")] == '2';
}

static bool refused_outright(const struct machine *machine)
{
    return failed_with(machine, STEP_USER_NAMESPACE, EPERM) ||
           failed_with(machine, STEP_USER_NAMESPACE, EACCES);
}

static bool proc_covered(const struct machine *machine)
{
    return failed_with(machine, STEP_MOUNT_PROC, EPERM);
}

static bool selinux_refuses(const struct machine *machine)
{
    return exists(machine, "/sys/fs/selinux") &&
           (failed_with(machine, STEP_MOUNT_TMPFS, EACCES) || failed_with(machine, STEP_MOUNT_PROC, EACCES));
}

static bool landlock_refuses(const struct machine *machine)
{
    return failed_with(machine, STEP_USER_MAP, EACCES) || failed_with(machine, STEP_MOUNT_PRIVATE, EPERM);
}

static bool loopback_is_there(const struct machine *machine)
{
    return failed_with(machine, STEP_LOOPBACK, EEXIST);
}

/* The first row that holds is the cause. */
static const struct cause {
    bool (*holds)(const struct machine *machine);
    const char *cause, *remedy;
} causes[] = {
    {proc_missing, "/proc is not mounted here", "mount it first: mount -t proc proc /proc"},
    {is_wsl1, "this is WSL 1, which has no namespaces", "use WSL 2: wsl --set-version DISTRIBUTION 2"},
    {clone_switched_off, "user namespaces are switched off (kernel.unprivileged_userns_clone=0)",
     "sudo sysctl kernel.unprivileged_userns_clone=1"},
    {none_allowed_here, "this is inside a sandbox that forbids nesting (user.max_user_namespaces=0 there)",
     "start sbx-launch outside of it"},
    {none_allowed, "no user namespace is allowed (user.max_user_namespaces=0)",
     "sudo sysctl user.max_user_namespaces=15000"},
    {apparmor_restricts,
     "AppArmor limits user namespaces here (kernel.apparmor_restrict_unprivileged_userns=1)",
     "install the profile that lets sbx-launch use them: make install APPARMOR=1, then sudo apparmor_parser "
     "-r "
     "/etc/apparmor.d/sbx-launch; or the distribution's for bubblewrap: sudo apt install apparmor-profiles, "
     "then sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and sudo "
     "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"},
    /* A filter may say ENOSYS, as a kernel without namespaces does. */
    {filtered, "a container's system call filter forbids new namespaces",
     "start the container with a seccomp profile that allows unshare, clone and mount (docker run "
     "--security-opt "
     "seccomp=PROFILE, or seccomp=unconfined)"},
    {no_user_namespaces, "this kernel has no user namespaces", "boot a kernel built with CONFIG_USER_NS=y"},
    {other_kind_not_allowed, "a kind of namespace is not allowed (one of user.max_*_namespaces is 0)",
     "see which: sysctl -a | grep max_.*_namespaces; then sudo sysctl user.max_KIND_namespaces=15000"},
    {nested_too_deep,
     "no further user namespace is allowed: this is already inside a sandbox that forbids nesting",
     "start sbx-launch outside that sandbox"},
    {apparmor_confines, "an AppArmor profile that confines this process forbids it",
     "start sbx-launch outside that profile (cat /proc/self/attr/current names it), or allow userns and "
     "mount "
     "in it; a container: --security-opt apparmor=unconfined"},
    {in_chroot, "user namespaces cannot be made from a chroot",
     "enter the tree by pivot_root, or start outside it"},
    {refused_outright, "the system refuses user namespaces to this user",
     "look for what forbids them: security modules (dmesg), limits of the container or of the service "
     "manager"},
    {proc_covered, "the container covers parts of /proc, so the kernel refuses a new one",
     "Docker: --security-opt systempaths=unconfined; Podman: --security-opt unmask=ALL"},
    {selinux_refuses, "SELinux refuses mounts here", "start the container with --security-opt label=disable"},
    {landlock_refuses, "this is already inside a Landlock sandbox, where nothing can be mounted",
     "start sbx-launch outside that sandbox"},
    {loopback_is_there,
     "a new network comes with its loopback address here, which bubblewrap cannot bear (gVisor)",
     "start sbx-launch outside gVisor, or run the container with another runtime"},
};

bool machine_diagnose(struct arena *arena, const struct machine_calls *calls, const char **cause,
                      const char **remedy)
{
    struct machine machine = {.arena = arena, .calls = calls, .trial = calls->try_steps(calls->context)};

    if (machine.trial.failed == STEP_NONE)
        return false;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].holds(&machine)) {
            *cause = causes[i].cause;
            *remedy = causes[i].remedy;
            return true;
        }
    *cause =
        arena_format(arena, "%s failed: %s", step_name(machine.trial.failed), strerror(machine.trial.error));
    *remedy = "see dmesg for what refused it";
    return true;
}

bool probe_diagnose(struct arena *arena, const char **cause, const char **remedy)
{
    return machine_diagnose(arena, &this_machine, cause, remedy);
}
