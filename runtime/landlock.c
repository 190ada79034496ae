#include "runtime/landlock.h"

#include "base/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As of ABI 6; the header of an older kernel ends earlier, and such a kernel takes more if it is zero. */
struct ruleset_attributes {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

enum { SCOPE_ABSTRACT_UNIX_SOCKET = 1, SCOPE_SIGNAL = 2 };

static uint64_t scopes_of(uint32_t abi)
{
    return abi >= LANDLOCK_ABI_SCOPES && measure_holds(MEASURE_LANDLOCK_SCOPES)
               ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL
               : 0;
}

static int ruleset_create(const struct ruleset_attributes *attributes)
{
    return (int)syscall(SYS_landlock_create_ruleset, attributes, sizeof *attributes, 0);
}

static bool rule_add(int ruleset, int descriptor, uint32_t rights)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = descriptor};

    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
}

/* Ends with the ruleset closed, whether it holds or not. */
static bool ruleset_hold(int ruleset)
{
    bool held = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    int error = errno;

    if (ruleset >= 0)
        close(ruleset);
    errno = error;
    return held;
}

uint32_t landlock_abi(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return version < 0 ? 0 : (uint32_t)version;
}

uint32_t landlock_handled(uint32_t abi)
{
    uint32_t rights = abi == 0 ? 0 : RIGHTS_WRITE | RIGHT_DEVICE_IOCTL | RIGHT_RESOLVE_SOCKET;

    if (abi < LANDLOCK_ABI_REFER)
        rights &= ~(uint32_t)RIGHT_REFER;
    if (abi < LANDLOCK_ABI_TRUNCATE)
        rights &= ~(uint32_t)RIGHT_TRUNCATE;
    if (abi < LANDLOCK_ABI_DEVICES)
        rights &= ~(uint32_t)RIGHT_DEVICE_IOCTL;
    if (abi < LANDLOCK_ABI_SOCKETS)
        rights &= ~(uint32_t)RIGHT_RESOLVE_SOCKET;
    return rights;
}

/* False with errno if the rule cannot be had. What gives nothing under this kernel, or is not there, needs
 * none. */
static bool path_allow(int ruleset, const struct landlock_rule *rule, uint32_t handled, uint32_t *added)
{
    uint32_t rights = rule->rights & handled;
    struct stat status;

    if (rights == 0)
        return true;
    int descriptor = open(rule->path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return errno == ENOENT;
    bool held = fstat(descriptor, &status) == 0;
    if (held && rule->known && (status.st_dev != rule->device || status.st_ino != rule->inode)) {
        errno = ESTALE;
        held = false;
    }
    if (held && !S_ISDIR(status.st_mode))
        rights &= RIGHTS_OF_FILES;
    if (held && rights != 0) {
        held = rule_add(ruleset, descriptor, rights);
        *added += held;
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return held;
}

/* A terminal or a named pipe of the host that the command was given can be opened again by /dev/stdin and
 * the like. A nameless pipe needs no rule, and can have none. */
static void stream_allow(int ruleset, int descriptor, uint32_t handled)
{
    const uint32_t rights = RIGHT_READ_FILE | RIGHT_WRITE_FILE | RIGHT_DEVICE_IOCTL;
    struct stat status;

    if (fstat(descriptor, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)))
        rule_add(ruleset, descriptor, rights & handled);
}

static void say_missing(struct landlock_result *result, const char *what, const char *why)
{
    snprintf(result->missing, sizeof result->missing, "%s%s%s", what, why == NULL ? "" : ": ",
             why == NULL ? "" : why);
}

static bool files_restrict(const struct landlock_rule *rules, uint32_t count, const int streams[3],
                           uint32_t abi, struct landlock_result *result)
{
    uint32_t handled = landlock_handled(abi);
    struct ruleset_attributes attributes = {.handled_access_fs = handled, .scoped = scopes_of(abi)};
    uint32_t added = 0;

    int ruleset = ruleset_create(&attributes);
    for (uint32_t i = 0; ruleset >= 0 && i < count; i++)
        if (!path_allow(ruleset, &rules[i], handled, &added)) {
            say_missing(result, rules[i].path, strerror(errno));
            close(ruleset);
            return false;
        }
    for (int i = 0; ruleset >= 0 && i < 3; i++)
        stream_allow(ruleset, streams[i], handled);
    if (!ruleset_hold(ruleset)) {
        say_missing(result, "Landlock refuses", strerror(errno));
        return false;
    }
    result->rules = added;
    result->scoped = attributes.scoped != 0;
    return true;
}

void landlock_restrict(const struct landlock_rule *rules, uint32_t count, const int streams[3],
                       struct landlock_result *result)
{
    uint32_t abi = landlock_abi();
    const struct ruleset_attributes scopes = {.scoped = scopes_of(abi)};

    *result = (struct landlock_result){0};
    if (abi == 0)
        say_missing(result, errno == EOPNOTSUPP ? "Landlock is switched off" : "this kernel has no Landlock",
                    NULL);
    else if (count > 0 && abi < LANDLOCK_ABI_REFER)
        say_missing(result, "Landlock ABI 1 would refuse to rename into another directory", NULL);
    else if (count > 0 && measure_holds(MEASURE_LANDLOCK_FILES) &&
             files_restrict(rules, count, streams, abi, result))
        return;
    if (scopes.scoped != 0)
        result->scoped = ruleset_hold(ruleset_create(&scopes));
}

/* Every domain below another refuses to rename into other directories unless a rule of its own lets it. */
bool landlock_scope_again(void)
{
    const struct landlock_rule everywhere = {.path = "/", .rights = RIGHT_REFER};
    const struct ruleset_attributes scopes = {.handled_access_fs = RIGHT_REFER,
                                              .scoped = scopes_of(landlock_abi())};
    uint32_t added = 0;

    if (scopes.scoped == 0)
        return true;
    int ruleset = ruleset_create(&scopes);
    if (ruleset >= 0 && !path_allow(ruleset, &everywhere, RIGHT_REFER, &added)) {
        close(ruleset);
        return false;
    }
    return ruleset_hold(ruleset);
}
