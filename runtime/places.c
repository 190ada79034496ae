/* places.c - what is at each place where the level changes, and which links must be made to be seen. */
#include "runtime/gather.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct missing_path *missing_find(const struct gather *gather, const char *path)
{
    uint32_t low = 0, high = gather->missing.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(gather->missing.items[middle].path, path);
        if (order == 0)
            return &gather->missing.items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* What another run holds there, or a killed one left. */
static bool is_hidden_placeholder(const struct resolved *leads)
{
    return leads->socket && (leads->mode & S_ISVTX) != 0 && leads->owner == geteuid() &&
           leads->hard_links == 1;
}

/* A place that is reached through links has a twin that is not; what cannot be seen or made is no place. */
static void place_add(struct gather *gather, const struct region *region)
{
    const struct resolved *leads = resolver_find(gather->resolver, region->path);
    if (leads->link_count > 0 || leads->kind == ENTRY_UNKNOWN)
        return;
    struct plan_place place = {.path = region->path, .level = region->level, .kind = leads->kind};
    struct stat status;
    if (leads->process) {
        if (lstat(region->path, &status) != 0)
            return;
        place.kind = S_ISDIR(status.st_mode) ? ENTRY_DIRECTORY : ENTRY_OTHER;
    }
    if (leads->kind == ENTRY_MISSING) {
        const struct missing_path *missing = missing_find(gather, region->path);
        if (missing == NULL)
            return;
        place.kind = missing->directory ? ENTRY_DIRECTORY : missing->hidden ? ENTRY_EMPTY : ENTRY_FILE;
    }
    if (is_hidden_placeholder(leads))
        place.kind = ENTRY_EMPTY;
    VECTOR_PUSH(gather->arena, &gather->places, place);
}

struct links {
    struct plan_link *items;
    uint32_t count, capacity;
};

/* A link is seen where its directory is; elsewhere it is made anew. /dev and /proc bring their own. */
static void links_add(struct gather *gather, struct links *links, const struct resolved *leads)
{
    for (uint32_t i = 0; i < leads->link_count; i++) {
        const struct passed_link *link = &leads->links[i];
        bool own = path_covers("/dev", link->path) || path_covers("/proc", link->path);
        if (!own && gather_level(gather, link->directory) == LEVEL_NONE)
            VECTOR_PUSH(gather->arena, links, (struct plan_link){link->path, link->text});
    }
}

static int link_order(const void *left, const void *right)
{
    const struct plan_link *a = left, *b = right;
    return strcmp(a->path, b->path);
}

static void links_find(struct gather *gather)
{
    struct links links = {0};
    for (uint32_t i = 0; i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        bool grants = rule->rule->kind == RULE_GRANT || rule->rule->kind == RULE_GRANT_SOCKET;
        if (grants && !rule->dropped && !rule->holds_as_deny_write && rule->at.path != NULL &&
            rule->at.path[0] == '/')
            links_add(gather, &links, resolver_find(gather->resolver, rule->at.path));
    }
    if (links.count > 0)
        qsort(links.items, links.count, sizeof *links.items, link_order);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < links.count; i++)
        if (kept == 0 || strcmp(links.items[kept - 1].path, links.items[i].path) != 0)
            links.items[kept++] = links.items[i];
    gather->facts->links = links.items;
    gather->facts->link_count = kept;
}

static bool is_below_hidden(const struct gather *gather, const char *path)
{
    const char *const hidden[] = {"/tmp", gather->request->temporary};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (hidden[i] != NULL && strcmp(path, hidden[i]) != 0 && path_covers(hidden[i], path))
            return true;
    return false;
}

/* What is granted below a directory that scratch hides is a place also where its level is that of the directory. */
static void hidden_add(struct gather *gather)
{
    for (uint32_t i = 0; gather->request->scratch && i < gather->bound->rules.count; i++) {
        const struct bound_rule *rule = &gather->bound->rules.items[i];
        if (rule->rule->kind != RULE_GRANT || rule->dropped || rule->holds_as_deny_write ||
            !is_below_hidden(gather, rule->at.path))
            continue;
        struct region region = {.path = rule->at.path, .level = gather_level(gather, rule->at.path)};
        if (region.level > LEVEL_NONE)
            place_add(gather, &region);
    }
}

void gather_places(struct gather *gather)
{
    for (uint32_t i = 0; i < gather->open.count; i++)
        VECTOR_PUSH(gather->arena, &gather->extra, gather->open.items[i]);
    struct region_list regions =
        bound_regions(gather->arena, gather->bound, gather->extra.items, gather->extra.count);
    for (uint32_t i = 0; i < regions.count; i++)
        if (regions.items[i].path[0] == '/')
            place_add(gather, &regions.items[i]);
    hidden_add(gather);
    links_find(gather);
}
