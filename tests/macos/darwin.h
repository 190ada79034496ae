/* darwin.h - included before everything else where the sources of macOS are compiled on Linux: what macOS declares
 * and the C library of Linux shows only to those who ask for its own extensions.
 */
#pragma once

#include <stddef.h>

void *memmem(const void *text, size_t length, const void *part, size_t part_length);
