#include "base/sha256_parts.h"

#include "base/attributes.h"

#include <stdbool.h>

enum { BLOCK = 64 };

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <immintrin.h>
#include <sys/platform/x86.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The eight words of the state as the instructions want them. */
struct halves {
    __m128i abef, cdgh;
};

/* The C library has asked the processor already. */
static bool has_instructions(void)
{
    return x86_cpu_active(x86_cpu_SHA) && x86_cpu_active(x86_cpu_SSE4_1);
}

/* Four rounds from number `round` on, with their four words of the message. */
SBX_SHA_INSTRUCTIONS static inline struct halves rounds(struct halves state, __m128i words, int round)
{
    __m128i sums = _mm_add_epi32(words, _mm_loadu_si128((const void *)&constants[round]));
    state.cdgh = _mm_sha256rnds2_epu32(state.cdgh, state.abef, sums);
    state.abef = _mm_sha256rnds2_epu32(state.abef, state.cdgh, _mm_shuffle_epi32(sums, 0x0E));
    return state;
}

/* The four words that follow sixteen. */
SBX_SHA_INSTRUCTIONS static inline __m128i next_words(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m128i sums = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
    return _mm_sha256msg2_epu32(sums, d);
}

/* Words of a message are big-endian. */
SBX_SHA_INSTRUCTIONS static inline __m128i words_at(const unsigned char *bytes)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const void *)bytes), order);
}

SBX_SHA_INSTRUCTIONS static struct halves block_add(struct halves before, const unsigned char *bytes)
{
    __m128i a = words_at(bytes), b = words_at(bytes + 16), c = words_at(bytes + 32), d = words_at(bytes + 48);
    struct halves state = before;
    for (int round = 0; round < BLOCK; round += 16) {
        state = rounds(state, a, round);
        a = next_words(a, b, c, d);
        state = rounds(state, b, round + 4);
        b = next_words(b, c, d, a);
        state = rounds(state, c, round + 8);
        c = next_words(c, d, a, b);
        state = rounds(state, d, round + 12);
        d = next_words(d, a, b, c);
    }
    state.abef = _mm_add_epi32(state.abef, before.abef);
    state.cdgh = _mm_add_epi32(state.cdgh, before.cdgh);
    return state;
}

SBX_SHA_INSTRUCTIONS static void blocks_add(uint32_t words[8], const unsigned char *bytes, size_t count)
{
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const void *)&words[0]), 0xB1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const void *)&words[4]), 0x1B);
    struct halves state = {_mm_alignr_epi8(badc, hgfe, 8), _mm_blend_epi16(hgfe, badc, 0xF0)};
    for (size_t i = 0; i < count; i++)
        state = block_add(state, bytes + i * BLOCK);
    __m128i feba = _mm_shuffle_epi32(state.abef, 0x1B), dchg = _mm_shuffle_epi32(state.cdgh, 0xB1);
    _mm_storeu_si128((void *)&words[0], _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((void *)&words[4], _mm_alignr_epi8(dchg, feba, 8));
}

#else

static bool has_instructions(void)
{
    return false;
}

static void blocks_add(uint32_t words[8], const unsigned char *bytes, size_t count)
{
    (void)words, (void)bytes, (void)count;
}

#endif

/* Whole blocks need no buffer; what is before and behind them is libsodium's, whose state counts bits. */
void sha256_add(crypto_hash_sha256_state *state, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    size_t held = (size_t)(state->count / 8 % BLOCK), missing = held == 0 ? 0 : BLOCK - held;
    if (has_instructions() && length >= missing + BLOCK) {
        crypto_hash_sha256_update(state, at, missing);
        size_t count = (length - missing) / BLOCK;
        blocks_add(state->state, at + missing, count);
        state->count += (uint64_t)count * BLOCK * 8;
        at += missing + count * BLOCK;
        length -= missing + count * BLOCK;
    }
    crypto_hash_sha256_update(state, at, length);
}

void sha256(uint8_t hash[SHA256_SIZE], const void *bytes, size_t length)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    sha256_add(&state, bytes, length);
    crypto_hash_sha256_final(&state, hash);
}
