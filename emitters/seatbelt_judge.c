/* seatbelt_judge.c - what a Seatbelt profile answers to the questions of verify (reader.h), by the reader
 * of profiles (seatbelt_read.h). */
#include "emitters/reader.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/json_place.h"
#include "emitters/seatbelt_judge.h"
#include "emitters/seatbelt_read.h"
#include "emitters/seatbelt_says.h"
#include "policy/pattern.h"

#include <string.h>

/* What is wanted of an operation. */
enum wanted { WANT_NOTHING, WANT_DENY, WANT_ALLOW };

struct judge {
    struct arena *arena;
    struct seatbelt_profile *profile;
    const struct bound_policy *bound;
    struct seatbelt_view *view;                     /* what the policy says of places */
    struct policy_answers *answers, *exact_answers; /* the latter as where case counts */
    const char *root_values[ROOTS];                 /* of roots that are parameters */
    struct {
        const char **items; /* folded */
        uint32_t count, size;
    } leading;
    struct {
        const char **items; /* folded: what services stand for that the policy speaks of */
        uint32_t count, capacity;
    } service_places;
    /* What was wanted where the last answer was another one. */
    struct unmet {
        const struct query *query;
        enum wanted wanted;
    } * unmet;
    struct place *last; /* the path that was asked about last: questions about one follow each other */
};

/* --- where a path is ------------------------------------------------------------------------------------ */

/* The path with a value for each root that is a parameter; NULL for what a profile says nothing of. */
static const char *valued_path(const struct judge *judge, const char *path)
{
    if (path[0] != '$')
        return path[0] == '/' ? path : NULL;
    size_t length = strcspn(path + 1, "/");
    for (int root = 0; root < ROOTS; root++)
        if (strlen(root_names[root]) == length && strncmp(root_names[root], path + 1, length) == 0 &&
            judge->root_values[root] != NULL)
            return arena_join(judge->arena, judge->root_values[root], path + 1 + length);
    return NULL;
}

/* The path as the policy says it: below a root that is a parameter. */
static const char *rooted_path(const struct judge *judge, const char *path)
{
    for (int root = 0; root < ROOTS; root++) {
        const char *rest =
            judge->root_values[root] != NULL ? path_behind(path, judge->root_values[root]) : NULL;
        if (rest != NULL)
            return arena_format(judge->arena, "$%s%s", root_names[root], rest);
    }
    return path;
}

/* A path as the kernel says it. */
static const char *kernel_path(const struct judge *judge, const char *path)
{
    return path_is_linked(path) ? arena_join(judge->arena, "/private", path) : path;
}

/* What a question needs to know of its path, found once for all kinds of questions about it. */
struct place {
    const char *path, *valued, *kernel, *folded; /* `kernel` is NULL where a profile says nothing of it */
    struct seatbelt_said said[2];                /* by enum comparing */
    bool alone;                                  /* it has one name */
    enum wanted moving[2];                       /* the same */
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
    if (path[0] != '/')
        return;
    const char *kernel = json_fold(judge->arena, kernel_path(judge, path));
    const char *on_volume = path_behind(kernel, "/system/volumes/data");
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
    const char *on_volume = path_behind(folded, "/system/volumes/data");
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
    if (path_behind(folded, "/dev/fd") != NULL || path_behind(folded, "/dev/null/unset") != NULL)
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

static enum wanted wanted_level(const struct seatbelt_said *said, enum level level)
{
    return said->least >= level ? WANT_ALLOW : said->most < level ? WANT_DENY : WANT_NOTHING;
}

static void check_read(struct check *check, struct seatbelt_question *question, const struct place *place,
                       const struct seatbelt_said *said)
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

static void check_write(struct check *check, struct seatbelt_question *question,
                        const struct seatbelt_said *said, enum wanted moving)
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

static void check_socket(struct check *check, struct seatbelt_question *question,
                         const struct seatbelt_said *said)
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

/* Whether a writable area begins here: whether it may be moved then depends on what is there. */
static bool begins_area(const struct judge *judge, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t above = slash != NULL ? (size_t)(slash - path) : 0;
    return bound_level(judge->bound, path, strlen(path)) == LEVEL_WRITE &&
           (above == 0 || bound_level(judge->bound, path, above) != LEVEL_WRITE);
}

/* What is known of whether the place may be moved, by enum comparing. */
static void find_moving(const struct judge *judge, struct place *place)
{
    const struct query query = {.kind = QUERY_RENAME, .name = place->valued, .length = strlen(place->valued)};
    struct reply reply = policy_answer(judge->answers, &query);
    place->moving[CASE_COUNTS] = place->moving[CASE_IGNORED] = WANT_NOTHING;
    if (!place->alone || reply.text == NULL)
        return;
    if (strcmp(reply.text, "deny") == 0)
        place->moving[CASE_IGNORED] = begins_area(judge, place->valued) ? WANT_NOTHING : WANT_DENY;
    else /* Above what a rule names a profile may hold more still. */
        place->moving[CASE_IGNORED] = is_leading(judge, place->folded) ? WANT_NOTHING : WANT_ALLOW;
    struct reply exact = policy_answer(judge->exact_answers, &query);
    if (exact.text != NULL && strcmp(reply.text, exact.text) == 0)
        place->moving[CASE_COUNTS] = place->moving[CASE_IGNORED];
}

/* The place of `path`; good until the next call. */
static const struct place *place_at(const struct judge *judge, const char *path)
{
    struct place *place = judge->last;
    if (place->path == path)
        return place;
    *place = (struct place){.path = path, .valued = valued_path(judge, path)};
    if (place->valued == NULL)
        return place;
    place->kernel = kernel_path(judge, place->valued);
    place->folded = json_fold(judge->arena, place->kernel);
    seatbelt_says(judge->view, place->valued, place->said);
    place->alone = seatbelt_has_one_name(judge->view, place->valued);
    find_moving(judge, place);
    return place;
}

static enum wanted wanted_exec(const struct seatbelt_said *said)
{
    if (said->most < LEVEL_READ || !said->may_run)
        return WANT_DENY;
    return said->least >= LEVEL_READ && said->runs ? WANT_ALLOW : WANT_NOTHING;
}

/* Asks about `asked`, where what holds is what is said of `place`. */
static void check_path(struct check *check, enum query_kind kind, const struct place *place,
                       const char *asked, enum seatbelt_comparing how)
{
    const struct seatbelt_said *said = &place->said[how];
    bool unsure = said->least < LEVEL_WRITE && said->most == LEVEL_WRITE;
    enum wanted moving = unsure ? WANT_NOTHING : place->moving[how];
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
    check_question(check, &question, want(is_mach_service_open(check->judge, name)));
}

static void check_door(struct check *check, const char *fact)
{
    if (strncmp(fact, mach_fact, sizeof mach_fact - 1) == 0)
        check_mach(check, fact + sizeof mach_fact - 1);
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
        check_path(&check, query->kind, place, asked, CASE_COUNTS);
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

/* What an expression begins with, up to its first sign; NULL if that is no path. */
static const char *start_of(const struct judge *judge, const char *expression)
{
    struct buffer out = buffer_in(judge->arena);
    const char *at = expression;
    for (at += *at == '^' ? 1 : 0; *at != '\0' && strchr("[(*+?^$|.", *at) == NULL; at++) {
        at += at[0] == '\\' && at[1] != '\0' ? 1 : 0;
        buffer_byte(&out, *at);
    }
    while (out.length > 1 && out.bytes[out.length - 1] == '/')
        out.bytes[--out.length] = '\0';
    return out.length > 0 && out.bytes[0] == '/' ? out.bytes : NULL;
}

struct listing {
    const struct judge *judge;
    struct query_set *set;
};

static void list_one(void *context, const struct seatbelt_listed *listed)
{
    const struct listing *listing = context;
    const struct judge *judge = listing->judge;
    const char *path = listed->text;
    switch (listed->kind) {
    case SEATBELT_LISTED_EXPRESSION:
        path = start_of(judge, path);
        break;
    case SEATBELT_LISTED_PORT:
        queries_add_ports(listing->set, (struct port_range){listed->port, listed->port});
        return;
    case SEATBELT_LISTED_NAME:
        if (listed->allow && listed->name == SEATBELT_NAME_GLOBAL)
            queries_add_name(listing->set, QUERY_FACT, arena_join(judge->arena, mach_fact, listed->text));
        return;
    case SEATBELT_LISTED_PATH:
    case SEATBELT_LISTED_TREE:
    case SEATBELT_LISTED_PREFIX:
        break;
    case SEATBELT_LISTED_NAME_PREFIX:
    case SEATBELT_LISTED_NAME_EXPRESSION:
        return;
    }
    if (path != NULL && path[0] == '/')
        queries_add_path(listing->set, rooted_path(judge, path));
}

static void list_profile(const void *state, struct query_set *set)
{
    struct listing listing = {state, set};
    seatbelt_list(listing.judge->profile, list_one, &listing);
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        queries_add_name(set, QUERY_FACT, doors[i].fact);
}

/* --- making it ------------------------------------------------------------------------------------------ */

static void find_leading(struct judge *judge)
{
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        if (rule->dropped || rule->at.path == NULL)
            continue;
        add_leading_path(judge, &rule->at);
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

/* The policy with a value for every root. */
static const struct bound_policy *bind_with(const struct read_request *request,
                                            const struct bindings *bindings, const char **error)
{
    struct note_list notes = note_list_in(request->arena);
    struct bound_policy *bound = policy_bind(request->arena, request->bound->policy, bindings, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        if (notes.items[i].severity == SEVERITY_ERROR) {
            *error = notes.items[i].text;
            return NULL;
        }
    }
    bound_seal(bound, NULL);
    return bound;
}

bool judge_seatbelt(const struct read_request *request, const struct judge_value *values,
                    uint32_t value_count, struct reader_list *readers, const char **error)
{
    struct judge *judge = arena_alloc(request->arena, sizeof *judge);
    struct seatbelt_parameter parameters[2 * ROOTS + 1];
    struct seatbelt_error problem = {0};
    uint32_t count = 0;
    *judge = (struct judge){.arena = request->arena};
    judge->last = arena_alloc(request->arena, sizeof *judge->last);
    judge->unmet = arena_alloc(request->arena, sizeof *judge->unmet);
    struct bindings bindings = request->bound->bindings;
    for (uint32_t i = 0; i < value_count; i++) {
        enum root root = values[i].root;
        const char *name = root_names[root], **paths = arena_array(request->arena, 1, sizeof *paths);
        paths[0] = values[i].path;
        parameters[count++] = (struct seatbelt_parameter){name, values[i].path};
        parameters[count++] =
            (struct seatbelt_parameter){arena_format(request->arena, "ACCOUNT_%s", name), values[i].path};
        if (bindings.managed_roots[root].state == ROOT_SYMBOLIC)
            bindings.managed_roots[root] =
                (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
        if (bindings.roots[root].state != ROOT_SYMBOLIC)
            continue;
        judge->root_values[root] = values[i].path;
        bindings.roots[root] = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
    }
    judge->bound = bind_with(request, &bindings, error);
    if (judge->bound == NULL)
        return false;
    judge->profile = seatbelt_read(request->arena, request->bytes, request->length, parameters, count, NULL,
                                   NULL, &problem);
    if (judge->profile == NULL) {
        *error = arena_format(request->arena, "line %u, column %u: %s", problem.line, problem.column,
                              escape_string(request->arena, problem.text));
        return false;
    }
    judge->view = seatbelt_view_create(request->arena, judge->bound);
    judge->answers = policy_answers_create(request->arena, judge->bound);
    struct bound_policy *exact = arena_alloc(request->arena, sizeof *exact);
    *exact = *judge->bound;
    exact->bindings.system = SYSTEM_LINUX;
    bound_seal(exact, NULL);
    judge->exact_answers = policy_answers_create(request->arena, exact);
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
