#include "policy/address.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAPPED_BITS = 96, ADDRESS_BYTES = 16, TEXT_LONGEST = 127 };

static const uint8_t mapped_prefix[12] = {[10] = 0xFF, [11] = 0xFF};

static void map_ip4(uint8_t address[16], uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    memcpy(address, mapped_prefix, sizeof mapped_prefix);
    address[12] = a;
    address[13] = b;
    address[14] = c;
    address[15] = d;
}

bool address_read(const char *text, uint8_t address[16])
{
    char copy[TEXT_LONGEST + 1];
    size_t length = strcspn(text, "%");
    struct in_addr ip4;
    if (length == 0 || length > TEXT_LONGEST || strpbrk(text, " \t\r\n\v\f") != NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strchr(copy, ':') != NULL)
        return inet_pton(AF_INET6, copy, address) == 1;
    if (text[length] != '\0' || inet_aton(copy, &ip4) == 0)
        return false;
    uint8_t bytes[4];
    memcpy(bytes, &ip4.s_addr, sizeof bytes);
    map_ip4(address, bytes[0], bytes[1], bytes[2], bytes[3]);
    return true;
}

static bool starts_with(const uint8_t address[16], const uint8_t *prefix, uint8_t bits)
{
    uint8_t bytes = bits / 8, rest = bits % 8;
    if (memcmp(address, prefix, bytes) != 0)
        return false;
    return rest == 0 || ((address[bytes] ^ prefix[bytes]) >> (8 - rest)) == 0;
}

static bool is_ip4(const uint8_t address[16])
{
    return memcmp(address, mapped_prefix, sizeof mapped_prefix) == 0;
}

bool address_in(const uint8_t address[16], const uint8_t network[16], uint8_t prefix)
{
    bool ip4_network = prefix >= MAPPED_BITS && is_ip4(network);
    return is_ip4(address) == ip4_network && starts_with(address, network, prefix);
}

/* ---- what stands inside ---- */

static bool all_zero(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* 64:ff9b:1::/48 is for local use with any prefix length that RFC 6052 knows (2.2: where the four bytes
 * stand then; byte 8 is skipped). What is clearly written with 96 bits, or clearly with 48, has one
 * meaning. */
static uint32_t local_nat64_meanings(const uint8_t a[16], uint8_t meanings[ADDRESS_MEANINGS][16])
{
    if (all_zero(a + 6, 6)) {
        map_ip4(meanings[0], a[12], a[13], a[14], a[15]);
        return 1;
    }
    map_ip4(meanings[0], a[6], a[7], a[9], a[10]);
    if (a[8] == 0 && all_zero(a + 11, 5))
        return 1;
    map_ip4(meanings[1], a[7], a[9], a[10], a[11]);
    map_ip4(meanings[2], a[9], a[10], a[11], a[12]);
    map_ip4(meanings[3], a[12], a[13], a[14], a[15]);
    return 4;
}

uint32_t address_meanings(const uint8_t a[16], uint8_t meanings[ADDRESS_MEANINGS][16])
{
    static const uint8_t nat64[12] = {0x00, 0x64, 0xFF, 0x9B},
                         local_nat64[6] = {0x00, 0x64, 0xFF, 0x9B, 0, 1};
    static const uint8_t six_to_four[2] = {0x20, 0x02}, teredo[4] = {0x20, 0x01};
    bool compatible = all_zero(a, 12) && !all_zero(a + 12, 3); /* not :: and ::1 */
    compatible = compatible || (all_zero(a, 15) && a[15] > 1);

    if (compatible || memcmp(a, nat64, sizeof nat64) == 0)
        map_ip4(meanings[0], a[12], a[13], a[14], a[15]);
    else if (memcmp(a, local_nat64, sizeof local_nat64) == 0)
        return local_nat64_meanings(a, meanings);
    else if (memcmp(a, six_to_four, sizeof six_to_four) == 0)
        map_ip4(meanings[0], a[2], a[3], a[4], a[5]);
    else if (memcmp(a, teredo, sizeof teredo) == 0) /* RFC 4380: the client's address with every bit turned */
        map_ip4(meanings[0], (uint8_t)~a[12], (uint8_t)~a[13], (uint8_t)~a[14], (uint8_t)~a[15]);
    else
        memcpy(meanings[0], a, ADDRESS_BYTES);
    return 1;
}

/* ---- classes (language.md 6) ---- */

struct block {
    enum address_class class;
    uint8_t bits;
    uint8_t bytes[8]; /* of IPv4 the four bytes */
};

static const struct block ip4_blocks[] = {
    {ADDRESS_LOOPBACK, 8, {127}},       {ADDRESS_LOOPBACK, 8, {0}},     {ADDRESS_LAN, 8, {10}},
    {ADDRESS_LAN, 12, {172, 16}},       {ADDRESS_LAN, 16, {192, 168}},  {ADDRESS_LAN, 10, {100, 64}},
    {ADDRESS_LAN, 16, {169, 254}},      {ADDRESS_OTHER, 4, {224}},      {ADDRESS_OTHER, 24, {192, 0, 0}},
    {ADDRESS_OTHER, 24, {192, 0, 2}},   {ADDRESS_OTHER, 15, {198, 18}}, {ADDRESS_OTHER, 24, {198, 51, 100}},
    {ADDRESS_OTHER, 24, {203, 0, 113}}, {ADDRESS_OTHER, 4, {240}},
};

static const struct block ip6_blocks[] = {
    {ADDRESS_LAN, 7, {0xFC}},
    {ADDRESS_LAN, 10, {0xFE, 0x80}},
    {ADDRESS_OTHER, 8, {0xFF}},
    {ADDRESS_OTHER, 64, {0x01, 0x00}},
    {ADDRESS_OTHER, 32, {0x20, 0x01, 0x0D, 0xB8}},
    {ADDRESS_OTHER, 10, {0xFE, 0xC0}},
};

static const struct block *block_of(const uint8_t address[16])
{
    bool ip4 = is_ip4(address);
    const struct block *blocks = ip4 ? ip4_blocks : ip6_blocks;
    size_t count = ip4 ? sizeof ip4_blocks / sizeof *ip4_blocks : sizeof ip6_blocks / sizeof *ip6_blocks;
    for (size_t i = 0; i < count; i++)
        if (starts_with(ip4 ? address + 12 : address, blocks[i].bytes, blocks[i].bits))
            return &blocks[i];
    return NULL;
}

/* :: and ::1 */
static bool is_ip6_loopback(const uint8_t address[16])
{
    return all_zero(address, 15) && address[15] <= 1;
}

enum address_class address_class(const uint8_t address[16])
{
    const struct block *block = block_of(address);
    if (is_ip6_loopback(address))
        return ADDRESS_LOOPBACK;
    return block != NULL ? block->class : ADDRESS_INTERNET;
}

bool address_reaches_internet(const uint8_t network[16], uint8_t prefix)
{
    const struct block *block = block_of(network);
    uint8_t given = is_ip4(network) && prefix >= MAPPED_BITS ? prefix - MAPPED_BITS : prefix;
    if (is_ip6_loopback(network) && prefix >= 127)
        return false;
    return block == NULL || given < block->bits;
}
