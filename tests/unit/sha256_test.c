#include "base/sha256_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 400 };

static void fill(unsigned char *bytes, size_t length)
{
    uint32_t value = 1;
    for (size_t i = 0; i < length; i++) {
        value = value * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(value >> 24);
    }
}

static void a_known_text_has_its_known_hash(void **state)
{
    static const char text[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                               "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    static const uint8_t known[SHA256_SIZE] = {
        0xcf, 0x5b, 0x16, 0xa7, 0x78, 0xaf, 0x83, 0x80, 0x03, 0x6c, 0xe5, 0x9e, 0x7b, 0x04, 0x92, 0x37,
        0x0b, 0x24, 0x9b, 0x11, 0xe8, 0xf0, 0x7a, 0x51, 0xaf, 0xac, 0x45, 0x03, 0x7a, 0xfe, 0xe9, 0xd1,
    };
    uint8_t hash[SHA256_SIZE];
    (void)state;
    sha256(hash, text, sizeof text - 1);
    assert_memory_equal(hash, known, sizeof hash);
}

static void every_length_gives_what_libsodium_gives(void **state)
{
    unsigned char bytes[LONGEST];
    (void)state;
    fill(bytes, sizeof bytes);
    for (size_t length = 0; length <= LONGEST; length++) {
        uint8_t hash[SHA256_SIZE], other[SHA256_SIZE];
        sha256(hash, bytes + LONGEST - length, length);
        crypto_hash_sha256(other, bytes + LONGEST - length, length);
        assert_memory_equal(hash, other, sizeof hash);
    }
}

static void it_does_not_matter_where_a_text_is_cut(void **state)
{
    unsigned char bytes[LONGEST];
    uint8_t whole[SHA256_SIZE];
    (void)state;
    fill(bytes, sizeof bytes);
    crypto_hash_sha256(whole, bytes, sizeof bytes);
    for (size_t first = 0; first <= LONGEST; first++) {
        for (size_t second = first; second <= LONGEST; second += 7) {
            uint8_t hash[SHA256_SIZE];
            crypto_hash_sha256_state parts;
            crypto_hash_sha256_init(&parts);
            sha256_add(&parts, bytes, first);
            sha256_add(&parts, bytes + first, second - first);
            sha256_add(&parts, bytes + second, LONGEST - second);
            crypto_hash_sha256_final(&parts, hash);
            assert_memory_equal(hash, whole, sizeof hash);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_text_has_its_known_hash),
        cmocka_unit_test(every_length_gives_what_libsodium_gives),
        cmocka_unit_test(it_does_not_matter_where_a_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
