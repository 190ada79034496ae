#include "emitters/seatbelt_base.h"

struct fixed {
    const char *text, *remark;
};

static void put_all(struct profile *profile, const struct fixed *lines)
{
    for (; lines->text != NULL; lines++)
        profile_line(profile, lines->text, lines->remark);
}

/* What `deny default` does not close. */
static const struct fixed left_open[] = {
    {"(deny file-link)",
     "a further name of a file, under which no rule knows it; opened below where writing is"},
    {"(deny file-clone)", "a copy that shares its blocks; opened below where writing is"},
    {"(deny file-test-existence)", "whether a file is there; opened below where reading is"},
    {"(deny process-info*)", "arguments and open files of other processes"},
    {"(deny process-info-codesignature)", "the signatures of other processes"},
    {"(deny nvram*)", "values that the firmware keeps"},
    {"(deny iokit-get-properties)", "serial numbers of the machine and its devices"},
    {"(deny mach-cross-domain-lookup)", "services of other login sessions"},
    {"(deny darwin-notification-post)", "messages to every program of the machine"},
    {NULL, NULL},
};

static const char open_on_purpose[] =
    "Left open on purpose:\n"
    "  file-map-executable: only a file that could be opened for reading can be mapped.\n"
    "  file-lock, system-fcntl, socket-ioctl, socket-option*: they work on what is open already.\n"
    "  dynamic-code-generation: Node.js, Java and others compile while they run.\n"
    "  fs-snapshot-mount, fs-quota*, system-privilege: only root is allowed these by the kernel.\n"
    "  process-exec-update-label, process-codesigning*: a process about itself.\n"
    "  mach-bootstrap, mach-derive-port, mach-kernel-endpoint, mach-task-special-port*, iokit-open-service,\n"
    "  necp-client-open, syscall-*, system-mac-syscall, system-memorystatus-control, "
    "system-necp-client-action: names\n"
    "  that macOS 13 does not know; it would refuse the whole profile. What can be reached through them is "
    "closed by\n"
    "  the operations above and below.";

static const struct fixed processes[] = {
    {"(allow process-fork)", "children stay in this sandbox"},
    {"(allow process-info* (target self) (target same-sandbox))", NULL},
    {"(allow process-info-codesignature (target self) (target same-sandbox))", NULL},
    {"(allow signal (target self) (target same-sandbox))", "never a process outside"},
    {"(allow mach-task-name (target self) (target same-sandbox))", NULL},
    {"(allow system-socket (socket-domain AF_UNIX))",
     "a Unix socket reaches nothing until a path below lets it"},
    {NULL, NULL},
};

static const char *const sysctl_names[] = {
    "hw.activecpu",
    "hw.byteorder",
    "hw.cacheconfig",
    "hw.cachelinesize",
    "hw.cachesize",
    "hw.cpufamily",
    "hw.cpufrequency",
    "hw.cpusubfamily",
    "hw.cpusubtype",
    "hw.cputype",
    "hw.l1dcachesize",
    "hw.l1icachesize",
    "hw.l2cachesize",
    "hw.l3cachesize",
    "hw.logicalcpu",
    "hw.logicalcpu_max",
    "hw.machine",
    "hw.memsize",
    "hw.model",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.packages",
    "hw.pagesize",
    "hw.pagesize_compat",
    "hw.physicalcpu",
    "hw.physicalcpu_max",
    "hw.tbfrequency",
    "hw.vectorunit",
    "kern.argmax",
    "kern.boottime",
    "kern.hostname",
    "kern.iossupportversion",
    "kern.maxfiles",
    "kern.maxfilesperproc",
    "kern.maxproc",
    "kern.maxprocperuid",
    "kern.ngroups",
    "kern.osproductversion",
    "kern.osrelease",
    "kern.ostype",
    "kern.osvariant_status",
    "kern.osversion",
    "kern.secure_kernel",
    "kern.tcsm_available",
    "kern.tcsm_enable",
    "kern.usrstack64",
    "kern.version",
    "sysctl.name2oid",
    "sysctl.oidfmt",
    "sysctl.proc_cputype",
    "sysctl.proc_native",
    "sysctl.proc_translated",
    "vm.loadavg",
    "vm.swapusage",
    NULL,
};

static const char *const sysctl_prefixes[] = {"hw.optional.", "hw.perflevel", "machdep.cpu.", NULL};

static const char *const services[] = {
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.system.notification_center",
    "com.apple.system.logger",
    "com.apple.logd",
    "com.apple.diagnosticd",
    "com.apple.bsd.dirhelper",
    "com.apple.FSEvents",
    NULL,
};

static void put_list(struct profile *profile, const char *operations, const char *kind,
                     const char *const *names)
{
    profile_rule_begin(profile, operations);
    for (size_t i = 0; names[i] != NULL; i++) {
        struct buffer filter = buffer_in(profile->arena);
        buffer_format(&filter, "(%s", kind);
        for (size_t end = i + 4; i < end && names[i] != NULL; i++)
            buffer_format(&filter, " \"%s\"", names[i]);
        i--;
        buffer_byte(&filter, ')');
        profile_filter(profile, &filter, NULL, NULL);
    }
    profile_rule_end(profile);
}

static const struct fixed memory[] = {
    {"(allow ipc-posix-shm-read-data (ipc-posix-name \"apple.shm.notification_center\"))",
     "the time zone changed"},
    {"(allow ipc-posix-sem* (ipc-posix-name-prefix \"/mp-\"))", "locks of Python's multiprocessing"},
    {"(allow ipc-posix-shm* (ipc-posix-name-prefix \"/psm_\"))", "and its shared memory"},
    {"(allow ipc-posix-shm* (ipc-posix-name-prefix \"/__KMP_REGISTERED_LIB_\"))", "OpenMP"},
    {NULL, NULL},
};

void profile_base(struct profile *profile)
{
    profile_comment(
        profile, "What no rule below allows is denied. That does not cover the following, which have to be\n"
                 "closed by name.");
    profile_line(profile, "(deny default)", NULL);
    put_all(profile, left_open);
    profile_comment(profile, open_on_purpose);
    profile_comment(profile, "Processes see and signal those of this sandbox, and no others.");
    put_all(profile, processes);
    profile_comment(
        profile, "Facts about the machine that programs ask for when they start. None tells of a process.");
    put_list(profile, "allow sysctl-read", "sysctl-name", sysctl_names);
    put_list(profile, "allow sysctl-read", "sysctl-name-prefix", sysctl_prefixes);
    profile_line(profile, "(allow sysctl-write (sysctl-name \"kern.tcsm_enable\"))",
                 "Node.js, for its own process");
    profile_comment(
        profile,
        "Services of the system: user names, the log, the name of the temporary directory, and which\n"
        "files changed. Everything else is out of reach.");
    put_list(profile, "allow mach-lookup", "global-name", services);
    profile_comment(profile, "Memory and locks that processes share by name.");
    put_all(profile, memory);
}

static const struct fixed devices[] = {
    {"(allow file-read* file-read-data file-read-metadata file-test-existence\n"
     "  (literal \"/dev\" \"/dev/null\" \"/dev/zero\" \"/dev/random\" \"/dev/urandom\" \"/dev/dtracehelper\" "
     "\"/dev/tty\")\n"
     "  (subpath \"/dev/fd\"))",
     NULL},
    {"(allow file-write-data (literal \"/dev/null\" \"/dev/zero\" \"/dev/dtracehelper\" \"/dev/tty\")\n"
     "  (subpath \"/dev/fd\"))",
     NULL},
    {"(allow file-ioctl (literal \"/dev/null\" \"/dev/zero\" \"/dev/dtracehelper\"))", NULL},
    {NULL, NULL},
};

void profile_devices(struct profile *profile)
{
    profile_comment(
        profile,
        "Devices that hold nothing. The terminal can be read and written, but not controlled: that\n"
        "would let the command type into it. Only a terminal given by -D TERMINAL=/dev/ttysNNN can.");
    put_all(profile, devices);
    profile_line(profile,
                 "(allow file-read* file-read-data file-read-metadata file-test-existence file-write-data "
                 "file-ioctl (literal TERMINAL_PATH))",
                 NULL);
}
