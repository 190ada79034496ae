#include "policy/network.h"

#include "base/vector.h"
#include "policy/index.h"

#include <string.h>

enum { KEY_BYTES = 17, PREFIXES = 129 };

/* Host rules by their name or, for "*.NAME", by NAME in `below` ("" for "*"); address rules by prefix
 * length and prefix; the others one by one. */
struct network_index {
    struct name_map *exact, *below, *prefixes;
    bool prefix_used[PREFIXES];
    struct rule_numbers classes;
};

/* ---- names ---- */

static size_t name_length(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '.' ? length - 1 : length;
}

static char lower(char byte)
{
    return (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
}

static bool same_name(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static bool ends_with(const char *name, size_t length, const char *end, size_t end_length)
{
    return length >= end_length && same_name(name + length - end_length, end, end_length);
}

bool network_host_covers(const char *pattern, const char *name)
{
    size_t length = name_length(name), pattern_length = name_length(pattern);
    if (strcmp(pattern, "*") == 0)
        return true;
    if (pattern[0] == '*')
        return length > pattern_length - 1 && ends_with(name, length, pattern + 1, pattern_length - 1);
    return length == pattern_length && same_name(name, pattern, length);
}

bool network_name_is_local(const char *name)
{
    return network_host_covers("localhost", name) || network_host_covers("*.localhost", name);
}

/* ---- building ---- */

/* The prefix length and as many bits of `address`. */
static void write_prefix_key(char key[KEY_BYTES], const uint8_t address[16], uint8_t prefix)
{
    memset(key, 0, KEY_BYTES);
    key[0] = (char)prefix;
    memcpy(key + 1, address, prefix / 8);
    if (prefix % 8 != 0)
        key[1 + prefix / 8] = (char)(address[prefix / 8] & (0xFF << (8 - prefix % 8)));
}

static void add_rule(const struct bound_policy *bound, struct network_index *index, uint32_t number)
{
    const struct network *network = bound->rules.items[number].rule->network;
    if (network == NULL)
        return;
    if (network->target == NETWORK_HOST && network->host[0] == '*') {
        const char *parent = network->host + (network->host[1] == '.' ? 2 : 1);
        name_map_add(index->below, parent, name_length(parent), number);
    } else if (network->target == NETWORK_HOST) {
        name_map_add(index->exact, network->host, name_length(network->host), number);
    } else if (network->target == NETWORK_ADDRESS) {
        char *key = arena_alloc(bound->arena, KEY_BYTES);
        write_prefix_key(key, network->address, network->prefix);
        name_map_add(index->prefixes, key, KEY_BYTES, number);
        index->prefix_used[network->prefix] = true;
    } else {
        VECTOR_PUSH(bound->arena, &index->classes, number);
    }
}

struct network_index *network_index_build(const struct bound_policy *bound)
{
    static const enum rule_kind kinds[] = {RULE_GRANT_NETWORK, RULE_DENY_NETWORK, RULE_LIMIT_NETWORK};
    struct network_index *index = arena_alloc(bound->arena, sizeof *index);
    index->exact = name_map_create(bound->arena, true);
    index->below = name_map_create(bound->arena, true);
    index->prefixes = name_map_create(bound->arena, false);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct rule_numbers *rules = &bound->index->kinds[kinds[i]];
        for (uint32_t at = 0; at < rules->count; at++)
            add_rule(bound, index, rules->items[at]);
    }
    return index;
}

/* ---- visiting ---- */

struct visit {
    const struct bound_policy *bound;
    const struct endpoint *endpoint;
    const uint8_t *raw;
    network_visitor *call;
    void *context;
};

static bool port_covered(const struct network *network, uint16_t port, uint8_t protocol)
{
    if ((network->protocols & protocol) == 0)
        return false;
    uint32_t low = 0, high = network->port_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (network->ports[middle].high < port)
            low = middle + 1;
        else
            high = middle;
    }
    return low < network->port_count && network->ports[low].low <= port;
}

static void call_if_port(const struct visit *visit, const struct bound_rule *rule, unsigned cover)
{
    if (cover != 0 && port_covered(rule->rule->network, visit->endpoint->port, visit->endpoint->protocol))
        visit->call(visit->context, rule, cover);
}

static void visit_chain(const struct visit *visit, const struct name_map *map, const char *key, size_t length,
                        bool denies_only, unsigned cover)
{
    for (uint32_t link = name_map_find(map, key, length); link != 0; link = name_map_next(map, link)) {
        const struct bound_rule *rule = &visit->bound->rules.items[name_map_rule(map, link)];
        if (!denies_only || rule->rule->kind == RULE_DENY_NETWORK)
            call_if_port(visit, rule, cover);
    }
}

static void visit_hosts(const struct visit *visit)
{
    const struct network_index *index = visit->bound->index->network;
    const char *name = visit->endpoint->name;
    size_t length = name_length(name);
    visit_chain(visit, index->exact, name, length, false, COVER_NAME);
    for (size_t at = 0; at < length; at++) {
        if (name[at] != '.' || at + 1 == length)
            continue;
        /* A denied host also denies all below it. */
        visit_chain(visit, index->exact, name + at + 1, length - at - 1, true, COVER_NAME);
        visit_chain(visit, index->below, name + at + 1, length - at - 1, false, COVER_NAME);
    }
    visit_chain(visit, index->below, "", 0, false, COVER_NAME);
}

static void visit_prefixes_of(const struct visit *visit, const uint8_t address[16], bool denies_only)
{
    const struct network_index *index = visit->bound->index->network;
    for (unsigned prefix = 0; prefix < PREFIXES; prefix++) {
        if (!index->prefix_used[prefix])
            continue;
        char key[KEY_BYTES];
        write_prefix_key(key, address, (uint8_t)prefix);
        if (address_in(address, (const uint8_t *)key + 1, (uint8_t)prefix))
            visit_chain(visit, index->prefixes, key, sizeof key, denies_only, COVER_ADDRESS);
    }
}

/* A name without address: which address rules could hold what it resolves to. */
static void visit_possible_prefixes(const struct visit *visit)
{
    static const uint8_t loopback4[16] = {[10] = 0xFF, 0xFF, 127, 0, 0, 1}, loopback6[16] = {[15] = 1};
    static const enum rule_kind kinds[] = {RULE_GRANT_NETWORK, RULE_DENY_NETWORK, RULE_LIMIT_NETWORK};
    bool local = network_name_is_local(visit->endpoint->name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct rule_numbers *rules = &visit->bound->index->kinds[kinds[i]];
        for (uint32_t at = 0; at < rules->count; at++) {
            const struct bound_rule *rule = &visit->bound->rules.items[rules->items[at]];
            const struct network *network = rule->rule->network;
            if (network == NULL || network->target != NETWORK_ADDRESS)
                continue;
            bool likely = local ? address_in(loopback4, network->address, network->prefix) ||
                                      address_in(loopback6, network->address, network->prefix)
                                : address_reaches_internet(network->address, network->prefix);
            call_if_port(visit, rule, likely ? COVER_POSSIBLE : COVER_UNLIKELY);
        }
    }
}

static unsigned class_cover(enum network_target target, const struct endpoint *endpoint, bool denies)
{
    bool local = endpoint->name != NULL && network_name_is_local(endpoint->name);
    bool internet_assumed = !endpoint->has_address && !local;
    enum address_class class = endpoint->has_address ? address_class(endpoint->address)
                               : local               ? ADDRESS_LOOPBACK
                                                     : ADDRESS_INTERNET;
    switch (target) {
    case NETWORK_LOOPBACK:
        /* A local name that led elsewhere is still denied by `deny network loopback`, but opened by no
         * grant. */
        if (class == ADDRESS_LOOPBACK)
            return local ? COVER_NAME | COVER_ADDRESS : COVER_ADDRESS;
        return local && denies ? COVER_NAME : internet_assumed ? COVER_UNLIKELY : 0;
    case NETWORK_LAN:
        return class == ADDRESS_LAN ? COVER_ADDRESS : internet_assumed ? COVER_UNLIKELY : 0;
    case NETWORK_INTERNET:
        return class != ADDRESS_INTERNET ? 0 : internet_assumed ? COVER_ASSUMED : COVER_ADDRESS;
    case NETWORK_ANY:
        return COVER_NAME | COVER_ADDRESS;
    case NETWORK_HOST:
    case NETWORK_ADDRESS:
        break;
    }
    return 0;
}

void network_visit_rules(const struct bound_policy *bound, const struct endpoint *endpoint,
                         const uint8_t *raw, network_visitor *call, void *context)
{
    const struct visit visit = {bound, endpoint, raw, call, context};
    const struct rule_numbers *classes = &bound->index->network->classes;
    if (endpoint->name != NULL)
        visit_hosts(&visit);
    if (endpoint->has_address)
        visit_prefixes_of(&visit, endpoint->address, false);
    else
        visit_possible_prefixes(&visit);
    /* Whoever denies the outer form of an address means that, too. */
    if (endpoint->has_address && raw != NULL && memcmp(raw, endpoint->address, 16) != 0)
        visit_prefixes_of(&visit, raw, true);
    for (uint32_t i = 0; i < classes->count; i++) {
        const struct bound_rule *rule = &bound->rules.items[classes->items[i]];
        bool denies = rule->rule->kind == RULE_DENY_NETWORK;
        call_if_port(&visit, rule, class_cover(rule->rule->network->target, endpoint, denies));
    }
}

uint32_t network_endpoints(const struct endpoint *endpoint, struct endpoint split[ADDRESS_MEANINGS])
{
    struct endpoint one = *endpoint;
    uint8_t meanings[ADDRESS_MEANINGS][16];
    if (one.name != NULL && !one.has_address && address_read(one.name, one.address)) {
        one.has_address = true;
        one.name = NULL;
    }
    split[0] = one;
    if (!one.has_address)
        return 1;
    uint32_t count = address_meanings(one.address, meanings);
    for (uint32_t i = 0; i < count; i++) {
        split[i] = one;
        memcpy(split[i].address, meanings[i], sizeof one.address);
    }
    return count;
}

/* ---- connections ---- */

struct connection {
    unsigned denied, granted; /* how, of all rules together */
    uint32_t layer;           /* whose list is looked at */
    unsigned listed;
};

static void gather(void *context, const struct bound_rule *rule, unsigned cover)
{
    struct connection *connection = context;
    if (rule->rule->kind == RULE_DENY_NETWORK)
        connection->denied |= cover;
    else if (rule->rule->kind == RULE_GRANT_NETWORK)
        connection->granted |= cover;
    else if (rule->rule->layer == connection->layer)
        connection->listed |= cover;
}

enum { COVER_SURELY = COVER_NAME | COVER_ADDRESS | COVER_ASSUMED };

/* What the lists of managed layers leave. */
static enum verdict listed(const struct bound_policy *bound, const struct endpoint *endpoint)
{
    enum verdict verdict = VERDICT_ALLOW;
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++) {
        struct connection connection = {.layer = layer};
        if (bound->index->layers[layer].has[RULE_LIMIT_NETWORK] == 0)
            continue;
        network_visit_rules(bound, endpoint, NULL, gather, &connection);
        if ((connection.listed & COVER_SURELY) != 0)
            continue;
        if ((connection.listed & COVER_POSSIBLE) == 0)
            return VERDICT_DENY;
        verdict = VERDICT_DEPENDS;
    }
    return verdict;
}

/* A granted name that leads to a loopback or lan address needs a grant of that address too. */
static enum verdict granted(const struct connection *connection, const struct endpoint *endpoint)
{
    bool local = endpoint->name != NULL && network_name_is_local(endpoint->name);
    enum address_class class = endpoint->has_address ? address_class(endpoint->address)
                               : local               ? ADDRESS_LOOPBACK
                                                     : ADDRESS_INTERNET;
    bool near = class == ADDRESS_LOOPBACK || class == ADDRESS_LAN;
    unsigned how = connection->granted;
    if ((how & COVER_ADDRESS) != 0 || (!near && (how & COVER_NAME) != 0))
        return VERDICT_ALLOW;
    bool possible = (how & (COVER_ASSUMED | COVER_POSSIBLE | COVER_UNLIKELY)) != 0;
    return !endpoint->has_address && possible ? VERDICT_DEPENDS : VERDICT_DENY;
}

static enum verdict connect_one(const struct bound_policy *bound, const struct endpoint *endpoint,
                                const uint8_t *raw)
{
    struct connection connection = {.layer = UINT32_MAX};
    network_visit_rules(bound, endpoint, raw, gather, &connection);
    enum verdict by_grant = granted(&connection, endpoint), by_list = listed(bound, endpoint);
    if ((connection.denied & COVER_SURELY) != 0 || by_grant == VERDICT_DENY || by_list == VERDICT_DENY)
        return VERDICT_DENY;
    bool sure =
        by_grant == VERDICT_ALLOW && by_list == VERDICT_ALLOW && (connection.denied & COVER_POSSIBLE) == 0;
    return sure ? VERDICT_ALLOW : VERDICT_DEPENDS;
}

enum verdict bound_connect(const struct bound_policy *bound, const struct endpoint *endpoint)
{
    struct endpoint split[ADDRESS_MEANINGS];
    uint32_t count = network_endpoints(endpoint, split);
    bool one_protocol = endpoint->protocol == PROTOCOL_BIT_TCP || endpoint->protocol == PROTOCOL_BIT_UDP;
    enum verdict verdict = VERDICT_ALLOW;
    if (endpoint->port == 0 || !one_protocol || (!split[0].has_address && split[0].name == NULL))
        return VERDICT_DENY;
    for (uint32_t i = 0; i < count && verdict != VERDICT_DENY; i++) {
        enum verdict one = connect_one(bound, &split[i], endpoint->has_address ? endpoint->address : NULL);
        if (one != VERDICT_ALLOW)
            verdict = one;
    }
    return verdict;
}

/* ---- listening ---- */

enum listening { LISTEN_LOOPBACK, LISTEN_EVERYWHERE, LISTEN_OUTSIDE };

/* 0.0.0.0 and :: are where everyone can reach, the host's loopback included. */
static enum listening listening_of(const struct endpoint *endpoint)
{
    static const uint8_t any6[16] = {0}, any4[16] = {[10] = 0xFF, [11] = 0xFF};
    struct endpoint split[ADDRESS_MEANINGS];
    network_endpoints(endpoint, split);
    if (!split[0].has_address)
        return split[0].name != NULL && network_name_is_local(split[0].name) ? LISTEN_LOOPBACK
                                                                             : LISTEN_OUTSIDE;
    if (memcmp(split[0].address, any6, 16) == 0 || memcmp(split[0].address, any4, 16) == 0)
        return LISTEN_EVERYWHERE;
    return address_class(split[0].address) == ADDRESS_LOOPBACK ? LISTEN_LOOPBACK : LISTEN_OUTSIDE;
}

bool network_listens_locally(const struct endpoint *endpoint)
{
    return listening_of(endpoint) == LISTEN_LOOPBACK;
}

void network_visit_listen(const struct bound_policy *bound, const struct endpoint *endpoint,
                          network_visitor *call, void *context)
{
    static const enum rule_kind kinds[] = {RULE_GRANT_LISTEN, RULE_DENY_LISTEN};
    const struct visit visit = {bound, endpoint, NULL, call, context};
    enum listening where = listening_of(endpoint);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct rule_numbers *rules = &bound->index->kinds[kinds[i]];
        for (uint32_t at = 0; at < rules->count; at++) {
            const struct bound_rule *rule = &bound->rules.items[rules->items[at]];
            bool any = rule->rule->network->target == NETWORK_ANY;
            bool denied = kinds[i] == RULE_DENY_LISTEN && where == LISTEN_EVERYWHERE;
            if (any || where == LISTEN_LOOPBACK || denied)
                call_if_port(&visit, rule, COVER_ADDRESS);
        }
    }
}

static void gather_listen(void *context, const struct bound_rule *rule, unsigned cover)
{
    struct connection *connection = context;
    if (rule->rule->kind == RULE_DENY_LISTEN)
        connection->denied |= cover;
    else
        connection->granted |= cover;
}

bool bound_listen(const struct bound_policy *bound, const struct endpoint *endpoint)
{
    struct connection connection = {0};
    network_visit_listen(bound, endpoint, gather_listen, &connection);
    return endpoint->port != 0 && connection.denied == 0 && connection.granted != 0;
}
