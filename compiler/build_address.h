/* build_address.h - addresses, CIDR ranges and the HOST:PORT arguments of `expect`, as the model holds
 * them. */
#pragma once

#include "policy/policy.h"

/* Whether some program could read `text` as an address or a range of them: all that inet_aton reads, IPv6
 * with and without brackets, each also with a final dot or /BITS. */
bool address_is_literal(struct arena *arena, const char *text);

/* Such a literal as `address` takes it: without brackets and final dot, IPv4 as four decimal numbers. */
const char *address_plain(struct arena *arena, const char *text);

/* Reads an address or CIDR range into `network` (address, prefix). NULL, or what is wrong with *help perhaps
 * set. */
const char *address_parse(struct arena *arena, const char *text, struct network *network, const char **help);

/* Reads HOST:PORT, ADDRESS:PORT or [V6]:PORT with an optional /tcp or /udp: target, host or address, one
 * port, one protocol. NULL, or what is wrong. `host` is copied in lower case without a final dot. */
const char *endpoint_parse(struct arena *arena, const char *text, struct network *network);
