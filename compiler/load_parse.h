/* load_parse.h - large texts are parsed beside each other, each in a thread's own memory.
 *
 * A text can be put off until all are read if it uses no other: what it uses would have to be read before the next
 * text. Small policies start no thread.
 */
#pragma once

#include "compiler/load.h"

/* Whether to put the text off: it is large, and nothing in it can be a `use`. */
bool parse_can_wait(const char *text, size_t length);

/* Parses the text of each unit that has no tree yet. Trees and diagnostics are what parsing one after the other gives,
 * the diagnostics in the order of the units. */
void parse_waiting(struct load *load);
