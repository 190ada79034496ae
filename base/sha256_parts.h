/* sha256_parts.h - SHA-256 of a text in parts. */
#pragma once

#include "base/sha256.h"

#include <sodium/crypto_hash_sha256.h>

/* Begins as crypto_hash_sha256_init and ends as crypto_hash_sha256_final do. */
void sha256_add(crypto_hash_sha256_state *state, const void *bytes, size_t length);
