/* macos_sandbox.h - sandbox-exec of macOS: how it is called, and whether it takes a profile. */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

/* The program: /usr/bin/sandbox-exec. (macos_path.c; a test build has a stand-in of its own instead.) */
const char *sandbox_exec_path(struct arena *arena);

/* The arguments that start `command` (NULL-terminated) under `profile`; `scratch` may be NULL. */
char **sandbox_arguments(struct arena *arena, const char *profile, const char *scratch, char *const *command);

/* "NAME=VALUE" of each, NULL-terminated. */
char **sandbox_environment(struct arena *arena, const struct variable_list *variables);

/* Whether both are short enough for one call; *needed and *allowed receive bytes. */
bool sandbox_call_fits(char *const *arguments, char *const *environment, size_t *needed, size_t *allowed);

enum sandbox_trial { TRIAL_TAKEN, TRIAL_NESTED, TRIAL_REFUSED };

/* Gives the profile to sandbox-exec with a program that cannot run: what it says tells whether it took it. *said
 * receives that, escaped. */
enum sandbox_trial sandbox_try(struct arena *arena, const char *profile, const char *scratch,
                               const char **said);

/* The version of macOS, as its own file says it; "unknown" if it cannot be read. */
const char *macos_version(struct arena *arena);
