/* seatbelt.h - the `seatbelt` target: a profile for sandbox-exec of macOS, to be read from top to bottom.
 *
 * Roots without a value are parameters (-D WORK=DIRECTORY). Its header says which there are, how it is started, and
 * under which conditions on the roots it is right: lines that begin with "; parameter:" and "; requires:".
 */
#pragma once

#include "emitters/target.h"

bool emit_seatbelt(const struct emit_request *request, struct buffer *out);
