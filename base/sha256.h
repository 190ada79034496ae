/* sha256.h - SHA-256, by the processor's own instructions where it has them and else by a library. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

/* The hash of `bytes` alone. */
void sha256(uint8_t hash[SHA256_SIZE], const void *bytes, size_t length);
