/* build_except.h - says which exceptions of a `use` lift no deny of what is used. */
#pragma once

#include "compiler/build.h"

/* Queues a warning at each exception of each `use` in the layer's files that meets no path denied by what that
 * `use` brings in. Every unit is prepared. Where two roots may lead to one place, it says nothing. */
void except_check(struct builder *builder);
