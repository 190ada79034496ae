/* bwrap_sh.h - the `bwrap-sh` target: a POSIX shell script that decides the policy where it runs and starts
 * bubblewrap.
 *
 * Roots are known only there, and may lie in each other, so the script holds the rules themselves, one a
 * line, and works out each place's level and mount by language.md 4 and 7. Its fixed parts are
 * emitters/bwrap_sh/, in this order: rules.sh, the policy's own lines, mounts.sh, its variables, start.sh.
 */
#pragma once

#include "emitters/target.h"

bool emit_bwrap_sh(const struct emit_request *request, struct buffer *out);

extern const char bwrap_sh_rules[], bwrap_sh_mounts[], bwrap_sh_start[];
