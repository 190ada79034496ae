/* The .bin file: round trips, canonical bytes, and that nothing but what sbxc wrote is read. */
#include "policy/file.h"

#include "policy/bytes.h"
#include "policy/file_format.h"
#include "tests/unit/sample_policy.h"

#include <setjmp.h>
#include <sodium/crypto_hash_sha256.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int arena_setup(void **state)
{
    *state = arena_create(0);
    return *state == NULL;
}

static int arena_teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct buffer written(struct arena *arena, const struct policy *policy)
{
    struct buffer out = buffer_in(arena);
    policy_write(&out, policy);
    return out;
}

static struct policy *read_back(struct arena *arena, const struct buffer *file)
{
    const char *error = NULL;
    struct policy *policy = policy_read(arena, file->bytes, file->length, &error);
    if (policy == NULL)
        fail_msg("%s", error);
    return policy;
}

/* Makes the length and the checksum right again, as someone who forges a file would. */
static void forge(struct buffer *file)
{
    size_t body = file->length - FILE_HASH_SIZE;
    for (size_t i = 0; i < 8; i++)
        file->bytes[FILE_MAGIC_SIZE + 4 + i] = (char)(file->length >> 8 * (7 - i));
    crypto_hash_sha256((unsigned char *)file->bytes + body, (const unsigned char *)file->bytes, body);
}

static void refused(struct arena *arena, const struct buffer *file, const char *reason)
{
    const char *error = NULL;
    assert_null(policy_read(arena, file->bytes, file->length, &error));
    assert_non_null(error);
    if (strstr(error, reason) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error, reason);
}

static const struct rule *rule_of_kind(const struct policy *policy, enum rule_kind kind)
{
    for (uint32_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].kind == kind)
            return &policy->rules[i];
    fail_msg("no rule of kind %d", kind);
    return NULL;
}

static void what_was_written_is_read(void **state)
{
    struct policy *policy = sample_policy(*state, 0);
    struct buffer file = written(*state, policy);
    const struct policy *back = read_back(*state, &file);

    assert_string_equal(back->name, "acme-web");
    assert_int_equal(back->rule_count, policy->rule_count);
    assert_int_equal(back->source_count, 3);
    assert_string_equal(back->sources[0].name, "project.sbx");
    assert_memory_equal(back->requested_hash, policy->requested_hash, 32);
    assert_memory_equal(back->effective_hash, policy->effective_hash, 32);
    assert_memory_equal(back->layers[0].hash, policy->layers[0].hash, 32);
    const struct rule *set = rule_of_kind(back, RULE_SET_ENV);
    assert_string_equal(set->value, "development \xc3\xa9");
    assert_int_equal(set->origin.line, 16);
    const struct rule *deny = rule_of_kind(back, RULE_DENY_EXEC);
    assert_int_equal(deny->except->count, 3);
    const struct rule *grant = rule_of_kind(back, RULE_GRANT_NETWORK);
    assert_int_equal(grant->network->port_count, 3);
    assert_string_equal(grant->network->host, "*.example.com");
}

/* The statement that each rule came from, over the whole policy, whatever its order. */
static void every_rule_says_the_same_after_a_round_trip(void **state)
{
    struct policy *policy = sample_policy(*state, 0);
    struct buffer file = written(*state, policy);
    const struct policy *back = read_back(*state, &file);
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        /* The except list comes back sorted. */
        if (policy->rules[i].except != NULL)
            continue;
        const char *text = rule_text(*state, &policy->rules[i]);
        bool found = false;
        for (uint32_t j = 0; j < back->rule_count; j++)
            found = found || (strcmp(rule_text(*state, &back->rules[j]), text) == 0 &&
                              back->rules[j].origin.line == policy->rules[i].origin.line);
        if (!found)
            fail_msg("%s is lost", text);
    }
}

static void order_and_repetition_change_no_hash(void **state)
{
    struct policy *one = sample_policy(*state, 0), *other = sample_policy(*state, 1);
    assert_memory_equal(one->effective_hash, other->effective_hash, 32);

    struct sample_rules twice = {0};
    for (uint32_t i = 0; i < 2 * one->rule_count; i++)
        VECTOR_PUSH(*state, &twice, one->rules[i / 2]);
    struct policy *repeated = sample_finish(*state, &twice, "another-name", LAYER_POLICY);
    assert_memory_equal(one->effective_hash, repeated->effective_hash, 32);
    struct buffer file = written(*state, repeated);
    assert_int_equal(read_back(*state, &file)->rule_count, one->rule_count);
}

static void every_difference_in_meaning_changes_the_hash(void **state)
{
    struct policy *policy = sample_policy(*state, 0);
    uint8_t before[32];
    memcpy(before, policy->effective_hash, sizeof before);
    struct rule *rules = arena_array(*state, policy->rule_count, sizeof *rules);
    for (uint32_t left_out = 0; left_out < policy->rule_count; left_out++) {
        struct policy less = *policy;
        uint32_t count = 0;
        for (uint32_t i = 0; i < policy->rule_count; i++)
            if (i != left_out)
                rules[count++] = policy->rules[i];
        less.rules = rules;
        less.rule_count = count;
        policy_hash(&less);
        assert_memory_not_equal(less.effective_hash, before, sizeof before);
    }
    memcpy(rules, policy->rules, policy->rule_count * sizeof *rules);
    policy->rules = rules;
    rules[0].path.directory = true;
    policy_hash(policy);
    assert_memory_not_equal(policy->effective_hash, before, sizeof before);
}

static void the_bytes_are_canonical(void **state)
{
    struct policy *policy = sample_policy(*state, 0);
    struct buffer file = written(*state, policy);
    struct rule *reversed = arena_array(*state, policy->rule_count, sizeof *reversed);
    for (uint32_t i = 0; i < policy->rule_count; i++)
        reversed[i] = policy->rules[policy->rule_count - 1 - i];
    policy->rules = reversed;
    struct buffer again = written(*state, policy);
    assert_int_equal(file.length, again.length);
    assert_memory_equal(file.bytes, again.bytes, file.length);
}

static void rules_that_never_hold_are_left_out(void **state)
{
    static const struct command_set nobody = {NULL, 0};
    struct policy *policy = sample_policy(*state, 0);
    struct rule *rules = arena_array(*state, policy->rule_count, sizeof *rules);
    memcpy(rules, policy->rules, policy->rule_count * sizeof *rules);
    rules[0].systems = 0;
    rules[1].commands = &nobody;
    policy->rules = rules;
    struct buffer file = written(*state, policy);
    assert_int_equal(read_back(*state, &file)->rule_count, policy->rule_count - 2);
}

static void merged_layers_are_kept(void **state)
{
    const struct policy *managed[] = {sample_managed(*state, "acme")};
    struct policy *merged = policy_merge(*state, sample_policy(*state, 0), managed, 1);
    struct buffer file = written(*state, merged);
    const struct policy *back = read_back(*state, &file);
    assert_int_equal(back->layer_count, 2);
    assert_int_equal(back->layers[1].kind, LAYER_MANAGED);
    assert_string_equal(back->layers[1].name, "acme");
    assert_memory_equal(back->effective_hash, merged->effective_hash, 32);
    assert_string_equal(rule_layer_name(back, rule_of_kind(back, RULE_PERMIT_BYPASS)), "acme");
}

static void a_managed_policy_stands_alone_too(void **state)
{
    struct buffer file = written(*state, sample_managed(*state, "acme"));
    assert_int_equal(read_back(*state, &file)->layers[0].kind, LAYER_MANAGED);
}

static void an_empty_policy_has_a_file(void **state)
{
    struct sample_rules none = {0};
    struct buffer file = written(*state, sample_finish(*state, &none, "empty", LAYER_POLICY));
    assert_int_equal(read_back(*state, &file)->rule_count, 0);
}

static void every_flipped_byte_is_noticed(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    for (size_t at = 0; at < file.length; at++) {
        struct arena *arena = arena_create(0);
        file.bytes[at] = (char)(file.bytes[at] ^ 0x01);
        refused(arena, &file, "it ");
        file.bytes[at] = (char)(file.bytes[at] ^ 0x81);
        refused(arena, &file, "it ");
        file.bytes[at] = (char)(file.bytes[at] ^ 0x80);
        arena_destroy(arena);
    }
    read_back(*state, &file);
}

static void every_truncation_is_noticed(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    for (struct buffer part = file; part.length-- > 0;) {
        struct arena *arena = arena_create(0);
        refused(arena, &part, part.length == 0 ? "empty" : "truncated");
        arena_destroy(arena);
    }
}

static void more_after_the_end_is_noticed(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    buffer_byte(&file, 'x');
    refused(*state, &file, "bytes follow after its end");
}

static void a_newer_version_is_named(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    file.bytes[FILE_MAGIC_SIZE + 3] = 2;
    forge(&file);
    refused(*state, &file, "it needs a newer sbx: file version 2, this build reads 1");
}

static void other_files_are_not_policies(void **state)
{
    struct buffer text = buffer_in(*state);
    buffer_string(&text, "sbx 1\npolicy \"a\"\n");
    refused(*state, &text, "not a .bin policy");
}

/* A forged file with a right checksum still has to be one that sbxc could have written. */
static void forged_bytes_are_refused_or_read_as_they_stand(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    for (size_t at = FILE_HEAD_SIZE; at < file.length - FILE_HASH_SIZE; at++)
        for (unsigned change = 1; change < 256; change += change < 8 ? 1 : 37) {
            struct arena *arena = arena_create(0);
            struct buffer forged = buffer_in(arena);
            buffer_bytes(&forged, file.bytes, file.length);
            forged.bytes[at] = (char)((unsigned char)forged.bytes[at] ^ change);
            forge(&forged);
            const char *error = NULL;
            const struct policy *policy = policy_read(arena, forged.bytes, forged.length, &error);
            if (policy == NULL) {
                assert_non_null(error);
            } else {
                struct buffer again = written(arena, policy);
                assert_int_equal(again.length, forged.length);
                assert_memory_equal(again.bytes, forged.bytes, forged.length);
            }
            arena_destroy(arena);
        }
}

static void counts_beyond_the_file_are_refused(void **state)
{
    struct buffer file = written(*state, sample_policy(*state, 0));
    memset(file.bytes + FILE_HEAD_SIZE, 0xff, 4);
    forge(&file);
    refused(*state, &file, "a count is larger than the file");
}

/* Writes a policy whose first rule was changed, and expects the reader to say why no text makes it. */
static void refused_rule(struct arena *arena, struct policy *policy, struct rule rule, const char *reason)
{
    struct sample_rules rules = {0};
    VECTOR_PUSH(arena, &rules, rule);
    struct buffer file = written(arena, sample_finish(arena, &rules, "t", policy->layers[0].kind));
    refused(arena, &file, reason);
}

static void rules_that_no_text_makes_are_refused(void **state)
{
    struct policy *policy = sample_policy(*state, 0), *managed = sample_managed(*state, "m");
    const struct policy_path work = {.root = ROOT_WORK, .rest = "/a"};
    struct {
        struct policy *layer;
        struct rule rule;
        const char *reason;
    } cases[] = {
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SLASH, .rest = ""}},
         "a grant of everything"},
        {policy, {.kind = RULE_GRANT, .level = LEVEL_NONE, .path = work}, "a grant of nothing"},
        {policy, {.kind = RULE_DENY, .level = LEVEL_WRITE, .path = work}, "a deny of nothing"},
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_SUBMODULES, .rest = ""}},
         "$SUBMODULES or $GITDIRS outside a deny"},
        {policy, {.kind = RULE_LIMIT_READ, .path = work}, "only a managed layer"},
        {policy, {.kind = RULE_PERMIT_BYPASS}, "only a managed layer"},
        {managed, {.kind = RULE_GRANT, .level = LEVEL_READ, .path = work}, "a managed layer that grants"},
        {managed, {.kind = RULE_SET_ENV, .name = "A", .value = "b"}, "a managed layer that grants"},
        {managed, {.kind = RULE_DENY, .path = work, .commands = &sample_set}, "for some commands only"},
        {managed, {.kind = RULE_DENY, .path = {.root = ROOT_ENV, .name = "PATH", .rest = ""}}, "a variable"},
        {policy,
         {.kind = RULE_GRANT,
          .level = LEVEL_READ,
          .path = {.root = ROOT_WORK, .rest = "/*", .pattern = true}},
         "a pattern outside"},
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_WORK, .rest = "/a/../b"}},
         "a string"},
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_WORK, .rest = "/a/"}},
         "a string"},
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_WORK, .rest = "a"}},
         "a string"},
        {policy,
         {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.root = ROOT_DRIVE, .name = "c", .rest = "/a"}},
         "a string"},
        {policy,
         {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/[a", .pattern = true}},
         "a string"},
        {policy,
         {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/\\\x1b", .pattern = true}},
         "a string"},
        {policy,
         {.kind = RULE_DENY, .path = {.root = ROOT_SLASH, .rest = "/*/a", .pattern = true}},
         "a string"},
        {policy, {.kind = RULE_SET_ENV, .name = "A=B", .value = ""}, "a string"},
        {policy, {.kind = RULE_SET_ENV, .name = "A", .value = "\x1b[2J"}, "a string"},
        {policy, {.kind = RULE_SET_ENV, .name = "A", .value = "\xc2\x9b"}, "a string"},
        {policy, {.kind = RULE_SET_ENV, .name = "A", .value = "\xff"}, "a string"},
        {policy, {.kind = RULE_LIMIT_FILES, .amount = 0}, "a limit of zero"},
        {policy, {.kind = RULE_LIMIT_MEMORY, .amount = 1000}, "KiB"},
        {policy, {.kind = RULE_DENY_ENV, .name = "A", .automatic = true}, "a flag"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused_rule(*state, cases[i].layer, cases[i].rule, cases[i].reason);
}

static void networks_that_no_text_makes_are_refused(void **state)
{
    struct policy *policy = sample_policy(*state, 0);
    static const struct port_range zero[] = {{0, 1}}, touching[] = {{1, 2}, {3, 4}};
    struct network wide = sample_host, bits = sample_address, none = sample_loopback, port = sample_loopback,
                   touch = sample_loopback, prefix = sample_address;
    wide.host = "*.com";
    bits.address[15] = 1;
    none.protocols = 0;
    port.ports = zero;
    port.port_count = 1;
    touch.ports = touching;
    touch.port_count = 2;
    prefix.prefix = 129;
    refused_rule(*state, policy, (struct rule){.kind = RULE_GRANT_NETWORK, .network = &wide}, "too wide");
    refused_rule(*state, policy, (struct rule){.kind = RULE_DENY_NETWORK, .network = &bits}, "host bits");
    refused_rule(*state, policy, (struct rule){.kind = RULE_DENY_NETWORK, .network = &none},
                 "without a protocol");
    refused_rule(*state, policy, (struct rule){.kind = RULE_DENY_NETWORK, .network = &port}, "ports");
    refused_rule(*state, policy, (struct rule){.kind = RULE_DENY_NETWORK, .network = &touch}, "ports");
    refused_rule(*state, policy, (struct rule){.kind = RULE_DENY_NETWORK, .network = &prefix}, "128 bits");
    refused_rule(*state, policy, (struct rule){.kind = RULE_GRANT_LISTEN, .network = &sample_host}, "listen");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(every_rule_says_the_same_after_a_round_trip),
        cmocka_unit_test(order_and_repetition_change_no_hash),
        cmocka_unit_test(every_difference_in_meaning_changes_the_hash),
        cmocka_unit_test(the_bytes_are_canonical),
        cmocka_unit_test(rules_that_never_hold_are_left_out),
        cmocka_unit_test(merged_layers_are_kept),
        cmocka_unit_test(a_managed_policy_stands_alone_too),
        cmocka_unit_test(an_empty_policy_has_a_file),
        cmocka_unit_test(every_flipped_byte_is_noticed),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(more_after_the_end_is_noticed),
        cmocka_unit_test(a_newer_version_is_named),
        cmocka_unit_test(other_files_are_not_policies),
        cmocka_unit_test(forged_bytes_are_refused_or_read_as_they_stand),
        cmocka_unit_test(counts_beyond_the_file_are_refused),
        cmocka_unit_test(rules_that_no_text_makes_are_refused),
        cmocka_unit_test(networks_that_no_text_makes_are_refused),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
