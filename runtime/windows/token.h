/* token.h - the token that a command runs under, and the proof that Windows made it as asked.
 *
 * What a call reports is no proof: each property is read back from the token, and of an AppContainer from the
 * process that was started (suspended). A difference is an error note SBX480 that names it.
 */
#pragma once

#include "runtime/windows/identity.h"

/* A primary token from the caller's: no privilege but traversal, administrators and the like deny-only, and
 * for tiers restricted and restricted-low WRITE_RESTRICTED to {run, logon}, the integrity of the tier, and a
 * default DACL that gives the run, the user and SYSTEM what the command makes. (Not the logon session: other
 * runs carry it too.) Tier appcontainer starts its process with this token and the package. The caller closes
 * *token (CloseHandle). False with an error note. */
bool token_make(struct arena *arena, const struct windows_spec *spec, const struct windows_identity *identity,
                void **token, struct note_list *notes);

/* Reads each property of token_make's token back. False with the note of verify_refuse. */
bool token_verify(struct arena *arena, const struct windows_spec *spec,
                  const struct windows_identity *identity, void *token, struct note_list *notes);

/* The same for the token of `process`, which was started and has not run yet: all that token_verify asks, and
 * in tier appcontainer that it is an AppContainer, of this package, with exactly the capabilities, at Low. */
bool token_verify_process(struct arena *arena, const struct windows_spec *spec,
                          const struct windows_identity *identity, void *process, struct note_list *notes);
