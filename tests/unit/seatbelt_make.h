/* seatbelt_make.h - a policy made of rules, written as a Seatbelt profile and read back: for tests of what
 * profiles say. */
#pragma once

#include "emitters/seatbelt_read.h"
#include "emitters/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

struct made {
    struct arena *arena;
    const struct bound_policy *bound; /* with every root bound */
    struct buffer out;
    struct note_list notes;
    bool good;
};

struct root_path {
    enum root root;
    const char *path;
    bool parameter; /* given when the profile is loaded, not when it is written */
};

static inline struct policy *policy_of(struct arena *arena, const struct rule *rules, uint32_t count)
{
    static const struct layer layers[] = {{.kind = LAYER_POLICY, .name = "t"},
                                          {.kind = LAYER_MANAGED, .name = "corp\n(allow default)"}};
    static const struct policy_source sources[] = {{"t.sbx\n(allow default)", SOURCE_POLICY, NULL}};
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    struct rule *kept = arena_array(arena, count, sizeof *kept);
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = rules[i];
        kept[i].systems = SYSTEM_ALL;
        kept[i].origin.line = i + 1;
        if (kept[i].path.rest == NULL)
            kept[i].path.rest = "";
    }
    *policy = (struct policy){.arena = arena,
                              .name = "t",
                              .layers = layers,
                              .layer_count = 2,
                              .sources = sources,
                              .source_count = 1,
                              .rules = kept,
                              .rule_count = count};
    return policy;
}

static inline struct bindings bindings_of(struct arena *arena, const struct root_path *roots, uint32_t count,
                                          bool all)
{
    struct bindings bindings = {.system = SYSTEM_MACOS};
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    for (uint32_t i = 0; i < count; i++) {
        if (roots[i].parameter && !all)
            continue;
        const char **paths = arena_array(arena, 1, sizeof *paths);
        paths[0] = roots[i].path;
        bindings.roots[roots[i].root] = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
    }
    return bindings;
}

/* Writes the profile; `good` is false with errors in `notes`, also where the policy cannot be bound. */
static inline struct made make(const struct rule *rules, uint32_t count, const struct root_path *roots,
                               uint32_t root_count)
{
    struct made made = {.arena = arena_create(0)};
    struct policy *policy = policy_of(made.arena, rules, count);
    struct bindings symbolic = bindings_of(made.arena, roots, root_count, false);
    struct bindings whole = bindings_of(made.arena, roots, root_count, true);
    struct bindings *kept = arena_alloc(made.arena, sizeof *kept);
    *kept = whole;
    made.notes = note_list_in(made.arena);
    made.out = buffer_in(made.arena);
    struct bound_policy *bound = policy_bind(made.arena, policy, &symbolic, &made.notes);
    struct bound_policy *meant = policy_bind(made.arena, policy, kept, &made.notes);
    if (made.notes.errors > 0)
        return made;
    bound_seal(bound, NULL);
    bound_seal(meant, NULL);
    made.bound = meant;
    const struct emit_request request = {
        .arena = made.arena,
        .policy = policy,
        .bound = bound,
        .version = "0",
        .output_name = "t.sb",
        .notes = &made.notes,
    };
    made.good = target_named("seatbelt")->emit(&request, &made.out);
    return made;
}

static inline struct seatbelt_profile *read_back(const struct made *made, const struct root_path *roots,
                                                 uint32_t count)
{
    struct seatbelt_parameter parameters[8];
    struct seatbelt_error error = {0};
    uint32_t given = 0;
    for (uint32_t i = 0; i < count; i++)
        if (roots[i].parameter)
            parameters[given++] = (struct seatbelt_parameter){root_names[roots[i].root], roots[i].path};
    struct seatbelt_profile *profile =
        seatbelt_read(made->arena, made->out.bytes, made->out.length, parameters, given, NULL, NULL, &error);
    if (profile == NULL)
        print_message("%s at %u:%u\n%.*s\n", error.text, error.line, error.column, (int)made->out.length,
                      made->out.bytes);
    assert_non_null(profile);
    return profile;
}

#define RULES(...) (const struct rule[]){__VA_ARGS__}, COUNT(((const struct rule[]){__VA_ARGS__}))

static inline bool says(const struct made *made, enum code code)
{
    for (uint32_t i = 0; i < made->notes.count; i++)
        if (made->notes.items[i].code == code)
            return true;
    return false;
}

static inline bool holds(const struct made *made, const char *text)
{
    return memmem(made->out.bytes, made->out.length, text, strlen(text)) != NULL;
}

/* ---- questions ---- */

static inline bool allows_at(const struct seatbelt_profile *profile, const char *operation, const char *path,
                             enum seatbelt_vnode vnode, bool fold)
{
    const struct seatbelt_question question = {
        .operation = operation,
        .path = path,
        .vnode = vnode,
        .fold_case = fold,
        .protocol = strncmp(operation, "network", 7) == 0 ? SEATBELT_PROTOCOL_UNIX : SEATBELT_PROTOCOL_NONE,
        .socket_domain = strncmp(operation, "network", 7) == 0 ? 1 : 0,
    };
    enum seatbelt_answer answer = seatbelt_decide(profile, &question, NULL);
    if (answer == SEATBELT_UNKNOWN)
        print_message("unknown: %s %s\n", operation, path != NULL ? path : "-");
    assert_int_not_equal(answer, SEATBELT_UNKNOWN);
    return answer == SEATBELT_ALLOW;
}

static inline bool allows(const struct seatbelt_profile *profile, const char *operation, const char *path)
{
    return allows_at(profile, operation, path, SEATBELT_VNODE_FILE, true);
}
