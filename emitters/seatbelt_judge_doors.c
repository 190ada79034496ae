/* seatbelt_judge_doors.c - what of macOS stays closed to every command unless a service of the language opens it. */
#include "emitters/seatbelt_judge_parts.h"

#include <string.h>

struct closed_door {
    const char *fact; /* the question in words */
    struct seatbelt_question question;
    const char *service; /* that opens it, or NULL */
};

static const struct closed_door doors[] = {
    {"arguments of other processes",
     {.operation = "process-info-pidinfo", .target = SEATBELT_TARGET_OTHERS},
     NULL},
    {"open files of other processes",
     {.operation = "process-info-pidfdinfo", .target = SEATBELT_TARGET_OTHERS},
     NULL},
    {"a list of all processes",
     {.operation = "process-info-listpids", .target = SEATBELT_TARGET_OTHERS},
     NULL},
    {"signals to other processes",
     {.operation = "signal", .target = SEATBELT_TARGET_OTHERS, .number = 15},
     NULL},
    {"a signature of another process",
     {.operation = "process-info-codesignature", .target = SEATBELT_TARGET_OTHERS},
     NULL},
    {"arguments of processes by sysctl",
     {.operation = "sysctl-read", .name_kind = SEATBELT_NAME_SYSCTL, .name = "kern.procargs2"},
     NULL},
    {"a sysctl that changes the machine",
     {.operation = "sysctl-write", .name_kind = SEATBELT_NAME_SYSCTL, .name = "kern.maxproc"},
     NULL},
    {"starting programs by LaunchServices",
     {.operation = "mach-lookup",
      .name_kind = SEATBELT_NAME_GLOBAL,
      .name = "com.apple.coreservices.launchservicesd"},
     NULL},
    {"the keychain's service",
     {.operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = "com.apple.securityd.xpc"},
     "keychain"},
    {"the service that checks certificates",
     {.operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = "com.apple.trustd"},
     "trustd"},
    {"the clipboard",
     {.operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = "com.apple.pasteboard.1"},
     "clipboard"},
    {"services of other sessions",
     {.operation = "mach-cross-domain-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = "com.apple.Dock"},
     NULL},
    {"new terminals", {.operation = "pseudo-tty"}, "pty"},
    {"opening files in other programs", {.operation = "lsopen"}, NULL},
    {"events to other programs",
     {.operation = "appleevent-send", .name_kind = SEATBELT_NAME_APPLEEVENT, .name = "com.apple.finder"},
     NULL},
    {"jobs of launchd", {.operation = "job-creation"}, NULL},
    {"values of the firmware",
     {.operation = "nvram*", .name_kind = SEATBELT_NAME_NVRAM, .name = "boot-args"},
     NULL},
    {"properties of devices",
     {.operation = "iokit-get-properties",
      .name_kind = SEATBELT_NAME_IOKIT_PROPERTY,
      .name = "IOPlatformSerialNumber"},
     NULL},
    {"messages to every program",
     {.operation = "darwin-notification-post", .name_kind = SEATBELT_NAME_NOTIFICATION, .name = "x"},
     NULL},
    {"mounting", {.operation = "file-mount", .path = "/Volumes/x"}, NULL},
    {"control of the terminal", {.operation = "file-ioctl", .path = "/dev/tty"}, NULL},
    {"control of another terminal", {.operation = "file-ioctl", .path = "/dev/ttys001"}, NULL},
    {"the port of another task",
     {.operation = "mach-priv-task-port", .target = SEATBELT_TARGET_OTHERS},
     NULL},
};

static const char mach_fact[] = "Mach service ";

/* Mach services that every command gets, then those of services of the language. */
static const struct {
    const char *name, *service;
} mach_services[] = {
    {"com.apple.system.opendirectoryd.libinfo", NULL},
    {"com.apple.system.opendirectoryd.membership", NULL},
    {"com.apple.system.notification_center", NULL},
    {"com.apple.system.logger", NULL},
    {"com.apple.logd", NULL},
    {"com.apple.diagnosticd", NULL},
    {"com.apple.bsd.dirhelper", NULL},
    {"com.apple.FSEvents", NULL},
    {"com.apple.SecurityServer", "keychain"},
    {"com.apple.SecurityServer", "trustd"},
    {"com.apple.securityd.xpc", "keychain"},
    {"com.apple.trustd", "trustd"},
    {"com.apple.trustd.agent", "trustd"},
    {"com.apple.ocspd", "trustd"},
};

/* Names are looked up where some of the network is open. */
static bool is_mach_service_open(const struct judge *judge, const char *name)
{
    for (size_t i = 0; i < sizeof mach_services / sizeof *mach_services; i++)
        if (strcmp(mach_services[i].name, name) == 0 &&
            (mach_services[i].service == NULL || bound_service(judge->bound, mach_services[i].service)))
            return true;
    return strncmp(name, "com.apple.SystemConfiguration.", 30) == 0 && bound_network_open(judge->bound, NULL);
}

static void check_mach(struct check *check, const char *name)
{
    const struct seatbelt_question question = {
        .operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = name};
    judge_check(check, &question, judge_want(is_mach_service_open(check->judge, name)));
}

void judge_check_door(struct check *check, const char *fact)
{
    if (strncmp(fact, mach_fact, sizeof mach_fact - 1) == 0)
        check_mach(check, fact + sizeof mach_fact - 1);
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        if (strcmp(doors[i].fact, fact) != 0)
            continue;
        bool open = doors[i].service != NULL && bound_service(check->judge->bound, doors[i].service);
        judge_check(check, &doors[i].question, judge_want(open));
    }
}

void judge_add_doors(struct query_set *set)
{
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        queries_add_name(set, QUERY_FACT, doors[i].fact);
}

const char *judge_mach_question(struct arena *arena, const char *name)
{
    return arena_join(arena, mach_fact, name);
}
