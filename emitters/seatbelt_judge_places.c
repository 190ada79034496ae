/* seatbelt_judge_places.c - places that a profile opens by itself, and those that lead on to what a policy names. */
#include "emitters/seatbelt_judge_parts.h"

#include "base/intern.h"
#include "base/vector.h"
#include "emitters/json_place.h"
#include "policy/pattern.h"

#include <string.h>

const char *judge_valued_path(const struct judge *judge, const char *path)
{
    if (path[0] != '$')
        return path[0] == '/' ? path : NULL;
    size_t length = strcspn(path + 1, "/");
    for (int root = 0; root < ROOTS; root++)
        if (strlen(root_names[root]) == length && strncmp(root_names[root], path + 1, length) == 0 &&
            judge->root_values[root] != NULL)
            return arena_join(judge->arena, judge->root_values[root], path + 1 + length);
    return NULL;
}

const char *judge_rooted_path(const struct judge *judge, const char *path)
{
    for (int root = 0; root < ROOTS; root++) {
        const char *rest =
            judge->root_values[root] != NULL ? path_behind(path, judge->root_values[root]) : NULL;
        if (rest != NULL)
            return arena_format(judge->arena, "$%s%s", root_names[root], rest);
    }
    return path;
}

const char *judge_kernel_path(const struct judge *judge, const char *path)
{
    return path_is_linked(path) ? arena_join(judge->arena, "/private", path) : path;
}

/* --- directories that lead on --------------------------------------------------------------------------- */

/* Adds every directory above `path`, under each of its names. */
static void add_leading(struct judge *judge, const char *path)
{
    if (path[0] != '/')
        return;
    const char *kernel = json_fold(judge->arena, judge_kernel_path(judge, path));
    const char *on_volume = path_behind(kernel, "/system/volumes/data");
    kernel = on_volume != NULL && *on_volume == '/' ? on_volume : kernel;
    for (size_t length = strlen(kernel); length > 1;) {
        while (length > 0 && kernel[length - 1] != '/')
            length--;
        length = length > 1 ? length - 1 : 0;
        if (length == 0)
            return;
        if (intern_find(judge->leading, kernel, length) != NULL)
            return;
        intern(judge->leading, kernel, length);
    }
}

static void add_leading_path(struct judge *judge, const struct bound_path *path)
{
    if (!path->pattern)
        add_leading(judge, path->path);
    else
        add_leading(judge,
                    arena_join(judge->arena,
                               pattern_plain(judge->arena, path->path, pattern_fixed_prefix(path->path)),
                               "/x"));
}

bool judge_is_leading(const struct judge *judge, const char *folded)
{
    const char *on_volume = path_behind(folded, "/system/volumes/data");
    folded = on_volume != NULL && *on_volume == '/' ? on_volume : folded;
    return intern_find(judge->leading, folded, strlen(folded)) != NULL;
}

/* --- what every command gets ---------------------------------------------------------------------------- */

bool judge_is_of_system(const char *folded, enum query_kind kind)
{
    static const char *const read[] = {"/",           "/dev",         "/dev/null",         "/dev/zero",
                                       "/dev/random", "/dev/urandom", "/dev/dtracehelper", "/dev/tty"};
    static const char *const written[] = {"/dev/null", "/dev/zero", "/dev/dtracehelper", "/dev/tty"};
    if (path_behind(folded, "/dev/fd") != NULL || path_behind(folded, "/dev/null/unset") != NULL)
        return true;
    for (size_t i = 0; kind == QUERY_READ && i < sizeof read / sizeof *read; i++)
        if (strcmp(folded, read[i]) == 0)
            return true;
    for (size_t i = 0; kind == QUERY_WRITE && i < sizeof written / sizeof *written; i++)
        if (strcmp(folded, written[i]) == 0)
            return true;
    return false;
}

bool judge_is_looked_up(const char *folded)
{
    static const char *const places[] = {"/", "/etc", "/tmp", "/var", "/private"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(folded, places[i]) == 0)
            return true;
    return false;
}

/* What the services of the language stand for on macOS, which the policy itself does not list. `kind`: for
 * what. */
static const struct {
    const char *service, *root, *path;
} service_places[] = {
    {"ssh-agent", "", "/private/tmp"},
    {"ssh-agent", "", "/private/var/run"},
    {"ssh-agent", "HOME", "/.ssh/agent"},
    {"gpg-agent", "HOME", "/.gnupg"},
    {"keychain", "HOME", "/Library/Keychains"},
    {"keychain", "", "/Library/Keychains"},
    {"keychain", "", "/private/var/db/mds"},
    {"docker", "", "/private/var/run"},
    {"docker", "HOME", "/.docker/run"},
    {"docker", "HOME", "/.colima/default"},
    {"docker", "HOME", "/.orbstack/run"},
    {"pty", "", "/dev"},
    {"git-credentials", "HOME", "/.git-credentials"},
    {"git-credentials", "CONFIG", "/git/credentials"},
    {"git-credentials", "HOME", "/.config/git"},
    {"git-credentials", "HOME", "/.git-credential-cache"},
    {"git-credentials", "CACHE", "/git/credential"},
    {"git-credentials", "HOME", "/.cache/git"},
    {"gh", "CONFIG", "/gh"},
    {"gh", "HOME", "/.config/gh"},
};

static const char *service_place(const struct judge *judge, size_t index)
{
    const char *root = service_places[index].root;
    if (*root == '\0')
        return service_places[index].path;
    for (int i = 0; i < ROOTS; i++) {
        const struct root_value *value = &judge->bound->bindings.roots[i];
        if (strcmp(root_names[i], root) != 0)
            continue;
        const char *base =
            value->state == ROOT_BOUND && value->count > 0 ? value->paths[0] : judge->root_values[i];
        return base != NULL ? arena_join(judge->arena, base, service_places[index].path) : NULL;
    }
    return NULL;
}

bool judge_is_of_service(const struct judge *judge, const char *folded)
{
    for (uint32_t i = 0; i < judge->service_places.count; i++)
        if (json_is_above(judge->service_places.items[i], folded) ||
            json_is_above(folded, judge->service_places.items[i]))
            return true;
    return false;
}

static bool speaks_of_service(const struct bound_policy *bound, const char *service)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (bound->rules.items[i].dropped)
            continue;
        if (rule->kind == RULE_LIMIT_SERVICE)
            return true;
        if ((rule->kind == RULE_GRANT_SERVICE || rule->kind == RULE_DENY_SERVICE) &&
            strcmp(rule->name, service) == 0)
            return true;
    }
    return false;
}

void judge_find_places(struct judge *judge)
{
    judge->leading = intern_create(judge->arena, 0);
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        if (rule->dropped || rule->at.path == NULL)
            continue;
        add_leading_path(judge, &rule->at);
        for (uint32_t j = 0; j < rule->except_count; j++)
            add_leading_path(judge, &rule->except[j]);
    }
    for (size_t i = 0; i < sizeof service_places / sizeof *service_places; i++) {
        const char *place = service_place(judge, i);
        if (place == NULL || !speaks_of_service(judge->bound, service_places[i].service))
            continue;
        add_leading(judge, place);
        VECTOR_PUSH(judge->arena, &judge->service_places, json_fold(judge->arena, place));
    }
}
