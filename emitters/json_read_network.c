#include "emitters/json_read.h"

#include "base/vector.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- classes of addresses (language.md 6) --------------------------------------------------------------- */

struct block {
    const char *address;
    unsigned bits;
};

static const struct block loopback_blocks[] = {{"127.0.0.0", 8}, {"0.0.0.0", 8}, {"::1", 128}, {"::", 128}};
static const struct block lan_blocks[] = {{"10.0.0.0", 8},    {"172.16.0.0", 12},  {"192.168.0.0", 16},
                                          {"100.64.0.0", 10}, {"169.254.0.0", 16}, {"fc00::", 7},
                                          {"fe80::", 10}};
static const struct block other_blocks[] = {{"224.0.0.0", 4},    {"ff00::", 8},      {"192.0.0.0", 24},
                                            {"192.0.2.0", 24},   {"198.18.0.0", 15}, {"198.51.100.0", 24},
                                            {"203.0.113.0", 24}, {"240.0.0.0", 4},   {"100::", 64},
                                            {"2001:db8::", 32},  {"fec0::", 10}};
/* Addresses that count as one inside them: not judged here. */
static const struct block embedded_blocks[] = {
    {"::", 96}, {"64:ff9b::", 96}, {"64:ff9b:1::", 48}, {"2002::", 16}, {"2001::", 32}};

static bool read_address(const char *text, uint8_t address[16])
{
    memset(address, 0, 16);
    if (inet_pton(AF_INET, text, address + 12) != 1)
        return inet_pton(AF_INET6, text, address) == 1;
    address[10] = address[11] = 0xff;
    return true;
}

static bool is_four(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, mapped, sizeof mapped) == 0;
}

static bool in_block(const uint8_t address[16], const char *text, unsigned bits)
{
    uint8_t block[16];
    if (!read_address(text, block) || is_four(block) != is_four(address))
        return false;
    bits += is_four(block) ? 96 : 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (((block[bit / 8] ^ address[bit / 8]) & 0x80 >> bit % 8) != 0)
            return false;
    return true;
}

#define IN(address, blocks) in_any(address, blocks, sizeof(blocks) / sizeof *(blocks))
static bool in_any(const uint8_t address[16], const struct block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (in_block(address, blocks[i].address, blocks[i].bits))
            return true;
    return false;
}

static bool is_embedded(const uint8_t address[16])
{
    return !is_four(address) && IN(address, embedded_blocks) && !IN(address, loopback_blocks);
}

/* --- one rule ------------------------------------------------------------------------------------------- */

static const char *member(const json_t *rule, const char *name)
{
    const char *text = json_string_value(json_object_get(rule, name));
    return text != NULL ? text : "";
}

static bool has_port(const json_t *rule, const struct endpoint *endpoint)
{
    const json_t *ports = json_object_get(rule, "ports"), *protocols = json_object_get(rule, "protocols");
    const char *protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? "udp" : "tcp";
    bool spoken = false;
    for (size_t i = 0; i < json_array_size(protocols); i++) {
        const char *text = json_string_value(json_array_get(protocols, i));
        spoken = spoken || (text != NULL && strcmp(text, protocol) == 0);
    }
    for (size_t i = 0; spoken && i < json_array_size(ports); i++) {
        const json_t *range = json_array_get(ports, i);
        if (json_integer_value(json_array_get(range, 0)) <= endpoint->port &&
            json_integer_value(json_array_get(range, 1)) >= endpoint->port)
            return true;
    }
    return false;
}

/* Whether a host rule covers the name. A denied host also denies all below it. */
static bool has_name(const char *host, const char *name, bool denies)
{
    size_t host_length = strlen(host), length = strlen(name);
    if (strcmp(host, "*") == 0 || strcasecmp(host, name) == 0)
        return true;
    bool star = strncmp(host, "*.", 2) == 0;
    if (!star && !denies)
        return false;
    const char *tail = star ? host + 2 : host;
    size_t tail_length = star ? host_length - 2 : host_length;
    return length > tail_length + 1 && name[length - tail_length - 1] == '.' &&
           strcasecmp(name + length - tail_length, tail) == 0;
}

/* A name without an address is taken for one of the internet; what speaks of single addresses may still
 * hold, and a grant of others is what the name may come out at. */
enum covers { COVERS_NOT, COVERS, COVERS_PERHAPS, COVERS_OTHERWISE };

static enum covers covers_class(const char *target, const uint8_t address[16])
{
    bool loopback = IN(address, loopback_blocks), lan = IN(address, lan_blocks);
    if (strcmp(target, "any") == 0)
        return COVERS;
    if (strcmp(target, "loopback") == 0)
        return loopback ? COVERS : COVERS_NOT;
    if (strcmp(target, "lan") == 0)
        return lan && !loopback ? COVERS : COVERS_NOT;
    if (strcmp(target, "internet") == 0)
        return !loopback && !lan && !IN(address, other_blocks) ? COVERS : COVERS_NOT;
    return COVERS_NOT;
}

static enum covers covers_address(const json_t *rule, const uint8_t address[16])
{
    char text[INET6_ADDRSTRLEN] = "";
    const char *block = member(rule, "address"), *slash = strchr(block, '/');
    if (strcmp(member(rule, "target"), "address") != 0)
        return covers_class(member(rule, "target"), address);
    if (slash == NULL || (size_t)(slash - block) >= sizeof text)
        return COVERS_NOT;
    memcpy(text, block, (size_t)(slash - block));
    return in_block(address, text, (unsigned)strtoul(slash + 1, NULL, 10)) ? COVERS : COVERS_NOT;
}

static enum covers rule_covers(const struct json_rule *rule, const struct endpoint *endpoint)
{
    static const uint8_t internet[16] = {[10] = 0xff, [11] = 0xff, 8, 8, 8, 8};
    const char *target = member(rule->network, "target");
    if (!has_port(rule->network, endpoint))
        return COVERS_NOT;
    if (strcmp(target, "host") == 0)
        return endpoint->name != NULL &&
                       has_name(member(rule->network, "host"), endpoint->name, rule->effect == JSON_DENY)
                   ? COVERS
                   : COVERS_NOT;
    if (endpoint->has_address)
        return covers_address(rule->network, endpoint->address);
    if (strcmp(target, "address") == 0)
        return COVERS_PERHAPS;
    if (rule->effect == JSON_GRANT && covers_class(target, internet) == COVERS_NOT)
        return COVERS_OTHERWISE;
    return covers_class(target, internet);
}

/* --- the decision --------------------------------------------------------------------------------------- */

/* What rules say of one connection, as far as they were looked at. */
struct judgement {
    const struct endpoint *endpoint;
    bool perhaps, otherwise;
    bool *listed; /* by layer: whether an item of a limit covers */
    const struct json_rule *grant, *deny;
};

static void judge(const struct json_rule *rule, struct judgement *judgement)
{
    enum covers cover = rule->nothing ? COVERS_NOT : rule_covers(rule, judgement->endpoint);
    judgement->perhaps = judgement->perhaps || cover == COVERS_PERHAPS;
    judgement->otherwise = judgement->otherwise || cover == COVERS_OTHERWISE;
    if (cover != COVERS)
        return;
    if (rule->effect == JSON_DENY)
        judgement->deny = rule;
    else if (rule->effect == JSON_LIMIT)
        judgement->listed[rule->layer] = true;
    else if (judgement->grant == NULL)
        judgement->grant = rule;
}

/* Hosts compare without case, and are written in lower case. */
static const char *host_key(const struct json_rule *rule)
{
    const char *host = member(rule->network, "host");
    if (strcmp(member(rule->network, "target"), "host") != 0 || strcmp(host, "*") == 0)
        return NULL;
    return strncmp(host, "*.", 2) == 0 ? host + 2 : host;
}

void json_index_network(struct json_document *document)
{
    document->by_host = arena_array(document->arena, document->slot_count, sizeof *document->by_host);
    document->limited_network = arena_array(document->arena, document->layer_count + 1U, sizeof(bool));
    for (uint32_t i = 0; i < document->rule_count; i++) {
        struct json_rule *rule = &document->rules[i];
        if (strcmp(rule->class, "network") != 0)
            continue;
        if (rule->effect == JSON_LIMIT)
            document->limited_network[rule->layer] = true;
        const char *key = host_key(rule);
        if (key == NULL) {
            VECTOR_PUSH(document->arena, &document->other_network, i);
            continue;
        }
        uint32_t *slot = &document->by_host[json_hash_text(key, strlen(key)) & (document->slot_count - 1)];
        rule->next = *slot;
        *slot = i + 1;
    }
}

/* Judges by each rule of the name and of the names above it. */
static void judge_hosts(const struct json_document *document, struct judgement *judgement)
{
    for (const char *name = judgement->endpoint->name; name != NULL; name = strchr(name, '.')) {
        name += *name == '.' ? 1 : 0;
        uint32_t hash = json_hash_text(name, strlen(name)) & (document->slot_count - 1);
        for (uint32_t i = document->by_host[hash]; i != 0; i = document->rules[i - 1].next)
            if (strcmp(host_key(&document->rules[i - 1]), name) == 0)
                judge(&document->rules[i - 1], judgement);
    }
}

struct reply json_connect(const struct json_document *document, const struct endpoint *endpoint)
{
    struct judgement judgement = {.endpoint = endpoint};
    /* A name of the machine itself is an address. */
    if (endpoint->name != NULL && has_name("localhost", endpoint->name, true))
        return (struct reply){0};
    if (endpoint->has_address && is_embedded(endpoint->address))
        return (struct reply){0};
    judgement.listed = arena_array(document->arena, document->layer_count + 1U, sizeof(bool));
    judge_hosts(document, &judgement);
    for (uint32_t i = 0; i < document->other_network.count; i++)
        judge(&document->rules[document->other_network.items[i]], &judgement);
    if (judgement.deny != NULL)
        return (struct reply){.text = "deny", .line = judgement.deny->line};
    bool granted = judgement.grant != NULL;
    for (uint32_t i = 0; i < document->layer_count; i++)
        granted = granted && (!document->limited_network[i] || judgement.listed[i]);
    struct reply reply = {.text = granted ? "allow" : "deny"};
    if (judgement.perhaps || (judgement.otherwise && !granted))
        reply.text = NULL;
    reply.line = judgement.grant != NULL ? judgement.grant->line : 0;
    return reply;
}

struct reply json_listen(const struct json_document *document, const struct endpoint *endpoint)
{
    struct reply reply = {.text = "deny"};
    bool local = in_block(endpoint->address, "127.0.0.0", 8) || in_block(endpoint->address, "::1", 128);
    if (is_embedded(endpoint->address))
        return (struct reply){0};
    for (uint32_t i = 0; i < document->rule_count; i++) {
        const struct json_rule *rule = &document->rules[i];
        if (strcmp(rule->class, "listen") != 0 || !has_port(rule->network, endpoint) ||
            (!local && strcmp(member(rule->network, "target"), "loopback") == 0))
            continue;
        reply.line = rule->line;
        if (rule->effect == JSON_DENY)
            return (struct reply){.text = "deny", .line = rule->line};
        reply.text = "allow";
    }
    return reply;
}
