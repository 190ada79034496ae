/* seatbelt_network.h - the network in a profile: everything, ports of every host, or ports of this machine.
 *
 * Seatbelt knows two hosts, `*` and `localhost`, and single ports or all. Whatever else a policy says needs
 * a broker. A rule on outbound connections speaks of `remote` alone: `local` matches every socket that is
 * not bound, and would open all of the network.
 */
#pragma once

#include "emitters/seatbelt_write.h"

/* Whether network rules of `bound` other than those for loopback can be said: all of them speak of `any` or
 * `loopback`, and no port is closed on loopback that is open elsewhere. */
bool seatbelt_holds_any(const struct bound_policy *bound);

/* Whether nothing is open elsewhere on a port that is closed on loopback. */
bool seatbelt_holds_loopback(const struct bound_policy *bound);

/* Whether each port that can be listened on can be from anywhere: which addresses ask cannot be said. */
bool seatbelt_holds_listen(const struct bound_policy *bound);

void profile_network(struct profile *profile);
