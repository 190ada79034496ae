#include "compiler/build_address.h"

#include "policy/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { V4_BITS = 32, V6_BITS = 128, MAPPED_BITS = 96 };

/* A number of bits without sign or leading zero, or -1. */
static int parse_bits(const char *text, int most)
{
    if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && text[1] != '\0') || strlen(text) > 3)
        return -1;
    for (const char *at = text; *at != '\0'; at++)
        if (!isdigit((unsigned char)*at))
            return -1;
    int bits = atoi(text);
    return bits <= most ? bits : -1;
}

static void map_v4(uint8_t address[16], const struct in_addr *v4)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memcpy(address, mapped, sizeof mapped);
    memcpy(address + sizeof mapped, v4, 4);
}

/* Zeroes what lies behind the first `bits`; returns whether anything was there. */
static bool clear_host_bits(uint8_t address[16], int bits)
{
    bool cleared = false;
    for (int bit = bits; bit < V6_BITS; bit++) {
        uint8_t mask = (uint8_t)(0x80u >> (bit % 8));
        cleared = cleared || (address[bit / 8] & mask) != 0;
        address[bit / 8] = (uint8_t)(address[bit / 8] & ~mask);
    }
    return cleared;
}

static const char *print_address(struct arena *arena, const uint8_t address[16], int bits, bool v4)
{
    char text[INET6_ADDRSTRLEN];
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text, sizeof text);
    return arena_format(arena, "write %s/%d", text, v4 ? bits - MAPPED_BITS : bits);
}

/* The address of `text` without brackets, /BITS and one final dot. */
static const char *bare_address(struct arena *arena, const char *text)
{
    size_t length = strcspn(text, "/");
    if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (length > 1 && text[length - 1] == '.') {
        length--;
    }
    return arena_copy(arena, text, length);
}

bool address_is_literal(struct arena *arena, const char *text)
{
    uint8_t address[16];
    return address_read(bare_address(arena, text), address);
}

const char *address_plain(struct arena *arena, const char *text)
{
    struct in_addr v4;
    const char *address = bare_address(arena, text);
    if (inet_aton(address, &v4) != 0)
        address = inet_ntoa(v4);
    return arena_format(arena, "%s%s", address, text + strcspn(text, "/"));
}

const char *address_parse(struct arena *arena, const char *text, struct network *network, const char **help)
{
    struct in_addr v4;
    const char *slash = strchr(text, '/');
    const char *address = arena_copy(arena, text, slash != NULL ? (size_t)(slash - text) : strlen(text));
    bool is_v4 = inet_pton(AF_INET, address, &v4) == 1;
    if (is_v4) {
        map_v4(network->address, &v4);
    } else if (inet_pton(AF_INET6, address, network->address) != 1) {
        bool odd = inet_aton(address, &v4) != 0;
        *help = address_is_literal(arena, text)
                    ? arena_format(arena, "write %s", address_plain(arena, text))
                    : "write an address such as 10.1.2.3 or fd00::1, or a range such as 10.0.0.0/8";
        return odd ? "an IPv4 address is written as four decimal numbers" : "this is no address";
    }
    int most = is_v4 ? V4_BITS : V6_BITS, bits = most;
    if (slash != NULL && (bits = parse_bits(slash + 1, most)) < 0) {
        *help = "write the number of leading bits that count, as in 10.0.0.0/8";
        return arena_format(arena, "behind the / stands a number from 0 to %d", most);
    }
    bits += is_v4 ? MAPPED_BITS : 0;
    network->prefix = (uint8_t)bits;
    if (clear_host_bits(network->address, bits)) {
        *help = print_address(arena, network->address, bits, is_v4);
        return "this range has bits set behind its prefix";
    }
    return NULL;
}

static const char *parse_port(struct arena *arena, const char *text, struct network *network)
{
    uint32_t port = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at) && port <= UINT16_MAX; at++)
        port = port * 10 + (uint32_t)(*at - '0');
    if (port == 0 || port > UINT16_MAX || text[0] == '0')
        return "the port is a number from 1 to 65535";
    network->protocols = PROTOCOL_BIT_TCP;
    if (strcmp(at, "/udp") == 0)
        network->protocols = PROTOCOL_BIT_UDP;
    else if (*at != '\0')
        return "behind the port stands nothing, or /udp; TCP is meant without";
    struct port_range *range = arena_alloc(arena, sizeof *range);
    range->low = range->high = (uint16_t)port;
    network->ports = range;
    network->port_count = 1;
    return NULL;
}

const char *endpoint_parse(struct arena *arena, const char *text, struct network *network)
{
    const char *colon = strrchr(text, ':'), *help = NULL;
    if (colon == NULL || colon == text)
        return "write HOST:PORT, as in example.com:443 or [::1]:80";
    size_t length = (size_t)(colon - text);
    bool brackets = text[0] == '[' && text[length - 1] == ']';
    char *host = arena_copy(arena, brackets ? text + 1 : text, brackets ? length - 2 : length);
    if (!brackets && strchr(host, ':') != NULL)
        return "an IPv6 address stands in brackets, as in [::1]:80";
    size_t last = strlen(host) - 1;
    if (!brackets && last > 0 && host[last] == '.')
        host[last] = '\0';
    if (brackets || address_is_literal(arena, host)) {
        network->target = NETWORK_ADDRESS;
        const char *problem =
            strchr(host, '/') != NULL ? "this is no address" : address_parse(arena, host, network, &help);
        return problem != NULL ? problem : parse_port(arena, colon + 1, network);
    }
    network->target = NETWORK_HOST;
    for (char *at = host; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && strchr("-_.", *at) == NULL)
            return "this is no host name";
    }
    network->host = host;
    return parse_port(arena, colon + 1, network);
}
