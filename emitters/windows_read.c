#include "base/vector.h"
#include "emitters/windows_fixture.h"
#include "emitters/windows_judge.h"
#include "policy/pattern.h"

#include <string.h>

/* --- the policy in parts -------------------------------------------------------------------------------- */

bool judge_accepts(const struct judge *judge, enum control control)
{
    return control_accept(judge->bound, CONTROL_TARGET_WINDOWS, control) != NULL;
}

const char *judge_path_name(const struct judge *judge, const char *path)
{
    const char *name = windows_path_from_model(judge->arena, path);
    return name != NULL && windows_path_problem(name) == NULL ? name : NULL;
}

/* An automatic grant of what belongs to Windows or to the whole account is left out with a note. */
static bool is_left_out(const struct judge *judge, const struct bound_rule *rule)
{
    const char *path = rule->at.path != NULL ? judge_path_name(judge, rule->at.path) : NULL;
    return rule->rule->kind == RULE_GRANT && rule->rule->automatic && path != NULL &&
           (windows_path_is_protected(path) ||
            (rule->rule->level == LEVEL_WRITE && windows_path_is_of_system(path)));
}

/* Whether an accepted exception covers the rule, or a note did when the policy was compiled. No exception covers a
 * managed layer's. */
static bool is_excepted(const struct judge *judge, const struct bound_rule *rule)
{
    if (rule->rule->layer != 0)
        return false;
    if (is_left_out(judge, rule))
        return true;
    if (rule->rule->kind == RULE_DENY_EXEC)
        return judge_accepts(judge, CONTROL_EXEC_DENY);
    if (rule->rule->kind != RULE_DENY && !rule->holds_as_deny_write)
        return false;
    return judge_accepts(judge, rule->at.pattern ? CONTROL_FS_DENY_PATTERN : CONTROL_FS_DENY);
}

bool judge_leaves_open(const struct judge *judge, const char *path, enum level level)
{
    return bound_level(judge->promises, path, strlen(path)) > level;
}

static bool grants(const struct bound_rule *rule)
{
    return rule->rule->kind == RULE_GRANT && !rule->holds_as_deny_write;
}

/* A sealed copy of the policy without the rules for which `left_out` holds. */
static struct bound_policy *
part_of(const struct judge *judge, bool (*left_out)(const struct judge *judge, const struct bound_rule *rule))
{
    struct bound_policy *copy = arena_alloc(judge->arena, sizeof *copy);
    *copy = *judge->bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    for (uint32_t i = 0; i < judge->bound->rules.count; i++)
        if (!left_out(judge, &judge->bound->rules.items[i]))
            VECTOR_PUSH(judge->arena, &copy->rules, judge->bound->rules.items[i]);
    return copy;
}

/* A limit closes as the default does: what Windows opens anyway stays open under it. An AppContainer's matches are
 * looked for where something is granted, and where an exception opens something, the rest is only not opened. */
static bool closes_nothing(const struct judge *judge, const struct bound_rule *rule)
{
    bool denies =
        rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC || rule->holds_as_deny_write;
    bool in_part = rule->at.pattern || rule->except_count > 0;
    return !denies || (in_part && judge->spec->tier == WINDOWS_APPCONTAINER) || is_excepted(judge, rule);
}

/* Everything is granted: on each drive and at each root. */
static void grant_all(const struct judge *judge, struct bound_policy *copy)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    for (int root = ROOT_WORK; root < ROOT_ENV; root++)
        VECTOR_PUSH(judge->arena, &copy->rules,
                    (struct bound_rule){.rule = &everything,
                                        .at.path = arena_format(judge->arena, "$%s", root_names[root])});
    for (char drive = 'A'; drive <= 'Z'; drive++) {
        VECTOR_PUSH(
            judge->arena, &copy->rules,
            (struct bound_rule){.rule = &everything, .at.path = arena_format(judge->arena, "%c:", drive)});
        VECTOR_PUSH(judge->arena, &copy->rules,
                    (struct bound_rule){.rule = &everything,
                                        .at.path = arena_format(judge->arena, "%c:", drive | 0x20)});
    }
}

/* --- the machine ---------------------------------------------------------------------------------------- */

static void put_both(const struct judge *judge, const char *path, bool directory)
{
    (void)windows_tree_at(judge->bare, path, directory);
    (void)windows_tree_at(judge->tree, path, directory);
}

static bool is_about_path(const struct query *query)
{
    return query->kind <= QUERY_RENAME;
}

/* Everything that is named or asked about is there, as a directory if it has to be one. */
static void put_places(const struct judge *judge, const struct query_set *set)
{
    for (uint32_t i = 0; i < judge->spec->object_count; i++)
        put_both(judge, judge->spec->objects[i].path, judge->spec->objects[i].kind != WINDOWS_FILE);
    for (int leaves = 0; leaves < 2; leaves++) {
        for (uint32_t i = 0; i < query_count(set); i++) {
            const struct query *query = query_at(set, i);
            const char *path = is_about_path(query) ? judge_path_name(judge, query->name) : NULL;
            const char *last = path != NULL ? strrchr(path, '\\') : NULL;
            if (last == NULL)
                continue;
            if (leaves != 0)
                put_both(judge, path, last[1] == '\0');
            else if (path[1] != ':' || last > path + 2)
                put_both(judge, arena_copy(judge->arena, path, (size_t)(last - path)), true);
        }
    }
}

static void prepare(const struct judge *judge, const struct query_set *set)
{
    struct windows_applied applied;
    put_places(judge, set);
    *judge->problem = windows_apply(judge->tree, judge->spec, &applied);
    judge_put_writable(judge);
}

/* --- paths ---------------------------------------------------------------------------------------------- */

static const enum windows_operation operations[] = {
    [QUERY_READ] = WINDOWS_OPERATION_READ,
    [QUERY_WRITE] = WINDOWS_OPERATION_WRITE,
    [QUERY_EXEC] = WINDOWS_OPERATION_EXECUTE,
    [QUERY_RENAME] = WINDOWS_OPERATION_RENAME,
};

/* What follows the first names of a path, as many as `other` has. */
static const char *rest_behind(const char *path, const char *other)
{
    for (other = strchr(other, '/'); other != NULL; other = strchr(other + 1, '/'))
        path = strchr(path, '/') + 1;
    return path + strcspn(path, "/");
}

/* The question about the file that is there, with its path as the policy's grants and exceptions spell it: case does
 * not make another file. */
static struct query as_spelled(const struct judge *judge, const struct query *query,
                               const struct windows_node *node)
{
    struct query same = *query;
    const struct spelling *longest = NULL;
    same.name = windows_path_to_model(judge->arena, node->path);
    for (uint32_t i = 0; i < judge->spellings.count; i++) {
        const struct spelling *spelling = &judge->spellings.items[i];
        if (windows_path_covers(spelling->path, node->path) &&
            (longest == NULL || windows_path_covers(longest->path, spelling->path)))
            longest = spelling;
    }
    if (longest != NULL)
        same.name = arena_join(judge->arena, longest->model, rest_behind(same.name, longest->model));
    same.length = strlen(same.name);
    return same;
}

static void add_spelling(struct judge *judge, const struct bound_path *at)
{
    const char *path = at->path != NULL && !at->pattern ? judge_path_name(judge, at->path) : NULL;
    if (path != NULL)
        VECTOR_PUSH(judge->arena, &judge->spellings, (struct spelling){path, at->path});
}

static void find_spellings(struct judge *judge)
{
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        if (rule->dropped)
            continue;
        if (grants(rule))
            add_spelling(judge, &rule->at);
        for (uint32_t j = 0; j < rule->except_count; j++)
            add_spelling(judge, &rule->except[j]);
    }
}

/* Whether a deny names something at or below the path, perhaps in another case: then it may have to keep its name. A
 * program that may not be started keeps it too. */
static bool holds_denied(const struct judge *judge, const char *path)
{
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        bool denies = rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC;
        const char *denied = denies && !rule->dropped ? judge_path_name(judge, rule->at.path) : NULL;
        if (denied != NULL && windows_path_covers(path, denied))
            return true;
    }
    return false;
}

/* Whether a rule closes the place, and not only that nothing opens it. */
static bool is_closed_by_rule(const struct judge *judge, const struct query *query)
{
    struct bound_answer answer = bound_answer(judge->closing, query->name, query->length);
    if (query->kind == QUERY_EXEC)
        return answer.level < LEVEL_READ || !answer.exec;
    return answer.level < (query->kind == QUERY_READ ? LEVEL_READ : LEVEL_WRITE);
}

/* Whether Windows lets such a token take anything out of the directory around, which no rule closes. */
static bool is_given_away(const struct judge *judge, const struct query *query,
                          const struct windows_node *bare)
{
    const char *slash = strrchr(query->name, '/');
    return query->kind == QUERY_RENAME && slash != NULL && bare->parent != NULL &&
           bound_level(judge->closing, query->name, (size_t)(slash - query->name)) == LEVEL_WRITE &&
           (windows_access(&judge->token, &bare->parent->descriptor, WINDOWS_LOOSE) &
            WINDOWS_RIGHT_DELETE_CHILD) != 0;
}

/* Whether what is open here is so without the specification, and not against a rule. */
static bool is_ground(const struct judge *judge, const struct query *query, const struct windows_node *bare)
{
    return is_given_away(judge, query, bare) ||
           (windows_may(&judge->token, bare, operations[query->kind], WINDOWS_LOOSE) &&
            !is_closed_by_rule(judge, query));
}

/* The root of a writable area: whether it can be moved is decided by where it lies. */
static bool begins_area(const struct judge *judge, const struct query *query)
{
    const char *slash = strrchr(query->name, '/');
    size_t above = slash != NULL ? (size_t)(slash - query->name) : 0;
    return bound_level(judge->bound, query->name, query->length) == LEVEL_WRITE &&
           (above == 0 || bound_level(judge->bound, query->name, above) != LEVEL_WRITE);
}

/* Whether the policy leaves the answer to the exceptions that it accepts, or to the place. */
static bool is_left_open(const struct judge *judge, const struct query *query, const struct reply *wanted)
{
    struct reply promised = policy_answer(judge->promised, query);
    if (wanted->text == NULL || !reply_agrees(wanted, &promised))
        return true;
    if (query->kind != QUERY_RENAME)
        return false;
    if (strcmp(wanted->text, "allow") == 0)
        return holds_denied(judge, judge_path_name(judge, query->name));
    return judge->spec->tier != WINDOWS_APPCONTAINER &&
           (judge_accepts(judge, CONTROL_FS_WRITE) || begins_area(judge, query));
}

/* The line of an object that says something of this kind about the rights that count, there or below; or 0. */
static uint32_t line_about(const struct windows_object *object, uint32_t rights, bool denies, bool here)
{
    if (denies && object->label.present && object->label.level != WINDOWS_LOW)
        return object->line;
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny == denies && (object->aces[i].mask & rights) != 0 &&
            (object->aces[i].inherit || here))
            return object->line;
    return 0;
}

/* The line of the nearest object, or of the last match, that decides about what is at `node`. */
static uint32_t deciding_line(const struct judge *judge, const struct windows_node *node,
                              enum query_kind kind, bool denies)
{
    static const uint32_t rights[] = {[QUERY_READ] = WINDOWS_RIGHT_READ,
                                      [QUERY_WRITE] = WINDOWS_RIGHT_WRITE,
                                      [QUERY_EXEC] = WINDOWS_RIGHT_EXECUTE,
                                      [QUERY_RENAME] = WINDOWS_RIGHT_DELETE};
    const char *model = windows_path_to_model(judge->arena, node->path);
    uint32_t line = 0;
    for (uint32_t i = judge->spec->match_count; denies && line == 0 && i-- > 0;)
        if (pattern_covers(judge->patterns[i], model, strlen(model)))
            line = judge->spec->matches[i].line;
    for (const struct windows_node *at = node; at != NULL && line == 0; at = at->parent)
        if (at->object != NULL && windows_path_covers(at->path, node->path))
            line = line_about(at->object, rights[kind], denies, at == node);
    return line;
}

static void compile_patterns(struct judge *judge)
{
    judge->patterns = arena_array(judge->arena, judge->spec->match_count, sizeof *judge->patterns);
    for (uint32_t i = 0; i < judge->spec->match_count; i++) {
        const char *pattern = windows_path_to_model(judge->arena, judge->spec->matches[i].pattern);
        judge->patterns[i] = pattern_compile(judge->arena, pattern, true);
    }
}

/* Where nothing can be. */
static bool lies_below_file(const struct windows_node *node)
{
    for (node = node->parent; node != NULL; node = node->parent)
        if (!node->directory)
            return true;
    return false;
}

static struct verdicts judge_path(const struct judge *judge, const struct query *query)
{
    const char *path = judge_path_name(judge, query->name);
    if (path == NULL)
        return (struct verdicts){0};
    const struct windows_node *node = windows_tree_at(judge->tree, path, false);
    const struct windows_node *bare = windows_tree_at(judge->bare, path, false);
    const struct query same = as_spelled(judge, query, node);
    struct reply wanted = policy_answer(judge->answers, &same);
    if (is_left_open(judge, &same, &wanted))
        return (struct verdicts){0};
    if (lies_below_file(node))
        return (struct verdicts){0};
    bool allow = strcmp(wanted.text, "allow") == 0;
    enum windows_operation operation = operations[query->kind];
    bool strict = windows_may(&judge->token, node, operation, WINDOWS_STRICT);
    bool loose = windows_may(&judge->token, node, operation, WINDOWS_LOOSE);
    /* The pins of matches are there only with the matches. */
    const struct windows_node *without =
        query->kind == QUERY_RENAME ? windows_tree_find(judge->empty, path) : NULL;
    if (!allow && without != NULL) {
        strict = strict || windows_may(&judge->token, without, operation, WINDOWS_STRICT);
        loose = loose || windows_may(&judge->token, without, operation, WINDOWS_LOOSE);
    }
    if (allow ? strict : !loose)
        return (struct verdicts){0};
    if (!allow && is_ground(judge, &same, bare))
        return (struct verdicts){0};
    const char *found = strict ? "allow" : loose ? "allow, perhaps" : "deny";
    return (struct verdicts){wanted, {.text = found, .line = deciding_line(judge, node, query->kind, allow)}};
}

/* --- both sides ----------------------------------------------------------------------------------------- */

static struct verdicts judge_query(const struct judge *judge, const struct query *query)
{
    switch (query->kind) {
    case QUERY_READ:
    case QUERY_WRITE:
    case QUERY_EXEC:
    case QUERY_RENAME:
        return judge_path(judge, query);
    case QUERY_CONNECT:
    case QUERY_LISTEN:
        return judge_connection(judge, query);
    case QUERY_ENV:
        return judge_variable(judge, query);
    case QUERY_FACT:
        return judge_fact(judge, query);
    case QUERY_SOCKET:
    case QUERY_LISTED:
    case QUERY_SERVICE:
    case QUERY_SYSCALL:
    case QUERY_KINDS:
        break;
    }
    return (struct verdicts){0};
}

static struct reply answer_specification(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    judge->last->query = query;
    judge->last->verdicts = judge_query(judge, query);
    return judge->last->verdicts.found;
}

static struct reply expect_policy(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    return judge->last->query == query ? judge->last->verdicts.wanted : judge_query(judge, query).wanted;
}

static void list_specification(const void *state, struct query_set *set)
{
    const struct judge *judge = state;
    for (uint32_t i = 0; i < judge->spec->object_count; i++)
        queries_add_path(set, windows_path_to_model(judge->arena, judge->spec->objects[i].path));
    for (uint32_t i = 0; i < judge->spec->match_count; i++) {
        const struct windows_match *match = &judge->spec->matches[i];
        const char *pattern = windows_path_to_model(judge->arena, match->pattern);
        queries_add_pattern(set, pattern);
        for (uint32_t j = 0; j < match->except_count; j++) {
            const char *except = windows_path_to_model(judge->arena, match->excepts[j]);
            queries_add_pattern(set, except);
            queries_add_excepted(set, pattern, except);
        }
    }
    judge_list_names(judge, set);
    prepare(judge, set);
}

bool read_windows(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct judge *judge = arena_alloc(request->arena, sizeof *judge);
    *judge = (struct judge){.arena = request->arena, .bound = request->bound};
    judge->spec = windows_load(request->arena, request->bytes, request->length, error);
    if (judge->spec == NULL)
        return false;
    judge->last = arena_alloc(request->arena, sizeof *judge->last);
    judge->problem = arena_alloc(request->arena, sizeof *judge->problem);
    judge->token = windows_fixture_token(request->arena, judge->spec->tier, judge->spec->capabilities);
    judge->bare = windows_fixture(request->arena);
    judge->tree = windows_fixture(request->arena);
    judge->empty = windows_fixture(request->arena);
    find_spellings(judge);
    judge_claims_prepare(judge);
    compile_patterns(judge);
    struct bound_policy *promised = part_of(judge, is_excepted);
    struct bound_policy *closing = part_of(judge, closes_nothing);
    grant_all(judge, closing);
    bound_seal(promised, NULL);
    bound_seal(closing, NULL);
    judge->answers = policy_answers_create(request->arena, judge->bound);
    judge->promises = promised;
    judge->promised = policy_answers_create(request->arena, promised);
    judge->closing = closing;
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = judge,
                                .kinds = 1U << QUERY_READ | 1U << QUERY_WRITE | 1U << QUERY_EXEC |
                                         1U << QUERY_RENAME | 1U << QUERY_CONNECT | 1U << QUERY_LISTEN |
                                         1U << QUERY_ENV | 1U << QUERY_FACT,
                                .answer = answer_specification,
                                .expect = expect_policy,
                                .list = list_specification});
    return true;
}
