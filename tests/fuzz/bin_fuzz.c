/* bin_fuzz.c - feeds forged .bin files, their length and checksum made right, to the reader and uses what it
 * accepts.
 *
 * Build with clang -fsanitize=fuzzer,address,undefined and the sources of base/ and policy/.
 */
#include "policy/bytes.h"
#include "policy/file.h"
#include "policy/file_format.h"

#include <sodium/crypto_hash_sha256.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is the body of a file; the head and the hash are added so that it gets past them. */
static struct buffer forge(struct arena *arena, const uint8_t *data, size_t size)
{
    struct buffer file = buffer_in(arena);
    buffer_bytes(&file, FILE_MAGIC, FILE_MAGIC_SIZE);
    bytes_put(&file, FILE_VERSION, 4);
    bytes_put(&file, FILE_HEAD_SIZE + size + FILE_HASH_SIZE, 8);
    buffer_bytes(&file, data, size);
    unsigned char hash[FILE_HASH_SIZE];
    crypto_hash_sha256(hash, (const unsigned char *)file.bytes, file.length);
    buffer_bytes(&file, hash, sizeof hash);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return 0;
    const char *error = NULL;
    if (policy_read(arena, data, size, &error) == NULL && error == NULL)
        abort();

    struct buffer file = forge(arena, data, size);
    const struct policy *policy = policy_read(arena, file.bytes, file.length, &error);
    for (uint32_t i = 0; policy != NULL && i < policy->rule_count; i++)
        if (strlen(rule_text(arena, &policy->rules[i])) == 0)
            abort();
    if (policy != NULL && policy_merge(arena, policy, &policy, 1)->rule_count < policy->rule_count)
        abort();
    arena_destroy(arena);
    return 0;
}
