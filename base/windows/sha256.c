#include "base/sha256.h"

#include <windows.h>

#include <bcrypt.h>
#include <stdbool.h>
#include <stdlib.h>

enum { PART_LARGEST = 1 << 30 };

static bool bytes_add(BCRYPT_HASH_HANDLE state, const unsigned char *bytes, size_t length)
{
    while (length > 0) {
        size_t part = length < PART_LARGEST ? length : PART_LARGEST;
        if (!BCRYPT_SUCCESS(BCryptHashData(state, (PUCHAR)bytes, (ULONG)part, 0)))
            return false;
        bytes += part;
        length -= part;
    }
    return true;
}

/* A hash that could not be made must not look like one. */
void sha256(uint8_t hash[SHA256_SIZE], const void *bytes, size_t length)
{
    BCRYPT_ALG_HANDLE algorithm;
    BCRYPT_HASH_HANDLE state;
    if (!BCRYPT_SUCCESS(BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, NULL, 0)) ||
        !BCRYPT_SUCCESS(BCryptCreateHash(algorithm, &state, NULL, 0, NULL, 0, 0)) ||
        !bytes_add(state, bytes, length) || !BCRYPT_SUCCESS(BCryptFinishHash(state, hash, SHA256_SIZE, 0)))
        abort();
    BCryptDestroyHash(state);
    BCryptCloseAlgorithmProvider(algorithm, 0);
}
