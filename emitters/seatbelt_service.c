#include "emitters/seatbelt_service.h"

#include "emitters/seatbelt_files.h"

#include <string.h>

static const struct {
    const char *service, *text, *remark;
} rules[] = {
    {"keychain", "(allow mach-lookup (global-name \"com.apple.SecurityServer\" \"com.apple.securityd.xpc\"))",
     "keychain"},
    {"trustd",
     "(allow mach-lookup (global-name \"com.apple.trustd\" \"com.apple.trustd.agent\" \"com.apple.ocspd\" "
     "\"com.apple.SecurityServer\"))",
     "trustd"},
    {"pty", "(allow pseudo-tty)", "pty"},
    {"pty",
     "(allow file-read* file-read-data file-read-metadata file-write* file-write-data file-ioctl (literal "
     "\"/dev/ptmx\"))",
     "pty"},
    {"pty",
     "(allow file-read* file-read-data file-read-metadata file-write* file-write-data file-write-mode "
     "file-write-owner "
     "file-ioctl\n  (require-all (regex \"^/dev/ttys[0-9]+$\") (extension \"com.apple.sandbox.pty\")))",
     "pty: the extension is that of a terminal which this sandbox made itself"},
};

/* Where launchd puts the agent's socket; its name differs from login to login. */
static const char agent[] = "(allow " SOCKET_OPERATIONS
                            "\n  (regex \"^/private/tmp/com\\\\.apple\\\\.launchd\\\\.[^/]+/Listeners$\")\n"
                            "  (regex \"^/private/var/run/com\\\\.apple\\\\.launchd\\\\.[^/]+/Listeners$\"))";

/* With its variable the one socket is known, and a rule names it. */
static bool opens_agent(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->bindings.environment_count; i++)
        if (strcmp(bound->bindings.environment[i].name, "SSH_AUTH_SOCK") == 0)
            return false;
    return !bound->bindings.environment_known && bound_service(bound, "ssh-agent");
}

bool services_open_sockets(const struct bound_policy *bound)
{
    return opens_agent(bound);
}

void profile_services(struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    bool any = opens_agent(bound);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        any = any || bound_service(bound, rules[i].service);
    if (!any)
        return;
    profile_comment(profile,
                    "Services that the policy grants. Their files and sockets are among the rules below.");
    if (opens_agent(bound))
        profile_line(profile, agent, "ssh-agent; --env SSH_AUTH_SOCK=PATH would name the one socket");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (bound_service(bound, rules[i].service))
            profile_line(profile, rules[i].text, rules[i].remark);
}
