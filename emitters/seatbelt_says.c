#include "emitters/seatbelt_says.h"

#include "base/vector.h"
#include "emitters/json_place.h"

#include <string.h>

static const char volume[] = "/System/Volumes/Data";

struct seatbelt_view {
    struct arena *arena;
    const struct bound_policy *bound;
    /* What is granted by the rules that grant, and what is left by the others; of those what the names in
     * their own case leave, and what patterns do. */
    struct bound_policy *grants, *folded_grants, *any_grants, *caps, *folded_caps, *exact_caps, *pattern_caps;
    struct bound_policy *narrow_caps; /* without exceptions that match fewer names beyond ASCII on macOS */
    bool grants_volume;               /* a grant names something on the data volume */
};

/* --- the names of a place ------------------------------------------------------------------------------- */

const char *path_behind(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    bool below = strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
    return below ? path + length : NULL;
}

bool path_is_linked(const char *path)
{
    return path_behind(path, "/tmp") != NULL || path_behind(path, "/var") != NULL ||
           path_behind(path, "/etc") != NULL;
}

/* The names that one place may have in a policy. What lies on the data volume is not granted by the name
 * of the system's volume, where it is mounted. */
enum { NAMES = 4 };
static uint32_t names_of(const struct seatbelt_view *view, const char *path, const char *names[NAMES])
{
    uint32_t count = 0;
    const char *on_volume = path_behind(path, volume);
    if (on_volume == NULL || *on_volume == '\0' || view->grants_volume)
        names[count++] = path;
    if (on_volume != NULL && *on_volume != '\0')
        names[count++] = path = on_volume;
    const char *private = path_behind(path, "/private");
    if (private != NULL && path_is_linked(private))
        names[count++] = private;
    else if (path[0] == '/' && path_is_linked(path))
        names[count++] = arena_join(view->arena, "/private", path);
    return count;
}

bool seatbelt_has_one_name(const struct seatbelt_view *view, const char *path)
{
    const char *names[NAMES];
    return names_of(view, path, names) == 1;
}

/* --- what holds there ----------------------------------------------------------------------------------- */

static enum level lower(enum level a, enum level b)
{
    return a < b ? a : b;
}

static enum level higher(enum level a, enum level b)
{
    return a > b ? a : b;
}

static struct bound_answer answer_at(const struct bound_policy *bound, const char *name)
{
    return bound_answer(bound, name, strlen(name));
}

/* Lowers what is said to what is left at one name: at least by `least`, at most by `most`. */
static void close_at(struct seatbelt_said *said, struct bound_answer least, struct bound_answer most)
{
    said->least = lower(said->least, least.level);
    said->runs = said->runs && (least.level < LEVEL_READ || least.exec);
    said->opens = said->opens && least.socket;
    said->most = lower(said->most, most.level);
    said->may_run = said->may_run && (most.level < LEVEL_READ || most.exec);
    said->may_open = said->may_open && most.socket;
}

static bool is_ascii(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 128)
        name++;
    return *name == '\0';
}

/* What both leave. What is closed to reading needs nobody to say that it may not be executed. */
static struct bound_answer both(struct bound_answer a, struct bound_answer b)
{
    enum level level = lower(a.level, b.level);
    return (struct bound_answer){level, level < LEVEL_READ || (a.exec && b.exec), a.socket && b.socket};
}

/* What either leaves. */
static struct bound_answer either(struct bound_answer a, struct bound_answer b)
{
    return (struct bound_answer){higher(a.level, b.level), a.level < LEVEL_READ || a.exec || b.exec,
                                 a.socket || b.socket};
}

/* What is granted at least and at most by the names looked at so far. */
struct granted {
    enum level least, most;
    bool opens, may_open;
};

static void grant_at(struct granted *granted, enum level level, bool opens)
{
    granted->least = level != LEVEL_NONE ? lower(granted->least, level) : granted->least;
    granted->most = higher(granted->most, level);
    granted->opens = granted->opens || opens;
}

static struct seatbelt_said said_of(struct seatbelt_said said, const struct granted *granted)
{
    said.least = lower(said.least, granted->least);
    said.most = lower(said.most, granted->most);
    said.opens = said.opens && granted->opens;
    said.may_open = said.may_open && granted->may_open;
    return said;
}

void seatbelt_says(const struct seatbelt_view *view, const char *path, struct seatbelt_said said[2])
{
    const char *names[NAMES], *folded[NAMES];
    enum level levels[NAMES];
    uint32_t count = names_of(view, path, names);
    struct granted granted = {LEVEL_WRITE, LEVEL_NONE, false, false};
    said[CASE_COUNTS] = said[CASE_IGNORED] =
        (struct seatbelt_said){LEVEL_WRITE, LEVEL_WRITE, true, true, true, true};
    for (uint32_t i = 0; i < count; i++) {
        struct bound_answer grant = answer_at(view->grants, names[i]), cap = answer_at(view->caps, names[i]);
        folded[i] = json_fold(view->arena, names[i]);
        levels[i] = grant.level;
        grant_at(&granted, grant.level, grant.socket);
        struct bound_answer least = is_ascii(names[i]) ? cap : answer_at(view->narrow_caps, names[i]);
        close_at(&said[CASE_COUNTS], least,
                 both(answer_at(view->exact_caps, names[i]), answer_at(view->pattern_caps, names[i])));
        /* What is excepted or in a limit's list in another case is so too. */
        close_at(&said[CASE_IGNORED], least, either(cap, answer_at(view->folded_caps, folded[i])));
    }
    granted.least = lower(granted.least, granted.most);
    granted.may_open = granted.opens;
    said[CASE_COUNTS] = said_of(said[CASE_COUNTS], &granted);
    for (uint32_t i = 0; i < count; i++) {
        struct bound_answer grant = answer_at(view->folded_grants, folded[i]);
        /* Where names of another spelling grant too, any of them may be the one that is there. */
        if (grant.level != levels[i]) {
            granted.least = lower(granted.least, grant.level);
            granted.most = higher(granted.most, answer_at(view->any_grants, folded[i]).level);
        }
        granted.may_open = granted.may_open || grant.socket;
    }
    said[CASE_IGNORED] = said_of(said[CASE_IGNORED], &granted);
}

/* --- the policy in parts -------------------------------------------------------------------------------- */

static bool grants(enum rule_kind kind)
{
    return kind == RULE_GRANT || kind == RULE_GRANT_SOCKET;
}

static bool closes(enum rule_kind kind)
{
    return kind == RULE_DENY || kind == RULE_DENY_EXEC || kind == RULE_DENY_SOCKET ||
           kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE || kind == RULE_LIMIT_SOCKET;
}

/* A copy of the policy without the rules of paths that close, or without those that grant. */
static struct bound_policy *part_of(const struct seatbelt_view *view, bool of_grants, bool patterns_alone)
{
    struct bound_policy *copy = arena_alloc(view->arena, sizeof *copy);
    *copy = *view->bound;
    memset(&copy->rules, 0, sizeof copy->rules);
    for (uint32_t i = 0; i < view->bound->rules.count; i++) {
        struct bound_rule rule = view->bound->rules.items[i];
        bool opens = grants(rule.rule->kind) && !rule.holds_as_deny_write;
        bool closing = closes(rule.rule->kind) || rule.holds_as_deny_write;
        if (of_grants ? !closing : !opens && (!patterns_alone || rule.at.pattern))
            VECTOR_PUSH(view->arena, &copy->rules, rule);
    }
    return copy;
}

/* All paths and exceptions of a copy in folded spelling. */
static void fold_paths(const struct seatbelt_view *view, struct bound_policy *copy)
{
    for (uint32_t i = 0; i < copy->rules.count; i++) {
        struct bound_rule *rule = &copy->rules.items[i];
        struct bound_path *except = arena_array(view->arena, rule->except_count, sizeof *except);
        if (rule->at.path != NULL)
            rule->at.path = json_fold(view->arena, rule->at.path);
        for (uint32_t j = 0; j < rule->except_count; j++)
            except[j] = (struct bound_path){.path = json_fold(view->arena, rule->except[j].path),
                                            .pattern = rule->except[j].pattern};
        rule->except = except;
    }
}

/* Everything is granted: at / and at each root. */
static void grant_all(const struct seatbelt_view *view, struct bound_policy *copy)
{
    static const struct rule everything = {
        .kind = RULE_GRANT, .systems = SYSTEM_ALL, .automatic = true, .level = LEVEL_WRITE};
    static const struct rule all_sockets = {.kind = RULE_GRANT_SOCKET, .systems = SYSTEM_ALL};
    for (int root = 0; root < ROOTS; root++) {
        if (root != ROOT_SLASH && (root < ROOT_WORK || root >= ROOT_ENV))
            continue;
        const char *path = root == ROOT_SLASH ? "/" : arena_format(view->arena, "$%s", root_names[root]);
        VECTOR_PUSH(view->arena, &copy->rules,
                    (struct bound_rule){.rule = &everything, .at = {.path = path}});
        VECTOR_PUSH(view->arena, &copy->rules,
                    (struct bound_rule){.rule = &all_sockets, .at = {.path = path}});
    }
}

/* Makes each grant an automatic one, of which the highest holds. */
static void make_equal(const struct seatbelt_view *view, struct bound_policy *copy)
{
    for (uint32_t i = 0; i < copy->rules.count; i++) {
        struct rule *rule = arena_alloc(view->arena, sizeof *rule);
        *rule = *copy->rules.items[i].rule;
        rule->automatic = rule->automatic || rule->kind == RULE_GRANT;
        copy->rules.items[i].rule = rule;
    }
}

/* A pattern in which one character may be of any kind: ? or [!...]. */
static bool is_about_any_character(const char *pattern)
{
    return strpbrk(pattern, "?[") != NULL;
}

/* Leaves out the exceptions of which nothing is promised for names beyond ASCII. */
static void narrow_exceptions(const struct seatbelt_view *view, struct bound_policy *copy)
{
    for (uint32_t i = 0; i < copy->rules.count; i++) {
        struct bound_rule *rule = &copy->rules.items[i];
        struct bound_path *except = arena_array(view->arena, rule->except_count, sizeof *except);
        uint32_t kept = 0;
        for (uint32_t j = 0; j < rule->except_count; j++)
            if (!rule->except[j].pattern || !is_about_any_character(rule->except[j].path))
                except[kept++] = rule->except[j];
        rule->except = except;
        rule->except_count = kept;
    }
}

struct seatbelt_view *seatbelt_view_create(struct arena *arena, const struct bound_policy *bound)
{
    struct seatbelt_view *view = arena_alloc(arena, sizeof *view);
    view->arena = arena;
    view->bound = bound;
    view->grants = part_of(view, true, false);
    view->folded_grants = part_of(view, true, false);
    fold_paths(view, view->folded_grants);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (!rule->dropped && grants(rule->rule->kind) && path_behind(rule->at.path, volume) != NULL)
            view->grants_volume = true;
    }
    bound_seal(view->grants, NULL);
    bound_seal(view->folded_grants, NULL);
    view->any_grants = part_of(view, true, false);
    fold_paths(view, view->any_grants);
    make_equal(view, view->any_grants);
    bound_seal(view->any_grants, NULL);
    struct bound_policy **const caps[] = {&view->caps, &view->folded_caps, &view->exact_caps,
                                          &view->pattern_caps, &view->narrow_caps};
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        *caps[i] = part_of(view, false, caps[i] == &view->pattern_caps);
        grant_all(view, *caps[i]);
        if (caps[i] == &view->folded_caps)
            fold_paths(view, *caps[i]);
        if (caps[i] == &view->narrow_caps)
            narrow_exceptions(view, *caps[i]);
        if (caps[i] == &view->exact_caps)
            (*caps[i])->bindings.system = SYSTEM_LINUX;
        bound_seal(*caps[i], NULL);
    }
    return view;
}
