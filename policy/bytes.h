/* bytes.h - whole numbers as big-endian bytes, so that records compare as bytes in the order of their
 * values. */
#pragma once

#include "base/buffer.h"

#include <stdint.h>

/* Writes the low `size` bytes (1 to 8) of `value` at `at`. */
void bytes_set(uint8_t *at, uint64_t value, size_t size);

/* Appends the low `size` bytes (1 to 8) of `value`. */
void bytes_put(struct buffer *out, uint64_t value, size_t size);

/* The number that `size` bytes (1 to 8) at `at` stand for. */
uint64_t bytes_get(const uint8_t *at, size_t size);
