#include "policy/bind.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/bind_service.h"
#include "policy/names.h"
#include "policy/pattern.h"

#include <string.h>
#include <strings.h>

enum { PATH_LONGEST = 4096 };

/* Lists of exceptions are shared between the rules of a statement, and so are their bound forms. */
struct bound_except {
    const struct path_list *list;
    uint32_t layer;
    struct bound_paths paths;
};

struct excepts {
    struct bound_except *items;
    uint32_t count, capacity;
};

bool binder_is_managed(const struct binder *binder, const struct rule *rule)
{
    return binder->policy->layers[rule->layer].kind == LAYER_MANAGED;
}

void binder_note(const struct binder *binder, enum code code, const struct rule *rule, const char *text,
                 const char *help)
{
    note_add(binder->notes, (struct note){.code = code, .rule = rule, .text = text, .help = help});
}

/* ---- roots ---- */

bool path_is_above(const char *path, const char *below)
{
    size_t length = strlen(path);
    if (length > 0 && path[length - 1] == '/')
        length--;
    return strncmp(path, below, length) == 0 && (below[length] == '/' || below[length] == '\0');
}

bool path_is_top(const char *path)
{
    bool drive = path[0] != '\0' && path[0] != '/' && path[1] == ':' &&
                 (path[2] == '\0' || (path[2] == '/' && path[3] == '\0'));
    return drive || strcmp(path, "/") == 0;
}

static bool is_above_home(const struct root_value *home, const char *path)
{
    return home->state == ROOT_BOUND && home->count > 0 && path_is_above(path, home->paths[0]);
}

/* A managed layer trusts neither home: the account's, or the one that the caller names. */
bool binder_is_wide(const struct binder *binder, const struct rule *rule, const char *path)
{
    return path_is_top(path) || is_above_home(&binder->bindings->roots[ROOT_HOME], path) ||
           (binder_is_managed(binder, rule) &&
            is_above_home(&binder->bindings->managed_roots[ROOT_HOME], path));
}

static const struct root_value unset_root = {.state = ROOT_UNSET};

const struct root_value *binder_root(const struct binder *binder, const struct rule *rule, enum root root)
{
    bool of_account = root == ROOT_HOME || root == ROOT_CONFIG || root == ROOT_CACHE || root == ROOT_DATA;
    const struct bindings *bindings = binder->bindings;
    if (binder_is_managed(binder, rule) && of_account)
        return &bindings->managed_roots[root];
    const struct root_value *repo = &bindings->roots[ROOT_REPO];
    if (root_of_repository(root) && repo->state == ROOT_BOUND && repo->count > 0 &&
        binder_is_wide(binder, rule, repo->paths[0]))
        return &unset_root;
    return &bindings->roots[root];
}

/* The paths that a rule of this use speaks of. Whose a repository is decides what it may be granted; a deny
 * holds for each that was found, but for one that is as wide as the home. */
static struct root_value root_in_use(const struct binder *binder, const struct rule *rule, enum root root,
                                     enum path_use use)
{
    const struct root_value *own = &binder->bindings->roots[root];
    if (use != USE_DENY || !root_of_repository(root) || (own->deny_count == 0 && own->unknown == NULL))
        return *binder_root(binder, rule, root);
    const char **paths = arena_array(binder->arena, own->deny_count, sizeof *paths);
    struct root_value value = {.state = ROOT_UNSET, .paths = paths, .unknown = own->unknown};
    for (uint32_t i = 0; i < own->deny_count; i++)
        if (root != ROOT_REPO || !binder_is_wide(binder, rule, own->deny_paths[i]))
            paths[value.count++] = own->deny_paths[i];
    if (value.count > 0)
        value.state = ROOT_BOUND;
    return value;
}

static enum path_use use_of(const struct rule *rule)
{
    bool denies = rule->kind == RULE_DENY || rule->kind == RULE_DENY_EXEC || rule->kind == RULE_DENY_SOCKET;
    bool grants = rule->kind == RULE_GRANT || rule->kind == RULE_GRANT_SOCKET;
    return denies ? USE_DENY : grants ? USE_GRANT : rule->kind == RULE_EXPECT ? USE_EXPECT : USE_LIMIT;
}

static const char *name_of_root(const struct binder *binder, const struct policy_path *path)
{
    return path->root == ROOT_ENV ? arena_format(binder->arena, "$env.%s", path->name)
                                  : arena_format(binder->arena, "$%s", root_names[path->root]);
}

/* One error for a root is enough, however many rules speak of it. */
static void root_note(const struct binder *binder, enum root root, enum code code, const struct rule *rule,
                      const char *text, const char *help)
{
    struct root_error *error = &binder->errors[root];
    const struct note_list *notes = binder->notes;
    if (error->said && error->code == code) {
        error->more++;
        return;
    }
    uint32_t errors = notes->errors;
    binder_note(binder, code, rule, text, help);
    if (notes->errors > errors && !error->said)
        *error = (struct root_error){.said = true, .code = code, .note = notes->count - 1};
}

static void root_errors_count(const struct binder *binder)
{
    for (uint32_t root = 0; root < ROOTS; root++) {
        const struct root_error *error = &binder->errors[root];
        struct note *note = error->more == 0 ? NULL : &binder->notes->items[error->note];
        if (note != NULL)
            note->text = arena_format(binder->arena, "%s; %u more %s of it", note->text, error->more,
                                      error->more == 1 ? "rule speaks" : "rules speak");
    }
}

/* What an unset root means depends on who uses it for what (language.md 3 and 5). */
static void note_unset(const struct binder *binder, const struct rule *rule, const struct policy_path *path,
                       enum path_use use, const char *why)
{
    const char *name = name_of_root(binder, path), *statement = rule_text(binder->arena, rule);
    bool may_lack = root_of_repository(path->root) || path->root == ROOT_ENV;
    enum code code = SBX150_ROOT_UNSET;
    const char *outcome = "the rule is left out", *help = NULL;

    if (use == USE_EXPECT) {
        code = SBX164_EXPECT_LEFT_OUT;
        outcome = "the expectation is not checked";
    } else if (binder_is_managed(binder, rule)) {
        code = path->root == ROOT_HOME ? SBX153_HOME_REFUSED : SBX152_MANAGED_ROOT_UNSET;
        outcome = "a managed rule must hold";
    } else if (path->root == ROOT_HOME) {
        code = SBX153_HOME_REFUSED;
        outcome = "a rule that uses it is refused";
        help = "set HOME to a directory of your own, or give --root HOME=PATH";
    } else if (use == USE_EXCEPT) {
        code = SBX165_EXCEPT_LEFT_OUT;
        outcome = "the deny holds without that exception";
    } else if (use == USE_DENY && !may_lack) {
        code = SBX151_DENY_ROOT_UNSET;
        outcome = "what it should protect is not known";
        help = arena_format(binder->arena, "give --root %s=PATH", root_names[path->root]);
    }
    root_note(binder, path->root, code, rule,
              arena_format(binder->arena, "%s %s: %s (%s)", name, why, outcome, statement), help);
}

/* Whether a grant or limit on the root itself would be too wide with this value; says so. */
static bool refuse_wide(const struct binder *binder, const struct rule *rule, const struct policy_path *path,
                        enum path_use use, const char *value)
{
    bool limit_counts = path->root == ROOT_WORK || path->root == ROOT_REPO || path->root == ROOT_TMP;
    bool grant_counts = path->root == ROOT_WORK || path->root == ROOT_TMP || path->root == ROOT_CONFIG ||
                        path->root == ROOT_CACHE || path->root == ROOT_DATA || path->root == ROOT_ENV;
    bool counts = (use == USE_GRANT && grant_counts) || (use == USE_LIMIT && limit_counts);
    if (path->rest[0] != '\0' || !counts || !binder_is_wide(binder, rule, value))
        return false;

    enum code code = use == USE_LIMIT  ? SBX156_LIMIT_TOO_WIDE
                     : rule->automatic ? SBX155_TOO_WIDE_DROPPED
                                       : SBX154_TOO_WIDE;
    const char *shown = escape_string(binder->arena, value), *statement = rule_text(binder->arena, rule);
    binder_note(binder, code, rule,
                arena_format(binder->arena, "%s is %s here, which is too wide (%s)",
                             name_of_root(binder, path), shown, statement),
                code == SBX154_TOO_WIDE ? "grant the directories that are needed, or start in one of them"
                                        : NULL);
    return true;
}

/* ---- paths ---- */

static bool system_has(const struct binder *binder, enum root root)
{
    bool windows = binder->bindings->system == SYSTEM_WINDOWS;
    return root == ROOT_SLASH ? !windows : root == ROOT_DRIVE ? windows : true;
}

/* The paths that the root of `path` stands for. Returns false, with a note, if it stands for none. */
static bool root_paths(const struct binder *binder, const struct rule *rule, const struct policy_path *path,
                       enum path_use use, struct path_texts *out)
{
    struct arena *arena = binder->arena;
    if (path->root == ROOT_SLASH) {
        VECTOR_PUSH(arena, out, (struct path_text){.path = "/"});
        return true;
    }
    if (path->root == ROOT_DRIVE) {
        VECTOR_PUSH(arena, out, (struct path_text){.path = arena_format(arena, "%s:/", path->name)});
        return true;
    }
    if (path->root == ROOT_ENV) {
        if (binder_is_managed(binder, rule)) {
            binder_note(binder, SBX158_MANAGED_ENV, rule,
                        arena_format(arena, "a managed layer cannot use $env (%s)", rule_text(arena, rule)),
                        NULL);
            return false;
        }
        if (binder_environment(binder, rule, path, use, out) != ROOT_UNSET)
            return true;
        note_unset(binder, rule, path, use, "is not set");
        return false;
    }
    struct root_value value = root_in_use(binder, rule, path->root, use);
    if (use == USE_DENY && value.unknown != NULL) {
        root_note(binder, path->root, SBX167_DENY_UNKNOWN, rule,
                  arena_format(arena, "%s %s (%s)", name_of_root(binder, path), value.unknown,
                               rule_text(arena, rule)),
                  "mend or remove what is named there");
        return false;
    }
    bool empty = value.state == ROOT_BOUND && value.count == 0 && !root_is_found(path->root);
    if (value.refused != NULL || value.state == ROOT_UNSET || empty) {
        note_unset(binder, rule, path, use, value.refused != NULL ? value.refused : "is not set");
        return false;
    }
    if (value.state == ROOT_SYMBOLIC)
        VECTOR_PUSH(arena, out, (struct path_text){.path = arena_join(arena, "$", root_names[path->root])});
    for (uint32_t i = 0; value.state == ROOT_BOUND && i < value.count; i++)
        VECTOR_PUSH(arena, out, (struct path_text){value.paths[i], i == 0 ? value.given : NULL});
    return true;
}

static const char *join(struct arena *arena, const char *base, const char *rest, bool pattern)
{
    size_t length = strlen(base);
    if (rest[0] == '\0')
        return base;
    if (base[length - 1] == '/')
        length--;
    if (length == 0)
        return rest;
    const char *start = base;
    if (pattern)
        start = pattern_escape(arena, base, length);
    else if (base[length] != '\0')
        start = arena_copy(arena, base, length);
    return arena_join(arena, start, rest);
}

void binder_paths(const struct binder *binder, const struct rule *rule, const struct policy_path *path,
                  enum path_use use, struct bound_paths *out)
{
    struct path_text first; /* most roots stand for one path, which needs no memory of the arena's */
    struct path_texts bases = {.items = &first, .capacity = 1};
    if (!system_has(binder, path->root) || !root_paths(binder, rule, path, use, &bases))
        return;
    for (uint32_t i = 0; i < bases.count; i++) {
        const struct path_text *base = &bases.items[i];
        const char *text = join(binder->arena, base->path, path->rest, path->pattern);
        const char *given = NULL;
        if (base->given != NULL && strcmp(base->given, base->path) != 0)
            given = join(binder->arena, base->given, path->rest, path->pattern);
        if (refuse_wide(binder, rule, path, use, base->path))
            continue;
        if (strlen(text) > PATH_LONGEST) {
            binder_note(binder, SBX166_BOUND_PATH_TOO_LONG, rule,
                        arena_format(binder->arena, "a path of %zu bytes; the limit is %d (%s)", strlen(text),
                                     PATH_LONGEST, rule_text(binder->arena, rule)),
                        NULL);
            continue;
        }
        VECTOR_PUSH(binder->arena, out, (struct bound_path){text, path->pattern, given});
    }
}

/* ---- rules ---- */

static const struct bound_paths *bind_except(const struct binder *binder, struct excepts *excepts,
                                             const struct rule *rule)
{
    static const struct bound_paths none = {0};
    if (rule->except == NULL || rule->except->count == 0)
        return &none;
    /* Rules that share a list come from one statement or one `use`, so the list is near the end. */
    for (uint32_t i = excepts->count; i > 0 && i + 8 > excepts->count; i--) {
        const struct bound_except *known = &excepts->items[i - 1];
        if (known->list == rule->except && known->layer == rule->layer)
            return &known->paths;
    }
    struct bound_except bound = {.list = rule->except, .layer = rule->layer};
    for (uint32_t i = 0; i < rule->except->count; i++)
        binder_paths(binder, rule, &rule->except->items[i], USE_EXCEPT, &bound.paths);
    VECTOR_PUSH(binder->arena, excepts, bound);
    return &excepts->items[excepts->count - 1].paths;
}

/* On Windows a command is also called with a suffix, and in any case (language.md 6). */
static bool is_called(const char *name, const char *command, enum system system)
{
    static const char *const suffixes[] = {"", ".exe", ".cmd", ".bat"};
    size_t length = strlen(name);
    if (system != SYSTEM_WINDOWS)
        return strcmp(name, command) == 0;
    if (strncasecmp(name, command, length) != 0)
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(command + length, suffixes[i]) == 0)
            return true;
    return false;
}

static bool holds_for_command(const struct rule *rule, const char *command, enum system system)
{
    if (rule->commands == NULL)
        return true;
    for (uint32_t i = 0; command != NULL && i < rule->commands->count; i++)
        if (is_called(rule->commands->names[i], command, system))
            return true;
    return false;
}

static bool rule_speaks_of_path(const struct rule *rule)
{
    bool kind = rule->kind == RULE_GRANT || rule->kind == RULE_DENY || rule->kind == RULE_DENY_EXEC ||
                rule->kind == RULE_GRANT_SOCKET || rule->kind == RULE_DENY_SOCKET ||
                rule->kind == RULE_LIMIT_READ || rule->kind == RULE_LIMIT_WRITE ||
                rule->kind == RULE_LIMIT_SOCKET;
    bool asks = rule->kind == RULE_EXPECT &&
                (rule->operation == OPERATION_READ || rule->operation == OPERATION_WRITE ||
                 rule->operation == OPERATION_EXEC || rule->operation == OPERATION_SOCKET);
    return !rule->nothing && (kind || asks);
}

static void bind_rule(const struct binder *binder, struct bound_policy *bound, struct excepts *excepts,
                      const struct rule *rule)
{
    struct bound_rule made = {.rule = rule};
    if (!rule_speaks_of_path(rule)) {
        VECTOR_PUSH(binder->arena, &bound->rules, made);
        return;
    }
    struct bound_path first;
    struct bound_paths paths = {.items = &first, .capacity = 1};
    binder_paths(binder, rule, &rule->path, use_of(rule), &paths);
    if (paths.count == 0)
        return;
    const struct bound_paths *except = bind_except(binder, excepts, rule);
    made.directory = rule->path.directory;
    made.except = except->items;
    made.except_count = except->count;
    for (uint32_t i = 0; i < paths.count; i++) {
        made.at = paths.items[i];
        VECTOR_PUSH(binder->arena, &bound->rules, made);
    }
}

static void note_wide_repo(const struct binder *binder)
{
    const struct root_value *repo = &binder->bindings->roots[ROOT_REPO];
    const struct rule any = {0};
    if (repo->state == ROOT_BOUND && repo->count > 0 && binder_is_wide(binder, &any, repo->paths[0]))
        binder_note(binder, SBX163_REPO_TOO_WIDE, NULL,
                    arena_format(binder->arena, "$REPO would be %s; it and $GITDIR are left unset",
                                 escape_string(binder->arena, repo->paths[0])),
                    NULL);
}

struct bound_policy *policy_bind(struct arena *arena, const struct policy *policy,
                                 const struct bindings *bindings, struct note_list *notes)
{
    struct bound_policy *bound = arena_alloc(arena, sizeof *bound);
    struct root_error errors[ROOTS] = {0};
    struct binder binder = {arena, policy, bindings, notes, errors};
    struct excepts excepts = {0};

    bound->arena = arena;
    bound->policy = policy;
    bound->bindings = *bindings;
    VECTOR_RESERVE(arena, &bound->rules, policy->rule_count);
    note_wide_repo(&binder);
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if ((rule->systems >> bindings->system & 1) != 0 &&
            holds_for_command(rule, bindings->command, bindings->system))
            bind_rule(&binder, bound, &excepts, rule);
    }
    services_bind(&binder, bound);
    root_errors_count(&binder);
    names_check_sets(bound, notes);
    return bound;
}

static void add_itself(struct bound_policy *bound, const char *path, enum level level, const char *what)
{
    static const enum rule_kind kinds[] = {RULE_DENY, RULE_DENY_SOCKET};
    const char *kept = arena_strdup(bound->arena, path);
    bool drive = path[0] != '\0' && path[1] == ':';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rule *rule = arena_alloc(bound->arena, sizeof *rule);
        *rule = (struct rule){
            .kind = kinds[i],
            .systems = SYSTEM_ALL,
            .level = level,
            .path = {.root = drive ? ROOT_DRIVE : ROOT_SLASH,
                     .name = drive ? arena_copy(bound->arena, path, 1) : NULL,
                     .rest = drive ? kept + 2 : kept},
        };
        VECTOR_PUSH(bound->arena, &bound->rules,
                    (struct bound_rule){.rule = rule, .at = {.path = kept}, .itself = true, .because = what});
    }
}

void bound_add_itself(struct bound_policy *bound, const char *path, const char *what)
{
    add_itself(bound, path, LEVEL_READ, what);
}

void bound_close_itself(struct bound_policy *bound, const char *path, const char *what)
{
    add_itself(bound, path, LEVEL_NONE, what);
}
