/* sha256.h - SHA-256, by the processor's own instructions where it has them and else by libsodium. */
#pragma once

#include <sodium/crypto_hash_sha256.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

/* Begins as crypto_hash_sha256_init and ends as crypto_hash_sha256_final do. */
void sha256_add(crypto_hash_sha256_state *state, const void *bytes, size_t length);

/* The hash of `bytes` alone. */
void sha256(uint8_t hash[SHA256_SIZE], const void *bytes, size_t length);
