/* wiring.h - the descriptors between the launcher and process 1 of a sandbox, which every engine makes
 * alike. */
#pragma once

#include "runtime/engine.h"

/* Both ends of everything. */
struct wiring {
    int status[2], go[2], errors[2]; /* launcher's end first for status; reading end first for pipes */
    int config;                      /* memory file of the inner stage's configuration */
    int program;                     /* this program */
    int null;                        /* /dev/null */
};

/* Opens everything and writes the configuration. False with errno; what was opened then goes with the
 * process. */
bool wiring_make(struct arena *arena, const struct sandbox_request *request, struct wiring *wiring);

/* What would help against an errno of wiring_make, or NULL. */
const char *wiring_remedy(int error);

/* Closes the ends that belong inside, and says in `sandbox` which are the launcher's. */
void wiring_keep_outer(const struct wiring *wiring, struct sandbox *sandbox);

/* In a child, async-signal-safe: standard streams from /dev/null and to the error pipe, and the ends that
 * belong inside, and the streams of `request`, stay open over execve. */
bool wiring_keep_inner(const struct wiring *wiring, const struct sandbox_request *request);

/* In a child: closes what is the launcher's, so that the launcher's end is seen there. */
void wiring_close_outer(const struct wiring *wiring, const struct sandbox_request *request);

/* What the inner stage is started with: "NAME=VALUE" strings, NULL-terminated. */
char **wiring_environment(struct arena *arena, const struct sandbox_request *request);

/* Makes `descriptor` stay open over execve; true too of -1. */
bool descriptor_inherit(int descriptor);
