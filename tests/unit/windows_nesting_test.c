/* Specifications that were made before their roots were known: on machines where roots lie in each other they open no
 * more than the policy does there, and no less without a word. */
#include "base/vector.h"
#include "compiler/compile.h"
#include "emitters/windows.h"
#include "emitters/windows_applied.h"
#include "emitters/windows_fixture.h"
#include "emitters/windows_rights.h"
#include "policy/file.h"
#include "policy/pattern.h"
#include "runtime/windows/resolve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* ---- chance ---- */

struct chance {
    uint64_t state;
};

static uint32_t below(struct chance *chance, uint32_t limit)
{
    chance->state ^= chance->state << 13;
    chance->state ^= chance->state >> 7;
    chance->state ^= chance->state << 17;
    return (uint32_t)((chance->state >> 16) % limit);
}

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

static void root_put(struct trial *trial, enum root root, const char *path)
{
    struct places *places = &trial->roots[root];
    places->paths[places->count++] = path;
}

static struct root_value root_value_of(struct arena *arena, const struct trial *trial, enum root root)
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

static struct bindings bindings_of(struct arena *arena, const struct trial *trial)
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

static const struct policy *policy_made(struct outcome *outcome, const struct trial *trial, bool managed)
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

static bool has_managed(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++)
        if (trial->managed[i])
            return true;
    return false;
}

static bool emit_symbolic(struct outcome *outcome, const struct policy *policy, struct buffer *xml)
{
    struct bindings symbolic = {.system = SYSTEM_WINDOWS};
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS] = {0};
    for (uint32_t root = 0; root < ROOTS; root++)
        symbolic.roots[root].state = symbolic.managed_roots[root].state = ROOT_SYMBOLIC;
    struct bound_policy *bound = policy_bind(outcome->arena, policy, &symbolic, &outcome->notes);
    bound_seal(bound, NULL);
    controls_needed(bound, needs);
    return controls_check(bound, CONTROL_TARGET_WINDOWS, needs, accepted, &outcome->notes) &&
           emit_windows(&(struct emit_request){.arena = outcome->arena,
                                               .policy = policy,
                                               .bound = bound,
                                               .version = SBX_VERSION,
                                               .architecture = "x86_64",
                                               .output_name = "t.xml",
                                               .accepted = accepted,
                                               .notes = &outcome->notes},
                        xml);
}

static struct outcome launch(const struct trial *trial)
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
    if (!emit_symbolic(&outcome, policy, &xml))
        return outcome;
    outcome.xml = xml.bytes;
    outcome.compiled = true;
    const struct resolve_request request = {
        .arena = arena, .bindings = bindings, .managed = &managed, .notes = &outcome.launched};
    if (spec_of_xml(&request, "t.xml", xml.bytes, xml.length, bin.bytes, bin.length, &resolved))
        outcome.spec = resolved.spec;
    return outcome;
}

/* ---- the machine ---- */

struct machine {
    const struct trial *trial;
    const struct outcome *outcome;
    struct windows_tree *fixture, *bare, *tree;
    struct windows_token token;
};

static struct windows_tree *tree_of(struct arena *arena, const struct trial *trial)
{
    struct windows_tree *tree = windows_fixture(arena);
    for (uint32_t i = 0; i < trial->there_count; i++) {
        const char *path = windows_path_from_model(arena, trial->there[i]);
        const char *name = strrchr(path, '\\') + 1;
        bool file = strcmp(name, "k") == 0 || strchr(name + 1, '.') != NULL;
        (void)windows_tree_at(tree, path, !file);
    }
    return tree;
}

/* ---- what is meant ---- */

struct question {
    const struct machine *machine;
    const struct windows_node *node, *bare;
    const char *path; /* of the model */
    bool made;        /* a placeholder */
    enum windows_operation operation;
};

/* The policy as it is; without patterns, which speak of what is there when the launcher looks; its plain denies alone. */
struct meant {
    const struct bound_policy *whole, *plain, *closing;
};

static enum level level_at(const struct bound_policy *bound, const char *path)
{
    return bound_level(bound, path, strlen(path));
}

static enum level level_around(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? bound_level(bound, path, (size_t)(slash - path)) : LEVEL_NONE;
}

static const struct bound_policy *part_of(const struct bound_policy *bound, bool with_grants)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    struct bound_policy *copy = arena_alloc(bound->arena, sizeof *copy);
    *copy = *bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        bool denies =
            rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC || rule->holds_as_deny_write;
        if (!rule->at.pattern && (with_grants || denies))
            VECTOR_PUSH(bound->arena, &copy->rules, *rule);
    }
    if (!with_grants) {
        VECTOR_PUSH(bound->arena, &copy->rules, (struct bound_rule){.rule = &everything, .at.path = "C:"});
        VECTOR_PUSH(bound->arena, &copy->rules, (struct bound_rule){.rule = &everything, .at.path = "D:"});
    }
    bound_seal(copy, NULL);
    return copy;
}

static bool may_run(const struct bound_policy *bound, const struct question *question)
{
    size_t length = strlen(question->path);
    return question->node->directory ? bound_level(bound, question->path, length) >= LEVEL_READ
                                     : bound_exec(bound, question->path, length);
}

/* Whether something below the place that is there may not be written, so that it has to stay where it is. */
static bool holds_lower(const struct bound_policy *bound, const struct question *question)
{
    const struct windows_tree *tree = question->machine->tree;
    for (uint32_t i = 0; i < tree->count; i++)
        if (windows_path_covers(question->node->path, tree->items[i]->path) &&
            level_at(bound, windows_path_to_model(tree->arena, tree->items[i]->path)) < LEVEL_WRITE)
            return true;
    return false;
}

static const char *plain_part(struct arena *arena, const struct bound_path *at)
{
    return at->pattern ? pattern_plain(arena, at->path, pattern_fixed_prefix(at->path)) : at->path;
}

/* Whether a rule that may pin the place names something at or below it. */
static bool may_be_pinned(const struct bound_policy *bound, const struct question *question)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->at.path == NULL)
            continue;
        const char *name = windows_path_from_model(bound->arena, plain_part(bound->arena, &rule->at));
        if (windows_path_covers(question->node->path, name) ||
            (rule->at.pattern && windows_path_covers(name, question->node->path)))
            return true;
        for (uint32_t j = 0; j < rule->except_count; j++) {
            name = windows_path_from_model(bound->arena, plain_part(bound->arena, &rule->except[j]));
            if (windows_path_covers(question->node->path, name))
                return true;
        }
    }
    return false;
}

static bool must_be_denied(const struct question *question, const struct meant *meant)
{
    enum level level = level_at(meant->whole, question->path);
    bool package = question->machine->outcome->spec->tier == WINDOWS_APPCONTAINER;
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level < LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level < LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        /* Programs are those that are there when the launcher looks. */
        return !question->made && !may_run(meant->whole, question);
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        return package && (level_around(meant->whole, question->path) < LEVEL_WRITE ||
                           holds_lower(meant->whole, question));
    case WINDOWS_OPERATION_CHANGE_DACL:
        return level < LEVEL_WRITE || package;
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

static bool must_be_allowed(const struct question *question, const struct meant *meant)
{
    enum level level = level_at(meant->whole, question->path);
    switch (question->operation) {
    case WINDOWS_OPERATION_READ:
        return level >= LEVEL_READ;
    case WINDOWS_OPERATION_WRITE:
    case WINDOWS_OPERATION_CREATE:
        return level == LEVEL_WRITE;
    case WINDOWS_OPERATION_EXECUTE:
        return !question->made && bound_exec(meant->whole, question->path, strlen(question->path));
    case WINDOWS_OPERATION_DELETE:
    case WINDOWS_OPERATION_RENAME:
        return level == LEVEL_WRITE && level_around(meant->whole, question->path) == LEVEL_WRITE &&
               !may_be_pinned(meant->whole, question);
    case WINDOWS_OPERATION_CHANGE_DACL:
    case WINDOWS_OPERATIONS:
        break;
    }
    return false;
}

/* What Windows opens to such a token anyway, where no rule closes it. */
static bool is_ground(const struct question *question, const struct meant *meant)
{
    enum level left = level_at(meant->closing, question->path);
    if (!windows_may(&question->machine->token, question->bare, question->operation, WINDOWS_LOOSE))
        return false;
    if (question->operation == WINDOWS_OPERATION_EXECUTE)
        return may_run(meant->closing, question);
    return left >= (question->operation == WINDOWS_OPERATION_READ ? LEVEL_READ : LEVEL_WRITE);
}

/* ---- comparing ---- */

struct counts {
    uint32_t made, compiled, held, exact, tiers[WINDOWS_TIERS];
    uint64_t questions, missing, less;
    bool quiet;
};

static bool begins_alike(const char *path, const char *other)
{
    size_t length = strcspn(path, "/ ");
    return length == strcspn(other, "/ ") && strncmp(path, other, length) == 0;
}

/* An exception that begins with another root than its deny, and what a limit leaves of another root, may stay closed
 * (docs/windows.md). */
static bool speaks_across_roots(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++) {
        const char *except = strstr(trial->statements[i], " except ");
        if (strncmp(trial->statements[i], "limit", 5) == 0 ||
            (except != NULL && !begins_alike(strpbrk(trial->statements[i], "$D"), except + 8)))
            return true;
    }
    return false;
}

static bool says_less(const struct trial *trial, const struct outcome *outcome)
{
    if (speaks_across_roots(trial))
        return true;
    const struct note_list *lists[] = {&outcome->notes, &outcome->launched};
    for (uint32_t i = 0; i < COUNT(lists); i++)
        for (uint32_t j = 0; j < lists[i]->count; j++)
            if (lists[i]->items[j].code == SBX320_WINDOWS_LESS ||
                lists[i]->items[j].code == SBX321_WINDOWS_LEFT_OUT ||
                lists[i]->items[j].code == SBX155_TOO_WIDE_DROPPED)
                return true;
    return false;
}

static bool agrees(const struct question *question, const struct meant *meant, struct counts *counts)
{
    const struct machine *machine = question->machine;
    const char *wrong = NULL;
    counts->questions++;
    if (must_be_denied(question, meant)) {
        if (windows_may(&machine->token, question->node, question->operation, WINDOWS_LOOSE) &&
            !is_ground(question, meant))
            wrong = "more than the policy";
    } else if (must_be_allowed(question, meant) &&
               !windows_may(&machine->token, question->node, question->operation, WINDOWS_STRICT)) {
        counts->less++;
        wrong = says_less(machine->trial, machine->outcome) ? NULL : "less than the policy";
    }
    if (wrong != NULL && !counts->quiet)
        print_error("%s: %s %s\n%s\n", wrong, windows_operation_names[question->operation], question->path,
                    windows_descriptor_text(machine->outcome->arena, &question->node->descriptor));
    return wrong == NULL;
}

/* The launcher refuses to make something there. */
static bool lies_below_file(const struct windows_node *node)
{
    while (node->parent != NULL && node->parent->directory)
        node = node->parent;
    return node->parent != NULL;
}

static bool nodes_agree(const struct machine *machine, const struct meant *meant, struct counts *counts)
{
    struct question question = {.machine = machine};
    for (uint32_t i = 0; i < machine->tree->count; i++) {
        question.node = machine->tree->items[i];
        if (windows_tree_find(machine->fixture, question.node->path) != NULL ||
            lies_below_file(question.node))
            continue;
        question.made = windows_tree_find(machine->bare, question.node->path) == NULL;
        question.bare = windows_tree_at(machine->bare, question.node->path, question.node->directory);
        question.path = windows_path_to_model(machine->outcome->arena, question.node->path);
        for (int j = 0; j < WINDOWS_OPERATIONS; j++) {
            question.operation = (enum windows_operation)j;
            if ((j != WINDOWS_OPERATION_CREATE || question.node->directory) &&
                !agrees(&question, meant, counts))
                return false;
        }
    }
    return true;
}

/* What is not there cannot be made where the policy does not let it be written. */
static bool stays_missing(const struct machine *machine, const struct meant *meant, const char *path,
                          struct counts *counts)
{
    struct arena *arena = machine->outcome->arena;
    const char *above = windows_path_from_model(arena, path);
    if (windows_tree_find(machine->tree, above) != NULL || level_at(meant->plain, path) == LEVEL_WRITE)
        return true;
    const struct windows_node *node = NULL;
    while (node == NULL) {
        above = arena_copy(arena, above, (size_t)(strrchr(above, '\\') - above));
        node = windows_tree_find(machine->tree, strlen(above) == 2 ? arena_join(arena, above, "\\") : above);
    }
    counts->missing++;
    if (!node->directory || !windows_may(&machine->token, node, WINDOWS_OPERATION_CREATE, WINDOWS_LOOSE))
        return true;
    const struct windows_node *bare = windows_tree_find(machine->bare, node->path);
    if (level_at(meant->closing, path) == LEVEL_WRITE &&
        windows_may(&machine->token, bare, WINDOWS_OPERATION_CREATE, WINDOWS_LOOSE))
        return true;
    if (!counts->quiet)
        print_error("%s is missing and can be made\n", path);
    return false;
}

static bool missing_stay(const struct machine *machine, const struct meant *meant, struct counts *counts)
{
    for (uint32_t i = 0; i < meant->whole->rules.count; i++) {
        const struct bound_rule *rule = &meant->whole->rules.items[i];
        if (rule->dropped || rule->at.path == NULL || rule->at.pattern)
            continue;
        if (!stays_missing(machine, meant, rule->at.path, counts))
            return false;
    }
    return true;
}

/* ---- one trial ---- */

static void trial_print(const struct trial *trial, const struct outcome *outcome)
{
    for (uint32_t i = 0; i < trial->count; i++)
        print_error("%s%s\n", trial->managed[i] ? "managed: " : "", trial->statements[i]);
    for (uint32_t i = 0; i < COUNT(roots); i++) {
        print_error("$%s:", root_names[roots[i]]);
        for (uint32_t j = 0; j < trial->roots[roots[i]].count; j++)
            print_error(" %s", trial->roots[roots[i]].paths[j]);
        print_error("%s%s\n", trial->foreign[roots[i]] != NULL ? " and denied " : "",
                    trial->foreign[roots[i]] != NULL ? trial->foreign[roots[i]] : "");
    }
    print_error("there:");
    for (uint32_t i = 0; i < trial->there_count; i++)
        print_error(" %s", trial->there[i]);
    print_error("\n");
    const char *list = outcome->xml != NULL ? strstr(outcome->xml, "  <acl>") : NULL;
    print_error("%s\n", list != NULL ? list : "");
    for (uint32_t i = 0; outcome->spec != NULL && i < outcome->spec->object_count; i++) {
        const struct windows_object *object = &outcome->spec->objects[i];
        print_error("%s%s%s", object->path, object->cap ? " cap" : "", object->missing ? " made" : "");
        for (uint32_t j = 0; j < object->ace_count; j++)
            print_error(" %s %x", object->aces[j].deny ? "deny" : "allow", (unsigned)object->aces[j].mask);
        print_error("\n");
    }
    for (uint32_t i = 0; i < outcome->launched.count; i++)
        print_error("%s\n", outcome->launched.items[i].text);
}

/* The .bin beside it gives the same specification, so that a managed layer is no reason to refuse it. */
static bool is_foreign(const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->launched.count; i++)
        if (outcome->launched.items[i].code == SBX470_SPECIFICATION_MANAGED)
            return true;
    return false;
}

static bool holds(const struct trial *trial, struct counts *counts)
{
    struct outcome outcome = launch(trial);
    struct windows_applied applied;
    bool good = true;
    counts->made++;
    counts->compiled += outcome.compiled;
    if (outcome.spec != NULL) {
        struct machine machine = {
            .trial = trial,
            .outcome = &outcome,
            .fixture = windows_fixture(outcome.arena),
            .bare = tree_of(outcome.arena, trial),
            .tree = tree_of(outcome.arena, trial),
            .token = windows_fixture_token(outcome.arena, outcome.spec->tier, 0),
        };
        if (windows_apply(machine.tree, outcome.spec, &applied) == NULL) {
            struct meant meant = {outcome.bound, part_of(outcome.bound, true), part_of(outcome.bound, false)};
            counts->held++;
            counts->exact += !says_less(trial, &outcome);
            counts->tiers[outcome.spec->tier]++;
            good = nodes_agree(&machine, &meant, counts) && missing_stay(&machine, &meant, counts);
        }
    } else if (outcome.compiled && (outcome.launched.errors == 0 || is_foreign(&outcome))) {
        good = false;
    }
    if (!good && !counts->quiet)
        trial_print(trial, &outcome);
    arena_destroy(outcome.arena);
    return good;
}

static struct trial without(struct trial trial, uint32_t statement)
{
    trial.count--;
    for (uint32_t i = statement; i < trial.count; i++) {
        trial.statements[i] = trial.statements[i + 1];
        trial.managed[i] = trial.managed[i + 1];
    }
    return trial;
}

static void fail_shrunk(struct trial trial)
{
    struct counts counts = {.quiet = true};
    for (uint32_t i = 0; i < trial.count;) {
        struct trial smaller = without(trial, i);
        if (holds(&smaller, &counts)) {
            i++;
        } else {
            trial = smaller;
            i = 0;
        }
    }
    counts.quiet = false;
    (void)holds(&trial, &counts);
    fail();
}

/* ---- random trials ---- */

static const char *random_rest(struct chance *chance, struct arena *arena, uint32_t depth)
{
    static const char *const names[] = {"a", "b", "a", "b", "c", "k"};
    const char *rest = "";
    for (; depth > 0; depth--)
        rest = arena_format(arena, "%s/%s", rest, PICK(chance, names));
    return rest;
}

static const char *random_top(struct chance *chance, bool denied)
{
    static const char *const tops[] = {"$WORK", "$HOME", "$CONFIG", "$CACHE", "$TMP",
                                       "$WORK", "$REPO", "$GITDIR", "D:/x/a", "$GITDIRS"};
    return tops[below(chance, denied ? COUNT(tops) : COUNT(tops) - 1)];
}

static const char *random_path(struct chance *chance, struct arena *arena, bool denied)
{
    const char *top = random_top(chance, denied);
    uint32_t depth = below(chance, 3);
    return arena_join(arena, top, random_rest(chance, arena, depth));
}

static const char *random_pattern(struct chance *chance, struct arena *arena, bool denied)
{
    static const char *const patterns[] = {"/**/k", "/*", "/a*", "/**/b", "/?/b", "/b/**"};
    const char *top = random_top(chance, denied);
    return arena_format(arena, "%s%s%s", top, below(chance, 3) == 0 ? "/a" : "", PICK(chance, patterns));
}

static const char *random_place(struct chance *chance, struct arena *arena, bool denied)
{
    return below(chance, 4) == 0 ? random_pattern(chance, arena, denied) : random_path(chance, arena, denied);
}

static const char *random_deny(struct chance *chance, struct arena *arena)
{
    static const char *const kinds[] = {"deny", "deny", "deny write", "deny write", "deny exec"};
    const char *kind = PICK(chance, kinds), *except = "";
    if (below(chance, 4) == 0)
        except = arena_format(arena, " except %s", random_place(chance, arena, false));
    return arena_format(arena, "%s %s%s", kind, random_place(chance, arena, true), except);
}

/* Nothing can be granted where all of a profile's settings lie. */
static bool is_bare(const char *path)
{
    return strcmp(path, "$HOME") == 0 || strcmp(path, "$CONFIG") == 0 || strcmp(path, "$CACHE") == 0;
}

static const char *random_grant(struct chance *chance, struct arena *arena)
{
    static const char *const kinds[] = {"grant read", "grant write", "grant write", "auto grant read",
                                        "auto grant write"};
    const char *kind = PICK(chance, kinds), *path = random_path(chance, arena, false);
    return arena_format(arena, "%s %s", kind,
                        is_bare(path) && below(chance, 10) > 0 ? arena_join(arena, path, "/a") : path);
}

static void add(struct trial *trial, const char *statement, bool managed)
{
    trial->statements[trial->count] = statement;
    trial->managed[trial->count++] = managed;
}

static void random_statements(struct chance *chance, struct arena *arena, struct trial *trial)
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

static void random_roots(struct chance *chance, struct trial *trial)
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

static void random_below(struct chance *chance, struct arena *arena, struct texts *texts, const char *path,
                         uint32_t depth)
{
    VECTOR_PUSH(arena, texts, path);
    if (below(chance, 4) == 0)
        VECTOR_PUSH(arena, texts, arena_join(arena, path, "/k"));
    for (char name = 'a'; depth > 0 && name <= 'b'; name++)
        if (below(chance, 5) > 0)
            random_below(chance, arena, texts, arena_format(arena, "%s/%c", path, name), depth - 1);
}

static struct trial random_trial(struct chance *chance, struct arena *arena)
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

/* ---- tests ---- */

/* Each was a fault once. */
static const struct known {
    const char *statements[5];
    struct {
        enum root root;
        const char *paths[2];
    } roots[3];
    bool refused;
} known[] = {
    /* what is between two writable places keeps its name */
    {{"auto grant write $HOME/b", "grant write $WORK/c", "deny write $WORK/c/b"},
     {{ROOT_HOME, {"D:/x"}}, {ROOT_WORK, {"D:/x/b/a"}}},
     false},
    /* one place, closed unless an exception's root covers it, is closed where it is missing too */
    {{"grant write $WORK", "deny $GITDIR/c/a except $REPO/k/a"},
     {{ROOT_WORK, {"D:/y/a"}}, {ROOT_GITDIR, {"D:/y/a"}}, {ROOT_REPO, {"D:/x/b"}}},
     false},
    {{"grant write $WORK/a", "deny write $GITDIR/k/c except $REPO/**/b"},
     {{ROOT_WORK, {"D:/y"}}, {ROOT_GITDIR, {"D:/y/a/b"}}, {ROOT_REPO, {"D:/x/a"}}},
     false},
    {{"grant write $WORK", "deny $REPO/.git except $GITDIR"},
     {{ROOT_WORK, {"D:/y"}}, {ROOT_REPO, {"D:/y"}}, {ROOT_GITDIR, {"D:/y/.git"}}},
     false},
    /* a missing program that a grant makes readable alone */
    {{"grant read $GITDIR", "auto grant write $WORK", "deny exec $WORK/c"},
     {{ROOT_WORK, {"D:/y"}}, {ROOT_GITDIR, {"D:/y/c"}}},
     false},
    /* what a grant opens that is left out here */
    {{"auto grant write $WORK", "deny write $WORK/a"},
     {{ROOT_WORK, {"D:/x/b"}}, {ROOT_HOME, {"D:/x/b"}}},
     true},
    {{"auto grant write $CACHE", "deny write $CACHE/a", "grant read $WORK"},
     {{ROOT_WORK, {"D:/y"}}, {ROOT_CACHE, {"D:/x"}}, {ROOT_HOME, {"D:/x/b"}}},
     false},
    {{"auto grant write $WORK", "deny $WORK except $WORK/a"},
     {{ROOT_WORK, {"D:/x"}}, {ROOT_HOME, {"D:/x/b"}}},
     true},
    /* directories of one root that lie in each other, as those of a linked worktree do */
    {{"grant read $GITDIR/c", "grant write $GITDIR/a"}, {{ROOT_GITDIR, {"D:/x/b", "D:/x/b/a"}}}, false},
    {{"grant write $GITDIR", "deny write $GITDIR/a/b"}, {{ROOT_GITDIR, {"D:/x", "D:/x/a/b"}}}, false},
    /* a pattern's deny of writing inside what may not be read */
    {{"accept fs.closed on windows because \"a test\"", "accept net.closed on windows because \"a test\"",
      "deny write $TMP/?/b", "deny $CONFIG/a", "auto grant write $CACHE/a"},
     {{ROOT_TMP, {"D:/x"}}, {ROOT_CONFIG, {"D:/x"}}, {ROOT_CACHE, {"D:/y"}}},
     false},
    /* a grant that changes nothing until another root lies around it */
    {{"grant write $WORK", "grant write $WORK/a/b", "grant read $TMP"},
     {{ROOT_WORK, {"D:/x"}}, {ROOT_TMP, {"D:/x/a"}}},
     false},
    /* a deny that its exception lifts */
    {{"grant write $WORK", "deny $CONFIG/a except $CONFIG"},
     {{ROOT_WORK, {"D:/x"}}, {ROOT_CONFIG, {"D:/x/b"}}},
     false},
    {{"grant write $WORK", "deny write $TMP/a except $TMP/a*"},
     {{ROOT_WORK, {"D:/x"}}, {ROOT_TMP, {"D:/x/b"}}},
     false},
    /* a deny at one root of what another opens in it, where both stand for one directory */
    {{"grant write $WORK/a/b", "deny write $REPO/a"}, {{ROOT_WORK, {"D:/x"}}, {ROOT_REPO, {"D:/x"}}}, false},
};

static struct trial known_trial(const struct known *from)
{
    static const char *const there[] = {"D:/x",     "D:/x/a",   "D:/x/a/b", "D:/x/a/b/k", "D:/x/b",
                                        "D:/x/b/a", "D:/x/b/b", "D:/y",     "D:/y/a",     "D:/y/.git"};
    struct trial trial = {.there = there, .there_count = COUNT(there)};
    for (uint32_t i = 0; i < COUNT(from->statements) && from->statements[i] != NULL; i++)
        add(&trial, from->statements[i], false);
    for (uint32_t i = 0; i < COUNT(from->roots); i++)
        for (uint32_t j = 0; j < 2 && from->roots[i].paths[j] != NULL; j++)
            root_put(&trial, from->roots[i].root, from->roots[i].paths[j]);
    return trial;
}

static void faults_that_were_found_stay_away(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < COUNT(known); i++) {
        struct counts counts = {.quiet = true};
        struct trial trial = known_trial(&known[i]);
        if (!holds(&trial, &counts) || counts.held == known[i].refused) {
            counts.quiet = false;
            (void)holds(&trial, &counts);
            fail_msg("%s\n%s", known[i].statements[0], known[i].statements[1]);
        }
    }
}

/* Machines as they are: what a policy of a usual kind becomes there must not be refused. */
static const struct usual {
    const char *work, *home, *config, *data, *tmp, *repo, *gitdirs[2], *nested[2];
} usual[] = {
    {"D:/w",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "C:/Users/me/AppData/Local/Temp",
     "D:/w",
     {"D:/w/.git"},
     {"D:/w/.git/modules/m"}},
    {"C:/Users/me/src/w",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "C:/Users/me/AppData/Local/Temp",
     "C:/Users/me/src/w",
     {"C:/Users/me/src/w/.git"},
     {NULL}},
    {"C:/Users/me/src/w/part",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "C:/Users/me/AppData/Local/Temp",
     "C:/Users/me/src/w",
     {"C:/Users/me/src/w/.git"},
     {NULL}},
    {"C:/Users/me/AppData/Local/Temp/w",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "C:/Users/me/AppData/Local/Temp",
     NULL,
     {NULL},
     {NULL}},
    {"D:/tree",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "D:/tree/temp",
     "D:/tree",
     {"D:/w/.git", "D:/w/.git/worktrees/tree"},
     {"D:/w/.git/worktrees/tree", "D:/w/.git/worktrees/b"}},
    {"D:/w/m",
     "C:/Users/me",
     "C:/Users/me/AppData/Roaming",
     "C:/Users/me/AppData/Local",
     "C:/Users/me/AppData/Local/Temp",
     "D:/w/m",
     {"D:/w/.git/modules/m"},
     {NULL}},
    {"D:/home/w", "D:/home", "D:/home/.config", "D:/home/.data", "D:/home/tmp", NULL, {NULL}, {NULL}},
    {"D:/home/w",
     "D:/home",
     "D:/home/w/config",
     "D:/home/w/data",
     "D:/home/w/tmp",
     "D:/home/w",
     {"D:/home/w/.git"},
     {NULL}},
};

static struct trial usual_trial(struct arena *arena, const struct usual *from)
{
    static const char *const statements[] = {"use std/dev",
                                             "grant write $WORK",
                                             "deny $WORK/.env, $WORK/secrets/",
                                             "deny $WORK/**/*.pem except $WORK/tests/fixtures",
                                             "deny write $WORK/.github/workflows",
                                             "grant read ~/notes"};
    static const char *const below[] = {"",         "/a",    "/a/key.pem", "/tests", "/tests/fixtures",
                                        "/secrets", "/a/b.c"};
    struct trial trial = {0};
    struct texts texts = {0};
    for (uint32_t i = 0; i < COUNT(statements); i++)
        add(&trial, statements[i], false);
    root_put(&trial, ROOT_WORK, from->work);
    root_put(&trial, ROOT_HOME, from->home);
    root_put(&trial, ROOT_CONFIG, from->config);
    root_put(&trial, ROOT_CACHE, from->data);
    root_put(&trial, ROOT_DATA, from->data);
    root_put(&trial, ROOT_TMP, from->tmp);
    if (from->repo != NULL)
        root_put(&trial, ROOT_REPO, from->repo);
    for (uint32_t i = 0; i < 2 && from->gitdirs[i] != NULL; i++)
        root_put(&trial, ROOT_GITDIR, from->gitdirs[i]);
    for (uint32_t i = 0; i < 2 && from->nested[i] != NULL; i++)
        root_put(&trial, ROOT_GITDIRS, from->nested[i]);
    for (uint32_t i = 0; i < COUNT(below); i++)
        VECTOR_PUSH(arena, &texts, arena_join(arena, from->work, below[i]));
    for (uint32_t i = 0; i < 2 && from->gitdirs[i] != NULL; i++)
        VECTOR_PUSH(arena, &texts, arena_join(arena, from->gitdirs[i], "/objects"));
    VECTOR_PUSH(arena, &texts, arena_join(arena, from->home, "/.ssh"));
    VECTOR_PUSH(arena, &texts, arena_join(arena, from->home, "/notes"));
    VECTOR_PUSH(arena, &texts, arena_join(arena, from->config, "/npm"));
    trial.there = texts.items;
    trial.there_count = texts.count;
    return trial;
}

static void usual_machines_are_not_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < COUNT(usual); i++) {
        struct arena *arena = arena_create(0);
        struct counts counts = {.quiet = true};
        struct trial trial = usual_trial(arena, &usual[i]);
        if (!holds(&trial, &counts) || counts.held == 0) {
            counts.quiet = false;
            (void)holds(&trial, &counts);
            fail_msg("%s", usual[i].work);
        }
        arena_destroy(arena);
    }
}

enum { TRIALS = 2500 };

static uint32_t rounds(void)
{
    const char *divisor = getenv("SBX_DIVISOR");
    int by = divisor != NULL ? atoi(divisor) : 1;
    return TRIALS / (uint32_t)(by > 0 ? by : 1);
}

static void roots_that_nest_open_what_the_policy_opens(void **state)
{
    struct counts counts = {.quiet = true};
    uint32_t count = rounds();
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        struct chance chance = {88172645463325252U + i * 7919U};
        struct arena *arena = arena_create(0);
        for (int warm = 0; warm < 8; warm++)
            (void)below(&chance, 2);
        struct trial trial = random_trial(&chance, arena);
        if (!holds(&trial, &counts))
            fail_shrunk(trial);
        arena_destroy(arena);
    }
    print_message(
        "%u trials, %u compiled, %u held, %u exactly, by tier %u, %u and %u, %llu questions, %llu missing, "
        "%llu less\n",
        counts.made, counts.compiled, counts.held, counts.exact, counts.tiers[0], counts.tiers[1],
        counts.tiers[2], (unsigned long long)counts.questions, (unsigned long long)counts.missing,
        (unsigned long long)counts.less);
    assert_true(counts.held > count / 4);
    assert_true(counts.exact > count / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_that_were_found_stay_away),
        cmocka_unit_test(usual_machines_are_not_refused),
        cmocka_unit_test(roots_that_nest_open_what_the_policy_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
