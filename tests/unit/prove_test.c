#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "build_policy.h"
#include "policy/bound.h"
#include "policy/fold.h"
#include "policy/pattern.h"

/* xorshift: the same numbers on every machine */
static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static const char *pick(uint32_t *seed, const char *const *words, uint32_t count)
{
    return words[next_random(seed) % count];
}

static const char *random_path(struct arena *arena, uint32_t *seed, bool pattern)
{
    static const char *const names[] = {"a", "b", "c", "A", "\xc3\xa9", "e\xcc\x81", "ab"};
    static const char *const signs[] = {"*", "**", "?", "[a-b]", "a*", "*b", "[!a]"};
    struct buffer path = buffer_in(arena);
    uint32_t depth = 1 + next_random(seed) % 4;
    buffer_string(&path, next_random(seed) % 3 == 0 ? "$WORK" : "/a");
    for (uint32_t i = 0; i < depth; i++) {
        bool sign = pattern && next_random(seed) % 2 == 0;
        buffer_format(&path, "/%s", sign ? pick(seed, signs, 7) : pick(seed, names, 7));
    }
    return path.bytes;
}

static const char *random_line(struct arena *arena, uint32_t *seed, bool managed)
{
    static const char *const own[] = {"grant read", "grant write", "auto grant read", "auto grant write",
                                      "grant socket"};
    static const char *const limits[] = {"limit read to", "limit write to", "limit socket to"};
    static const char *const denies[] = {"deny", "deny write", "deny exec", "deny socket"};
    uint32_t choice = next_random(seed) % 8;
    if (choice < 5 && !managed)
        return arena_format(arena, "%s %s", pick(seed, own, 5), random_path(arena, seed, false));
    if (choice < 3)
        return arena_format(arena, "%s %s", pick(seed, limits, 3),
                            next_random(seed) % 8 == 0 ? "nothing" : random_path(arena, seed, false));
    const char *deny = pick(seed, denies, 4);
    const char *line = arena_format(arena, "%s %s", deny, random_path(arena, seed, true));
    if (next_random(seed) % 2 == 0)
        return line;
    return arena_format(arena, "%s except %s,%s", line, random_path(arena, seed, true),
                        random_path(arena, seed, false));
}

/* The language's rules for levels as written down, without any index. */

static bool plain_covers(const char *rule, const char *path)
{
    size_t length = strlen(rule);
    return strncmp(rule, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool covers(const struct bound_policy *bound, const struct bound_path *at, const char *path, bool fold)
{
    char left[FOLD_CAPACITY], right[FOLD_CAPACITY];
    fold = fold && bound->bindings.system != SYSTEM_LINUX;
    if (at->pattern)
        return pattern_covers(pattern_compile(bound->arena, at->path, fold), path, strlen(path));
    if (!fold)
        return plain_covers(at->path, path);
    left[fold_text(at->path, strlen(at->path), left, FOLD_CAPACITY - 1)] = '\0';
    right[fold_text(path, strlen(path), right, FOLD_CAPACITY - 1)] = '\0';
    return plain_covers(left, right);
}

static bool applies(const struct bound_policy *bound, const struct bound_rule *rule, const char *path)
{
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (covers(bound, &rule->except[i], path, false))
            return false;
    return covers(bound, &rule->at, path, true);
}

struct plain_answer {
    enum level level;
    bool exec, socket;
};

static struct plain_answer plain_layer(const struct bound_policy *bound, uint32_t layer, const char *path)
{
    enum level cap = LEVEL_WRITE, configured = LEVEL_NONE, automatic = LEVEL_NONE, opened;
    size_t longest = 0;
    bool exec = true, no_socket = false, socket_granted = false, limit[3] = {false}, in[3] = {false};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        enum rule_kind kind = rule->rule->kind;
        if (rule->rule->layer != layer)
            continue;
        if (kind >= RULE_LIMIT_READ && kind <= RULE_LIMIT_SOCKET) {
            limit[kind - RULE_LIMIT_READ] = true;
            if (rule->at.path != NULL && covers(bound, &rule->at, path, false))
                in[kind - RULE_LIMIT_READ] = true;
        } else if (kind == RULE_GRANT && covers(bound, &rule->at, path, false)) {
            size_t length = strlen(rule->at.path);
            if (rule->rule->automatic)
                automatic = rule->rule->level > automatic ? rule->rule->level : automatic;
            else if (length > longest || (length == longest && rule->rule->level < configured))
                configured = rule->rule->level;
            if (!rule->rule->automatic && length > longest)
                longest = length;
        } else if (kind == RULE_GRANT_SOCKET) {
            socket_granted = socket_granted || covers(bound, &rule->at, path, false);
        } else if (kind == RULE_DENY && applies(bound, rule, path)) {
            cap = rule->rule->level < cap ? rule->rule->level : cap;
        } else if (kind == RULE_DENY_EXEC && applies(bound, rule, path)) {
            exec = false;
        } else if (kind == RULE_DENY_SOCKET && applies(bound, rule, path)) {
            no_socket = true;
        }
    }
    if (bound->policy->layers[layer].kind == LAYER_POLICY) {
        opened = longest > 0 ? configured : automatic;
    } else {
        opened = limit[0] && !in[0] && !in[1] ? LEVEL_NONE : limit[1] && !in[1] ? LEVEL_READ : LEVEL_WRITE;
        socket_granted = (!limit[1] || in[1]) && (!limit[2] || in[2]);
    }
    return (struct plain_answer){opened < cap ? opened : cap, exec,
                                 socket_granted && !no_socket && cap == LEVEL_WRITE};
}

static struct plain_answer plain_answer(const struct bound_policy *bound, const char *path)
{
    struct plain_answer all = {LEVEL_WRITE, true, true};
    for (uint32_t layer = 0; layer < bound->policy->layer_count; layer++) {
        struct plain_answer one = plain_layer(bound, layer, path);
        all.level = one.level < all.level ? one.level : all.level;
        all.exec = all.exec && one.exec;
        all.socket = all.socket && one.socket;
    }
    all.exec = all.exec && all.level >= LEVEL_READ;
    return all;
}

static struct bound_policy *random_policy(struct arena *arena, uint32_t *seed, enum system system)
{
    const char *lines[40];
    uint32_t count = 0, layers = next_random(seed) % 3;
    struct bindings bindings = build_bindings(system);
    struct note_list notes = note_list_in(arena);
    for (uint32_t i = next_random(seed) % 10; i < 12; i++)
        lines[count++] = random_line(arena, seed, false);
    for (uint32_t layer = 0; layer < layers; layer++) {
        lines[count++] = "managed corp";
        for (uint32_t i = next_random(seed) % 5; i < 6; i++)
            lines[count++] = random_line(arena, seed, true);
    }
    lines[count] = NULL;
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
    assert_int_equal(0, notes.errors);
    bound_seal(bound, &notes);
    return bound;
}

static void decisions_are_what_the_language_says(void **state)
{
    uint32_t seed = 20261130;
    (void)state;
    for (int round = 0; round < 600; round++) {
        struct arena *arena = arena_create(0);
        struct bound_policy *bound =
            random_policy(arena, &seed, round % 3 == 0 ? SYSTEM_MACOS : SYSTEM_LINUX);
        const char *wrong = bound_prove(arena, bound);
        if (wrong != NULL)
            fail_msg("round %d: %s", round, wrong);
        for (int i = 0; i < 40; i++) {
            const char *path = random_path(arena, &seed, false);
            if (path[0] == '$')
                path = arena_format(arena, "/w%s", path + 5);
            size_t length = strlen(path);
            struct plain_answer plain = plain_answer(bound, path);
            if (plain.level != bound_level(bound, path, length) ||
                plain.exec != bound_exec(bound, path, length) ||
                plain.socket != bound_socket(bound, path, length))
                fail_msg("round %d: %s", round, path);
            for (uint32_t layer = 0; layer < bound->policy->layer_count; layer++) {
                assert_int_equal(plain_layer(bound, layer, path).level,
                                 bound_layer_level(bound, layer, path, length));
                assert_true(bound_level(bound, path, length) <=
                            bound_layer_level(bound, layer, path, length));
            }
        }
        arena_destroy(arena);
    }
}

/* Every place of a rule has the level of its nearest listed region. */
static void regions_hold_every_level(void **state)
{
    uint32_t seed = 7;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct arena *arena = arena_create(0);
        struct bound_policy *bound = random_policy(arena, &seed, SYSTEM_LINUX);
        struct region_list regions = bound_regions(arena, bound, NULL, 0);
        for (uint32_t i = 0; i < bound->rules.count; i++) {
            const char *path = bound->rules.items[i].at.path;
            enum level level = LEVEL_NONE;
            if (path == NULL || bound->rules.items[i].at.pattern)
                continue;
            for (uint32_t at = 0; at < regions.count; at++)
                if (plain_covers(regions.items[at].path, path))
                    level = regions.items[at].level;
            assert_int_equal(bound_level(bound, path, strlen(path)), level);
        }
        arena_destroy(arena);
    }
}

/* Puts the rule of the policy's last line at the end of what is bound: services bring more than was written. */
static void last_line_to_end(struct bound_policy *bound)
{
    const struct rule *said = &bound->policy->rules[bound->policy->rule_count - 1];
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        struct bound_rule *end = &bound->rules.items[bound->rules.count - 1], rule = bound->rules.items[i];
        if (rule.rule != said)
            continue;
        bound->rules.items[i] = *end;
        *end = rule;
        return;
    }
}

/* A rule that the index does not know stands for a decision that forgot it. */
static void the_proof_finds_what_a_decision_forgot(void **state)
{
    static const char *const forgotten[] = {
        "deny /w/a",
        "deny write /w",
        "limit write to /w/b",
        "limit read to nothing",
        "deny exec /w/x",
        "deny socket /w/s",
        "limit socket to nothing",
        "deny env CI",
        "deny env C*",
        "limit env to nothing",
        "limit env to D*",
        "deny service gpu",
        "limit service to nothing",
        "deny network host a.example",
        "deny network host example",
        "deny network host *.example",
        "deny network host *",
        "deny network internet",
        "deny network address 1.2.3.0/24",
        "limit network to nothing",
        "limit network to host b.example",
        "deny network loopback 3000",
        "deny network any",
        "deny scratch",
        "deny bypass",
        "limit processes to 3",
        "deny /w/**/*.key",
        "deny /w except /w/a",
    };
    (void)state;
    for (size_t i = 0; i < sizeof forgotten / sizeof *forgotten; i++) {
        struct arena *arena = arena_create(0);
        struct bindings bindings = build_bindings(SYSTEM_LINUX);
        struct note_list notes = note_list_in(arena);
        const char *const *lines =
            LINES("grant write /w", "grant read /w/a/x.key", "grant socket /w/s", "grant env CI",
                  "grant service gpu", "grant network host a.example", "grant network address 1.2.3.4",
                  "grant network loopback 3000", "grant scratch", "grant bypass", "limit processes to 9",
                  "grant read /w/x", "managed corp", "permit bypass", forgotten[i]);
        struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
        last_line_to_end(bound);
        bound_seal(bound, &notes);
        const char *wrong = bound_prove(arena, bound);
        if (wrong != NULL)
            fail_msg("%s: %s", forgotten[i], wrong);
        bound->rules.count--;
        bound_seal(bound, NULL);
        assert_null(bound_prove(arena, bound));
        bound->rules.count++;
        if (bound_prove(arena, bound) == NULL)
            fail_msg("%s is not missed", forgotten[i]);
        arena_destroy(arena);
    }
}

/* Long enough to be proven in two halves. */
static void a_long_proof_finds_what_is_wrong_in_either_half(void **state)
{
    enum { MANY = 30000 };
    static const char *const forgotten[] = {"deny /w/7/x", "deny /w/29999/x"};
    static const char *const found[] = {"/w/7/x", "/w/29999/x"};
    (void)state;
    for (size_t i = 0; i < sizeof forgotten / sizeof *forgotten; i++) {
        struct arena *arena = arena_create(0);
        struct bindings bindings = build_bindings(SYSTEM_LINUX);
        struct note_list notes = note_list_in(arena);
        const char **lines = arena_array(arena, MANY + 2, sizeof *lines);
        for (uint32_t line = 0; line < MANY; line++)
            lines[line] = arena_format(arena, "grant read /w/%u/x", line);
        lines[MANY] = forgotten[i];
        struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
        bound_seal(bound, NULL);
        assert_null(bound_prove(arena, bound));
        bound->rules.count--;
        bound_seal(bound, NULL);
        assert_null(bound_prove(arena, bound));
        bound->rules.count++;
        const char *wrong = bound_prove(arena, bound);
        assert_non_null(wrong);
        assert_non_null(strstr(wrong, found[i]));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_what_the_language_says),
        cmocka_unit_test(regions_hold_every_level),
        cmocka_unit_test(the_proof_finds_what_a_decision_forgot),
        cmocka_unit_test(a_long_proof_finds_what_is_wrong_in_either_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
