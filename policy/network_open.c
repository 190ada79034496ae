#include "policy/index.h"
#include "policy/network.h"

#include <string.h>

/* Rules as sets of connections: whether one lies whole in the other, or whether they have anything in
 * common. */

static bool ports_within(const struct network *inner, const struct network *outer)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < inner->port_count; i++) {
        while (at < outer->port_count && outer->ports[at].high < inner->ports[i].high)
            at++;
        if (at == outer->port_count || outer->ports[at].low > inner->ports[i].low)
            return false;
    }
    return (inner->protocols & ~outer->protocols) == 0;
}

static bool ports_meet(const struct network *a, const struct network *b)
{
    for (uint32_t i = 0, j = 0; i < a->port_count && j < b->port_count;) {
        if (a->ports[i].low <= b->ports[j].high && b->ports[j].low <= a->ports[i].high)
            return (a->protocols & b->protocols) != 0;
        if (a->ports[i].high < b->ports[j].high)
            i++;
        else
            j++;
    }
    return false;
}

/* A pattern's own name without the star: what every name that it covers ends in. */
static const char *fixed_part(const char *pattern)
{
    return pattern[0] != '*' ? pattern : pattern[1] == '.' ? pattern + 2 : "";
}

static bool name_below(const char *name, const char *parent)
{
    size_t length = strlen(name), end = strlen(parent);
    if (end == 0)
        return true;
    return length > end && name[length - end - 1] == '.' && strcmp(name + length - end, parent) == 0;
}

/* A denied host also denies all below it. */
static bool host_denied_whole(const char *granted, const char *denied)
{
    const char *inner = fixed_part(granted), *outer = fixed_part(denied);
    bool same = strcmp(inner, outer) == 0;
    if (denied[0] == '*')
        return name_below(inner, outer) || (same && granted[0] == '*');
    return same || name_below(inner, outer);
}

static bool hosts_meet(const char *a, const char *b)
{
    if (a[0] == '*' && b[0] == '*')
        return name_below(fixed_part(a), fixed_part(b)) || name_below(fixed_part(b), fixed_part(a)) ||
               strcmp(a, b) == 0;
    return network_host_covers(a, b) || network_host_covers(b, a);
}

static enum network_target class_target(const struct network *network)
{
    switch (address_class(network->address)) {
    case ADDRESS_LOOPBACK:
        return NETWORK_LOOPBACK;
    case ADDRESS_LAN:
        return NETWORK_LAN;
    case ADDRESS_INTERNET:
    case ADDRESS_OTHER:
        break;
    }
    return NETWORK_INTERNET;
}

static bool denied_whole(const struct network *grant, const struct network *deny)
{
    if (!ports_within(grant, deny))
        return false;
    if (deny->target == NETWORK_ANY)
        return true;
    if (grant->target == NETWORK_HOST)
        return deny->target == NETWORK_HOST && host_denied_whole(grant->host, deny->host);
    if (grant->target == NETWORK_ADDRESS && deny->target == NETWORK_ADDRESS)
        return grant->prefix >= deny->prefix && address_in(grant->address, deny->address, deny->prefix);
    if (grant->target == NETWORK_ADDRESS)
        return !address_reaches_internet(grant->address, grant->prefix) &&
               class_target(grant) == deny->target;
    return grant->target == deny->target;
}

static bool may_meet(const struct network *a, const struct network *b)
{
    if (!ports_meet(a, b))
        return false;
    if (a->target == NETWORK_ANY || b->target == NETWORK_ANY)
        return true;
    if (a->target == NETWORK_HOST && b->target == NETWORK_HOST)
        return hosts_meet(a->host, b->host);
    if (a->target == NETWORK_HOST || b->target == NETWORK_HOST)
        return true; /* the one covers by name, the other by address */
    if (a->target == NETWORK_ADDRESS && b->target == NETWORK_ADDRESS)
        return address_in(a->address, b->address, b->prefix) || address_in(b->address, a->address, a->prefix);
    if (a->target == NETWORK_ADDRESS)
        return class_target(a) == b->target || address_reaches_internet(a->address, a->prefix);
    if (b->target == NETWORK_ADDRESS)
        return may_meet(b, a);
    return a->target == b->target;
}

static bool is_everything(const struct network *network)
{
    static const struct port_range all_ports = {1, UINT16_MAX};
    const struct network all = {
        .target = NETWORK_ANY, .protocols = PROTOCOL_BITS, .ports = &all_ports, .port_count = 1};
    return network->target == NETWORK_ANY && ports_within(&all, network);
}

static const struct network *network_at(const struct bound_policy *bound, const struct rule_numbers *rules,
                                        uint32_t at)
{
    return bound->rules.items[rules->items[at]].rule->network;
}

static bool is_denied(const struct bound_policy *bound, const struct network *grant)
{
    const struct rule_numbers *denies = &bound->index->kinds[RULE_DENY_NETWORK];
    for (uint32_t i = 0; i < denies->count; i++)
        if (denied_whole(grant, network_at(bound, denies, i)))
            return true;
    return false;
}

/* Whether the list of the layer has something of `grant`, or for NULL everything; true where the layer has
 * no list. */
static bool listed(const struct bound_policy *bound, uint32_t layer, const struct network *grant)
{
    const struct rule_numbers *limits = &bound->index->kinds[RULE_LIMIT_NETWORK];
    if (bound->index->layers[layer].has[RULE_LIMIT_NETWORK] == 0)
        return true;
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct network *item = network_at(bound, limits, i);
        bool own = bound->rules.items[limits->items[i]].rule->layer == layer && item != NULL;
        if (own && (grant != NULL ? may_meet(grant, item) : is_everything(item)))
            return true;
    }
    return false;
}

/* `grant`: whether every layer leaves something of it; NULL: whether every layer leaves everything. */
static bool listed_everywhere(const struct bound_policy *bound, const struct network *grant)
{
    for (uint32_t layer = 0; layer < bound->index->layer_count; layer++)
        if (!listed(bound, layer, grant))
            return false;
    return true;
}

bool bound_network_open(const struct bound_policy *bound, bool *everything)
{
    const struct rule_numbers *grants = &bound->index->kinds[RULE_GRANT_NETWORK];
    bool open = false, whole = false;
    for (uint32_t i = 0; i < grants->count; i++) {
        const struct network *grant = network_at(bound, grants, i);
        open = open || (!is_denied(bound, grant) && listed_everywhere(bound, grant));
        whole = whole || is_everything(grant);
    }
    if (everything != NULL)
        *everything =
            whole && bound->index->kinds[RULE_DENY_NETWORK].count == 0 && listed_everywhere(bound, NULL);
    return open;
}
