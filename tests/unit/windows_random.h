/* windows_random.h - random policies for Windows, and what becomes of them: the specification that is emitted, loaded and
 * bound to the machine's roots, as sbxc and the launcher do it. */
#pragma once

#include "base/vector.h"
#include "emitters/target.h"
#include "emitters/windows_spec.h"
#include "policy/pattern.h"
#include "runtime/windows/resolve_bind.h"

#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* ---- rules ---- */

enum { RULES_MOST = 16 };

/* A policy, its roots, and what lies on the machine beside what the rules name. */
struct random_policy {
    struct rule rules[RULES_MOST];
    uint32_t count;
    const char *roots[ROOTS]; /* "C:/Users/me/w"; NULL: unset */
    bool symbolic;            /* the roots are bound at launch */
    bool respelled;           /* a deny is written in another case */
    uint64_t machine;         /* chance for what lies there */
};

static inline const char *random_name(struct chance *chance)
{
    static const char *const names[] = {"a", "b", "c", "Key.pem", "s p", "\xc3\xa9", "[x]", "B"};
    return names[below(chance, below(chance, 3) > 0 ? 3 : COUNT(names) - 1)];
}

static inline const char *random_rest(struct chance *chance, struct arena *arena, uint32_t depth)
{
    struct buffer rest = buffer_in(arena);
    for (; depth > 0; depth--)
        buffer_format(&rest, "/%s", random_name(chance));
    return rest.length == 0 ? "" : rest.bytes;
}

static inline const char *random_pattern(struct chance *chance, struct arena *arena)
{
    static const char *const signs[] = {"**/Key.pem", "*.pem", "a*", "**/b", "[a-c]", "?", "**/*.pem"};
    return arena_format(arena, "%s/%s%s", below(chance, 2) == 0 ? "" : "/a",
                        signs[below(chance, COUNT(signs))], below(chance, 4) == 0 ? "/b" : "");
}

static inline struct policy_path random_path(struct chance *chance, struct arena *arena, bool pattern)
{
    static const char *const places[] = {"/tools", "/Users/me/src", "/Users/me/AppData/LocalLow", "/share",
                                         "/p"};
    static const enum root roots[] = {ROOT_WORK, ROOT_WORK, ROOT_HOME, ROOT_TMP, ROOT_DRIVE};
    enum root root = roots[below(chance, COUNT(roots))];
    uint32_t depth = below(chance, 4);
    struct policy_path path = {.root = root, .pattern = pattern};
    const char *start = root == ROOT_HOME && depth == 0 ? "/src" : "";
    if (root == ROOT_DRIVE) {
        uint32_t place = below(chance, COUNT(places));
        start = places[place];
        path.name = place < 3 ? "C" : "D";
    }
    path.rest =
        arena_join(arena, start, pattern ? random_pattern(chance, arena) : random_rest(chance, arena, depth));
    return path;
}

static inline const struct path_list *random_excepts(struct chance *chance, struct arena *arena)
{
    struct policy_path *items = arena_array(arena, 2, sizeof *items);
    struct path_list *list = arena_alloc(arena, sizeof *list);
    for (uint32_t i = 0; i < 2; i++)
        items[i] = random_path(chance, arena, below(chance, 4) == 0);
    *list = (struct path_list){items, 1 + below(chance, 2)};
    return list;
}

/* Denies may be written in another case than what they close. */
static inline const char *other_case(struct arena *arena, const char *text)
{
    char *other = arena_strdup(arena, text);
    for (char *at = other; *at != '\0'; at++)
        *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 0x20 : *at);
    return other;
}

static inline struct rule random_rule(struct chance *chance, struct arena *arena, bool *respelled)
{
    struct rule rule = {.kind = RULE_GRANT, .level = LEVEL_READ + below(chance, 2)};
    uint32_t kind = below(chance, 10);
    bool pattern = kind >= 6 && kind < 9 && below(chance, 3) == 0;
    rule.automatic = kind < 2;
    if (kind >= 6 && kind < 9)
        rule = (struct rule){.kind = RULE_DENY, .level = below(chance, 2) == 0 ? LEVEL_NONE : LEVEL_READ};
    else if (kind == 9)
        rule = (struct rule){.kind = RULE_DENY_EXEC};
    rule.path = random_path(chance, arena, pattern);
    if (rule.kind == RULE_DENY && !pattern && below(chance, 8) == 0) {
        rule.path.rest = other_case(arena, rule.path.rest);
        *respelled = true;
    }
    if (rule.kind == RULE_DENY && below(chance, 3) == 0)
        rule.except = random_excepts(chance, arena);
    if (rule.kind == RULE_DENY && below(chance, 4) == 0)
        rule.layer = 1;
    return rule;
}

static inline void add_rule(struct random_policy *policy, struct rule rule)
{
    if (policy->count < RULES_MOST)
        policy->rules[policy->count++] = rule;
}

/* Exceptions that leave a policy to a weaker tier. */
static inline void random_accepts(struct chance *chance, struct random_policy *policy)
{
    static const char *const controls[] = {"fs.closed", "net.closed",      "process.tree",
                                           "fs.write",  "ipc.signal",      "fs.deny",
                                           "exec.deny", "fs.deny.pattern", "fs.deny.missing"};
    uint32_t count = below(chance, 2) == 0 ? 2 : COUNT(controls);
    if (below(chance, 3) != 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        add_rule(
            policy,
            (struct rule){.kind = RULE_ACCEPT, .name = controls[i], .value = "a test", .target = "windows"});
}

/* A managed layer's limit: the marker and its items. */
static inline void random_limit(struct chance *chance, struct arena *arena, struct random_policy *policy)
{
    enum rule_kind kind = below(chance, 2) == 0 ? RULE_LIMIT_READ : RULE_LIMIT_WRITE;
    /* Limits compare by bytes: where a deny spells a place in another case, which of the two is meant depends on the
     * disk. */
    if (policy->respelled || below(chance, 5) != 0)
        return;
    add_rule(policy, (struct rule){.kind = kind, .nothing = true, .layer = 1});
    for (uint32_t left = 1 + below(chance, 2); left > 0; left--)
        add_rule(policy, (struct rule){.kind = kind, .layer = 1, .path = random_path(chance, arena, false)});
}

static inline struct random_policy random_policy_of(struct chance *chance, struct arena *arena)
{
    static const char *const works[] = {"C:/Users/me/w",
                                        "C:/Users/me/src/w",
                                        "D:/p",
                                        "D:/share/w",
                                        "C:/tools/a",
                                        "C:/Users/me/AppData/Local/Temp/w",
                                        "C:/Users/me/src",
                                        "C:/Users/me/AppData/LocalLow/w"};
    struct random_policy policy = {.symbolic = below(chance, 2) == 0, .machine = chance->state | 1};
    policy.roots[ROOT_WORK] = works[below(chance, COUNT(works))];
    policy.roots[ROOT_HOME] = "C:/Users/me";
    policy.roots[ROOT_TMP] = "C:/Users/me/AppData/Local/Temp";
    random_accepts(chance, &policy);
    for (uint32_t left = 1 + below(chance, 4); left > 0; left--)
        add_rule(&policy, random_rule(chance, arena, &policy.respelled));
    random_limit(chance, arena, &policy);
    return policy;
}

/* ---- what becomes of it ---- */

struct made_policy {
    struct arena *arena;
    const struct bound_policy *bound; /* with every root bound: what is meant */
    struct bindings bindings;
    bool symbolic;
    struct buffer text;
    const struct windows_spec *spec; /* NULL: refused, with an error note */
    struct note_list notes;
};

static inline struct bindings random_bindings(struct arena *arena, const struct random_policy *policy,
                                              bool whole)
{
    struct bindings bindings = {.system = SYSTEM_WINDOWS, .environment_known = true};
    for (int root = 0; root < ROOTS; root++) {
        const char **path = arena_alloc(arena, sizeof *path);
        *path = policy->roots[root];
        if (policy->symbolic && !whole)
            bindings.roots[root].state = ROOT_SYMBOLIC;
        else if (*path != NULL)
            bindings.roots[root] = (struct root_value){.state = ROOT_BOUND, .paths = path, .count = 1};
        bindings.managed_roots[root] = bindings.roots[root];
    }
    return bindings;
}

static inline const struct policy *random_layers(struct arena *arena, const struct random_policy *from)
{
    static const struct layer layers[] = {{.kind = LAYER_POLICY, .name = "t"},
                                          {.kind = LAYER_MANAGED, .name = "corp"}};
    static const struct policy_source source = {"t.sbx", SOURCE_POLICY, NULL};
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    struct rule *rules = arena_array(arena, from->count, sizeof *rules);
    for (uint32_t i = 0; i < from->count; i++) {
        rules[i] = from->rules[i];
        rules[i].systems = SYSTEM_ALL;
        rules[i].origin.line = i + 1;
        if (rules[i].path.rest == NULL)
            rules[i].path.rest = "";
    }
    *policy = (struct policy){.arena = arena,
                              .name = "t",
                              .layers = layers,
                              .layer_count = 2,
                              .sources = &source,
                              .source_count = 1,
                              .rules = rules,
                              .rule_count = from->count};
    return policy;
}

static inline struct bound_policy *random_bind(struct made_policy *made, const struct policy *policy,
                                               const struct bindings *bindings)
{
    struct bound_policy *bound = policy_bind(made->arena, policy, bindings, &made->notes);
    if (made->notes.errors > 0)
        return NULL;
    bound_seal(bound, NULL);
    return bound;
}

static inline struct made_policy random_make(const struct random_policy *from)
{
    struct made_policy made = {.arena = arena_create(0), .symbolic = from->symbolic};
    struct bindings *symbolic = arena_alloc(made.arena, sizeof *symbolic);
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS] = {NULL};
    const char *error = NULL;
    const struct policy *policy = random_layers(made.arena, from);
    made.notes = note_list_in(made.arena);
    made.text = buffer_in(made.arena);
    made.bindings = random_bindings(made.arena, from, true);
    *symbolic = random_bindings(made.arena, from, false);
    const struct bound_policy *bound = random_bind(&made, policy, symbolic);
    struct bindings *whole = arena_alloc(made.arena, sizeof *whole);
    *whole = made.bindings;
    made.bound = bound != NULL ? random_bind(&made, policy, whole) : NULL;
    if (made.bound == NULL)
        return made;
    controls_needed(bound, needs);
    const struct emit_request request = {.arena = made.arena,
                                         .policy = policy,
                                         .bound = bound,
                                         .version = "0",
                                         .output_name = "t.xml",
                                         .accepted = accepted,
                                         .notes = &made.notes};
    if (!controls_check(bound, CONTROL_TARGET_WINDOWS, needs, accepted, &made.notes) ||
        !target_named("windows")->emit(&request, &made.text))
        return made;
    const struct windows_spec *loaded = windows_load(made.arena, made.text.bytes, made.text.length, &error);
    if (loaded == NULL)
        fail_msg("%s\n%s", error, made.text.bytes);
    made.spec = from->symbolic ? spec_bind(made.arena, loaded, &made.bindings, "t.xml", &made.notes) : loaded;
    return made;
}

/* The policy in words, for a person. */
static inline void random_print(const struct random_policy *policy, const struct made_policy *made)
{
    const struct policy *rules = random_layers(made->arena, policy);
    print_error("WORK=%s%s\n", policy->roots[ROOT_WORK], policy->symbolic ? ", bound at launch" : "");
    for (uint32_t i = 0; i < rules->rule_count; i++)
        print_error("%s%s\n", rules->rules[i].layer == 1 ? "managed: " : "",
                    rule_text(made->arena, &rules->rules[i]));
    const char *list = made->text.length > 0 ? strstr(made->text.bytes, "  <acl>") : NULL;
    print_error("%s\n", list != NULL ? list : "");
}
