#include "runtime/evidence.h"

#include "base/escape.h"
#include "base/measure.h"
#include "runtime/landlock.h"
#include "runtime/mount_check.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void problem(struct arena *arena, struct evidence *evidence, const char *format, ...) SBX_PRINTF(3, 4);

static void problem(struct arena *arena, struct evidence *evidence, const char *format, ...)
{
    va_list arguments;

    if (evidence->problem[0] != '\0' || !measure_holds(MEASURE_EVIDENCE))
        return;
    va_start(arguments, format);
    const char *text = escape_string(arena, arena_vformat(arena, format, arguments));
    va_end(arguments);
    snprintf(evidence->problem, sizeof evidence->problem, "%s", text);
}

/* The whole of a file of /proc, or NULL. */
static char *proc_read(struct arena *arena, const char *path)
{
    struct buffer text = buffer_in(arena);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[8192];
    ssize_t got;

    if (descriptor < 0)
        return NULL;
    buffer_string(&text, "");
    while ((got = read(descriptor, chunk, sizeof chunk)) > 0)
        buffer_bytes(&text, chunk, (size_t)got);
    close(descriptor);
    return got < 0 ? NULL : text.bytes;
}

static uint64_t status_field(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);

    return at == NULL ? UINT64_MAX : strtoull(at + strlen(name), NULL, base);
}

static void measure_process(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    static const char *const sets[] = {"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapAmb:", "\nCapBnd:"};
    /* The bounding set is not an ordinary user's to empty; without new privileges nothing comes from it. */
    const size_t looked_at = config->landlock_alone ? 4 : 5;
    const char *status = proc_read(arena, "/proc/self/status");

    evidence->process_id = getpid();
    evidence->session_id = getsid(0);
    evidence->dumpable = (uint32_t)prctl(PR_GET_DUMPABLE);
    while (environ[evidence->variables] != NULL)
        evidence->variables++;
    if (status == NULL) {
        problem(arena, evidence, "/proc/self/status cannot be read: %s", strerror(errno));
        return;
    }
    evidence->seccomp_mode = (uint32_t)status_field(status, "\nSeccomp:", 10);
    evidence->no_new_privileges = (uint32_t)status_field(status, "\nNoNewPrivs:", 10);
    for (size_t i = 0; i < looked_at; i++)
        evidence->capabilities |= status_field(status, sets[i], 16);
    if (evidence->seccomp_mode != 2)
        problem(arena, evidence, "no system call filter is in force (Seccomp: %u)", evidence->seccomp_mode);
    if (evidence->no_new_privileges != 1)
        problem(arena, evidence, "new privileges are not ruled out");
    if (evidence->capabilities != 0)
        problem(arena, evidence, "capabilities are left: %llx", (unsigned long long)evidence->capabilities);
    if (evidence->process_id != 1 && !config->landlock_alone)
        problem(arena, evidence, "the process namespace is not an own one");
}

static const char *const namespace_files[NAMESPACES] = {
    [NAMESPACE_USER] = "user", [NAMESPACE_PROCESS] = "pid",   [NAMESPACE_IPC] = "ipc",
    [NAMESPACE_UTS] = "uts",   [NAMESPACE_CGROUP] = "cgroup", [NAMESPACE_NETWORK] = "net",
};

void namespaces_measure(uint64_t inodes[NAMESPACES])
{
    for (int i = 0; i < NAMESPACES; i++) {
        char path[sizeof "/proc/self/ns/" + 8];
        struct stat status;
        snprintf(path, sizeof path, "/proc/self/ns/%s", namespace_files[i]);
        inodes[i] = stat(path, &status) == 0 ? status.st_ino : 0;
    }
}

static void measure_namespaces(struct arena *arena, const struct inner_config *config,
                               struct evidence *evidence)
{
    const char *map = proc_read(arena, "/proc/self/uid_map");
    unsigned inside = 0, outside = 0, count = 0;

    namespaces_measure(evidence->namespaces);
    for (int i = 0; i < NAMESPACES; i++)
        if (evidence->namespaces[i] == config->host_namespaces[i] && config->host_namespaces[i] != 0)
            problem(arena, evidence, "the %s namespace is the launcher's own", namespace_files[i]);
    evidence->landlock_abi = landlock_abi();
    if (map == NULL || sscanf(map, "%u %u %u", &inside, &outside, &count) != 3)
        problem(arena, evidence, "the user map cannot be read");
    snprintf(evidence->user_map, sizeof evidence->user_map, "%u %u %u", inside, outside, count);
}

static bool interface_is_closed(const char *name, int socket_descriptor)
{
    struct ifreq request = {0};

    if (strcmp(name, "lo") == 0)
        return true;
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    return socket_descriptor >= 0 && ioctl(socket_descriptor, SIOCGIFFLAGS, &request) == 0 &&
           (request.ifr_flags & IFF_UP) == 0;
}

static void measure_network(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    char *table = proc_read(arena, "/proc/self/net/dev"), *rest = table, *line;
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t used = 0;

    if (table == NULL)
        problem(arena, evidence, "the network interfaces cannot be read");
    for (int number = 0; table != NULL && (line = strsep(&rest, "\n")) != NULL; number++) {
        char *colon = strchr(line, ':');
        /* Two lines of headings. */
        if (number < 2 || colon == NULL)
            continue;
        *colon = '\0';
        const char *name = line + strspn(line, " ");
        if (used + strlen(name) + 2 < sizeof evidence->interfaces)
            used += (size_t)snprintf(evidence->interfaces + used, sizeof evidence->interfaces - used, "%s%s",
                                     used == 0 ? "" : " ", name);
        if (config->host_namespaces[NAMESPACE_NETWORK] != 0 && !interface_is_closed(name, descriptor))
            problem(arena, evidence, "the network interface %s is up", name);
    }
    if (descriptor >= 0)
        close(descriptor);
}

static void measure_mounts(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    struct mount_table table = {0};

    if (!mount_table_read(arena, &table)) {
        problem(arena, evidence, "the mount table cannot be read: %s", strerror(errno));
        return;
    }
    struct mount_findings findings = mounts_check(arena, &table, config->mounts, config->mount_count);
    evidence->mounts = findings.entries;
    evidence->mounts_writable = findings.writable;
    evidence->mounts_found = findings.found;
    evidence->mounts_expected = config->mount_count;
    if (findings.problem != NULL)
        problem(arena, evidence, "%s", findings.problem);
}

/* What is mounted at each place must be the file that the launcher looked at, whatever stood at its path when
 * bubblewrap came. */
static void measure_identities(struct arena *arena, const struct inner_config *config,
                               struct evidence *evidence)
{
    for (uint32_t i = 0; i < config->mount_count; i++) {
        const struct expected_mount *mount = &config->mounts[i];
        struct stat status;
        if (!mount->known || !measure_holds(MEASURE_IDENTITY))
            continue;
        if (fstatat(AT_FDCWD, mount->path, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
            problem(arena, evidence, "%s cannot be looked at inside: %s", mount->path, strerror(errno));
        else if (status.st_dev != mount->device || status.st_ino != mount->inode)
            problem(arena, evidence, "%s was replaced while the sandbox was made", mount->path);
        else
            evidence->mounts_same++;
    }
}

static void measure_directory(struct arena *arena, const struct inner_config *config,
                              struct evidence *evidence)
{
    struct stat status;

    if (chdir(config->directory) != 0 || stat(".", &status) != 0) {
        problem(arena, evidence, "the working directory %s does not exist inside (%s)", config->directory,
                strerror(errno));
        return;
    }
    if (config->directory_known && (status.st_dev != config->device || status.st_ino != config->inode))
        problem(arena, evidence, "the working directory %s is another one inside", config->directory);
    snprintf(evidence->directory, sizeof evidence->directory, "%s", config->directory);
}

/* What no namespace closes must be seen to be closed. */
static void measure_refusals(struct arena *arena, struct evidence *evidence)
{
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    evidence->root_closed = root < 0 && errno == EACCES;
    int internet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    evidence->internet_closed = internet < 0 && errno == EACCES;
    evidence->launcher_closed = kill(getppid(), 0) != 0 && errno == EPERM;

    if (root >= 0)
        close(root);
    if (internet >= 0)
        close(internet);
    if (evidence->landlock.rules == 0)
        problem(arena, evidence, "Landlock does not hold: %s", evidence->landlock.missing);
    if (!evidence->root_closed)
        problem(arena, evidence, "the directory / can be opened");
}

/* The caller's terminal can be read and set by whoever has a descriptor of it. */
static void measure_streams(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    for (int i = 0; i < 3; i++)
        if (!config->terminal[i] && isatty(config->streams[i]))
            problem(arena, evidence, "descriptor %d would be the caller's terminal", i);
}

void evidence_measure(struct arena *arena, const struct inner_config *config,
                      const struct landlock_result *landlock, struct evidence *evidence)
{
    *evidence = (struct evidence){.landlock = *landlock};
    measure_process(arena, config, evidence);
    measure_streams(arena, config, evidence);
    measure_namespaces(arena, config, evidence);
    if (config->landlock_alone) {
        measure_refusals(arena, evidence);
    } else {
        measure_network(arena, config, evidence);
        measure_mounts(arena, config, evidence);
        measure_identities(arena, config, evidence);
    }
    measure_directory(arena, config, evidence);
}
