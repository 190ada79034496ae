#include "policy/host_follow.h"

#include "base/vector.h"
#include "policy/host.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

/* Where the path to the first symbolic link on the way to `path` ends, or 0 if there is none. */
static size_t first_link(struct arena *arena, const char *path)
{
    struct stat status;
    for (size_t end = 1; path[end - 1] != '\0'; end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        if (lstat(arena_copy(arena, path, end), &status) != 0)
            return 0;
        if (S_ISLNK(status.st_mode))
            return end;
        if (path[end] == '\0')
            return 0;
    }
    return 0;
}

/* The directory that holds the last component of `path`. */
static const char *parent_of(struct arena *arena, const char *path)
{
    size_t length = (size_t)(strrchr(path, '/') - path);
    return arena_copy(arena, path, length > 0 ? length : 1);
}

/* What a link in `directory` to `target` stands for, or NULL if it cannot be told by its text. */
static const char *aim_of(struct arena *arena, const char *directory, const char *target)
{
    if (target[0] == '/')
        return strstr(target, "/..") == NULL ? target : NULL;
    while (strncmp(target, "../", 3) == 0) {
        directory = parent_of(arena, directory);
        target += 3;
    }
    bool up = strcmp(target, "..") == 0;
    if (strstr(target, "/..") != NULL)
        return NULL;
    return up ? parent_of(arena, directory)
              : arena_format(arena, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, target);
}

/* Whether no link on the way to `path` lies where the command may write. */
static bool is_trusted(const struct bound_policy *bound, const char *path)
{
    struct arena *arena = bound->arena;
    for (int links = 0; links < LINKS_MOST; links++) {
        size_t end = first_link(arena, path);
        if (end == 0)
            return true;
        char target[PATH_MAX];
        const char *link = arena_copy(arena, path, end), *directory = parent_of(arena, link);
        ssize_t length = readlink(link, target, sizeof target);
        if (length <= 0 || length == sizeof target ||
            bound_level(bound, directory, strlen(directory)) == LEVEL_WRITE)
            return false;
        const char *aim = aim_of(arena, directory, arena_copy(arena, target, (size_t)length));
        if (aim == NULL)
            return false;
        path = arena_format(arena, "%s%s", aim, path + end);
    }
    return false;
}

/* Where links lead from the plain absolute path `at`; NULL if nowhere else. */
static const char *leads_to(struct arena *arena, const struct bound_path *at)
{
    if (at->path == NULL || at->pattern || at->path[0] != '/')
        return NULL;
    const char *place = host_canonical(arena, at->path);
    return place != NULL && strcmp(place, at->path) != 0 ? place : NULL;
}

static bool is_grant(const struct bound_rule *rule)
{
    return rule->rule->kind == RULE_GRANT || rule->rule->kind == RULE_GRANT_SOCKET;
}

static bool is_deny(const struct bound_rule *rule)
{
    return rule->rule->kind == RULE_DENY || rule->rule->kind == RULE_DENY_EXEC ||
           rule->rule->kind == RULE_DENY_SOCKET;
}

static void add_repeated(struct bound_policy *bound, uint32_t number, const char *place)
{
    struct bound_rule repeated = bound->rules.items[number];
    repeated.at.path = place;
    repeated.because = "link";
    repeated.dropped = false;
    VECTOR_PUSH(bound->arena, &bound->rules, repeated);
}

static void follow_denies(struct bound_policy *bound)
{
    uint32_t count = bound->rules.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const char *place = is_deny(rule) && !rule->dropped ? leads_to(bound->arena, &rule->at) : NULL;
        if (place != NULL)
            add_repeated(bound, i, place);
    }
}

struct followed {
    uint32_t rule, repeated; /* numbers in bound->rules */
};

struct followed_list {
    struct followed *items;
    uint32_t count, capacity;
};

/* Takes out the grants whose links the command could have placed; what is followed makes more writable, so
 * until none is left. */
static void drop_planted(struct bound_policy *bound, const struct followed_list *list)
{
    for (bool changed = true; changed;) {
        changed = false;
        bound_seal(bound, NULL);
        for (uint32_t i = 0; i < list->count; i++) {
            struct bound_rule *rule = &bound->rules.items[list->items[i].rule];
            if (rule->dropped || is_trusted(bound, rule->at.path))
                continue;
            rule->dropped = bound->rules.items[list->items[i].repeated].dropped = true;
            changed = true;
        }
    }
}

static void follow_grants(struct bound_policy *bound)
{
    struct followed_list list = {0};
    uint32_t count = bound->rules.count;
    bound_seal(bound, NULL);
    for (uint32_t i = 0; i < count; i++) {
        struct bound_rule *rule = &bound->rules.items[i];
        const char *place = is_grant(rule) && !rule->dropped ? leads_to(bound->arena, &rule->at) : NULL;
        if (place == NULL)
            continue;
        if (!is_trusted(bound, rule->at.path)) {
            rule->dropped = true;
            continue;
        }
        struct followed followed = {i, bound->rules.count};
        VECTOR_PUSH(bound->arena, &list, followed);
        add_repeated(bound, i, place);
    }
    drop_planted(bound, &list);
}

/* `rule`'s exceptions and the places that links lead to from them. They are followed last, when it is
 * known what is writable. */
static void follow_exceptions(const struct bound_policy *bound, struct bound_rule *rule)
{
    struct bound_path *except = arena_array(bound->arena, (size_t)rule->except_count * 2, sizeof *except);
    uint32_t count = rule->except_count;
    memcpy(except, rule->except, count * sizeof *except);
    for (uint32_t i = 0; i < rule->except_count; i++) {
        const char *place = leads_to(bound->arena, &rule->except[i]);
        if (place != NULL && is_trusted(bound, rule->except[i].path))
            except[count++] = (struct bound_path){.path = place};
    }
    rule->except = except;
    rule->except_count = count;
}

static void follow_all_exceptions(struct bound_policy *bound)
{
    struct bound_rule last = {0}, followed = {0}; /* the rules of a statement share their list */
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        struct bound_rule *rule = &bound->rules.items[i];
        if (rule->except_count == 0)
            continue;
        if (rule->except != last.except || rule->except_count != last.except_count) {
            last = followed = *rule;
            follow_exceptions(bound, &followed);
        }
        rule->except = followed.except;
        rule->except_count = followed.except_count;
    }
}

void host_follow(struct bound_policy *bound)
{
    if (bound->bindings.host == NULL)
        return;
    follow_denies(bound);
    follow_grants(bound);
    follow_all_exceptions(bound);
}
