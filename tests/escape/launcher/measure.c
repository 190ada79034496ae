/* The test-only launcher: the launcher itself, compiled with measures that can be dropped.
 *
 *     sbx-launch-test-only --drop NAME,... [what sbx-launch takes]
 *     sbx-launch-test-only --measures        a line each: name, purpose
 *
 * It protects nothing by intention, says so at each start, and is never installed.
 */
#include "base/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The launcher's main, renamed when this program is linked. */
int launcher_main(int argc, char **argv);

static const char *const names[MEASURES] = {
#define MEASURE(name, purpose) #name,
#include "base/measures.def"
#undef MEASURE
};

static const char *const purposes[MEASURES] = {
#define MEASURE(name, purpose) purpose,
#include "base/measures.def"
#undef MEASURE
};

static const struct {
    const char *name;
    enum measure measure;
} calls[] = {
    {"mount", MEASURE_MOUNT_CALLS},
    {"umount2", MEASURE_MOUNT_CALLS},
    {"umount", MEASURE_MOUNT_CALLS},
    {"pivot_root", MEASURE_MOUNT_CALLS},
    {"chroot", MEASURE_MOUNT_CALLS},
    {"open_tree", MEASURE_MOUNT_CALLS},
    {"open_tree_attr", MEASURE_MOUNT_CALLS},
    {"move_mount", MEASURE_MOUNT_CALLS},
    {"fsopen", MEASURE_MOUNT_CALLS},
    {"fsconfig", MEASURE_MOUNT_CALLS},
    {"fsmount", MEASURE_MOUNT_CALLS},
    {"fspick", MEASURE_MOUNT_CALLS},
    {"mount_setattr", MEASURE_MOUNT_CALLS},
    {"unshare", MEASURE_NAMESPACE_CALLS},
    {"setns", MEASURE_NAMESPACE_CALLS},
    {"clone", MEASURE_NAMESPACE_CALLS},
    {"clone3", MEASURE_NAMESPACE_CALLS},
    {"open_by_handle_at", MEASURE_HANDLE_CALLS},
    {"name_to_handle_at", MEASURE_HANDLE_CALLS},
    {"ptrace", MEASURE_MEMORY_CALLS},
    {"process_vm_readv", MEASURE_MEMORY_CALLS},
    {"process_vm_writev", MEASURE_MEMORY_CALLS},
    {"process_madvise", MEASURE_MEMORY_CALLS},
    {"kcmp", MEASURE_MEMORY_CALLS},
    {"pidfd_getfd", MEASURE_MEMORY_CALLS},
    {"io_uring_setup", MEASURE_RING_CALLS},
    {"io_uring_enter", MEASURE_RING_CALLS},
    {"io_uring_register", MEASURE_RING_CALLS},
    {"add_key", MEASURE_KEY_CALLS},
    {"request_key", MEASURE_KEY_CALLS},
    {"keyctl", MEASURE_KEY_CALLS},
    {"bpf", MEASURE_KERNEL_CALLS},
    {"perf_event_open", MEASURE_KERNEL_CALLS},
    {"userfaultfd", MEASURE_KERNEL_CALLS},
    {"fanotify_init", MEASURE_KERNEL_CALLS},
    {"fanotify_mark", MEASURE_KERNEL_CALLS},
    {"syslog", MEASURE_KERNEL_CALLS},
    {"modify_ldt", MEASURE_KERNEL_CALLS},
    {"sethostname", MEASURE_MACHINE_CALLS},
    {"setdomainname", MEASURE_MACHINE_CALLS},
    {"settimeofday", MEASURE_MACHINE_CALLS},
    {"clock_settime", MEASURE_MACHINE_CALLS},
    {"acct", MEASURE_MACHINE_CALLS},
    {"ioctl", MEASURE_TERMINAL_CALLS},
    {"open", MEASURE_MODE_CALLS},
    {"openat", MEASURE_MODE_CALLS},
    {"openat2", MEASURE_MODE_CALLS},
    {"creat", MEASURE_MODE_CALLS},
    {"mknod", MEASURE_MODE_CALLS},
    {"mknodat", MEASURE_MODE_CALLS},
    {"chmod", MEASURE_MODE_CALLS},
    {"fchmod", MEASURE_MODE_CALLS},
    {"fchmodat", MEASURE_MODE_CALLS},
    {"fchmodat2", MEASURE_MODE_CALLS},
    {"prlimit64", MEASURE_FIRST_PROCESS_CALLS},
    {"setpriority", MEASURE_FIRST_PROCESS_CALLS},
    {"ioprio_set", MEASURE_FIRST_PROCESS_CALLS},
    {"setpgid", MEASURE_FIRST_PROCESS_CALLS},
    {"sched_setscheduler", MEASURE_FIRST_PROCESS_CALLS},
    {"sched_setparam", MEASURE_FIRST_PROCESS_CALLS},
    {"sched_setattr", MEASURE_FIRST_PROCESS_CALLS},
    {"sched_setaffinity", MEASURE_FIRST_PROCESS_CALLS},
    {"personality", MEASURE_PERSONALITY_CALLS},
    {"socketpair", MEASURE_DATAGRAM_PAIRS},
    {"bind", MEASURE_LISTEN_CALLS},
    {"listen", MEASURE_LISTEN_CALLS},
};

static const char stage[] = "--inner-stage:";

/* What is dropped, set once by main: the word of the stage inside, and after its colon the names. */
static char stage_word[4096];

static const char *dropped_names(void)
{
    return stage_word + sizeof stage - 1;
}

static bool is_dropped(const char *name)
{
    size_t length = strlen(name);

    for (const char *at = dropped_names(); *at != '\0'; at += strspn(at, ",")) {
        size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, name, length) == 0)
            return true;
        at += here;
    }
    return false;
}

bool measure_holds(enum measure measure)
{
    return !is_dropped(names[measure]);
}

bool measure_refuses(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return measure_holds(calls[i].measure);
    return true;
}

const char *measure_stage_word(const char *word)
{
    (void)word;
    return stage_word;
}

static bool all_known(void)
{
    char copy[sizeof stage_word], *rest = copy, *name;

    strcpy(copy, dropped_names());
    while ((name = strsep(&rest, ",")) != NULL) {
        bool known = false;
        for (int i = 0; i < MEASURES; i++)
            known = known || strcmp(names[i], name) == 0;
        if (!known) {
            fprintf(stderr, "sbx-launch-test-only: there is no measure %s\n", name);
            return false;
        }
    }
    return true;
}

static int print_measures(void)
{
    for (int i = 0; i < MEASURES; i++)
        printf("%s %s\n", names[i], purposes[i]);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strncmp(argv[1], stage, sizeof stage - 1) == 0 && strlen(argv[1]) < sizeof stage_word) {
        strcpy(stage_word, argv[1]);
        return launcher_main(argc, argv);
    }
    if (argc == 2 && strcmp(argv[1], "--measures") == 0)
        return print_measures();
    if (argc < 3 || strcmp(argv[1], "--drop") != 0 || strlen(argv[2]) + sizeof stage > sizeof stage_word) {
        fputs("sbx-launch-test-only --drop NAME,... POLICY -- COMMAND | --measures\n", stderr);
        return 125;
    }
    snprintf(stage_word, sizeof stage_word, "%s%s", stage, argv[2]);
    if (!all_known())
        return 125;
    fprintf(stderr, "sbx-launch-test-only: FOR TESTS ALONE, THIS IS NO SANDBOX: %s dropped\n", argv[2]);
    argv[2] = argv[0];
    return launcher_main(argc - 2, argv + 2);
}
