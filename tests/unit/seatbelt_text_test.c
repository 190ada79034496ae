/* No text that a policy carries can leave its place in a Seatbelt profile: with any byte in a name, a reason, a value, a
 * path or a pattern, the profile is the same but for what stands inside its strings and comments. */
#include "emitters/seatbelt_profile.h"
#include "emitters/seatbelt_read.h"
#include "emitters/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RULE_COUNT = 14, LONG = 890, LONG_MOST = 912 };

static const char *const hostile[] = {
    "\n(allow default)\n",
    "\r(allow default)",
    "\")(allow default)(\"",
    "\\",
    "\\\"",
    "\\\\\")(allow default)",
    "\"))) (allow default) ; ",
    "; (allow default)",
    "\n; requires: \"$WORK\" not-below \"$HOME\"\n",
    "#|\n(allow default)\n|#",
    "#\"",
    "'`,@#(#t",
    "\xe2\x80\xa8(allow default)",
    "\xe2\x80\xa9(allow default)",
    "\xc2\x85(allow default)",
    "\xe2\x80\xae)tluafed wolla(",
    "\xff\n(allow default)",
    "\\x0a(allow default)",
    "\\n(allow default)",
    "$(id) `id` \\\n",
};

/* ---- profiles ---- */

static const struct rule **accepted_for(struct arena *arena, const char *reason)
{
    const struct rule **accepted = arena_array(arena, CONTROLS, sizeof *accepted);
    struct rule *rule = arena_alloc(arena, sizeof *rule);
    *rule = (struct rule){.kind = RULE_ACCEPT, .name = control_names[CONTROL_NET_HOST], .value = reason};
    accepted[CONTROL_NET_HOST] = rule;
    return accepted;
}

static struct policy *policy_with(struct arena *arena, const char *text)
{
    const char *path = arena_format(arena, "/g%s", text), *below = arena_format(arena, "/d/%s", text);
    struct buffer pattern = buffer_in(arena);
    buffer_string(&pattern, "/p/*");
    for (const char *at = text; *at != '\0'; at++)
        buffer_format(&pattern, "%s%c", strchr("*?[\\!]^-", *at) != NULL ? "\\" : "", *at);
    struct path_list *list = arena_alloc(arena, sizeof *list);
    struct policy_path *except = arena_alloc(arena, sizeof *except);
    *except = (struct policy_path){.rest = arena_format(arena, "%s/except%s", below, text)};
    *list = (struct path_list){except, 1};
    const struct rule rules[RULE_COUNT] = {
        {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path.rest = path},
        {.kind = RULE_GRANT, .level = LEVEL_READ, .path.rest = arena_join(arena, path, "/r")},
        {.kind = RULE_GRANT,
         .level = LEVEL_READ,
         .automatic = true,
         .path.rest = arena_join(arena, path, "/a")},
        {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_WORK, .rest = path}},
        {.kind = RULE_DENY, .path.rest = below, .except = list},
        {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = below}},
        {.kind = RULE_DENY, .path = {.rest = pattern.bytes, .pattern = true}},
        {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = pattern.bytes, .pattern = true}},
        {.kind = RULE_DENY_EXEC, .path.rest = path},
        {.kind = RULE_GRANT_SOCKET, .path.rest = path},
        {.kind = RULE_DENY_SOCKET, .path.rest = below},
        {.kind = RULE_SET_ENV, .name = "V", .value = text},
        {.kind = RULE_GRANT_ENV, .name = arena_format(arena, "N%s", text)},
        {.kind = RULE_LIMIT_READ, .path.rest = path, .layer = 1},
    };
    struct layer *layers = arena_array(arena, 2, sizeof *layers);
    struct policy_source *sources = arena_alloc(arena, sizeof *sources);
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    struct rule *kept = arena_array(arena, RULE_COUNT, sizeof *kept);
    memcpy(kept, rules, sizeof rules);
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        kept[i].systems = SYSTEM_ALL;
        kept[i].origin.line = i + 1;
        if (kept[i].path.rest == NULL)
            kept[i].path.rest = "";
    }
    layers[0] = (struct layer){.kind = LAYER_POLICY, .name = text};
    layers[1] = (struct layer){.kind = LAYER_MANAGED, .name = text};
    *sources = (struct policy_source){text, SOURCE_POLICY, NULL};
    *policy = (struct policy){.arena = arena,
                              .name = text,
                              .layers = layers,
                              .layer_count = 2,
                              .sources = sources,
                              .source_count = 1,
                              .rules = kept,
                              .rule_count = RULE_COUNT};
    return policy;
}

static struct buffer profile_with(struct arena *arena, const char *text)
{
    struct bindings bindings = {.system = SYSTEM_MACOS};
    struct note_list notes = note_list_in(arena);
    struct buffer out = buffer_in(arena);
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    const struct policy *policy = policy_with(arena, text);
    struct bound_policy *bound = policy_bind(arena, policy, &bindings, &notes);
    bound_seal(bound, &notes);
    const struct emit_request request = {
        .arena = arena,
        .policy = policy,
        .bound = bound,
        .version = "0",
        .output_name = text,
        .accepted = accepted_for(arena, text),
        .notes = &notes,
    };
    assert_true(target_named("seatbelt")->emit(&request, &out));
    return out;
}

/* ---- what is left of a profile without the inside of its strings and comments ---- */

static const char *skeleton(struct arena *arena, const struct buffer *profile)
{
    struct buffer left = buffer_in(arena);
    bool string = false, comment = false;
    for (size_t i = 0; i < profile->length; i++) {
        char byte = profile->bytes[i];
        assert_true(byte == '\n' || (unsigned char)byte >= ' ');
        if (comment && byte != '\n')
            continue;
        if (string && byte == '\\') {
            i++;
            continue;
        }
        comment = !string && byte == ';';
        if (string && byte != '"')
            continue;
        string = (byte == '"') != string;
        buffer_byte(&left, byte);
    }
    return left.bytes;
}

static struct seatbelt_profile *read_back(struct arena *arena, const struct buffer *profile)
{
    const struct seatbelt_parameter work = {"WORK", "/w"};
    struct seatbelt_error error = {0};
    struct seatbelt_profile *read =
        seatbelt_read(arena, profile->bytes, profile->length, &work, 1, NULL, NULL, &error);
    if (read == NULL)
        fail_msg("%u:%u: %s", error.line, error.column, error.text);
    return read;
}

static bool reads(const struct seatbelt_profile *profile, const char *path)
{
    const struct seatbelt_question question = {
        .operation = "file-read-data", .path = path, .vnode = SEATBELT_VNODE_FILE};
    return seatbelt_decide(profile, &question, NULL) == SEATBELT_ALLOW;
}

/* ---- the tests ---- */

static bool is_ascii(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

static void check_text(const char *text)
{
    struct arena *arena = arena_create(0);
    /* What is beyond ASCII is denied in further forms. */
    struct buffer plain = profile_with(arena, is_ascii(text) ? "x" : "\xc3\xa8"),
                  out = profile_with(arena, text);
    if (strcmp(skeleton(arena, &plain), skeleton(arena, &out)) != 0)
        fail_msg("another profile with \"%s\":\n%s", text, out.bytes);
    const struct seatbelt_profile *profile = read_back(arena, &out);
    assert_int_equal(profile->rules.count, read_back(arena, &plain)->rules.count);
    assert_true(reads(profile, arena_format(arena, "/g%s/f", text)));
    assert_true(reads(profile, arena_format(arena, "/g%s/r", text)));
    assert_false(reads(profile, arena_format(arena, "/g%s_", text)));
    assert_false(reads(profile, "/elsewhere"));
    arena_destroy(arena);
}

static void no_byte_leaves_its_place(void **state)
{
    (void)state;
    for (int byte = 1; byte <= UINT8_MAX; byte++) {
        char alone[] = {(char)byte, '\0'};
        char before_quote[] = {'a', (char)byte, '"', ')', '\0'};
        char after_backslash[] = {'\\', (char)byte, '\n', 'b', '\0'};
        if (byte == '/')
            continue;
        check_text(alone);
        check_text(before_quote);
        check_text(after_backslash);
    }
}

static void no_text_leaves_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        check_text(hostile[i]);
}

/* Where a long path is cut into several strings, no escape and no character is. */
static void no_byte_leaves_a_string_that_is_cut(void **state)
{
    static const char *const ends[] = {"\n", "\"", "\\", "\xe2\x80\xa8", "\xff", "\xc3\xa9"};
    (void)state;
    for (uint32_t length = LONG; length < LONG_MOST; length++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            struct arena *arena = arena_create(0);
            struct buffer text = buffer_in(arena);
            for (uint32_t at = 0; at < length; at++)
                buffer_byte(&text, 'l');
            buffer_format(&text, "%s\")(allow default)", ends[i]);
            struct buffer out = profile_with(arena, text.bytes);
            const struct seatbelt_profile *profile = read_back(arena, &out);
            assert_true(reads(profile, arena_format(arena, "/g%s/f", text.bytes)));
            assert_false(reads(profile, arena_format(arena, "/g%s_", text.bytes)));
            assert_false(reads(profile, "/elsewhere"));
            arena_destroy(arena);
        }
}

/* Rules made of such a value would match nothing. */
static void a_root_that_is_no_resolved_path_is_refused(void **state)
{
    static const char *const bad[] = {"", "w", "/", "/w/", "/tmp", "/tmp/w", "/var/w", "/etc"};
    static const char *const good[] = {"/w", "/private/tmp/w", "/tmpx", "/variety/w", "/e"};
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer profile = profile_with(arena, "x");
    struct seatbelt_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct seatbelt_parameter work = {"WORK", bad[i]};
        assert_null(seatbelt_read(arena, profile.bytes, profile.length, &work, 1, NULL, NULL, &error));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const struct seatbelt_parameter work = {"WORK", good[i]};
        assert_non_null(seatbelt_read(arena, profile.bytes, profile.length, &work, 1, NULL, NULL, &error));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_leaves_its_place),
        cmocka_unit_test(no_text_leaves_its_place),
        cmocka_unit_test(no_byte_leaves_a_string_that_is_cut),
        cmocka_unit_test(a_root_that_is_no_resolved_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
