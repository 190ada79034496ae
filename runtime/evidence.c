#include "runtime/evidence.h"

#include "base/escape.h"
#include "base/vector.h"
#include "runtime/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
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

    if (evidence->problem[0] != '\0')
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

static void measure_process(struct arena *arena, struct evidence *evidence)
{
    static const char *const sets[] = {"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapBnd:", "\nCapAmb:"};
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
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        evidence->capabilities |= status_field(status, sets[i], 16);
    if (evidence->seccomp_mode != 2)
        problem(arena, evidence, "no system call filter is in force (Seccomp: %u)", evidence->seccomp_mode);
    if (evidence->no_new_privileges != 1)
        problem(arena, evidence, "new privileges are not ruled out");
    if (evidence->capabilities != 0)
        problem(arena, evidence, "capabilities are left: %llx", (unsigned long long)evidence->capabilities);
    if (evidence->process_id != 1)
        problem(arena, evidence, "the process namespace is not an own one");
}

static uint64_t namespace_inode(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_ino : 0;
}

static void measure_namespaces(struct arena *arena, struct evidence *evidence)
{
    const char *map = proc_read(arena, "/proc/self/uid_map");
    unsigned inside = 0, outside = 0, count = 0;

    evidence->user_namespace = namespace_inode("/proc/self/ns/user");
    evidence->network_namespace = namespace_inode("/proc/self/ns/net");
    evidence->process_namespace = namespace_inode("/proc/self/ns/pid");
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
        if (config->own_network && !interface_is_closed(name, descriptor))
            problem(arena, evidence, "the network interface %s is up", name);
    }
    if (config->own_network && evidence->network_namespace == config->host_network)
        problem(arena, evidence, "the network namespace is the launcher's own");
    if (descriptor >= 0)
        close(descriptor);
}

struct mount_entry {
    const char *path, *type;
    bool read_only;
};

/* Undoes the octal escapes of the mount table. */
static char *unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        unsigned value;
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &value) == 1 && strlen(from) >= 4) {
            *to++ = (char)value;
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return text;
}

static bool has_option(const char *options, const char *wanted)
{
    size_t length = strlen(wanted);

    for (const char *at = options; at != NULL && *at != '\0'; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* "36 35 98:0 /root /point options [tags] - type source super-options" */
static bool entry_parse(char *line, struct mount_entry *entry)
{
    enum { FIELD_POINT = 4, FIELD_OPTIONS = 5 };
    char *fields[10] = {NULL}, *word, *rest = line;
    int count = 0, dash = -1;

    while ((word = strsep(&rest, " ")) != NULL && dash < 0) {
        if (count < 10)
            fields[count] = word;
        if (count > FIELD_OPTIONS && strcmp(word, "-") == 0)
            dash = count;
        count++;
    }
    if (dash < 0 || word == NULL)
        return false;
    entry->path = unescape(fields[FIELD_POINT]);
    entry->type = word;
    strsep(&rest, " ");
    entry->read_only = has_option(fields[FIELD_OPTIONS], "ro") || (rest != NULL && has_option(rest, "ro"));
    return true;
}

static int expected_order(const void *a, const void *b)
{
    return strcmp(((const struct expected_mount *)a)->path, ((const struct expected_mount *)b)->path);
}

static const struct expected_mount *expected_at(const struct expected_mount *mounts, uint32_t count,
                                                const char *path)
{
    struct expected_mount wanted = {.path = path};

    return bsearch(&wanted, mounts, count, sizeof *mounts, expected_order);
}

/* The expectation of `path` or of the nearest directory above it. */
static const struct expected_mount *expected_over(struct arena *arena, const struct expected_mount *mounts,
                                                  uint32_t count, const char *path)
{
    char *above = arena_strdup(arena, path), *slash;
    const struct expected_mount *found = expected_at(mounts, count, above);

    while (found == NULL && (slash = strrchr(above, '/')) != NULL) {
        if (slash == above)
            return expected_at(mounts, count, "/");
        *slash = '\0';
        found = expected_at(mounts, count, above);
    }
    return found;
}

static void check_entry(struct arena *arena, const struct expected_mount *over,
                        const struct mount_entry *entry, struct evidence *evidence)
{
    bool exact = over != NULL && strcmp(over->path, entry->path) == 0;
    bool may_write = over != NULL &&
                     (over->expectation == MOUNT_WRITABLE || (over->expectation == MOUNT_DEVICES && !exact));

    if (!entry->read_only && !may_write)
        problem(arena, evidence, "%s is mounted writable", entry->path);
    if (exact && over->type != NULL && strcmp(over->type, entry->type) != 0)
        problem(arena, evidence, "%s is %s where %s was asked for", entry->path, entry->type, over->type);
}

/* A later entry at the same place covers an earlier one. */
static bool is_covered(const struct mount_entry *entries, uint32_t count, uint32_t at)
{
    for (uint32_t i = at + 1; i < count; i++)
        if (strcmp(entries[i].path, entries[at].path) == 0)
            return true;
    return false;
}

static void measure_mounts(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    char *table = proc_read(arena, "/proc/self/mountinfo"), *rest = table, *line;
    struct {
        struct mount_entry *items;
        uint32_t count, capacity;
    } entries = {0};
    uint32_t expected_count = config->mount_count;
    struct expected_mount *expected = arena_array(arena, expected_count, sizeof *expected);
    bool *found = arena_array(arena, expected_count, sizeof *found);

    if (expected_count > 0)
        memcpy(expected, config->mounts, expected_count * sizeof *expected);
    qsort(expected, expected_count, sizeof *expected, expected_order);
    while (table != NULL && (line = strsep(&rest, "\n")) != NULL) {
        struct mount_entry entry;
        if (*line != '\0' && entry_parse(line, &entry))
            VECTOR_PUSH(arena, &entries, entry);
    }
    for (uint32_t i = 0; i < entries.count; i++) {
        if (is_covered(entries.items, entries.count, i))
            continue;
        const struct mount_entry *entry = &entries.items[i];
        const struct expected_mount *over = expected_over(arena, expected, expected_count, entry->path);
        check_entry(arena, over, entry, evidence);
        if (over != NULL && strcmp(over->path, entry->path) == 0)
            found[over - expected] = true;
        evidence->mounts++;
        evidence->mounts_writable += !entry->read_only;
    }
    for (uint32_t i = 0; i < expected_count; i++) {
        if (!found[i] && !expected[i].optional)
            problem(arena, evidence, "nothing is mounted at %s", expected[i].path);
        evidence->mounts_found += found[i];
    }
    evidence->mounts_expected = expected_count;
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

void evidence_measure(struct arena *arena, const struct inner_config *config, struct evidence *evidence)
{
    *evidence = (struct evidence){0};
    measure_process(arena, evidence);
    measure_namespaces(arena, evidence);
    measure_network(arena, config, evidence);
    measure_mounts(arena, config, evidence);
    measure_directory(arena, config, evidence);
}
