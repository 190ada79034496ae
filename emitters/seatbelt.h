/* seatbelt.h - the `seatbelt` target: a profile for sandbox-exec of macOS, to be read from top to bottom.
 *
 * Roots without a value are parameters (-D WORK=DIRECTORY). Its header says which there are, how it is
 * started, and under which conditions on the roots it is right: lines "; parameter:" and
 * "; requires:".
 */
#pragma once

#include "emitters/target.h"

/* Appends the profile of request->bound, whatever starts it; what the policy needs beside it (limits,
 * variables, a scratch directory named by -D SCRATCH) is the caller's to hold. False with error notes. */
bool seatbelt_write(const struct emit_request *request, struct buffer *out);

/* The target: the profile of a policy that needs nothing which only the launcher holds. */
bool emit_seatbelt(const struct emit_request *request, struct buffer *out);

/* The same for sbx-launch, which holds what a profile alone cannot: limits of open files and of time. */
bool emit_seatbelt_launch(const struct emit_request *request, struct buffer *out);
