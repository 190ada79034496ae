/* Each cause that keeps sandboxes from being made, on a machine that is made up: its files, and the step that
 * fails there. */
#include "runtime/diagnose.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { FILES_MOST = 8 };

struct machine_file {
    const char *path, *text;
};

/* What every machine has, unless it says otherwise: a text of NULL takes a file away. */
static const struct machine_file common[] = {
    {"/proc/self/status", "Name:\tsbx-launch\nSeccomp:\t0\n"},
    {"/proc/self/ns/user", ""},
    {"/proc/version", "Linux version 6.8.0 (builder@host)\n"},
    {"/proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n22 21 0:5 / /proc rw - proc proc rw\n"},
    {"/proc/sys/user/max_user_namespaces", "15000\n"},
};

struct made_up {
    const char *name;
    struct trial trial;
    struct machine_file files[FILES_MOST];
    ino_t first_root; /* of process 1; 0: out of sight; its own root is number 2 */
    const char *cause, *remedy;
};

static const char *file_text(const struct made_up *machine, const char *path)
{
    for (int i = 0; i < FILES_MOST && machine->files[i].path != NULL; i++)
        if (strcmp(machine->files[i].path, path) == 0)
            return machine->files[i].text;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (strcmp(common[i].path, path) == 0)
            return common[i].text;
    return NULL;
}

static struct trial made_up_trial(void *context)
{
    return ((const struct made_up *)context)->trial;
}

static const char *made_up_text(void *context, struct arena *arena, const char *path)
{
    const char *text = file_text(context, path);
    return arena_strdup(arena, text == NULL ? "" : text);
}

static bool made_up_exists(void *context, const char *path)
{
    return file_text(context, path) != NULL;
}

static bool made_up_identity(void *context, const char *path, dev_t *device, ino_t *inode)
{
    const struct made_up *machine = context;
    *device = 1;
    *inode = strcmp(path, "/") == 0 ? 2 : machine->first_root;
    return *inode != 0;
}

static bool diagnose(struct arena *arena, const struct made_up *machine, const char **cause,
                     const char **remedy)
{
    const struct machine_calls calls = {.context = (void *)(uintptr_t)machine,
                                        .try_steps = made_up_trial,
                                        .text = made_up_text,
                                        .exists = made_up_exists,
                                        .identity = made_up_identity};
    return machine_diagnose(arena, &calls, cause, remedy);
}

#define FILTERED "/proc/self/status", "Name:\tsh\nSeccomp:\t2\n"
#define RESTRICTS "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"

static const struct made_up machines[] = {
    {.name = "Ubuntu 24.04, which refuses the user map",
     .trial = {STEP_USER_MAP, EACCES},
     .files = {{RESTRICTS}, {"/proc/self/attr/current", "unconfined\n"}},
     .cause = "AppArmor limits",
     .remedy = "/etc/apparmor.d/sbx-launch"},
    {.name = "Ubuntu 24.04, which takes the capabilities away",
     .trial = {STEP_NAMESPACES, EPERM},
     .files = {{RESTRICTS}, {"/proc/self/attr/apparmor/current", "unconfined\n"}},
     .cause = "AppArmor limits",
     .remedy = "make install APPARMOR=1"},
    {.name = "Ubuntu 24.04 in a terminal that has a filter of its own",
     .trial = {STEP_NAMESPACES, EPERM},
     .files = {{RESTRICTS}, {"/proc/self/attr/current", "unconfined\n"}, {FILTERED}},
     .cause = "AppArmor limits",
     .remedy = "apparmor_parser"},
    {.name = "a container whose AppArmor profile forbids mounts",
     .trial = {STEP_MOUNT_PRIVATE, EACCES},
     .files = {{"/sys/module/apparmor/parameters/enabled", "Y\n"},
               {"/proc/self/attr/current", "docker-default (enforce)\n"},
               {RESTRICTS}},
     .cause = "AppArmor profile that confines",
     .remedy = "apparmor=unconfined"},
    {.name = "Debian with the switch off",
     .trial = {STEP_USER_NAMESPACE, EPERM},
     .files = {{"/proc/sys/kernel/unprivileged_userns_clone", "0\n"}},
     .cause = "unprivileged_userns_clone=0",
     .remedy = "sysctl kernel.unprivileged_userns_clone=1"},
    {.name = "no user namespace allowed",
     .trial = {STEP_USER_NAMESPACE, ENOSPC},
     .files = {{"/proc/sys/user/max_user_namespaces", "0\n"}},
     .cause = "max_user_namespaces=0",
     .remedy = "sysctl user.max_user_namespaces"},
    {.name = "no user namespace allowed on the whole machine",
     .trial = {STEP_USER_NAMESPACE, ENOSPC},
     .files = {{"/proc/sys/user/max_user_namespaces", "0\n"},
               {"/proc/self/uid_map", "         0          0 4294967295\n"}},
     .cause = "max_user_namespaces=0",
     .remedy = "sysctl user.max_user_namespaces"},
    {.name = "inside a sandbox that allows none",
     .trial = {STEP_USER_NAMESPACE, ENOSPC},
     .files = {{"/proc/sys/user/max_user_namespaces", "0\n"},
               {"/proc/self/uid_map", "      1000       1000          1\n"}},
     .cause = "forbids nesting",
     .remedy = "outside"},
    {.name = "no mount namespace allowed",
     .trial = {STEP_NAMESPACES, ENOSPC},
     .files = {{"/proc/sys/user/max_mnt_namespaces", "0\n"}},
     .cause = "a kind of namespace",
     .remedy = "max_KIND_namespaces"},
    {.name = "inside a sandbox that forbids nesting",
     .trial = {STEP_USER_NAMESPACE, ENOSPC},
     .cause = "forbids nesting",
     .remedy = "outside"},
    {.name = "Docker's filter",
     .trial = {STEP_USER_NAMESPACE, EPERM},
     .files = {{FILTERED}},
     .cause = "system call filter",
     .remedy = "seccomp="},
    {.name = "a filter that calls the call missing",
     .trial = {STEP_USER_NAMESPACE, ENOSYS},
     .files = {{FILTERED}},
     .cause = "system call filter",
     .remedy = "seccomp="},
    {.name = "a filter that lets user namespaces through and no others",
     .trial = {STEP_NAMESPACES, EPERM},
     .files = {{FILTERED}},
     .cause = "system call filter",
     .remedy = "seccomp="},
    {.name = "a chroot, as root sees it",
     .trial = {STEP_USER_NAMESPACE, EPERM},
     .first_root = 3,
     .cause = "chroot",
     .remedy = "pivot_root"},
    {.name = "a chroot, as a user sees it",
     .trial = {STEP_USER_NAMESPACE, EPERM},
     .files = {{"/proc/self/mountinfo", "22 21 0:5 / /proc rw - proc proc rw\n"}},
     .cause = "chroot",
     .remedy = "pivot_root"},
    {.name = "some module that refuses",
     .trial = {STEP_USER_NAMESPACE, EPERM},
     .cause = "refuses user namespaces to this user",
     .remedy = "dmesg"},
    {.name = "a container with a covered /proc",
     .trial = {STEP_MOUNT_PROC, EPERM},
     .cause = "covers parts of /proc",
     .remedy = "systempaths=unconfined"},
    {.name = "SELinux in a container",
     .trial = {STEP_MOUNT_TMPFS, EACCES},
     .files = {{"/sys/fs/selinux", ""}},
     .cause = "SELinux",
     .remedy = "label=disable"},
    {.name = "a Landlock domain that may not write /proc",
     .trial = {STEP_USER_MAP, EACCES},
     .cause = "Landlock",
     .remedy = "outside"},
    {.name = "a Landlock domain",
     .trial = {STEP_MOUNT_PRIVATE, EPERM},
     .cause = "Landlock",
     .remedy = "outside"},
    {.name = "gVisor", .trial = {STEP_LOOPBACK, EEXIST}, .cause = "gVisor", .remedy = "outside"},
    {.name = "no /proc",
     .trial = {STEP_USER_MAP, ENOENT},
     .files = {{"/proc/self/status", NULL}, {"/proc/self/ns/user", NULL}},
     .cause = "/proc is not mounted",
     .remedy = "mount -t proc"},
    {.name = "WSL 1",
     .trial = {STEP_USER_NAMESPACE, EINVAL},
     .files = {{"/proc/version", "Linux version 4.4.0-19041-Microsoft\n"}, {"/proc/self/ns/user", NULL}},
     .cause = "WSL 1",
     .remedy = "WSL 2"},
    {.name = "a kernel without CONFIG_USER_NS",
     .trial = {STEP_USER_NAMESPACE, EINVAL},
     .cause = "kernel has no user namespaces",
     .remedy = "CONFIG_USER_NS"},
    {.name = "a kernel without any",
     .trial = {STEP_USER_NAMESPACE, ENOSYS},
     .files = {{"/proc/self/ns/user", NULL}},
     .cause = "kernel has no user namespaces",
     .remedy = "CONFIG_USER_NS"},
    {.name = "something nobody has met",
     .trial = {STEP_MOUNT_TMPFS, EIO},
     .cause = "mounting a new directory failed: Input/output error",
     .remedy = "dmesg"},
};

static void each_cause_is_named_with_its_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct arena *arena = arena_create(0);
        const char *cause = NULL, *remedy = NULL;
        assert_true(diagnose(arena, &machines[i], &cause, &remedy));
        if (strstr(cause, machines[i].cause) == NULL || strstr(remedy, machines[i].remedy) == NULL)
            fail_msg("%s: %s; %s", machines[i].name, cause, remedy);
        arena_destroy(arena);
    }
}

static void facts_alone_are_no_cause_where_every_step_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct arena *arena = arena_create(0);
        const char *cause = NULL, *remedy = NULL;
        struct made_up works = machines[i];
        works.trial = (struct trial){STEP_NONE, 0};
        assert_false(diagnose(arena, &works, &cause, &remedy));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_is_named_with_its_remedy),
        cmocka_unit_test(facts_alone_are_no_cause_where_every_step_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
