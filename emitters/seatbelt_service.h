/* seatbelt_service.h - what the services of the language are on macOS: files, sockets and Mach services. */
#pragma once

#include "emitters/seatbelt_write.h"

/* Whether a service needs Unix sockets and is open. */
bool services_open_sockets(const struct bound_policy *bound);

/* What open services open. Files come as automatic grants do, so that whatever follows can lower them. */
void profile_services(struct profile *profile);

/* Sockets of services that are denied stay closed, whoever grants them. */
void profile_closed_services(struct profile *profile);
