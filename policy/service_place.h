/* service_place.h - where the sockets, files and devices of a service are, by the values of the variables
 * that programs find them by. Private to policy/. */
#pragma once

#include "policy/bind.h"

enum service_place {
    PLACE_NOWHERE,
    PLACE_SLASH,
    PLACE_HOME,
    PLACE_CONFIG,
    PLACE_CACHE,
    PLACE_VALUE,
    PLACE_ADDRESS,
    PLACE_RUNTIME,
    PLACE_X11
};

/* Appends the paths that `variable` leads to by `place` (PLACE_VALUE or later), each with `text` behind it.
 * Nothing if it is unset or its value leads nowhere; "$env.VARIABLE" and `text` if its value is not known. */
void service_paths(const struct binder *binder, enum service_place place, const char *variable,
                   const char *text, struct bound_paths *out);
