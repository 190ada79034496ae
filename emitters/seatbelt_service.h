/* seatbelt_service.h - what services of the language take in a profile beside their files, sockets and
 * variables, which binding has made rules of. */
#pragma once

#include "emitters/seatbelt_write.h"

/* Whether a service opens sockets that no rule names. */
bool services_open_sockets(const struct bound_policy *bound);

void profile_services(struct profile *profile);
