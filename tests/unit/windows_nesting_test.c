/* Specifications that were made before their roots were known: on machines where roots lie in each other they open no
 * more than the policy does there, and no less without a word. */
#include "tests/unit/windows_meant.h"
#include "tests/unit/windows_trial.h"

#include "emitters/windows_applied.h"
#include "policy/pattern.h"

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

/* The policy as it is; without patterns, which speak of what is there when the launcher looks; its plain denies alone. */
struct meant {
    const struct bound_policy *whole, *plain, *closing;
};

static const struct bound_policy *part_of(const struct bound_policy *bound, bool with_grants)
{
    struct bound_policy *copy = without_rules(bound);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        bool denies =
            rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC || rule->holds_as_deny_write;
        if (!rule->at.pattern && (with_grants || denies))
            VECTOR_PUSH(bound->arena, &copy->rules, *rule);
    }
    if (!with_grants)
        open_drives(copy);
    bound_seal(copy, NULL);
    return copy;
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
    return (!removes(question) || question->tier == WINDOWS_APPCONTAINER) &&
           is_closed(meant->whole, question);
}

static bool must_be_allowed(const struct question *question, const struct meant *meant)
{
    return is_open(meant->whole, question) && !(removes(question) && may_be_pinned(meant->whole, question));
}

/* What Windows opens to such a token anyway, where no rule closes it. */
static bool is_ground(const struct question *question, const struct meant *meant)
{
    return is_given_anyway(meant->closing, question, level_at(meant->closing, question->path));
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
    struct question question = {.machine = machine,
                                .tree = machine->tree,
                                .tier = machine->outcome->spec->tier,
                                .token = machine->token};
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

static void roots_that_nest_open_what_the_policy_opens(void **state)
{
    struct counts counts = {.quiet = true};
    uint32_t count = rounds_of(TRIALS);
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
