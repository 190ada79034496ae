#include "emitters/control_need.h"

#include <string.h>

/* Whether `a` comes before `b`: by layer, then where it was written. */
static bool rule_before(const struct rule *a, const struct rule *b)
{
    if (a->layer != b->layer)
        return a->layer < b->layer;
    if (a->origin.source != b->origin.source)
        return a->origin.source < b->origin.source;
    if (a->origin.line != b->origin.line)
        return a->origin.line < b->origin.line;
    return a->origin.column < b->origin.column;
}

static void need_rule(struct control_need *need, const struct rule *rule)
{
    need->needed = true;
    if (need->rule == NULL || rule_before(rule, need->rule))
        need->rule = rule;
    if (rule->layer != 0 && (need->managed == NULL || rule_before(rule, need->managed)))
        need->managed = rule;
}

/* Whether the command could create, replace or remove what is at `path`, were it not for a rule there. */
static bool in_writable_area(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash != path && bound_level(bound, path, (size_t)(slash - path)) == LEVEL_WRITE;
}

static void need_paths(const struct bound_policy *bound, const struct bound_rule *rule,
                       struct control_need needs[CONTROLS])
{
    const char *path = rule->at.path;
    if (rule->rule->kind == RULE_DENY && rule->at.pattern) {
        need_rule(&needs[CONTROL_FS_DENY_PATTERN], rule->rule);
        return;
    }
    if (rule->rule->kind == RULE_DENY)
        need_rule(&needs[CONTROL_FS_DENY], rule->rule);
    /* A grant that lowers what surrounds it must hold like a deny where its path is missing (language.md 7).
     */
    if (!rule->itself && in_writable_area(bound, path) &&
        bound_level(bound, path, strlen(path)) < LEVEL_WRITE)
        need_rule(&needs[CONTROL_FS_DENY_MISSING], rule->rule);
}

static enum control network_control(const struct network *network)
{
    if (network->target == NETWORK_HOST)
        return CONTROL_NET_HOST;
    return network->target == NETWORK_LOOPBACK ? CONTROL_NET_LOOPBACK : CONTROL_NET_ADDRESS;
}

static void need_service(const struct bound_policy *bound, const struct rule *rule,
                         struct control_need needs[CONTROLS])
{
    if (!bound_service(bound, rule->name))
        return;
    for (int i = 0; service_names[i] != NULL; i++)
        if (strcmp(service_names[i], rule->name) == 0)
            need_rule(&needs[CONTROL_SERVICE_SSH_AGENT + i], rule);
}

bool bound_rule_opens_socket(const struct bound_policy *bound, const struct bound_rule *rule)
{
    return rule->rule->kind == RULE_GRANT_SOCKET && !rule->dropped &&
           bound_socket(bound, rule->at.path, strlen(rule->at.path));
}

bool policy_grants_socket(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound_rule_opens_socket(bound, &bound->rules.items[i]))
            return true;
    return false;
}

bool policy_opens_unix_sockets(const struct bound_policy *bound)
{
    return bound_scratch(bound) || policy_grants_socket(bound);
}

/* Adds to `seen` (bit 0: something is closed, bit 1: something is open) what holds on `port`. */
static unsigned listen_at(const struct bound_policy *bound, uint32_t port)
{
    static const uint8_t addresses[2][16] = {{[10] = 0xff, [11] = 0xff, 127, 0, 0, 1},
                                             {[10] = 0xff, [11] = 0xff, 192, 168, 0, 1}};
    unsigned seen = 0;
    if (port < 1 || port > UINT16_MAX)
        return seen;
    for (int address = 0; address < 2; address++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++) {
            struct endpoint endpoint = {.has_address = true, .port = (uint16_t)port, .protocol = protocol};
            memcpy(endpoint.address, addresses[address], sizeof endpoint.address);
            seen |= bound_listen(bound, &endpoint) ? 2U : 1U;
        }
    return seen;
}

enum left listen_left(const struct bound_policy *bound)
{
    /* What holds changes only at the edges of some rule's port ranges, so these ports speak for all. */
    unsigned seen = listen_at(bound, 1) | listen_at(bound, UINT16_MAX);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (rule->kind != RULE_GRANT_LISTEN && rule->kind != RULE_DENY_LISTEN)
            continue;
        for (uint32_t j = 0; j < rule->network->port_count; j++) {
            struct port_range range = rule->network->ports[j];
            seen |= listen_at(bound, range.low) | listen_at(bound, range.high) |
                    listen_at(bound, range.low - 1U) | listen_at(bound, range.high + 1U);
        }
    }
    if (seen == 2)
        return LEFT_EVERYTHING;
    return (seen & 2U) != 0 ? LEFT_SOMETHING : LEFT_NOTHING;
}

bool network_is_shared(const struct bound_policy *bound)
{
    bool everything = false;
    return bound_network_open(bound, &everything) && everything;
}

static void need_of_rule(const struct bound_policy *bound, const struct bound_rule *bound_rule,
                         bool network_partly, bool listen_partly, struct control_need needs[CONTROLS])
{
    const struct rule *rule = bound_rule->rule;
    switch (rule->kind) {
    case RULE_GRANT:
    case RULE_DENY:
        need_paths(bound, bound_rule, needs);
        break;
    case RULE_DENY_EXEC:
        need_rule(&needs[CONTROL_EXEC_DENY], rule);
        break;
    case RULE_GRANT_SOCKET:
        need_rule(&needs[CONTROL_SOCKET_PATH], rule);
        break;
    case RULE_GRANT_SCRATCH:
        if (bound_scratch(bound)) {
            need_rule(&needs[CONTROL_SCRATCH], rule);
            need_rule(&needs[CONTROL_SOCKET_PATH], rule);
        }
        break;
    case RULE_LIMIT_READ:
        need_rule(&needs[CONTROL_FS_CLOSED], rule);
        break;
    case RULE_LIMIT_WRITE:
        need_rule(&needs[CONTROL_FS_WRITE], rule);
        break;
    case RULE_GRANT_NETWORK:
    case RULE_DENY_NETWORK:
    case RULE_LIMIT_NETWORK:
        /* What a managed layer closes stays closed, whatever the policy accepts. */
        if (rule->layer != 0 && needs[CONTROL_NET_CLOSED].needed)
            need_rule(&needs[CONTROL_NET_CLOSED], rule);
        /* Between nothing and everything each rule has a part in what is left; a limit's head has no target.
         */
        if (network_partly && rule->network != NULL)
            need_rule(&needs[network_control(rule->network)], rule);
        break;
    case RULE_GRANT_LISTEN:
    case RULE_DENY_LISTEN:
        /* A port that a managed layer closes stays closed, whatever the policy accepts. */
        if (listen_partly || (rule->layer != 0 && needs[CONTROL_LISTEN].needed))
            need_rule(&needs[CONTROL_LISTEN], rule);
        break;
    case RULE_GRANT_SERVICE:
        need_service(bound, rule, needs);
        break;
    case RULE_DENY_SYSCALL:
        need_rule(&needs[CONTROL_SYSCALL], rule);
        break;
    case RULE_LIMIT_PROCESSES:
        need_rule(&needs[CONTROL_LIMIT_PROCESSES], rule);
        break;
    case RULE_LIMIT_FILES:
        need_rule(&needs[CONTROL_LIMIT_FILES], rule);
        break;
    case RULE_LIMIT_MEMORY:
        need_rule(&needs[CONTROL_LIMIT_MEMORY], rule);
        break;
    case RULE_LIMIT_TIME:
        need_rule(&needs[CONTROL_LIMIT_TIME], rule);
        break;
    /* Held by the controls that every policy needs, or by none. */
    case RULE_DENY_SOCKET:
    case RULE_GRANT_ENV:
    case RULE_DENY_ENV:
    case RULE_SET_ENV:
    case RULE_DENY_SERVICE:
    case RULE_GRANT_SYSCALL:
    case RULE_DENY_SCRATCH:
    case RULE_GRANT_BYPASS:
    case RULE_DENY_BYPASS:
    case RULE_LIMIT_SOCKET:
    case RULE_LIMIT_ENV:
    case RULE_LIMIT_SERVICE:
    case RULE_PERMIT_BYPASS:
    case RULE_ACCEPT:
    case RULE_EXPECT:
    case RULE_KINDS:
        break;
    }
}

static bool opens_everything(const struct rule *rule)
{
    return rule->kind == RULE_GRANT_NETWORK && rule->network != NULL && rule->network->target == NETWORK_ANY;
}

void controls_needed(const struct bound_policy *bound, struct control_need needs[CONTROLS])
{
    static const enum control always[] = {
        CONTROL_FS_CLOSED,    CONTROL_FS_WRITE,   CONTROL_ENV,          CONTROL_TTY,
        CONTROL_IPC_ABSTRACT, CONTROL_IPC_SIGNAL, CONTROL_PROCESS_TREE, CONTROL_SYSCALL,
    };
    bool shared = network_is_shared(bound), partly = !shared && bound_network_open(bound, NULL);
    enum left listen = listen_left(bound);

    memset(needs, 0, CONTROLS * sizeof *needs);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        needs[always[i]].needed = true;
    needs[CONTROL_NET_CLOSED].needed = !shared;
    /* With the host's network its ports are in reach too: then also nothing granted is something to hold. */
    needs[CONTROL_LISTEN].needed = shared && listen != LEFT_EVERYTHING;
    bool listen_asked = needs[CONTROL_LISTEN].needed;
    bool listen_partly = listen == LEFT_SOMETHING || (listen == LEFT_EVERYTHING && !shared);
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (!bound->rules.items[i].dropped && listen_asked && opens_everything(bound->rules.items[i].rule))
            need_rule(&needs[CONTROL_LISTEN], bound->rules.items[i].rule);
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (!bound->rules.items[i].dropped)
            need_of_rule(bound, &bound->rules.items[i], partly, listen_partly, needs);
}
