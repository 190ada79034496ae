/* bind_service.h - services as the rules that they stand for. Private to policy/. */
#pragma once

#include "policy/bind.h"

/* Adds to `bound`, whose rules are bound, what its services stand for: automatic grants for each service
 * that is granted and that no layer closes, denies for each that a layer denies or leaves out of its limit.
 * Each has `service` set. */
void services_bind(const struct binder *binder, struct bound_policy *bound);
