/* windows_network.h - what of a policy's network the capabilities of an AppContainer can say. */
#pragma once

#include "policy/bound.h"

enum windows_network {
    WINDOWS_NETWORK_CLOSED,
    WINDOWS_NETWORK_INTERNET, /* `internet` and nothing else */
    WINDOWS_NETWORK_ALL,      /* the internet and the local network, and whoever is there may connect */
    WINDOWS_NETWORK_OTHER     /* no capability says it */
};

enum windows_network windows_network_of(const struct bound_policy *bound);

/* The capabilities for it (WINDOWS_INTERNET_... of windows_spec.h): none where none says it. A network that is open whole
 * while ports are closed takes an accepted exception: the local network then reaches the command too. */
unsigned windows_network_capabilities(const struct bound_policy *bound);
