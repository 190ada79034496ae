/* windows_trial.h - a policy, a machine on which its roots lie in each other, how both are made at random, and what becomes of
 * the policy there, as sbxc and the launcher do it.
 */
#pragma once

#include "base/vector.h"
#include "compiler/compile.h"
#include "policy/file.h"
#include "runtime/windows/resolve.h"

#include "tests/unit/chance.h"
#include "tests/unit/windows_symbolic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define PICK(chance, array) (array)[below(chance, COUNT(array))]

/* ---- a policy and a machine ---- */

enum { STATEMENTS_MOST = 16, PLACES_MOST = 3 };

/* What a root stands for. */
struct places {
    const char *paths[PLACES_MOST];
    uint32_t count; /* 0: unset, or of a list of directories that may only be denied: none */
};

struct trial {
    const char *statements[STATEMENTS_MOST];
    bool managed[STATEMENTS_MOST];
    uint32_t count;
    struct places roots[ROOTS];
    const char *foreign[ROOTS]; /* of a repository: what is denied and not granted; or NULL */
    const char *const *
        there; /* what is on the machine, directories first; files are "k" and what has a point in its name */
    uint32_t there_count;
};

/* Those of random policies, then the others. */
static const enum root roots[] = {ROOT_WORK, ROOT_HOME,   ROOT_CONFIG,  ROOT_CACHE, ROOT_TMP,
                                  ROOT_REPO, ROOT_GITDIR, ROOT_GITDIRS, ROOT_DATA,  ROOT_SUBMODULES};
enum { RANDOM_ROOTS = 8 };

static inline void root_put(struct trial *trial, enum root root, const char *path)
{
    struct places *places = &trial->roots[root];
    places->paths[places->count++] = path;
}

static inline void add(struct trial *trial, const char *statement, bool managed)
{
    trial->statements[trial->count] = statement;
    trial->managed[trial->count++] = managed;
}

static inline struct trial without(struct trial trial, uint32_t statement)
{
    trial.count--;
    for (uint32_t i = statement; i < trial.count; i++) {
        trial.statements[i] = trial.statements[i + 1];
        trial.managed[i] = trial.managed[i + 1];
    }
    return trial;
}

static inline struct root_value root_value_of(struct arena *arena, const struct trial *trial, enum root root)
{
    const struct places *places = &trial->roots[root];
    const char **paths = arena_array(arena, PLACES_MOST + 1, sizeof *paths);
    memcpy(paths, places->paths, sizeof places->paths);
    paths[places->count] = trial->foreign[root];
    struct root_value value = {
        .state = places->count == 0 ? ROOT_UNSET : ROOT_BOUND, .paths = paths, .count = places->count};
    if (root_of_repository(root)) {
        value.deny_paths = value.paths;
        value.deny_count = value.count + (trial->foreign[root] != NULL);
    }
    /* None is no repository without them. */
    if (root_is_found(root))
        value.state = ROOT_BOUND;
    return value;
}

static inline struct bindings bindings_of(struct arena *arena, const struct trial *trial)
{
    struct bindings bindings = {.system = SYSTEM_WINDOWS, .environment_known = true};
    for (uint32_t i = 0; i < COUNT(roots); i++)
        bindings.roots[roots[i]] = bindings.managed_roots[roots[i]] = root_value_of(arena, trial, roots[i]);
    return bindings;
}

/* ---- what becomes of it ---- */

struct outcome {
    struct arena *arena;
    const struct bound_policy *bound; /* what is meant: with the roots of the machine */
    const struct windows_spec *spec;  /* NULL: refused */
    const char *xml;
    struct note_list notes;    /* of the compiler's run */
    struct note_list launched; /* of the launcher's */
    bool compiled;
};

static inline const struct policy *policy_made(struct outcome *outcome, const struct trial *trial,
                                               bool managed)
{
    struct buffer text = buffer_in(outcome->arena);
    buffer_format(&text, "sbx 1\n%s \"t\"\n", managed ? "managed" : "policy");
    for (uint32_t i = 0; i < trial->count; i++)
        if (trial->managed[i] == managed)
            buffer_format(&text, "%s\n", trial->statements[i]);
    const struct compile_input input = {.input = {"t.sbx", text.bytes, (uint32_t)text.length}};
    const struct compilation *compilation = compile(outcome->arena, &input);
    if (compilation->policy == NULL)
        fail_msg("%s\n%s", compilation->diagnostics.items[0].text, text.bytes);
    return compilation->policy;
}

static inline bool has_managed(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++)
        if (trial->managed[i])
            return true;
    return false;
}

static inline struct outcome launch(const struct trial *trial)
{
    struct outcome outcome = {.arena = arena_create(0)};
    struct arena *arena = outcome.arena;
    struct buffer xml = buffer_in(arena), bin = buffer_in(arena);
    struct bindings *bindings = arena_alloc(arena, sizeof *bindings);
    struct managed_file managed_file = {"m.bin", NULL};
    struct managed_list managed = {.items = &managed_file, .count = 0};
    struct note_list unheard = note_list_in(arena);
    struct resolved_spec resolved;
    *bindings = bindings_of(arena, trial);
    outcome.notes = outcome.launched = note_list_in(arena);
    const struct policy *policy = policy_made(&outcome, trial, false);
    policy_write(&bin, policy);
    if (has_managed(trial)) {
        managed_file.policy = policy_made(&outcome, trial, true);
        managed.count = 1;
        policy = policy_merge(arena, policy, &managed_file.policy, 1);
    }
    struct bound_policy *bound = policy_bind(arena, policy, bindings, &unheard);
    bound_seal(bound, NULL);
    outcome.bound = bound;
    if (!emit_symbolic(arena, policy, &outcome.notes, &xml))
        return outcome;
    outcome.xml = xml.bytes;
    outcome.compiled = true;
    const struct resolve_request request = {
        .arena = arena, .bindings = bindings, .managed = &managed, .notes = &outcome.launched};
    if (spec_of_xml(&request, "t.xml", xml.bytes, xml.length, bin.bytes, bin.length, &resolved))
        outcome.spec = resolved.spec;
    return outcome;
}

/* ---- random trials ---- */

static inline const char *random_rest(struct chance *chance, struct arena *arena, uint32_t depth)
{
    static const char *const names[] = {"a", "b", "a", "b", "c", "k"};
    const char *rest = "";
    for (; depth > 0; depth--)
        rest = arena_format(arena, "%s/%s", rest, PICK(chance, names));
    return rest;
}

static inline const char *random_top(struct chance *chance, bool denied)
{
    static const char *const tops[] = {"$WORK", "$HOME", "$CONFIG", "$CACHE", "$TMP",
                                       "$WORK", "$REPO", "$GITDIR", "D:/x/a", "$GITDIRS"};
    return tops[below(chance, denied ? COUNT(tops) : COUNT(tops) - 1)];
}

static inline const char *random_path(struct chance *chance, struct arena *arena, bool denied)
{
    const char *top = random_top(chance, denied);
    uint32_t depth = below(chance, 3);
    return arena_join(arena, top, random_rest(chance, arena, depth));
}

static inline const char *random_pattern(struct chance *chance, struct arena *arena, bool denied)
{
    static const char *const patterns[] = {"/**/k", "/*", "/a*", "/**/b", "/?/b", "/b/**"};
    const char *top = random_top(chance, denied);
    return arena_format(arena, "%s%s%s", top, below(chance, 3) == 0 ? "/a" : "", PICK(chance, patterns));
}

static inline const char *random_place(struct chance *chance, struct arena *arena, bool denied)
{
    return below(chance, 4) == 0 ? random_pattern(chance, arena, denied) : random_path(chance, arena, denied);
}

static inline const char *random_deny(struct chance *chance, struct arena *arena)
{
    static const char *const kinds[] = {"deny", "deny", "deny write", "deny write", "deny exec"};
    const char *kind = PICK(chance, kinds), *except = "";
    if (below(chance, 4) == 0)
        except = arena_format(arena, " except %s", random_place(chance, arena, false));
    return arena_format(arena, "%s %s%s", kind, random_place(chance, arena, true), except);
}

/* Nothing can be granted where all of a profile's settings lie. */
static inline bool is_bare(const char *path)
{
    return strcmp(path, "$HOME") == 0 || strcmp(path, "$CONFIG") == 0 || strcmp(path, "$CACHE") == 0;
}

static inline const char *random_grant(struct chance *chance, struct arena *arena)
{
    static const char *const kinds[] = {"grant read", "grant write", "grant write", "auto grant read",
                                        "auto grant write"};
    const char *kind = PICK(chance, kinds), *path = random_path(chance, arena, false);
    return arena_format(arena, "%s %s", kind,
                        is_bare(path) && below(chance, 10) > 0 ? arena_join(arena, path, "/a") : path);
}

static inline void random_statements(struct chance *chance, struct arena *arena, struct trial *trial)
{
    static const char *const limits[] = {"limit write to", "limit read to"};
    static const char *const accepted[] = {"fs.closed", "net.closed", "process.tree", "fs.write",
                                           "ipc.signal"};
    uint32_t weak = below(chance, 10) == 0 ? COUNT(accepted) : below(chance, 5) == 0 ? 3 : 0;
    for (uint32_t i = 0; i < weak; i++)
        add(trial, arena_format(arena, "accept %s on windows because \"a test\"", accepted[i]), false);
    for (uint32_t left = 1 + below(chance, 4); left > 0; left--)
        add(trial, random_grant(chance, arena), false);
    for (uint32_t left = below(chance, 4); left > 0; left--)
        add(trial, random_deny(chance, arena), below(chance, 6) == 0);
    if (below(chance, 6) == 0)
        add(trial, arena_format(arena, "%s %s", PICK(chance, limits), random_path(chance, arena, false)),
            true);
}

static inline void random_roots(struct chance *chance, struct trial *trial)
{
    static const char *const places[] = {"D:/x/a",   "D:/x/a/b",   "D:/x/a/b/a", "D:/x/a/a",
                                         "D:/x/b",   "D:/x/b/a",   "D:/y",       "D:/y/a",
                                         "D:/y/a/b", "D:/x/b/a/b", "D:/x/a/b/b", "D:/y/c"};
    for (uint32_t i = 0; i < RANDOM_ROOTS; i++) {
        uint32_t count = below(chance, 12) > 0;
        if (roots[i] == ROOT_GITDIRS)
            count = below(chance, PLACES_MOST + 1);
        else if (roots[i] == ROOT_GITDIR)
            count = below(chance, 3);
        for (; count > 0; count--)
            root_put(trial, roots[i], PICK(chance, places));
    }
    if (below(chance, 4) == 0)
        trial->foreign[ROOT_REPO] = PICK(chance, places);
    if (below(chance, 4) == 0)
        trial->foreign[ROOT_GITDIR] = PICK(chance, places);
    if (below(chance, 2) == 0)
        trial->roots[ROOT_HOME] = (struct places){{"D:/x"}, 1};
}

struct texts {
    const char **items;
    uint32_t count, capacity;
};

static inline void random_below(struct chance *chance, struct arena *arena, struct texts *texts,
                                const char *path, uint32_t depth)
{
    VECTOR_PUSH(arena, texts, path);
    if (below(chance, 4) == 0)
        VECTOR_PUSH(arena, texts, arena_join(arena, path, "/k"));
    for (char name = 'a'; depth > 0 && name <= 'b'; name++)
        if (below(chance, 5) > 0)
            random_below(chance, arena, texts, arena_format(arena, "%s/%c", path, name), depth - 1);
}

static inline struct trial random_trial(struct chance *chance, struct arena *arena)
{
    struct trial trial = {0};
    struct texts texts = {0};
    random_statements(chance, arena, &trial);
    random_roots(chance, &trial);
    random_below(chance, arena, &texts, "D:/x", 4);
    random_below(chance, arena, &texts, "D:/y", 2);
    trial.there = texts.items;
    trial.there_count = texts.count;
    return trial;
}
