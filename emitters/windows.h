/* windows.h - the `windows` target: the specification of access lists and token that sbx-launch.exe carries out.
 *
 * Valid against schema/sbx-windows.xsd; docs/windows.md says what it means. Roots without a value stand as $WORK and so
 * on and are bound by the launcher.
 */
#pragma once

#include "emitters/target.h"

/* Appends the specification of request->bound, whose controls controls_check has passed. False with error notes; also
 * if windows_load does not take what was made. */
bool emit_windows(const struct emit_request *request, struct buffer *out);
