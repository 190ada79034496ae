#include "emitters/seatbelt_network.h"

#include "base/vector.h"
#include "emitters/control_need.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_LIMIT = 4096, PORT_LAST = UINT16_MAX };

/* Ports between two edges are decided alike. */
struct edges {
    uint32_t *items;
    uint32_t count, capacity;
};

static int compare_ports(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool about_network(enum rule_kind kind)
{
    return kind == RULE_GRANT_NETWORK || kind == RULE_DENY_NETWORK || kind == RULE_LIMIT_NETWORK;
}

static bool about_listen(enum rule_kind kind)
{
    return kind == RULE_GRANT_LISTEN || kind == RULE_DENY_LISTEN;
}

/* The first port of each stretch, and one behind the last port. */
static struct edges edges_of(const struct bound_policy *bound, bool (*about)(enum rule_kind))
{
    struct edges edges = {0};
    uint32_t kept = 0;
    VECTOR_PUSH(bound->arena, &edges, 1);
    VECTOR_PUSH(bound->arena, &edges, PORT_LAST + 1);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (!about(rule->kind) || rule->network == NULL)
            continue;
        for (uint32_t j = 0; j < rule->network->port_count; j++) {
            VECTOR_PUSH(bound->arena, &edges, rule->network->ports[j].low);
            VECTOR_PUSH(bound->arena, &edges, rule->network->ports[j].high + 1U);
        }
    }
    qsort(edges.items, edges.count, sizeof *edges.items, compare_ports);
    for (uint32_t i = 0; i < edges.count; i++)
        if (kept == 0 || edges.items[kept - 1] != edges.items[i])
            edges.items[kept++] = edges.items[i];
    edges.count = kept;
    return edges;
}

/* ---- decisions ---- */

static const uint8_t loopback_addresses[][16] = {
    {[10] = 0xff, 0xff, 127, 0, 0, 1}, {[15] = 1}, {[10] = 0xff, 0xff, 0, 0, 0, 0}};
static const uint8_t other_addresses[][16] = {{[10] = 0xff, 0xff, 8, 8, 8, 8},
                                              {[10] = 0xff, 0xff, 192, 168, 0, 1},
                                              {0x26, 0x06, 0x47, [15] = 1},
                                              {[10] = 0xff, 0xff, 224, 0, 0, 1}};
enum { LOOPBACKS = sizeof loopback_addresses / 16, OTHERS = sizeof other_addresses / 16 };

static bool connects(const struct bound_policy *bound, const uint8_t address[16], uint32_t port,
                     uint8_t protocol)
{
    struct endpoint endpoint = {.has_address = true, .port = (uint16_t)port, .protocol = protocol};
    memcpy(endpoint.address, address, sizeof endpoint.address);
    return bound_connect(bound, &endpoint) == VERDICT_ALLOW;
}

static bool loopback_open(const struct bound_policy *bound, uint32_t port, uint8_t protocol)
{
    struct endpoint named = {.name = "localhost", .port = (uint16_t)port, .protocol = protocol};
    for (size_t i = 0; i < LOOPBACKS; i++)
        if (!connects(bound, loopback_addresses[i], port, protocol))
            return false;
    return bound_connect(bound, &named) == VERDICT_ALLOW;
}

static bool elsewhere_open(const struct bound_policy *bound, uint32_t port, uint8_t protocol)
{
    for (size_t i = 0; i < OTHERS; i++)
        if (!connects(bound, other_addresses[i], port, protocol))
            return false;
    return true;
}

/* Whether each rule speaks of all addresses or of loopback, so that those asked about speak for all. */
static bool is_plain(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (!bound->rules.items[i].dropped && about_network(rule->kind) && rule->network != NULL &&
            rule->network->target != NETWORK_ANY && rule->network->target != NETWORK_LOOPBACK)
            return false;
    }
    return true;
}

bool seatbelt_holds_loopback(const struct bound_policy *bound)
{
    struct edges edges = edges_of(bound, about_network);
    for (uint32_t i = 0; i + 1 < edges.count; i++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++)
            if (elsewhere_open(bound, edges.items[i], protocol) &&
                !loopback_open(bound, edges.items[i], protocol))
                return false;
    return true;
}

bool seatbelt_holds_any(const struct bound_policy *bound)
{
    return is_plain(bound) && seatbelt_holds_loopback(bound);
}

static bool listens(const struct bound_policy *bound, bool anywhere, uint32_t port, uint8_t protocol)
{
    struct endpoint endpoint = {.has_address = true, .port = (uint16_t)port, .protocol = protocol};
    memcpy(endpoint.address, anywhere ? other_addresses[1] : loopback_addresses[0], sizeof endpoint.address);
    return bound_listen(bound, &endpoint);
}

bool seatbelt_holds_listen(const struct bound_policy *bound)
{
    struct edges edges = edges_of(bound, about_listen);
    for (uint32_t i = 0; i + 1 < edges.count; i++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++)
            if (listens(bound, true, edges.items[i], protocol) !=
                listens(bound, false, edges.items[i], protocol))
                return false;
    return true;
}

/* ---- rules ---- */

/* One sort of rule: what is asked of each stretch, and how a port is written. */
struct ports {
    const char *operations, *closes, *side, *host;
    const struct edges *edges;
    const bool *open; /* by stretch, tcp before udp */
    bool alone;       /* no other rule opens ports of the same side, so that a deny takes nothing from one */
};

static uint32_t ports_in(const struct ports *ports, uint8_t protocol)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < ports->edges->count; i++)
        if (ports->open[2 * i + protocol - 1])
            count += ports->edges->items[i + 1] - ports->edges->items[i];
    return count;
}

static void refuse_ports(struct profile *profile, uint32_t count)
{
    profile->failed = true;
    note_add(
        profile->request->notes,
        (struct note){.code = SBX311_TOO_MANY_PORTS,
                      .text = arena_format(profile->arena, "%u single ports are open; a profile takes %d",
                                           count, PORT_LIMIT),
                      .help = "grant a narrower range, or any port"});
}

static void put_port(struct profile *profile, const struct ports *ports, const char *protocol,
                     const char *port)
{
    struct buffer filter = buffer_in(profile->arena);
    buffer_format(&filter, "(%s %s \"%s:%s\")", ports->side, protocol, ports->host, port);
    profile_filter(profile, &filter, NULL, NULL);
}

/* Where most ports are open all are opened, and a deny that follows closes the rest. */
static bool closes_the_rest(const struct ports *ports, uint32_t open)
{
    return ports->alone && open > PORT_LIMIT && open < PORT_LAST && PORT_LAST - open <= PORT_LIMIT;
}

static void put_each(struct profile *profile, const struct ports *ports, uint8_t protocol, const char *name,
                     bool open)
{
    for (uint32_t i = 0; i + 1 < ports->edges->count; i++)
        for (uint32_t port = ports->edges->items[i];
             ports->open[2 * i + protocol - 1] == open && port < ports->edges->items[i + 1]; port++)
            put_port(profile, ports, name, arena_format(profile->arena, "%u", port));
}

static void put_protocol(struct profile *profile, const struct ports *ports, uint8_t protocol,
                         const char *name)
{
    uint32_t count = ports_in(ports, protocol);
    if (count == PORT_LAST) {
        put_port(profile, ports, name, "*");
        return;
    }
    if (closes_the_rest(ports, count)) {
        put_port(profile, ports, name, "*");
        return;
    }
    if (count > PORT_LIMIT) {
        refuse_ports(profile, count);
        return;
    }
    put_each(profile, ports, protocol, name, true);
}

static bool has_any(const bool *open, const struct edges *edges)
{
    for (uint32_t i = 0; i + 1 < edges->count; i++)
        if (open[2 * i] || open[2 * i + 1])
            return true;
    return false;
}

static void put_ports(struct profile *profile, const struct ports *ports, const char *comment)
{
    uint32_t tcp = ports_in(ports, PROTOCOL_BIT_TCP), udp = ports_in(ports, PROTOCOL_BIT_UDP);
    if (tcp == 0 && udp == 0)
        return;
    profile_comment(profile, comment);
    profile_rule_begin(profile, ports->operations);
    put_protocol(profile, ports, PROTOCOL_BIT_TCP, "tcp");
    put_protocol(profile, ports, PROTOCOL_BIT_UDP, "udp");
    profile_rule_end(profile);
    profile_rule_begin(profile, ports->closes);
    if (closes_the_rest(ports, tcp))
        put_each(profile, ports, PROTOCOL_BIT_TCP, "tcp", false);
    if (closes_the_rest(ports, udp))
        put_each(profile, ports, PROTOCOL_BIT_UDP, "udp", false);
    profile_rule_end(profile);
}

/* ---- what is open ---- */

static void put_resolver(struct profile *profile)
{
    profile_comment(profile,
                    "Names are looked up by the system's own resolver, which sends what it is asked into the "
                    "network.");
    profile_line(profile, "(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))", NULL);
    profile_line(profile,
                 "(allow mach-lookup (global-name \"com.apple.SystemConfiguration.DNSConfiguration\" "
                 "\"com.apple.SystemConfiguration.configd\"))",
                 NULL);
    profile_line(
        profile,
        "(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)) (socket-domain "
        "AF_ROUTE))",
        "its state and routes");
    profile_line(profile, "(allow sysctl-read (sysctl-name-prefix \"net.routetable.\"))", NULL);
}

static void put_connections(struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    struct edges edges = edges_of(bound, about_network);
    bool *loopback = arena_array(profile->arena, 2 * (size_t)edges.count, sizeof *loopback);
    bool *everywhere = arena_array(profile->arena, 2 * (size_t)edges.count, sizeof *everywhere);
    bool plain = is_plain(bound), resolves = false;
    for (uint32_t i = 0; i + 1 < edges.count; i++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++) {
            uint32_t at = 2 * i + protocol - 1U, port = edges.items[i];
            bool here = loopback_open(bound, port, protocol);
            everywhere[at] = here && plain && elsewhere_open(bound, port, protocol);
            loopback[at] = here && !everywhere[at];
            resolves = resolves || (everywhere[at] && protocol == PROTOCOL_BIT_UDP && port <= 53 &&
                                    edges.items[i + 1] > 53);
        }
    put_ports(profile,
              &(struct ports){"allow network-outbound", "deny network-outbound", "remote", "*", &edges,
                              everywhere, !has_any(loopback, &edges)},
              "Connections to any host.");
    put_ports(profile,
              &(struct ports){"allow network-outbound", "deny network-outbound", "remote", "localhost",
                              &edges, loopback, !has_any(everywhere, &edges)},
              "Connections to programs on this machine.");
    if (resolves)
        put_resolver(profile);
}

static void put_listening(struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    struct edges edges = edges_of(bound, about_listen);
    bool *loopback = arena_array(profile->arena, 2 * (size_t)edges.count, sizeof *loopback);
    bool *anywhere = arena_array(profile->arena, 2 * (size_t)edges.count, sizeof *anywhere);
    for (uint32_t i = 0; i + 1 < edges.count; i++)
        for (uint8_t protocol = PROTOCOL_BIT_TCP; protocol <= PROTOCOL_BIT_UDP; protocol++) {
            uint32_t at = 2 * i + protocol - 1U;
            bool here = listens(bound, false, edges.items[i], protocol);
            anywhere[at] = here && listens(bound, true, edges.items[i], protocol);
            loopback[at] = here && !anywhere[at];
        }
    put_ports(profile,
              &(struct ports){"allow network-bind network-inbound", "deny network-bind network-inbound",
                              "local", "*", &edges, anywhere, !has_any(loopback, &edges)},
              "Ports at which the command can be reached.");
    put_ports(profile,
              &(struct ports){"allow network-bind network-inbound", "deny network-bind network-inbound",
                              "local", "localhost", &edges, loopback, !has_any(anywhere, &edges)},
              "Ports at which this machine can reach the command. Whoever listens on all addresses can be "
              "reached from\n"
              "elsewhere too, which a profile cannot tell; the policy accepts that.");
}

void profile_network(struct profile *profile)
{
    bool everything = false;
    if (bound_network_open(profile->request->bound, &everything) && everything) {
        profile_comment(profile, "The whole network.");
        profile_line(profile, "(allow network-outbound (remote ip \"*:*\"))", NULL);
        put_resolver(profile);
    } else {
        put_connections(profile);
    }
    put_listening(profile);
}
