/* windows_environment.h - which variables a specification lets in. */
#pragma once

#include "emitters/target.h"

/* Appends the element `environment`. A `set` that a managed layer removes is left out, with a note. False with an error
 * note for a value that XML cannot hold. */
bool windows_write_environment(const struct emit_request *request, struct buffer *out);
