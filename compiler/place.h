/* place.h - from a rule's origin (line and column) back to the word in the text, for diagnostics made after
 * the build. */
#pragma once

#include "grammar/source.h"

/* The span of the word that starts at `line` and `column` (from 1) of source number `source`. */
struct span place_span(struct source_list *sources, uint32_t source, uint32_t line, uint32_t column);
