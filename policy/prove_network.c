#include "policy/prove.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/address.h"
#include "policy/network.h"
#include "policy/prove_table.h"

#include <string.h>

/* Host rules by name, all others one after the other; a connection that is allowed is held against each. */

struct rule_list {
    const struct rule **items;
    uint32_t count, capacity;
};

/* Host rules by their host. */
struct host_rules {
    struct prove_table *table;
    struct rule_list *items; /* by number in the table */
    uint32_t count, capacity;
};

/* What denies, or what the list of one layer has. */
struct rule_set {
    struct host_rules hosts;
    struct rule_list others;
};

struct prover {
    struct arena *arena;
    const struct bound_policy *bound;
    const struct prove_rules *rules;
    struct rule_set denies, *lists; /* lists: of each layer */
    bool *limited;                  /* of each layer */
};

static uint64_t hash_host(const char *host)
{
    return prove_hash_add(prove_hash_start(), host, strlen(host));
}

static void add_rule(struct prover *prover, struct rule_set *set, const struct rule *rule)
{
    const char *host = rule->network->host;
    if (rule->network->target != NETWORK_HOST) {
        VECTOR_PUSH(prover->arena, &set->others, rule);
        return;
    }
    uint32_t number = prove_table_put(set->hosts.table, 0, host, strlen(host), hash_host(host));
    if (set->hosts.count <= number)
        VECTOR_PUSH(prover->arena, &set->hosts, (struct rule_list){0});
    VECTOR_PUSH(prover->arena, &set->hosts.items[number], rule);
}

static void collect(struct prover *prover)
{
    for (uint32_t i = 0; i < prover->rules->count; i++) {
        const struct bound_rule *bound_rule = prover->rules->items[i];
        enum rule_kind kind = bound_rule->rule->kind;
        if (kind == RULE_LIMIT_NETWORK)
            prover->limited[bound_rule->rule->layer] = true;
        if (bound_rule->dropped || bound_rule->rule->nothing)
            continue;
        if (kind == RULE_DENY_NETWORK)
            add_rule(prover, &prover->denies, bound_rule->rule);
        else if (kind == RULE_LIMIT_NETWORK)
            add_rule(prover, &prover->lists[bound_rule->rule->layer], bound_rule->rule);
    }
}

static bool has_port(const struct network *network, const struct endpoint *endpoint)
{
    bool in_range = false;
    for (uint32_t i = 0; i < network->port_count; i++)
        in_range =
            in_range || (network->ports[i].low <= endpoint->port && endpoint->port <= network->ports[i].high);
    return in_range && (network->protocols & endpoint->protocol) != 0;
}

static bool has_host(const struct host_rules *hosts, const char *host, const struct endpoint *endpoint)
{
    uint32_t number = prove_table_get(hosts->table, 0, host, strlen(host), hash_host(host));
    for (uint32_t i = 0; number != PROVE_NONE && i < hosts->items[number].count; i++)
        if (has_port(hosts->items[number].items[i]->network, endpoint))
            return true;
    return false;
}

/* Whether a host rule covers the name: itself, "*." and what stands behind any of its dots, or "*"; a
 * denied host (`below`) also denies all below it. */
static bool has_name(const struct prover *prover, const struct host_rules *hosts,
                     const struct endpoint *endpoint, bool below)
{
    if (endpoint->name == NULL)
        return false;
    if (has_host(hosts, endpoint->name, endpoint) || has_host(hosts, "*", endpoint))
        return true;
    for (const char *dot = strchr(endpoint->name, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
        if (has_host(hosts, arena_format(prover->arena, "*%s", dot), endpoint) ||
            (below && has_host(hosts, dot + 1, endpoint)))
            return true;
    return false;
}

/* Without an address the name is taken to lead to the internet, or home if it is local. */
static bool target_has(const struct network *network, const struct endpoint *endpoint)
{
    bool local = endpoint->name != NULL && network_name_is_local(endpoint->name);
    enum address_class class = endpoint->has_address ? address_class(endpoint->address)
                               : local               ? ADDRESS_LOOPBACK
                                                     : ADDRESS_INTERNET;
    switch (network->target) {
    case NETWORK_ANY:
        return true;
    case NETWORK_LOOPBACK:
        return class == ADDRESS_LOOPBACK;
    case NETWORK_LAN:
        return class == ADDRESS_LAN;
    case NETWORK_INTERNET:
        return class == ADDRESS_INTERNET;
    case NETWORK_ADDRESS:
        return endpoint->has_address && address_in(endpoint->address, network->address, network->prefix);
    case NETWORK_HOST:
        break;
    }
    return false;
}

static bool list_has(const struct rule_list *list, const struct endpoint *endpoint)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (target_has(list->items[i]->network, endpoint) && has_port(list->items[i]->network, endpoint))
            return true;
    return false;
}

static const char *check(const struct prover *prover, const struct endpoint *endpoint)
{
    const char *asked = endpoint->name != NULL ? endpoint->name : "an address";
    if (bound_connect(prover->bound, endpoint) != VERDICT_ALLOW)
        return NULL;
    if (has_name(prover, &prover->denies.hosts, endpoint, true) || list_has(&prover->denies.others, endpoint))
        return arena_format(prover->arena, "a connection to %s, port %u, is open although it is denied",
                            escape_string(prover->arena, asked), endpoint->port);
    for (uint32_t layer = 0; layer < prover->bound->policy->layer_count; layer++)
        if (prover->limited[layer] && !has_name(prover, &prover->lists[layer].hosts, endpoint, false) &&
            !list_has(&prover->lists[layer].others, endpoint))
            return arena_format(prover->arena,
                                "a connection to %s, port %u, is more than layer \"%s\" allows",
                                escape_string(prover->arena, asked), endpoint->port,
                                prover->bound->policy->layers[layer].name);
    return NULL;
}

/* At both ends of each port range, by each protocol. */
static const char *check_ports(const struct prover *prover, const struct network *network,
                               struct endpoint endpoint)
{
    const char *wrong = NULL;
    for (uint32_t i = 0; i < 4 * network->port_count && wrong == NULL; i++) {
        const struct port_range *range = &network->ports[i / 4];
        endpoint.port = i % 2 == 0 ? range->low : range->high;
        endpoint.protocol = i % 4 < 2 ? PROTOCOL_BIT_TCP : PROTOCOL_BIT_UDP;
        if ((network->protocols & endpoint.protocol) != 0)
            wrong = check(prover, &endpoint);
    }
    return wrong;
}

static struct endpoint at_address(const char *text)
{
    struct endpoint endpoint = {.has_address = true};
    address_read(text, endpoint.address);
    return endpoint;
}

/* Connections that a grant opens, if nothing closes them. */
static uint32_t witnesses(struct arena *arena, const struct network *network, struct endpoint found[4])
{
    struct endpoint internet = at_address("9.9.9.9");
    uint32_t count = 0;
    switch (network->target) {
    case NETWORK_HOST:
        found[count++].name =
            network->host[0] == '*' ? arena_format(arena, "new%s", network->host + 1) : network->host;
        found[count] = internet;
        found[count++].name = found[0].name;
        return count;
    case NETWORK_ADDRESS:
        found[0].has_address = true;
        memcpy(found[0].address, network->address, sizeof network->address);
        return 1;
    case NETWORK_ANY:
        found[count++] = internet;
        found[count++].name = "new.example";
        found[count++] = at_address("192.168.0.1");
        found[count++] = at_address("::1");
        return count;
    case NETWORK_LOOPBACK:
        found[count++] = at_address("127.0.0.1");
        found[count++].name = "localhost";
        return count;
    case NETWORK_LAN:
        found[0] = at_address("10.0.0.1");
        return 1;
    case NETWORK_INTERNET:
        found[0] = internet;
        return 1;
    }
    return 0;
}

const char *prove_network(struct arena *arena, const struct bound_policy *bound,
                          const struct prove_rules *rules)
{
    uint32_t layers = bound->policy->layer_count;
    struct prover prover = {
        .arena = arena,
        .bound = bound,
        .rules = rules,
        .denies.hosts.table = prove_table_create(arena, 0),
        .lists = arena_array(arena, layers, sizeof *prover.lists),
        .limited = arena_array(arena, layers, sizeof *prover.limited),
    };
    for (uint32_t layer = 0; layer < layers; layer++)
        prover.lists[layer].hosts.table = prove_table_create(arena, 0);
    collect(&prover);
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rule *rule = rules->items[i]->rule;
        struct endpoint found[4] = {0};
        if (rule->kind != RULE_GRANT_NETWORK || rules->items[i]->dropped)
            continue;
        uint32_t count = witnesses(arena, rule->network, found);
        for (uint32_t at = 0; at < count; at++) {
            const char *wrong = check_ports(&prover, rule->network, found[at]);
            if (wrong != NULL)
                return wrong;
        }
    }
    return NULL;
}
