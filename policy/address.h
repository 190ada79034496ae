/* address.h - addresses as network rules see them: read from text, the IPv4 address inside, classes,
 * prefixes.
 *
 * An address is 16 bytes, IPv4 as ::ffff:a.b.c.d. Nothing here allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum address_class {
    ADDRESS_LOOPBACK,
    ADDRESS_LAN,
    ADDRESS_INTERNET,
    ADDRESS_OTHER /* multicast and reserved */
};

/* Reads an address: IPv6, or whatever inet_aton reads; a zone behind % is dropped. False if `text` is
 * none. */
bool address_read(const char *text, uint8_t address[16]);

enum { ADDRESS_MEANINGS = 4 };

/* The addresses that `address` counts as: itself, or the IPv4 address inside (mapped, compatible, NAT64,
 * 6to4, Teredo). A NAT64 address whose prefix length cannot be told has several; whoever decides must be
 * content with each. */
uint32_t address_meanings(const uint8_t address[16], uint8_t meanings[ADDRESS_MEANINGS][16]);

/* The class of one such meaning. */
enum address_class address_class(const uint8_t address[16]);

/* Whether the first `prefix` bits are the same. An IPv4 address lies only in IPv4 prefixes, and the other
 * way round. */
bool address_in(const uint8_t address[16], const uint8_t network[16], uint8_t prefix);

/* Whether a prefix holds any internet address. */
bool address_reaches_internet(const uint8_t network[16], uint8_t prefix);
