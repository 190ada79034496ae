/* token.h - the token that a command runs under, and the proof that Windows made it as asked.
 *
 * What a call reports is no proof: each property is read back from the token, and of an AppContainer from the
 * process that was started (suspended). A difference is an error note SBX480 that names it.
 */
#pragma once

#include "runtime/windows/identity.h"

/* The primary token of tiers restricted and restricted-low: WRITE_RESTRICTED to {run, logon}, no privilege but
 * traversal, administrators and the like deny-only, integrity as the tier says, a default DACL that gives the
 * run, the logon session, the user and SYSTEM what the command makes. The caller closes *token (CloseHandle).
 * False with an error note. */
bool token_make(struct arena *arena, const struct windows_spec *spec, const struct windows_identity *identity,
                void **token, struct note_list *notes);

/* Reads each property of token_make's token back. */
bool token_verify(struct arena *arena, const struct windows_spec *spec,
                  const struct windows_identity *identity, void *token, struct note_list *notes);

/* The same for the token of `process`, which was started and has not run yet: tiers restricted(-low) all that
 * token_verify asks; tier appcontainer TokenIsAppContainer, the package, exactly the capabilities, Low
 * integrity. */
bool token_verify_process(struct arena *arena, const struct windows_spec *spec,
                          const struct windows_identity *identity, void *process, struct note_list *notes);
