/* network.h - which network rules cover a connection. The decisions are declared in bound.h. Private to
 * policy/. */
#pragma once

#include "policy/address.h"
#include "policy/bound.h"

struct network_index;

/* Tables of the network rules of `bound`, so that a decision costs O(labels of the name + prefix lengths
 * in use) and the rules that cover. */
struct network_index *network_index_build(const struct bound_policy *bound);

/* How a rule covers a connection. */
enum cover {
    COVER_NAME = 1,     /* by the name that was asked for */
    COVER_ADDRESS = 2,  /* by the address, or always */
    COVER_ASSUMED = 4,  /* by the internet address that a name without address is assumed to have */
    COVER_POSSIBLE = 8, /* an address rule that could hold that address */
    COVER_UNLIKELY = 16 /* a rule of addresses that an internet address is not among */
};

typedef void network_visitor(void *context, const struct bound_rule *rule, unsigned cover);

/* Calls `visit` with each network rule (grant, deny, limit) that covers `endpoint` or may cover it. If the
 * endpoint has an address, it must be a single meaning (address_meanings); `raw`, if not NULL, is the
 * address that was asked for. */
void network_visit_rules(const struct bound_policy *bound, const struct endpoint *endpoint,
                         const uint8_t *raw, network_visitor *visit, void *context);

/* Calls `visit` with each listen rule that covers `endpoint`; cover is COVER_ADDRESS. */
void network_visit_listen(const struct bound_policy *bound, const struct endpoint *endpoint,
                          network_visitor *visit, void *context);

/* Whether only this machine can reach a listener at `endpoint`. */
bool network_listens_locally(const struct endpoint *endpoint);

/* Splits an endpoint with a name that is an address, or an address that has several meanings, into the
 * endpoints that must all be allowed; returns their number. */
uint32_t network_endpoints(const struct endpoint *endpoint, struct endpoint split[ADDRESS_MEANINGS]);

/* Whether a host pattern ("a.example", "*.a.example", "*") covers `name`; case and one final dot do not
 * matter. */
bool network_host_covers(const char *pattern, const char *name);

/* Whether a name is localhost or below it. */
bool network_name_is_local(const char *name);
