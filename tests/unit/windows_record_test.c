/* A journal is read up to where it is whole, and what is damaged in the middle hides no more than itself. */
#include "runtime/windows/journal_record.h"

#include "tests/unit/journal_world.h"

/* A header and a record of each other type, with the offsets at which they end. */
struct sample {
    struct buffer bytes;
    size_t ends[8];
    uint32_t count;
};

static void add(struct sample *sample, struct journal_record record)
{
    record.number = sample->count;
    assert_true(journal_record_write(&record, &sample->bytes));
    sample->ends[sample->count++] = sample->bytes.length;
}

static struct acl_identity identity(const char *path)
{
    struct acl_identity identity = {.volume = "\\\\?\\Volume{memory}\\", .directory = true, .path = path};
    memcpy(identity.id, "0123456789abcdef", ACL_ID_SIZE);
    return identity;
}

static struct sample make_sample(struct arena *arena)
{
    struct sample sample = {.bytes = buffer_in(arena)};
    struct windows_entry *entries = arena_array(arena, 2, sizeof *entries);
    entries[0] = entry(7, WINDOWS_ENTRY_DENY, INHERIT, 0xd0156);
    entries[1] = entry(7, WINDOWS_ENTRY_ALLOW, 0, 0x1301bf);
    struct journal_record object = {.type = JOURNAL_OBJECT,
                                    .identity = identity("C:\\w\\\xc3\xa4"),
                                    .entries = entries,
                                    .count = 2,
                                    .labels = true,
                                    .label = low_label()};
    assert_true(windows_descriptor_read(arena, USUAL LOW, &object.before));
    add(&sample,
        (struct journal_record){
            .type = JOURNAL_HEADER, .version = JOURNAL_VERSION, .policy_hash = {1, 2}, .package = "sbx.1"});
    add(&sample,
        (struct journal_record){
            .type = JOURNAL_PLACEHOLDER, .path = "C:\\w\\p", .maker = "C:\\w\\.sbx-1", .content = ""});
    add(&sample, (struct journal_record){.type = JOURNAL_DONE, .of = 1, .identity = identity("C:\\w\\p")});
    add(&sample, object);
    add(&sample, (struct journal_record){.type = JOURNAL_TREE, .identity = identity("C:\\w")});
    add(&sample, (struct journal_record){.type = JOURNAL_DONE, .of = 3});
    return sample;
}

static struct journal_records read_some(struct arena *arena, const char *bytes, size_t length)
{
    /* At an address of its own, so that a sanitizer sees reading too far. */
    char *copy = malloc(length + 1);
    memcpy(copy, bytes, length);
    struct journal_records records = journal_records_read(arena, copy, length);
    free(copy);
    return records;
}

static uint32_t whole_records(const struct sample *sample, size_t length)
{
    uint32_t whole = 0;
    while (whole < sample->count && sample->ends[whole] <= length)
        whole++;
    return whole;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    struct journal_records records = read_some(arena, sample.bytes.bytes, sample.bytes.length);
    assert_int_equal(records.count, 6);
    assert_false(records.damaged);
    assert_false(records.foreign);
    assert_int_equal(records.next, 6);
    assert_string_equal(records.items[0].package, "sbx.1");
    assert_int_equal(records.items[0].policy_hash[1], 2);
    assert_string_equal(records.items[1].path, "C:\\w\\p");
    assert_string_equal(records.items[1].maker, "C:\\w\\.sbx-1");
    assert_string_equal(records.items[1].content, "");
    assert_int_equal(records.items[2].of, 1);
    const struct journal_record *object = &records.items[3];
    assert_string_equal(object->identity.path, "C:\\w\\\xc3\xa4");
    assert_memory_equal(object->identity.id, "0123456789abcdef", ACL_ID_SIZE);
    assert_string_equal(windows_descriptor_text(arena, &object->before),
                        USUAL "S:(ML;OICI;0x1;;;S-1-16-4096)");
    assert_int_equal(object->count, 2);
    struct windows_entry deny = entry(7, WINDOWS_ENTRY_DENY, INHERIT, 0xd0156), label = low_label();
    assert_true(windows_entry_equal(&object->entries[0], &deny));
    assert_true(object->labels && windows_entry_equal(&object->label, &label));
    assert_int_equal(records.items[4].type, JOURNAL_TREE);
    arena_destroy(arena);
}

static void a_torn_tail_is_passed_over_at_every_length(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    for (size_t length = 0; length <= sample.bytes.length; length++) {
        struct journal_records records = read_some(arena, sample.bytes.bytes, length);
        assert_int_equal(records.count, whole_records(&sample, length));
        assert_false(records.damaged);
    }
    arena_destroy(arena);
}

static void a_tail_of_zeros_is_passed_over_at_every_length(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    char *zeroed = arena_alloc(arena, sample.bytes.length + 4096);
    for (size_t length = 0; length <= sample.bytes.length; length++) {
        memset(zeroed, 0, sample.bytes.length + 4096);
        memcpy(zeroed, sample.bytes.bytes, length);
        struct journal_records records = read_some(arena, zeroed, sample.bytes.length + length % 4096);
        /* A record that ends in zeros anyway may be whole with them. */
        assert_true(records.count >= whole_records(&sample, length));
        assert_true(records.count <= whole_records(&sample, length) + 1);
        assert_false(records.damaged);
    }
    arena_destroy(arena);
}

static void a_changed_byte_hides_one_record_at_the_most(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    for (size_t at = 0; at < sample.bytes.length; at++) {
        sample.bytes.bytes[at] ^= 0x41;
        struct journal_records records = read_some(arena, sample.bytes.bytes, sample.bytes.length);
        sample.bytes.bytes[at] ^= 0x41;
        assert_int_equal(records.count, sample.count - 1);
        assert_true(records.damaged || at >= sample.ends[sample.count - 2]);
    }
    arena_destroy(arena);
}

static void anything_at_all_can_be_read(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        size_t length = sample.bytes.length;
        char *bytes = malloc(length);
        memcpy(bytes, sample.bytes.bytes, length);
        for (int i = 0; i < 4; i++) {
            random = random * 1664525 + 1013904223;
            bytes[(random >> 8) % length] = (char)(random >> 24);
        }
        struct arena *scratch = arena_child(arena);
        journal_records_read(scratch, bytes, length);
        arena_destroy(scratch);
        free(bytes);
    }
    arena_destroy(arena);
}

static void a_payload_that_lies_about_its_lengths_is_none(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = make_sample(arena);
    uint32_t random = 7;
    /* With a right checksum: only what the payload says of itself is wrong. */
    for (size_t at = sample.ends[2] + 16; at < sample.ends[3]; at++) {
        struct buffer bytes = buffer_in(arena);
        struct journal_record record;
        buffer_bytes(&bytes, sample.bytes.bytes + sample.ends[2], sample.ends[3] - sample.ends[2]);
        random = random * 1664525 + 1013904223;
        bytes.bytes[at - sample.ends[2]] = (char)(random >> 16 | 0x80);
        journal_record_seal(&bytes, 0);
        journal_record_read(arena, bytes.bytes, bytes.length, 0, &record);
    }
    arena_destroy(arena);
}

static void another_version_is_told_apart(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct sample sample = {.bytes = buffer_in(arena)};
    add(&sample, (struct journal_record){.type = JOURNAL_HEADER, .version = JOURNAL_VERSION + 1});
    assert_true(read_some(arena, sample.bytes.bytes, sample.bytes.length).foreign);
    arena_destroy(arena);
}

static void bytes_that_are_no_journal_are_damaged_and_an_unfinished_one_is_not(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    static const char garbage[] = "This has never been a journal, whatever the name of its file says.";
    assert_true(read_some(arena, garbage, sizeof garbage).damaged);
    assert_false(read_some(arena, "", 0).damaged);
    assert_false(read_some(arena, (const char[4096]){0}, 4096).damaged);
    struct sample sample = make_sample(arena);
    assert_true(
        read_some(arena, sample.bytes.bytes + sample.ends[0], sample.ends[4] - sample.ends[0]).damaged);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_torn_tail_is_passed_over_at_every_length),
        cmocka_unit_test(a_tail_of_zeros_is_passed_over_at_every_length),
        cmocka_unit_test(a_changed_byte_hides_one_record_at_the_most),
        cmocka_unit_test(anything_at_all_can_be_read),
        cmocka_unit_test(a_payload_that_lies_about_its_lengths_is_none),
        cmocka_unit_test(another_version_is_told_apart),
        cmocka_unit_test(bytes_that_are_no_journal_are_damaged_and_an_unfinished_one_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
