/* windows_size.h - how much a specification may hold, so that whatever judges it does so in seconds. */
#pragma once

#include "emitters/windows_spec.h"

enum {
    WINDOWS_OBJECTS_MOST = 3000,
    WINDOWS_MATCHES_MOST = 200,
    WINDOWS_EXCEPTS_MOST = 300, /* of all matches together */
    WINDOWS_REQUIRES_MOST = 4000,
    WINDOWS_NAMES_MOST = 32 /* of one path, one in the other */
};

/* What of the access lists is too much, or NULL (in `arena`). */
const char *windows_size_problem(struct arena *arena, const struct windows_spec *spec);
