#include "emitters/windows_network.h"

#include "base/vector.h"
#include "emitters/control_need.h"
#include "emitters/windows_spec.h"

#include <string.h>

#define IPV4(a, b, c, d)                                                                                     \
    {                                                                                                        \
        [10] = 0xff, 0xff, a, b, c, d                                                                        \
    }

static const uint8_t loopback[][16] = {IPV4(127, 0, 0, 1), {[15] = 1}};
static const uint8_t lan[][16] = {IPV4(10, 0, 0, 1),     IPV4(172, 16, 0, 1),  IPV4(192, 168, 0, 1),
                                  IPV4(100, 64, 0, 1),   IPV4(169, 254, 0, 1), {0xfc, [15] = 1},
                                  {0xfe, 0x80, [15] = 1}};
static const uint8_t internet[][16] = {IPV4(8, 8, 8, 8), {0x26, 0x06, 0x47, [15] = 1}};

/* Bit 0: something is closed; bit 1: something is open. */
enum { SEEN_CLOSED = 1, SEEN_OPEN = 2 };

struct seen {
    unsigned loopback, lan, internet;
};

static unsigned look_at(const struct bound_policy *bound, const uint8_t addresses[][16], size_t count,
                        uint16_t port)
{
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++) {
            struct endpoint endpoint = {.has_address = true, .port = port, .protocol = protocol};
            memcpy(endpoint.address, addresses[i], sizeof endpoint.address);
            seen |= bound_connect(bound, &endpoint) == VERDICT_ALLOW ? SEEN_OPEN : SEEN_CLOSED;
        }
    return seen;
}

static void look_at_port(const struct bound_policy *bound, uint32_t port, struct seen *seen)
{
    if (port < 1 || port > UINT16_MAX)
        return;
    seen->loopback |= look_at(bound, loopback, sizeof loopback / 16, (uint16_t)port);
    seen->lan |= look_at(bound, lan, sizeof lan / 16, (uint16_t)port);
    seen->internet |= look_at(bound, internet, sizeof internet / 16, (uint16_t)port);
}

static bool about_network(enum rule_kind kind)
{
    return kind == RULE_GRANT_NETWORK || kind == RULE_DENY_NETWORK || kind == RULE_LIMIT_NETWORK;
}

/* Looks at the edges of every rule's ports, between which nothing changes. False if a rule speaks of names or of
 * single addresses. */
static bool look(const struct bound_policy *bound, struct seen *seen)
{
    look_at_port(bound, 1, seen);
    look_at_port(bound, UINT16_MAX, seen);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (bound->rules.items[i].dropped || !about_network(rule->kind) || rule->network == NULL)
            continue;
        if (rule->network->target == NETWORK_HOST || rule->network->target == NETWORK_ADDRESS)
            return false;
        for (uint32_t j = 0; j < rule->network->port_count; j++) {
            look_at_port(bound, rule->network->ports[j].low, seen);
            look_at_port(bound, rule->network->ports[j].high, seen);
            look_at_port(bound, rule->network->ports[j].low - 1U, seen);
            look_at_port(bound, rule->network->ports[j].high + 1U, seen);
        }
    }
    return true;
}

enum windows_network windows_network_of(const struct bound_policy *bound)
{
    struct seen seen = {0};
    enum left listen = listen_left(bound);
    if (!bound_network_open(bound, NULL))
        return listen == LEFT_NOTHING ? WINDOWS_NETWORK_CLOSED : WINDOWS_NETWORK_OTHER;
    if (!look(bound, &seen) || seen.internet != SEEN_OPEN)
        return WINDOWS_NETWORK_OTHER;
    if (seen.lan == SEEN_CLOSED && seen.loopback == SEEN_CLOSED && listen == LEFT_NOTHING)
        return WINDOWS_NETWORK_INTERNET;
    /* The host's loopback stays closed to an AppContainer, so only a policy that opens everything may name it. */
    bool local = seen.loopback == SEEN_CLOSED || network_is_shared(bound);
    return seen.lan == SEEN_OPEN && local && listen == LEFT_EVERYTHING ? WINDOWS_NETWORK_ALL
                                                                       : WINDOWS_NETWORK_OTHER;
}

unsigned windows_network_capabilities(const struct bound_policy *bound)
{
    enum windows_network network = windows_network_of(bound);
    unsigned both = WINDOWS_INTERNET_CLIENT | WINDOWS_PRIVATE_NETWORK;
    if (network == WINDOWS_NETWORK_ALL)
        return both | WINDOWS_INTERNET_CLIENT_SERVER;
    if (network_is_shared(bound))
        return both;
    return network == WINDOWS_NETWORK_INTERNET ? WINDOWS_INTERNET_CLIENT : 0;
}
