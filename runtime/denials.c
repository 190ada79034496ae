/* denials.c - whether each deny can be held on this host, and which denied paths need a placeholder
 * (language.md 7). */
#include "base/measure.h"
#include "runtime/gather.h"

#include "base/escape.h"
#include "base/vector.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refuse(struct gather *gather, enum code code, const struct bound_rule *rule, const char *why,
                   const char *help)
{
    struct arena *arena = gather->notes->arena;
    note_add(gather->notes,
             (struct note){
                 .code = code,
                 .rule = rule->rule,
                 .text = arena_format(arena, "%s cannot be held: %s", gather_rule(gather, rule), why),
                 .help = help,
             });
}

/* A link in a directory that the command may write can be replaced, and no mount can stand on a link. */
static bool links_stay(struct gather *gather, const struct bound_rule *rule, const struct resolved *leads)
{
    struct arena *arena = gather->notes->arena;
    for (uint32_t i = 0; i < leads->link_count; i++) {
        const struct passed_link *link = &leads->links[i];
        if (rule->rule->kind == RULE_DENY && rule->rule->level == LEVEL_NONE && !rule->holds_as_deny_write &&
            leads->kind != ENTRY_UNKNOWN && path_covers(leads->path, link->directory)) {
            refuse(gather, SBX452_DENY_THROUGH_REPLACEABLE_LINK, rule,
                   arena_format(arena, "%s is a link to %s: denying that would deny all around it",
                                escape_string(arena, link->path), escape_string(arena, link->text)),
                   arena_format(arena, "remove %s", escape_string(arena, link->path)));
            return false;
        }
        if (gather_level(gather, link->directory) < LEVEL_WRITE || !measure_holds(MEASURE_STEADY_DENIES))
            continue;
        refuse(gather, SBX452_DENY_THROUGH_REPLACEABLE_LINK, rule,
               arena_format(arena, "%s is a link to %s in a directory that the command may write",
                            escape_string(arena, link->path), escape_string(arena, link->text)),
               arena_format(arena, "put what it leads to in its place, or deny write %s",
                            escape_string(arena, link->directory)));
        return false;
    }
    return true;
}

/* Somebody else may replace them while the command runs. */
static void links_rely(struct gather *gather, const struct resolved *leads)
{
    for (uint32_t i = 0; i < leads->link_count; i++)
        if (gather_level(gather, leads->links[i].directory) > LEVEL_NONE)
            VECTOR_PUSH(gather->arena, &gather->relied_links,
                        (struct plan_link){leads->links[i].path, leads->links[i].text});
}

/* Whether the command could make an entry in the directory, as far as its owner and its mount say. The
 * command has the launcher's user or one with fewer rights, and no capabilities. */
static bool directory_takes(const struct gather *gather, const char *path)
{
    int directory = directory_open(path, OPEN_TO_LOOK);
    if (directory < 0)
        return true;
    struct stat status;
    bool known = fstat(directory, &status) == 0;
    int refused = faccessat(directory, ".", W_OK, AT_EACCESS) == 0 ? 0 : errno;
    close(directory);
    if (refused == EROFS)
        return false;
    return !known || refused != EACCES || gather->request->uid == 0 || status.st_uid == gather->request->uid;
}

/* Whether the command could create `path`: it may write in the deepest existing directory and in each
 * missing one. */
static bool is_creatable(const struct gather *gather, const struct resolved *leads)
{
    const char *directory = leads->path;
    do {
        directory = path_parent(gather->arena, directory);
        if (gather_level(gather, directory) < LEVEL_WRITE)
            return false;
    } while (strcmp(directory, leads->ancestor) != 0 && strcmp(directory, "/") != 0);
    return leads->under_file || directory_takes(gather, leads->ancestor);
}

/* A placeholder must be a directory where the rule leaves something below it open. */
static bool wants_directory(const struct bound_rule *rule)
{
    if (rule->directory)
        return true;
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (!rule->except[i].pattern && path_covers(rule->at.path, rule->except[i].path))
            return true;
    return false;
}

/* Whether the rule's own exceptions lift it at its path; another rule may still lower the level there. */
static bool is_lifted(const struct bound_rule *rule)
{
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (!rule->except[i].pattern && path_covers(rule->except[i].path, rule->at.path))
            return true;
    return false;
}

static bool entry_exists(const char *directory, const char *name)
{
    int descriptor = directory_open(directory, OPEN_TO_LOOK);
    struct stat status;
    bool exists = descriptor >= 0 && fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return exists;
}

static bool is_git_directory(const struct gather *gather, const char *path)
{
    const struct root_value *gitdir = &gather->bound->bindings.roots[ROOT_GITDIR];
    for (uint32_t i = 0; gitdir->state == ROOT_BOUND && i < gitdir->count; i++)
        if (strcmp(gitdir->paths[i], path) == 0)
            return true;
    return entry_exists(path, "HEAD") || entry_exists(path, "objects");
}

static bool root_covers(const struct gather *gather, enum root root, const char *path)
{
    const struct root_value *value = &gather->bound->bindings.roots[root];
    for (uint32_t i = 0; value->state == ROOT_BOUND && i < value->count; i++)
        if (path_covers(value->paths[i], path))
            return true;
    return false;
}

/* Whether `path` lies in the work tree of a repository, $REPO or another. */
static bool in_repository(const struct gather *gather, const char *path)
{
    bool in_git_directory = root_covers(gather, ROOT_GITDIR, path) || strstr(path, "/.git/") != NULL;
    if (in_git_directory || root_covers(gather, ROOT_REPO, path))
        return !in_git_directory;
    for (const char *above = path; strcmp(above, "/") != 0;) {
        above = path_parent(gather->arena, above);
        if (entry_exists(above, ".git"))
            return true;
    }
    return false;
}

/* Git refuses an empty commondir; one that says "." changes nothing. In a work tree a directory is hidden
 * from Git, which else would try to clean it away and fail. */
static void placeholder_choose(const struct gather *gather, struct missing_path *missing)
{
    const char *path = missing->path;
    bool in_git_directory = is_git_directory(gather, path_parent(gather->arena, path));
    bool in_work_tree = !in_git_directory && in_repository(gather, path);
    bool is_common = in_git_directory && strcmp(strrchr(path, '/'), "/commondir") == 0;
    missing->hidden = in_work_tree && !missing->directory;
    if (missing->directory)
        missing->content = in_work_tree ? "*\n" : "";
    else
        missing->content = is_common ? ".\n" : "";
}

static void missing_check(struct gather *gather, const struct bound_rule *rule, const struct resolved *leads)
{
    if (leads->impossible || is_lifted(rule) || gather_level(gather, leads->path) == LEVEL_WRITE ||
        !is_creatable(gather, leads) || !measure_holds(MEASURE_PLACEHOLDERS))
        return;
    if (leads->under_file) {
        /* A file that is granted by itself is a mount of its own and stays. */
        if (gather_level(gather, path_parent(gather->arena, leads->ancestor)) == LEVEL_WRITE)
            refuse(gather, SBX455_DENY_BELOW_FILE, rule,
                   arena_format(gather->notes->arena, "%s is a file that the command may replace",
                                escape_string(gather->notes->arena, leads->ancestor)),
                   "deny that file itself, or put a directory in its place");
        return;
    }
    struct missing_path missing = {
        .path = leads->path,
        .ancestor = leads->ancestor,
        .directory = wants_directory(rule),
        .rule = rule->rule,
    };
    VECTOR_PUSH(gather->arena, &gather->missing, missing);
}

/* What belongs to single processes has another path for each of them, and the command's are not there yet. */
static void process_check(struct gather *gather, const struct bound_rule *rule, const struct resolved *leads)
{
    const char *name = leads->path + strlen("/proc");
    name += strspn(name, "/");
    char top[sizeof "/proc/" + NAME_MAX];
    struct stat status;
    snprintf(top, sizeof top, "/proc/%.*s", (int)strcspn(name, "/"), name);
    bool single = isdigit((unsigned char)name[0]) != 0 ||
                  (name[0] != '\0' && lstat(top, &status) == 0 && S_ISLNK(status.st_mode));
    if (single)
        refuse(gather, SBX466_DENY_OF_PROCESS, rule, "each process has its own", "deny /proc whole");
}

static void deny_check(struct gather *gather, const struct bound_rule *rule)
{
    const struct resolved *leads = resolver_find(gather->resolver, rule->at.path);
    if (!links_stay(gather, rule, leads))
        return;
    links_rely(gather, leads);
    if (leads->process) {
        process_check(gather, rule, leads);
        return;
    }
    struct arena *arena = gather->notes->arena;
    if (leads->kind == ENTRY_UNKNOWN && leads->error != ELOOP &&
        gather_level(gather, leads->ancestor) > LEVEL_NONE)
        refuse(gather, SBX453_CANNOT_JUDGE_PATH, rule,
               arena_format(arena, "what lies below %s cannot be seen (%s)",
                            escape_string(arena, leads->ancestor), strerror(leads->error)),
               leads->error == ETIMEDOUT
                   ? "a file system there does not answer: mount it again, or take it away with umount -l"
                   : arena_format(arena, "deny %s", escape_string(arena, leads->ancestor)));
    else if (leads->kind == ENTRY_MISSING)
        missing_check(gather, rule, leads);
}

static void hard_links_check(struct gather *gather, const char *path, const struct rule *rule)
{
    const struct resolved *leads = resolver_find(gather->resolver, path);
    if (leads->kind != ENTRY_FILE || leads->link_count > 0 || leads->hard_links <= 1 || leads->process)
        return;
    gather->facts->hard_links = true;
    struct arena *arena = gather->notes->arena;
    note_add(gather->notes,
             (struct note){
                 .code = SBX454_DENIED_FILE_HAS_LINKS,
                 .rule = rule,
                 .text = arena_format(arena, "%s has %lu hard links; its other names are not denied by this",
                                      escape_string(arena, path), (unsigned long)leads->hard_links),
             });
}

static int missing_order(const void *left, const void *right)
{
    const struct missing_path *a = left, *b = right;
    return strcmp(a->path, b->path);
}

/* One placeholder a path: a directory if any rule wants one. */
static void missing_unite(struct gather *gather)
{
    if (gather->missing.count == 0)
        return;
    qsort(gather->missing.items, gather->missing.count, sizeof *gather->missing.items, missing_order);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < gather->missing.count; i++) {
        const struct missing_path *next = &gather->missing.items[i];
        if (strcmp(gather->missing.items[kept].path, next->path) != 0)
            gather->missing.items[++kept] = *next;
        else
            gather->missing.items[kept].directory |= next->directory;
    }
    gather->missing.count = kept + 1;
    for (uint32_t i = 0; i <= kept; i++) {
        struct missing_path *missing = &gather->missing.items[i];
        placeholder_choose(gather, missing);
    }
}

void gather_denials(struct gather *gather)
{
    const struct bound_policy *bound = gather->bound;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (!rule_denies(rule) || rule->at.pattern || rule->at.path[0] != '/')
            continue;
        deny_check(gather, rule);
        hard_links_check(gather, rule->at.path, rule->rule);
    }
    for (uint32_t i = 0; i < gather->extra.count; i++)
        hard_links_check(gather, gather->extra.items[i], NULL);
    missing_unite(gather);
    gather->facts->missing = gather->missing.items;
    gather->facts->missing_count = gather->missing.count;
    gather->facts->relied_links = gather->relied_links.items;
    gather->facts->relied_link_count = gather->relied_links.count;
}
