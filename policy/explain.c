#include "policy/explain.h"

#include "base/escape.h"
#include "policy/ask.h"
#include "policy/index.h"
#include "policy/network.h"

#include <string.h>

/* A question being answered. */
struct answer {
    struct arena *arena;
    const struct bound_policy *bound;
    enum operation operation;
    const char *path; /* of the operations on paths */
    const char
        *name; /* of env and service; of connect and listen what to write behind `network` and `listen` */
    struct entry_list entries;
};

/* ---- what to write instead ---- */

static const char *place_of(const struct answer *answer, const struct rule *rule)
{
    const struct policy *policy = answer->bound->policy;
    if (rule->origin.source >= policy->source_count)
        return "the policy";
    const struct policy_source *source = &policy->sources[rule->origin.source];
    return arena_format(answer->arena, "%s:%u", escape_string(answer->arena, source->name),
                        rule->origin.line);
}

/* Whether `path` stands below a root that only denies may name. */
static bool is_below_found_root(const char *path)
{
    for (int root = ROOT_WORK; root < ROOT_ENV && path[0] == '$'; root++) {
        size_t length = strlen(root_names[root]);
        if (root_is_found((enum root)root) && strncmp(path + 1, root_names[root], length) == 0 &&
            (path[1 + length] == '/' || path[1 + length] == '\0'))
            return true;
    }
    return false;
}

/* The statement that grants what was asked for. */
static const char *granting_line(const struct answer *answer)
{
    struct arena *arena = answer->arena;
    const char *path =
        answer->path != NULL ? ask_path_text(arena, answer->bound, answer->path) : answer->name;
    if (answer->path != NULL && is_below_found_root(answer->path))
        return "grant it below $REPO or $GITDIR: what is found in a repository can only be denied";
    if (answer->path != NULL && path_is_top(answer->path))
        return "grant the directories below it that are needed";
    switch (answer->operation) {
    case OPERATION_WRITE:
        return arena_format(arena, "grant write %s", path);
    case OPERATION_READ:
    case OPERATION_EXEC:
        return arena_format(arena, "grant read %s", path);
    case OPERATION_SOCKET:
        return arena_format(arena, "grant socket %s", path);
    case OPERATION_CONNECT:
        return arena_format(arena, "grant network %s", answer->name);
    case OPERATION_LISTEN:
        return arena_format(arena, "grant listen %s", answer->name);
    case OPERATION_ENV:
        return arena_format(arena, "grant env %s", word_text(arena, answer->name));
    case OPERATION_SERVICE:
        return arena_format(arena, "grant service %s", answer->name);
    case OPERATIONS:
        break;
    }
    return "";
}

static const char git_configuration[] = "$GITDIR/config, $GITDIR/config.worktree";
static const char git_symptom[] =
    "  # without it git remote add, submodule (its clone too) and push -u say: Device or resource busy";

/* The path to except from a preset's rule, in the rule's own words if it names that very path. Git writes its
 * two files of configuration in turns, so both belong together. */
static const char *excepted_path(const struct answer *answer, const struct bound_rule *bound_rule)
{
    struct arena *arena = answer->arena;
    const struct policy_path *path = &bound_rule->rule->path;
    bool same = !bound_rule->at.pattern && strcmp(bound_rule->at.path, answer->path) == 0;
    if (same && path->root == ROOT_GITDIR && strncmp(path->rest, "/config", strlen("/config")) == 0)
        return git_configuration;
    if (!same)
        return ask_path_text(arena, answer->bound, answer->path);
    struct policy_path plain = *path;
    plain.directory = false;
    return path_text(arena, &plain);
}

/* The use that brings a preset in, with one exception more. */
static const char *fix_use(const struct answer *answer, const struct bound_rule *bound_rule,
                           const struct policy_source *source)
{
    struct arena *arena = answer->arena;
    const char *path = excepted_path(answer, bound_rule);
    if (source->use == NULL)
        return arena_format(arena, "add \"except %s\" to the use that brings in %s", path, source->name);
    bool git = strcmp(path, git_configuration) == 0;
    return arena_format(arena, "%s%s%s", source->use, path, git ? git_symptom : "");
}

/* A deny of paths can make an exception for what lies below them, and a preset is used with one; any other
 * deny can only go. */
static const char *fix_deny(const struct answer *answer, const struct bound_rule *bound_rule)
{
    const struct rule *rule = bound_rule->rule;
    struct arena *arena = answer->arena;
    const struct policy *policy = answer->bound->policy;
    const char *text = bound_rule_text(arena, bound_rule), *path = answer->path;
    const struct policy_source *source =
        rule->origin.source < policy->source_count ? &policy->sources[rule->origin.source] : NULL;
    bool builtin = source != NULL && source->kind == SOURCE_PRESET_BUILTIN;
    bool below = path != NULL && (bound_rule->at.pattern || strcmp(bound_rule->at.path, path) != 0);

    if (bound_rule->service != NULL)
        return arena_format(arena, "remove \"%s\" (%s)", text, place_of(answer, rule));
    if (builtin && path == NULL)
        return arena_format(arena, "leave out \"use %s\", which brings \"%s\"", source->name, text);
    if (builtin)
        return fix_use(answer, bound_rule, source);
    if (!below || rule->kind == RULE_DENY_SOCKET)
        return arena_format(arena, "remove \"%s\" (%s)", text, place_of(answer, rule));
    bool more = rule->except != NULL && rule->except->count > 0;
    return arena_format(arena, "%s%s%s", text, more ? ", " : " except ",
                        ask_path_text(arena, answer->bound, path));
}

static const char *fix_for(const struct answer *answer)
{
    const struct bound_rule *rule = answer->entries.items[0].rule;
    struct arena *arena = answer->arena;
    if (rule == NULL)
        return explain_only_narrows(answer->bound) ? "grant it in the policy: a managed file only narrows"
                                                   : granting_line(answer);
    if (rule->itself)
        return "nothing lifts this: the policy's own files stay as they are while it holds";
    if (answer->bound->policy->layers[rule->rule->layer].kind == LAYER_MANAGED)
        return arena_format(arena, "only the owner of the managed layer \"%s\" can change this",
                            escape_string(arena, rule_layer_name(answer->bound->policy, rule->rule)));
    bool same_path =
        answer->path != NULL && rule->at.path != NULL && strcmp(rule->at.path, answer->path) == 0;
    if (same_path && rule->service == NULL && bound_rule_kind(rule) == RULE_GRANT)
        return arena_format(arena, "%s instead of \"%s\" (%s)", granting_line(answer),
                            rule_text(arena, rule->rule), place_of(answer, rule->rule));
    if (answer->entries.items[0].rank == RANK_DENY)
        return rule->holds_as_deny_write ? granting_line(answer) : fix_deny(answer, rule);
    return granting_line(answer);
}

/* A deny of addresses that the name may lead to: no grant settles that. NULL if none took part. */
static const char *fix_unsure_deny(const struct answer *answer)
{
    for (uint32_t i = 0; i < answer->entries.count; i++) {
        const struct bound_rule *rule = answer->entries.items[i].rule;
        if (rule != NULL && rule->rule->kind == RULE_DENY_NETWORK)
            return arena_format(answer->arena,
                                "the address decides: ask for it instead of the name, or remove \"%s\" (%s)",
                                rule_text(answer->arena, rule->rule), place_of(answer, rule->rule));
    }
    return NULL;
}

static const struct decision *finish(struct answer *answer, enum verdict verdict, enum level level)
{
    struct decision *decision = arena_alloc(answer->arena, sizeof *decision);
    const struct entry_list *entries = &answer->entries;
    *decision = (struct decision){
        .verdict = verdict,
        .level = level,
        .reasons = arena_array(answer->arena, entries->count, sizeof *decision->reasons),
        .reason_count = entries->count,
        .fix = verdict == VERDICT_ALLOW ? NULL : fix_for(answer),
    };
    const char *unsure = verdict == VERDICT_DEPENDS ? fix_unsure_deny(answer) : NULL;
    if (unsure != NULL)
        decision->fix = unsure;
    for (uint32_t i = 0; i < entries->count; i++)
        decision->reasons[i] = (struct reason){entries->items[i].rule, entries->items[i].effect};
    return decision;
}

/* ---- one operation each ---- */

static const struct decision *decide_level(struct answer *answer, enum level needed)
{
    size_t length = strlen(answer->path);
    enum level level = bound_level(answer->bound, answer->path, length);
    struct question question;
    index_ask(answer->bound->index, answer->path, length, &question);
    explain_level(answer->bound, &question, &answer->entries);
    return finish(answer, level >= needed ? VERDICT_ALLOW : VERDICT_DENY, level);
}

static const struct decision *decide_exec(struct answer *answer)
{
    size_t length = strlen(answer->path);
    enum level level = bound_level(answer->bound, answer->path, length);
    bool allowed = bound_exec(answer->bound, answer->path, length);
    struct entry_list levels = {.arena = answer->arena};
    struct question question;
    index_ask(answer->bound->index, answer->path, length, &question);
    explain_level(answer->bound, &question, &levels);
    if (level >= LEVEL_READ)
        explain_exec(answer->bound, answer->path, length, &answer->entries);
    for (uint32_t i = 0; i < levels.count; i++)
        explain_add(&answer->entries, levels.items[i]);
    return finish(answer, allowed ? VERDICT_ALLOW : VERDICT_DENY, level);
}

static const struct decision *decide_socket(struct answer *answer)
{
    size_t length = strlen(answer->path);
    bool allowed = bound_socket(answer->bound, answer->path, length);
    explain_socket(answer->bound, answer->path, length, &answer->entries);
    return finish(answer, allowed ? VERDICT_ALLOW : VERDICT_DENY, LEVEL_NONE);
}

static const struct decision *decide_path(struct answer *answer, const char *path)
{
    answer->path = path;
    answer->entries = (struct entry_list){.arena = answer->arena};
    switch (answer->operation) {
    case OPERATION_READ:
        return decide_level(answer, LEVEL_READ);
    case OPERATION_WRITE:
        return decide_level(answer, LEVEL_WRITE);
    case OPERATION_EXEC:
        return decide_exec(answer);
    case OPERATION_SOCKET:
    case OPERATION_CONNECT:
    case OPERATION_LISTEN:
    case OPERATION_ENV:
    case OPERATION_SERVICE:
    case OPERATIONS:
        break;
    }
    return decide_socket(answer);
}

/* A root can stand for several paths: the answer is that of the one that is allowed least. */
static const struct decision *decide_paths(struct answer *answer, const struct bound_paths *paths)
{
    const struct decision *least = NULL;
    for (uint32_t i = 0; i < paths->count; i++) {
        const struct decision *one = decide_path(answer, paths->items[i].path);
        bool less = least == NULL || (one->verdict == VERDICT_DENY && least->verdict == VERDICT_ALLOW) ||
                    (one->verdict == least->verdict && one->level < least->level);
        if (less)
            least = one;
    }
    return least;
}

/* What stands behind `grant network` to open exactly this endpoint. */
static const char *network_words(struct arena *arena, const struct endpoint *endpoint, const char *shown)
{
    const char *protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? " udp" : "";
    size_t length = strcspn(shown, "/");
    while (length > 0 && shown[length] != ':')
        length--;
    const char *host = arena_copy(arena, shown, length);
    if (host[0] == '[')
        host = arena_copy(arena, host + 1, length - 2);
    return arena_format(arena, "%s %s port %u%s", endpoint->has_address ? "address" : "host", host,
                        endpoint->port, protocol);
}

static const struct decision *decide_connect(struct answer *answer, const struct endpoint *endpoint,
                                             const char *shown)
{
    bool local = (endpoint->name != NULL && network_name_is_local(endpoint->name)) ||
                 (endpoint->has_address && address_class(endpoint->address) == ADDRESS_LOOPBACK);
    const char *protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? " udp" : "";
    answer->name = local ? arena_format(answer->arena, "loopback port %u%s", endpoint->port, protocol)
                         : network_words(answer->arena, endpoint, shown);
    enum verdict verdict = bound_connect(answer->bound, endpoint);
    explain_connect(answer->bound, endpoint, &answer->entries);
    /* What only might open it did not. */
    if (verdict == VERDICT_DENY && answer->entries.items[0].leaves != LEVEL_NONE) {
        explain_default(answer->bound, &answer->entries);
        explain_sort(&answer->entries);
    }
    return finish(answer, verdict, LEVEL_NONE);
}

static const struct decision *decide_listen(struct answer *answer, const struct endpoint *endpoint)
{
    bool local = network_listens_locally(endpoint);
    answer->name = arena_format(answer->arena, "%s port %u%s", local ? "loopback" : "any", endpoint->port,
                                endpoint->protocol == PROTOCOL_BIT_UDP ? " udp" : "");
    explain_listen(answer->bound, endpoint, &answer->entries);
    bool allowed = bound_listen(answer->bound, endpoint);
    return finish(answer, allowed ? VERDICT_ALLOW : VERDICT_DENY, LEVEL_NONE);
}

static const struct decision *decide_name(struct answer *answer, const char *name)
{
    bool variable = answer->operation == OPERATION_ENV;
    answer->name = name;
    if (variable)
        explain_env(answer->bound, name, &answer->entries);
    else
        explain_service(answer->bound, name, &answer->entries);
    bool allowed = variable ? bound_env(answer->bound, name) : bound_service(answer->bound, name);
    return finish(answer, allowed ? VERDICT_ALLOW : VERDICT_DENY, LEVEL_NONE);
}

const struct decision *bound_decide(struct arena *arena, const struct bound_policy *bound,
                                    enum operation operation, const char *argument, size_t length,
                                    const char **error)
{
    struct answer answer = {
        .arena = arena, .bound = bound, .operation = operation, .entries = {.arena = arena}};
    const char *text = arena_copy(arena, argument, length);
    struct endpoint endpoint;
    struct bound_paths paths = {0};

    *error = NULL;
    switch (operation) {
    case OPERATION_READ:
    case OPERATION_WRITE:
    case OPERATION_EXEC:
    case OPERATION_SOCKET:
        return ask_paths(arena, bound, argument, length, &paths, error) ? decide_paths(&answer, &paths)
                                                                        : NULL;
    case OPERATION_CONNECT:
        return ask_endpoint(arena, argument, length, &endpoint, error)
                   ? decide_connect(&answer, &endpoint, text)
                   : NULL;
    case OPERATION_LISTEN:
        return ask_endpoint(arena, argument, length, &endpoint, error) ? decide_listen(&answer, &endpoint)
                                                                       : NULL;
    case OPERATION_ENV:
    case OPERATION_SERVICE:
        *error = ask_name_fault(text, length);
        return *error == NULL ? decide_name(&answer, text) : NULL;
    case OPERATIONS:
        break;
    }
    *error = "there is no such operation";
    return NULL;
}
