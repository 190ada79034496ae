/* seatbelt_judge.c - what a Seatbelt profile answers to the questions of verify (reader.h), by the reader
 * of profiles (seatbelt_read.h). */
#include "emitters/reader.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/json_place.h"
#include "emitters/seatbelt_judge.h"
#include "emitters/seatbelt_read.h"
#include "policy/pattern.h"

#include <string.h>

static const char volume[] = "/System/Volumes/Data";

/* What is wanted of an operation. */
enum wanted { WANT_NOTHING, WANT_DENY, WANT_ALLOW };

struct judge {
    struct arena *arena;
    const char *text;
    size_t length;
    struct seatbelt_profile *profile;
    const struct bound_policy *bound;
    /* What is granted by the rules that grant, and what is left by the others; of those what the names in
     * their own case leave, and what patterns do. */
    struct bound_policy *grants, *folded_grants, *caps, *exact_caps, *pattern_caps;
    struct policy_answers *answers;
    const char *root_values[ROOTS]; /* of roots that are parameters */
    struct {
        const char **items; /* folded */
        uint32_t count, size;
    } leading;
    struct {
        const char **items; /* folded: what services stand for that the policy speaks of */
        uint32_t count, capacity;
    } service_places;
    bool grants_volume; /* a grant names something on the data volume */
    /* What was wanted where the last answer was another one. */
    struct unmet {
        const struct query *query;
        enum wanted wanted;
    } * unmet;
    struct place *last; /* the path that was asked about last: questions about one follow each other */
};

/* --- where a path is ------------------------------------------------------------------------------------ */

static const char *behind(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    bool below = strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
    return below ? path + length : NULL;
}

static bool is_linked(const char *path)
{
    return behind(path, "/tmp") != NULL || behind(path, "/var") != NULL || behind(path, "/etc") != NULL;
}

/* The names that one place may have in a policy. What lies on the data volume is not granted by the name
 * of the system's volume, where it is mounted. */
enum { NAMES = 4 };
static uint32_t names_of(const struct judge *judge, const char *path, const char *names[NAMES])
{
    uint32_t count = 0;
    const char *on_volume = behind(path, volume);
    if (on_volume == NULL || *on_volume == '\0' || judge->grants_volume)
        names[count++] = path;
    if (on_volume != NULL && *on_volume != '\0')
        names[count++] = path = on_volume;
    const char *private = behind(path, "/private");
    if (private != NULL && is_linked(private))
        names[count++] = private;
    else if (path[0] == '/' && is_linked(path))
        names[count++] = arena_join(judge->arena, "/private", path);
    return count;
}

/* The path as the kernel says it, with a value for each root that is a parameter; NULL for what a profile
 * says nothing of. */
static const char *kernel_path(const struct judge *judge, const char *path)
{
    if (path[0] == '/')
        return is_linked(path) ? arena_join(judge->arena, "/private", path) : path;
    if (path[0] != '$')
        return NULL;
    size_t length = strcspn(path + 1, "/");
    for (int root = 0; root < ROOTS; root++)
        if (strlen(root_names[root]) == length && strncmp(root_names[root], path + 1, length) == 0 &&
            judge->root_values[root] != NULL)
            return arena_join(judge->arena, judge->root_values[root], path + 1 + length);
    return NULL;
}

/* --- what a policy says of a place under all its names -------------------------------------------------- */

/* How names are compared. Seatbelt compares plain paths without case. Should it not, then what is spelled
 * in another case, on a volume that tells cases apart, is denied by patterns alone, whose letters stand in
 * both. And where case is ignored, what is granted in another case is the same file. */
enum comparing { AS_SAID, OTHER_CASE, CASE_IGNORED };

/* What holds at least and at most; between them either is right. */
struct said {
    enum level least, most;
    bool runs, may_run; /* as far as `deny exec` decides */
    bool opens, may_open;
};

static enum level lower(enum level a, enum level b)
{
    return a < b ? a : b;
}

static enum level higher(enum level a, enum level b)
{
    return a > b ? a : b;
}

/* Adds what is closed at one name. */
static void close_at(const struct judge *judge, const char *name, enum comparing how, struct said *said)
{
    size_t length = strlen(name);
    const struct bound_policy *exact = judge->exact_caps, *pattern = judge->pattern_caps;
    enum level cap = bound_level(judge->caps, name, length);
    bool runs = cap < LEVEL_READ || bound_exec(judge->caps, name, length);
    bool opens = bound_socket(judge->caps, name, length);
    said->least = lower(said->least, cap);
    said->runs = said->runs && runs;
    said->opens = said->opens && opens;
    if (how == OTHER_CASE) {
        cap = lower(bound_level(exact, name, length), bound_level(pattern, name, length));
        runs = cap < LEVEL_READ || (bound_exec(exact, name, length) && bound_exec(pattern, name, length));
        opens = bound_socket(exact, name, length) && bound_socket(pattern, name, length);
    }
    said->most = lower(said->most, cap);
    said->may_run = said->may_run && runs;
    said->may_open = said->may_open && opens;
}

static struct said said_of(const struct judge *judge, const char *path, enum comparing how)
{
    const char *names[NAMES];
    uint32_t count = names_of(judge, path, names);
    enum level least = LEVEL_WRITE, most = LEVEL_NONE;
    bool granted = false, may_be = false;
    struct said said = {LEVEL_WRITE, LEVEL_WRITE, true, true, true, true};
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        enum level level = bound_level(judge->grants, names[i], length);
        least = level != LEVEL_NONE ? lower(least, level) : least;
        most = higher(most, level);
        granted = granted || bound_socket(judge->grants, names[i], length);
        close_at(judge, names[i], how, &said);
    }
    least = lower(least, most);
    may_be = granted;
    for (uint32_t i = 0; i < count && how == CASE_IGNORED; i++) {
        const char *folded = json_fold(judge->arena, names[i]);
        enum level level = bound_level(judge->folded_grants, folded, strlen(folded));
        least = lower(least, level);
        most = higher(most, level);
        may_be = may_be || bound_socket(judge->folded_grants, folded, strlen(folded));
    }
    said.least = lower(said.least, least);
    said.most = lower(said.most, most);
    said.opens = said.opens && granted;
    said.may_open = said.may_open && may_be;
    return said;
}

/* What a question needs to know of its path, found once for all kinds of questions about it. */
struct place {
    const char *path, *kernel, *folded; /* `kernel` is NULL where a profile says nothing of it */
    struct said said[3];                /* by enum comparing */
    bool alone;                         /* it has one name */
    enum wanted moving;
};

/* --- directories that lead on --------------------------------------------------------------------------- */

static uint32_t hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    return (uint32_t)(hash ^ hash >> 32);
}

static const char **leading_slot(const struct judge *judge, const char *path, size_t length)
{
    uint32_t mask = judge->leading.size - 1, at = hash_text(path, length) & mask;
    while (judge->leading.items[at] != NULL &&
           (strncmp(judge->leading.items[at], path, length) != 0 || judge->leading.items[at][length] != '\0'))
        at = (at + 1) & mask;
    return &judge->leading.items[at];
}

static void grow_leading(struct judge *judge)
{
    const char **old = judge->leading.items;
    uint32_t size = judge->leading.size;
    judge->leading.size = size == 0 ? 1024 : size * 2;
    judge->leading.items = arena_array(judge->arena, judge->leading.size, sizeof *old);
    for (uint32_t i = 0; i < size; i++)
        if (old[i] != NULL)
            *leading_slot(judge, old[i], strlen(old[i])) = old[i];
}

/* Adds every directory above `path`, under each of its names. */
static void add_leading(struct judge *judge, const char *path)
{
    const char *kernel = kernel_path(judge, path);
    if (kernel == NULL)
        return;
    kernel = json_fold(judge->arena, kernel);
    const char *on_volume = behind(kernel, "/system/volumes/data");
    kernel = on_volume != NULL && *on_volume == '/' ? on_volume : kernel;
    for (size_t length = strlen(kernel); length > 1;) {
        while (length > 0 && kernel[length - 1] != '/')
            length--;
        length = length > 1 ? length - 1 : 0;
        if (length == 0)
            return;
        if (judge->leading.count >= judge->leading.size / 2)
            grow_leading(judge);
        const char **slot = leading_slot(judge, kernel, length);
        if (*slot != NULL)
            return;
        *slot = arena_copy(judge->arena, kernel, length);
        judge->leading.count++;
    }
}

static void add_leading_path(struct judge *judge, const struct bound_path *path)
{
    if (!path->pattern)
        add_leading(judge, path->path);
    else
        add_leading(judge,
                    arena_join(judge->arena,
                               pattern_plain(judge->arena, path->path, pattern_fixed_prefix(path->path)),
                               "/x"));
}

static bool is_leading(const struct judge *judge, const char *folded)
{
    const char *on_volume = behind(folded, "/system/volumes/data");
    folded = on_volume != NULL && *on_volume == '/' ? on_volume : folded;
    return judge->leading.size > 0 && *leading_slot(judge, folded, strlen(folded)) != NULL;
}

/* --- what every command gets ---------------------------------------------------------------------------- */

/* Places that the profile opens by itself, for reading, for writing their content, or for being looked up. */
static bool is_of_system(const char *folded, enum query_kind kind)
{
    static const char *const read[] = {"/",           "/dev",         "/dev/null",         "/dev/zero",
                                       "/dev/random", "/dev/urandom", "/dev/dtracehelper", "/dev/tty"};
    static const char *const written[] = {"/dev/null", "/dev/zero", "/dev/dtracehelper", "/dev/tty"};
    if (behind(folded, "/dev/fd") != NULL || behind(folded, "/dev/null/unset") != NULL)
        return true;
    for (size_t i = 0; kind == QUERY_READ && i < sizeof read / sizeof *read; i++)
        if (strcmp(folded, read[i]) == 0)
            return true;
    for (size_t i = 0; kind == QUERY_WRITE && i < sizeof written / sizeof *written; i++)
        if (strcmp(folded, written[i]) == 0)
            return true;
    return false;
}

static bool is_looked_up(const char *folded)
{
    static const char *const places[] = {"/", "/etc", "/tmp", "/var", "/private"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(folded, places[i]) == 0)
            return true;
    return false;
}

/* What the services of the language stand for on macOS, which the policy itself does not list. `kind`: for
 * what. */
static const struct {
    const char *service, *root, *path;
} service_places[] = {
    {"ssh-agent", "", "/private/tmp"},
    {"ssh-agent", "", "/private/var/run"},
    {"ssh-agent", "HOME", "/.ssh/agent"},
    {"gpg-agent", "HOME", "/.gnupg"},
    {"keychain", "HOME", "/Library/Keychains"},
    {"keychain", "", "/Library/Keychains"},
    {"keychain", "", "/private/var/db/mds"},
    {"docker", "", "/private/var/run"},
    {"docker", "HOME", "/.docker/run"},
    {"docker", "HOME", "/.colima/default"},
    {"docker", "HOME", "/.orbstack/run"},
    {"pty", "", "/dev"},
    {"git-credentials", "HOME", "/.git-credentials"},
    {"git-credentials", "CONFIG", "/git/credentials"},
    {"git-credentials", "HOME", "/.config/git"},
    {"git-credentials", "HOME", "/.git-credential-cache"},
    {"git-credentials", "CACHE", "/git/credential"},
    {"git-credentials", "HOME", "/.cache/git"},
    {"gh", "CONFIG", "/gh"},
    {"gh", "HOME", "/.config/gh"},
};

static const char *service_place(const struct judge *judge, size_t index)
{
    const char *root = service_places[index].root;
    if (*root == '\0')
        return service_places[index].path;
    for (int i = 0; i < ROOTS; i++) {
        const struct root_value *value = &judge->bound->bindings.roots[i];
        if (strcmp(root_names[i], root) != 0)
            continue;
        const char *base =
            value->state == ROOT_BOUND && value->count > 0 ? value->paths[0] : judge->root_values[i];
        return base != NULL ? arena_join(judge->arena, base, service_places[index].path) : NULL;
    }
    return NULL;
}

/* Whether a service that the policy speaks of decides at this place too. */
static bool is_of_service(const struct judge *judge, const char *folded)
{
    for (uint32_t i = 0; i < judge->service_places.count; i++)
        if (json_is_above(judge->service_places.items[i], folded) ||
            json_is_above(folded, judge->service_places.items[i]))
            return true;
    return false;
}

static bool speaks_of_service(const struct bound_policy *bound, const char *service)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (bound->rules.items[i].dropped)
            continue;
        if (rule->kind == RULE_LIMIT_SERVICE)
            return true;
        if ((rule->kind == RULE_GRANT_SERVICE || rule->kind == RULE_DENY_SERVICE) &&
            strcmp(rule->name, service) == 0)
            return true;
    }
    return false;
}

/* --- one operation -------------------------------------------------------------------------------------- */

struct check {
    const struct judge *judge;
    struct reply reply; /* of the first operation that is not as wanted */
    enum wanted wanted; /* what was wanted of it */
    bool failed;
};

static void check_question(struct check *check, const struct seatbelt_question *question, enum wanted wanted)
{
    static const char *const words[] = {"deny", "allow", "unknown"};
    uint32_t line = 0;
    if (check->failed || wanted == WANT_NOTHING)
        return;
    enum seatbelt_answer answer = seatbelt_decide(check->judge->profile, question, &line);
    if (answer == (wanted == WANT_ALLOW ? SEATBELT_ALLOW : SEATBELT_DENY))
        return;
    check->failed = true;
    check->wanted = wanted;
    check->reply.line = line;
    check->reply.text = arena_format(check->judge->arena, "%s %s%s", words[answer], question->operation,
                                     question->fold_case ? " where case is ignored" : "");
}

static enum wanted want(bool allowed)
{
    return allowed ? WANT_ALLOW : WANT_DENY;
}

/* --- paths ---------------------------------------------------------------------------------------------- */

static enum wanted wanted_level(const struct said *said, enum level level)
{
    return said->least >= level ? WANT_ALLOW : said->most < level ? WANT_DENY : WANT_NOTHING;
}

static void check_read(struct check *check, struct seatbelt_question *question, const struct place *place,
                       const struct said *said)
{
    static const char *const operations[] = {"file-read-data", "file-read-xattr"};
    static const char *const lookups[] = {"file-read-metadata", "file-test-existence"};
    bool passes = is_leading(check->judge, place->folded) || is_looked_up(place->folded);
    enum wanted wanted = wanted_level(said, LEVEL_READ);
    for (size_t i = 0; i < 2; i++) {
        question->operation = operations[i];
        check_question(check, question, wanted);
        question->operation = lookups[i];
        check_question(check, question, passes && wanted == WANT_DENY ? WANT_NOTHING : wanted);
    }
}

static void check_write(struct check *check, struct seatbelt_question *question, const struct said *said,
                        enum wanted moving)
{
    static const char *const operations[] = {"file-write-data",  "file-write-mode",       "file-write-owner",
                                             "file-write-flags", "file-write-times",      "file-write-xattr",
                                             "file-write-acl",   "file-write-finderinfo", "file-link",
                                             "file-clone"};
    enum wanted wanted = wanted_level(said, LEVEL_WRITE);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        question->operation = operations[i];
        check_question(check, question, wanted);
    }
    if (wanted == WANT_ALLOW)
        wanted = moving == WANT_ALLOW ? WANT_ALLOW : WANT_NOTHING;
    question->operation = "file-write-create";
    check_question(check, question, wanted);
    question->operation = "file-write-unlink";
    check_question(check, question, wanted);
    question->operation = "file-write-setugid";
    check_question(check, question, WANT_DENY);
}

static void check_socket(struct check *check, struct seatbelt_question *question, const struct said *said)
{
    static const char *const operations[] = {"network-outbound", "network-bind", "network-inbound"};
    enum wanted wanted = said->opens ? WANT_ALLOW : said->may_open ? WANT_NOTHING : WANT_DENY;
    question->protocol = SEATBELT_PROTOCOL_UNIX;
    question->vnode = SEATBELT_VNODE_SOCKET;
    question->socket_domain = 1;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        question->operation = operations[i];
        check_question(check, question, wanted);
    }
}

/* What is known of whether the place may be moved. */
static enum wanted moving_at(const struct judge *judge, const struct place *place)
{
    const struct query query = {.kind = QUERY_RENAME, .name = place->path, .length = strlen(place->path)};
    struct reply reply = policy_answer(judge->answers, &query);
    if (!place->alone || reply.text == NULL)
        return WANT_NOTHING;
    if (strcmp(reply.text, "deny") == 0)
        return WANT_DENY;
    /* Above what a rule names a profile may hold more still. */
    return is_leading(judge, place->folded) ? WANT_NOTHING : WANT_ALLOW;
}

/* The place of `path`; good until the next call. */
static const struct place *place_at(const struct judge *judge, const char *path)
{
    struct place *place = judge->last;
    const char *names[NAMES];
    if (place->path == path)
        return place;
    *place = (struct place){.path = path, .kernel = kernel_path(judge, path)};
    if (place->kernel == NULL)
        return place;
    place->folded = json_fold(judge->arena, place->kernel);
    place->said[AS_SAID] = said_of(judge, path, AS_SAID);
    place->said[CASE_IGNORED] = said_of(judge, path, CASE_IGNORED);
    place->alone = names_of(judge, path, names) == 1;
    place->moving = moving_at(judge, place);
    return place;
}

static enum wanted wanted_exec(const struct said *said)
{
    if (said->most < LEVEL_READ || !said->may_run)
        return WANT_DENY;
    return said->least >= LEVEL_READ && said->runs ? WANT_ALLOW : WANT_NOTHING;
}

/* Asks about `asked`, where what holds is what is said of `place`. */
static void check_path(struct check *check, enum query_kind kind, const struct place *place,
                       const char *asked, enum comparing how)
{
    const struct said *said = &place->said[how];
    enum wanted moving = how == OTHER_CASE ? WANT_NOTHING : place->moving;
    bool fold = how == CASE_IGNORED;
    struct seatbelt_question question = {.path = asked, .fold_case = fold, .vnode = SEATBELT_VNODE_FILE};
    switch (kind) {
    case QUERY_READ:
        check_read(check, &question, place, said);
        break;
    case QUERY_WRITE:
        check_write(check, &question, said, moving);
        break;
    case QUERY_EXEC:
        question.operation = "process-exec*";
        check_question(check, &question, wanted_exec(said));
        break;
    case QUERY_SOCKET:
        check_socket(check, &question, said);
        break;
    case QUERY_RENAME:
        question.vnode = SEATBELT_VNODE_DIRECTORY;
        question.operation = "file-write-unlink";
        check_question(check, &question, moving == WANT_DENY ? WANT_DENY : WANT_NOTHING);
        break;
    case QUERY_LISTED:
    case QUERY_CONNECT:
    case QUERY_LISTEN:
    case QUERY_ENV:
    case QUERY_SERVICE:
    case QUERY_SYSCALL:
    case QUERY_FACT:
    case QUERY_KINDS:
        break;
    }
}

/* --- connections ---------------------------------------------------------------------------------------- */

/* 0: another host; 1: this machine as Seatbelt knows it; 2: all addresses; 3: an address of this machine
 * that Seatbelt takes for another. */
static int host_kind(const uint8_t address[16])
{
    static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff}, six[15] = {0};
    if (memcmp(address, four, sizeof four) == 0) {
        if (memcmp(address + 12, (const uint8_t[]){127, 0, 0, 1}, 4) == 0)
            return 1;
        if (memcmp(address + 12, (const uint8_t[]){0, 0, 0, 0}, 4) == 0)
            return 2;
        return address[12] == 127 || address[12] == 0 ? 3 : 0;
    }
    if (memcmp(address, six, sizeof six) != 0)
        return 0;
    return address[15] == 1 ? 1 : address[15] == 0 ? 2 : 0;
}

static void check_connection(struct check *check, const struct query *query)
{
    static const enum seatbelt_host hosts[] = {SEATBELT_HOST_OTHER, SEATBELT_HOST_LOOPBACK,
                                               SEATBELT_HOST_UNSPECIFIED, SEATBELT_HOST_OTHER};
    static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};
    const struct judge *judge = check->judge;
    const struct endpoint *endpoint = query->endpoint;
    if (!endpoint->has_address)
        return;
    int kind = host_kind(endpoint->address);
    bool listen = query->kind == QUERY_LISTEN;
    bool allowed = listen ? bound_listen(judge->bound, endpoint)
                          : bound_connect(judge->bound, endpoint) == VERDICT_ALLOW;
    const struct seatbelt_address far = {hosts[kind], endpoint->port}, none = {SEATBELT_HOST_UNSPECIFIED, 0};
    struct seatbelt_question question = {
        .protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? SEATBELT_PROTOCOL_UDP : SEATBELT_PROTOCOL_TCP,
        .version = memcmp(endpoint->address, four, sizeof four) == 0 ? 4 : 6,
        .local = listen ? far : none,
        .remote = listen ? none : far,
        .socket_domain = memcmp(endpoint->address, four, sizeof four) == 0 ? 2 : 30,
        .socket_type = endpoint->protocol == PROTOCOL_BIT_UDP ? 2 : 1,
    };
    enum wanted wanted = want(allowed);
    /* Who may reach a listener on all addresses cannot be said; addresses like 127.0.0.2 stay closed. */
    if ((listen && kind == 2) || (kind == 3 && allowed))
        return;
    question.operation = listen ? "network-bind" : "network-outbound";
    check_question(check, &question, wanted);
    if (listen) {
        question.operation = "network-inbound";
        check_question(check, &question, wanted);
    }
}

/* --- what stays closed ---------------------------------------------------------------------------------- */

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

static void check_door(struct check *check, const char *fact)
{
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        if (strcmp(doors[i].fact, fact) != 0)
            continue;
        bool open = doors[i].service != NULL && bound_service(check->judge->bound, doors[i].service);
        check_question(check, &doors[i].question, want(open));
    }
}

/* --- both sides ----------------------------------------------------------------------------------------- */

static bool is_about_path(const struct query *query)
{
    return query->kind <= QUERY_RENAME;
}

static bool is_left_to_others(const struct judge *judge, const struct place *place, enum query_kind kind)
{
    return place->kernel == NULL || is_of_system(place->folded, kind) ||
           is_of_service(judge, place->folded) || strcmp(place->folded, "/system/volumes/data") == 0 ||
           (kind == QUERY_SOCKET && bound_network_open(judge->bound, NULL) &&
            json_is_above(place->folded, "/private/var/run/mdnsresponder"));
}

/* What the policy wants of the operation that the answer names. */
static struct reply expect_profile(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    if (judge->unmet->query != query)
        return (struct reply){0};
    return (struct reply){.text = judge->unmet->wanted == WANT_ALLOW ? "allow" : "deny"};
}

/* Nothing where every operation is as wanted; else what the first one is that is not. */
static struct reply answer_profile(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    struct check check = {.judge = judge};
    if (is_about_path(query)) {
        const struct place *place = place_at(judge, query->name);
        if (is_left_to_others(judge, place, query->kind))
            return (struct reply){0};
        const char *asked = place->kernel;
        if (query->plain != NULL)
            judge->last->said[OTHER_CASE] = said_of(judge, query->name, OTHER_CASE);
        check_path(&check, query->kind, place, asked, query->plain != NULL ? OTHER_CASE : AS_SAID);
        /* Where case is ignored, a spelling in another case is the same file. */
        const char *folded = place->folded;
        if (query->plain != NULL)
            place = place_at(judge, query->plain);
        if (strcmp(folded, place->folded) == 0)
            check_path(&check, query->kind, place, asked, CASE_IGNORED);
    } else if (query->kind == QUERY_CONNECT || query->kind == QUERY_LISTEN) {
        check_connection(&check, query);
    } else if (query->kind == QUERY_FACT) {
        check_door(&check, query->name);
    }
    *judge->unmet = (struct unmet){check.failed ? query : NULL, check.wanted};
    return check.reply;
}

/* --- what a profile lists ------------------------------------------------------------------------------- */

/* The path that a string of the profile begins with, up to its first sign; NULL if it is none. */
static const char *path_in(const struct judge *judge, const char *text, size_t length)
{
    struct buffer out = buffer_in(judge->arena);
    bool expression = length > 0 && text[0] == '^';
    for (size_t at = expression ? 1 : 0; at < length; at++) {
        if (text[at] == '\\' && at + 1 < length)
            at++;
        else if (expression && strchr("[(*+?^$|.", text[at]) != NULL)
            break;
        buffer_byte(&out, text[at]);
    }
    while (out.length > 1 && out.bytes[out.length - 1] == '/')
        out.bytes[--out.length] = '\0';
    return out.length > 0 && out.bytes[0] == '/' ? out.bytes : NULL;
}

/* The root whose value stands before a string, as in (string-append WORK_PATH "/a"); ROOTS if none does. */
static enum root root_before(const struct judge *judge, size_t at)
{
    static const char suffix[] = "_PATH";
    while (at > 0 && (judge->text[at - 1] == ' ' || judge->text[at - 1] == ')'))
        at--;
    for (int root = ROOT_WORK; root < ROOT_ENV; root++) {
        size_t name = strlen(root_names[root]), whole = name + sizeof suffix - 1;
        if (at > whole && memcmp(judge->text + at - whole, root_names[root], name) == 0 &&
            memcmp(judge->text + at - sizeof suffix + 1, suffix, sizeof suffix - 1) == 0 &&
            judge->text[at - whole - 1] != '_')
            return (enum root)root;
    }
    return ROOTS;
}

static void list_string(const struct judge *judge, struct query_set *set, size_t start, size_t length)
{
    const char *path = path_in(judge, judge->text + start, length);
    enum root root = root_before(judge, start - 1);
    if (path == NULL)
        return;
    if (root != ROOTS && judge->root_values[root] != NULL)
        path = arena_format(judge->arena, "$%s%s", root_names[root], path);
    queries_add_path(set, path);
}

static void list_profile(const void *state, struct query_set *set)
{
    const struct judge *judge = state;
    bool comment = false;
    for (size_t i = 0; i < judge->length; i++) {
        if (judge->text[i] == ';')
            comment = true;
        if (judge->text[i] == '\n')
            comment = false;
        if (comment || judge->text[i] != '"')
            continue;
        size_t start = ++i;
        while (i < judge->length && judge->text[i] != '"')
            i += judge->text[i] == '\\' ? 2 : 1;
        list_string(judge, set, start, (i < judge->length ? i : judge->length) - start);
    }
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        queries_add_name(set, QUERY_FACT, doors[i].fact);
}

/* --- making it ------------------------------------------------------------------------------------------ */

static bool grants(enum rule_kind kind)
{
    return kind == RULE_GRANT || kind == RULE_GRANT_SOCKET;
}

static bool closes(enum rule_kind kind)
{
    return kind == RULE_DENY || kind == RULE_DENY_EXEC || kind == RULE_DENY_SOCKET ||
           kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE || kind == RULE_LIMIT_SOCKET;
}

/* A copy of the policy without the rules of paths that close, or without those that grant. */
static struct bound_policy *part_of(struct judge *judge, bool of_grants)
{
    struct bound_policy *copy = arena_alloc(judge->arena, sizeof *copy);
    *copy = *judge->bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        struct bound_rule rule = judge->bound->rules.items[i];
        enum rule_kind kind = rule.rule->kind;
        if ((of_grants && (closes(kind) || rule.holds_as_deny_write)) ||
            (!of_grants && grants(kind) && !rule.holds_as_deny_write))
            continue;
        VECTOR_PUSH(judge->arena, &copy->rules, rule);
    }
    return copy;
}

/* Everything is granted: at / and at each root. */
static void grant_all(struct judge *judge, struct bound_policy *copy)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    static const struct rule all_sockets = {.kind = RULE_GRANT_SOCKET, .systems = SYSTEM_ALL};
    for (int root = 0; root < ROOTS; root++) {
        if (root != ROOT_SLASH && (root < ROOT_WORK || root >= ROOT_ENV))
            continue;
        const char *path = root == ROOT_SLASH ? "/" : arena_format(judge->arena, "$%s", root_names[root]);
        VECTOR_PUSH(judge->arena, &copy->rules,
                    (struct bound_rule){.rule = &everything, .at = {.path = path}});
        VECTOR_PUSH(judge->arena, &copy->rules,
                    (struct bound_rule){.rule = &all_sockets, .at = {.path = path}});
    }
}

static void find_leading(struct judge *judge)
{
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        if (rule->dropped || rule->at.path == NULL)
            continue;
        add_leading_path(judge, &rule->at);
        judge->grants_volume =
            judge->grants_volume || (grants(rule->rule->kind) && behind(rule->at.path, volume) != NULL);
        for (uint32_t j = 0; j < rule->except_count; j++)
            add_leading_path(judge, &rule->except[j]);
    }
    for (size_t i = 0; i < sizeof service_places / sizeof *service_places; i++) {
        const char *place = service_place(judge, i);
        if (place == NULL || !speaks_of_service(judge->bound, service_places[i].service))
            continue;
        add_leading(judge, place);
        VECTOR_PUSH(judge->arena, &judge->service_places, json_fold(judge->arena, place));
    }
}

bool judge_seatbelt(const struct read_request *request, const struct judge_value *values,
                    uint32_t value_count, struct reader_list *readers, const char **error)
{
    struct judge *judge = arena_alloc(request->arena, sizeof *judge);
    struct seatbelt_parameter parameters[2 * ROOTS + 1];
    struct seatbelt_error problem = {0};
    uint32_t count = 0;
    *judge = (struct judge){
        .arena = request->arena, .text = request->bytes, .length = request->length, .bound = request->bound};
    judge->last = arena_alloc(request->arena, sizeof *judge->last);
    judge->unmet = arena_alloc(request->arena, sizeof *judge->unmet);
    for (uint32_t i = 0; i < value_count; i++) {
        const char *name = root_names[values[i].root];
        if (request->bound->bindings.roots[values[i].root].state == ROOT_SYMBOLIC)
            judge->root_values[values[i].root] = values[i].path;
        parameters[count++] = (struct seatbelt_parameter){name, values[i].path};
        parameters[count++] =
            (struct seatbelt_parameter){arena_format(request->arena, "ACCOUNT_%s", name), values[i].path};
    }
    judge->profile = seatbelt_read(request->arena, request->bytes, request->length, parameters, count, NULL,
                                   NULL, &problem);
    if (judge->profile == NULL) {
        *error = arena_format(request->arena, "line %u, column %u: %s", problem.line, problem.column,
                              escape_string(request->arena, problem.text));
        return false;
    }
    judge->grants = part_of(judge, true);
    judge->caps = part_of(judge, false);
    grant_all(judge, judge->caps);
    bound_seal(judge->grants, NULL);
    judge->folded_grants = part_of(judge, true);
    for (uint32_t i = 0; i < judge->folded_grants->rules.count; i++) {
        struct bound_path *at = &judge->folded_grants->rules.items[i].at;
        at->path = at->path != NULL ? json_fold(request->arena, at->path) : NULL;
    }
    bound_seal(judge->folded_grants, NULL);
    bound_seal(judge->caps, NULL);
    judge->exact_caps = part_of(judge, false);
    judge->exact_caps->bindings.system = SYSTEM_LINUX;
    grant_all(judge, judge->exact_caps);
    bound_seal(judge->exact_caps, NULL);
    judge->pattern_caps = part_of(judge, false);
    for (uint32_t i = 0; i < judge->pattern_caps->rules.count; i++)
        judge->pattern_caps->rules.items[i].dropped =
            judge->pattern_caps->rules.items[i].dropped || !judge->pattern_caps->rules.items[i].at.pattern;
    grant_all(judge, judge->pattern_caps);
    bound_seal(judge->pattern_caps, NULL);
    judge->answers = policy_answers_create(request->arena, request->bound);
    find_leading(judge);
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = judge,
                                .kinds = 1U << QUERY_READ | 1U << QUERY_WRITE | 1U << QUERY_EXEC |
                                         1U << QUERY_SOCKET | 1U << QUERY_RENAME | 1U << QUERY_CONNECT |
                                         1U << QUERY_LISTEN | 1U << QUERY_FACT,
                                .answer = answer_profile,
                                .expect = expect_profile,
                                .list = list_profile});
    return true;
}

/* Roots that are parameters lie apart from each other and from everything else. */
bool read_seatbelt(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct judge_value values[ROOTS];
    uint32_t count = 0;
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        values[count++] =
            (struct judge_value){root, arena_format(request->arena, "/sbx.%s", root_names[root])};
    return judge_seatbelt(request, values, count, readers, error);
}
