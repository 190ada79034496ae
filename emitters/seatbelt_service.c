#include "emitters/seatbelt_service.h"

#include "emitters/seatbelt_files.h"

#include <string.h>

enum part_kind {
    PART_READ,    /* a path that can be read */
    PART_WRITE,   /* and one that can be written */
    PART_SOCKET,  /* a Unix socket */
    PART_SOCKETS, /* Unix sockets by a regular expression */
    PART_RULE     /* a rule as it stands */
};

struct part {
    const char *service;
    enum part_kind kind;
    enum root root; /* of PART_READ to PART_SOCKET */
    const char *text;
};

static const struct part parts[] = {
    {"ssh-agent", PART_SOCKETS, ROOT_SLASH, "^/private/tmp/com\\\\.apple\\\\.launchd\\\\.[^/]+/Listeners$"},
    {"ssh-agent", PART_SOCKETS, ROOT_SLASH,
     "^/private/var/run/com\\\\.apple\\\\.launchd\\\\.[^/]+/Listeners$"},
    {"ssh-agent", PART_SOCKET, ROOT_HOME, "/.ssh/agent"},
    {"gpg-agent", PART_SOCKET, ROOT_HOME, "/.gnupg/S.gpg-agent"},
    {"gpg-agent", PART_SOCKET, ROOT_HOME, "/.gnupg/S.keyboxd"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/pubring.kbx"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/pubring.gpg"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/public-keys.d"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/trustdb.gpg"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/gpg.conf"},
    {"gpg-agent", PART_READ, ROOT_HOME, "/.gnupg/common.conf"},
    {"keychain", PART_WRITE, ROOT_HOME, "/Library/Keychains"},
    {"keychain", PART_READ, ROOT_SLASH, "/Library/Keychains"},
    {"keychain", PART_WRITE, ROOT_SLASH, "/private/var/db/mds"},
    {"keychain", PART_RULE, ROOT_SLASH,
     "(allow mach-lookup (global-name \"com.apple.SecurityServer\" \"com.apple.securityd.xpc\"))"},
    {"trustd", PART_RULE, ROOT_SLASH,
     "(allow mach-lookup (global-name \"com.apple.trustd\" \"com.apple.trustd.agent\" \"com.apple.ocspd\" "
     "\"com.apple.SecurityServer\"))"},
    {"docker", PART_SOCKET, ROOT_SLASH, "/private/var/run/docker.sock"},
    {"docker", PART_SOCKET, ROOT_HOME, "/.docker/run/docker.sock"},
    {"docker", PART_SOCKET, ROOT_HOME, "/.colima/default/docker.sock"},
    {"docker", PART_SOCKET, ROOT_HOME, "/.orbstack/run/docker.sock"},
    {"pty", PART_RULE, ROOT_SLASH, "(allow pseudo-tty)"},
    {"pty", PART_RULE, ROOT_SLASH,
     "(allow file-read* file-read-data file-read-metadata file-write* file-write-data file-ioctl (literal "
     "\"/dev/ptmx\"))"},
    /* The extension is that of a terminal which this sandbox made itself. */
    {"pty", PART_RULE, ROOT_SLASH,
     "(allow file-read* file-read-data file-read-metadata file-write* file-write-data file-write-mode "
     "file-write-owner file-ioctl (require-all (regex \"^/dev/ttys[0-9]+$\") (extension "
     "\"com.apple.sandbox.pty\")))"},
    {"git-credentials", PART_READ, ROOT_HOME, "/.git-credentials"},
    {"git-credentials", PART_READ, ROOT_CONFIG, "/git/credentials"},
    {"git-credentials", PART_READ, ROOT_HOME, "/.config/git/credentials"},
    {"git-credentials", PART_SOCKET, ROOT_HOME, "/.git-credential-cache/socket"},
    {"git-credentials", PART_SOCKET, ROOT_CACHE, "/git/credential/socket"},
    {"git-credentials", PART_SOCKET, ROOT_HOME, "/.cache/git/credential/socket"},
    {"gh", PART_READ, ROOT_CONFIG, "/gh"},
    {"gh", PART_READ, ROOT_HOME, "/.config/gh"},
};

enum { PARTS = sizeof parts / sizeof *parts };

static bool is_socket(const struct part *part)
{
    return part->kind == PART_SOCKET || part->kind == PART_SOCKETS;
}

static bool is_granted(const struct bound_policy *bound, const char *service)
{
    return bound_service(bound, service);
}

bool services_open_sockets(const struct bound_policy *bound)
{
    for (int i = 0; i < PARTS; i++)
        if (is_socket(&parts[i]) && is_granted(bound, parts[i].service))
            return true;
    return false;
}

static void put_part(struct profile *profile, const struct part *part, const char *operations)
{
    struct buffer filter = buffer_in(profile->arena);
    struct place place = {NULL, part->text, false};
    if (part->kind == PART_SOCKETS)
        buffer_format(&filter, "(regex \"%s\")", part->text);
    else if (part->root != ROOT_SLASH && !place_below(profile, part->root, part->text, &place))
        return;
    else if (operations[0] == 'd')
        place_closes(profile, &filter, place);
    else
        place_opens(profile, &filter, place);
    profile_rule_begin(profile, operations);
    profile_filter(profile, &filter, NULL, part->service);
    profile_rule_end(profile);
}

void profile_services(struct profile *profile)
{
    static const char *const operations[] = {[PART_READ] = "allow " READ_OPERATIONS,
                                             [PART_WRITE] = "allow " READ_OPERATIONS " " WRITE_OPERATIONS,
                                             [PART_SOCKET] = "allow " SOCKET_OPERATIONS,
                                             [PART_SOCKETS] = "allow " SOCKET_OPERATIONS};
    bool any = false;
    for (int i = 0; i < PARTS; i++) {
        if (!is_granted(profile->request->bound, parts[i].service))
            continue;
        if (!any)
            profile_comment(profile, "Services that the policy grants.");
        any = true;
        if (parts[i].kind == PART_RULE)
            profile_line(profile, parts[i].text, parts[i].service);
        else
            put_part(profile, &parts[i], operations[parts[i].kind]);
    }
}

/* Whether some rule closes the service, beyond its being closed by default. */
static bool is_closed(const struct bound_policy *bound, const char *service)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        bool denied = rule->kind == RULE_DENY_SERVICE && strcmp(rule->name, service) == 0;
        if (!bound->rules.items[i].dropped && (denied || rule->kind == RULE_LIMIT_SERVICE))
            return !bound_service(bound, service);
    }
    return false;
}

void profile_closed_services(struct profile *profile)
{
    bool any = false;
    for (int i = 0; i < PARTS; i++) {
        if (!is_socket(&parts[i]) || !is_closed(profile->request->bound, parts[i].service))
            continue;
        if (!any)
            profile_comment(profile, "Sockets of services that are denied, whoever grants them.");
        any = true;
        put_part(profile, &parts[i], "deny " SOCKET_OPERATIONS);
    }
}
