#include "emitters/windows_judge.h"

#include <string.h>

static const char making[] = "make ", lasting[] = "lasting deny ";

static enum level level_around(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash > path ? bound_level(bound, path, (size_t)(slash - path)) : LEVEL_NONE;
}

/* Whether a deny on this very place closes it, which no accepted exception leaves open. */
static bool is_denied(const struct judge *judge, const struct region *region)
{
    const struct bound_rule *why = region->why;
    return why != NULL && why->rule->kind == RULE_DENY && !why->at.pattern && why->except_count == 0 &&
           judge_path_name(judge, region->path) != NULL &&
           region->level < level_around(judge->bound, region->path) &&
           !judge_leaves_open(judge, region->path, region->level);
}

void judge_put_writable(const struct judge *judge)
{
    struct windows_applied applied;
    struct region_list regions = bound_regions(judge->arena, judge->bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++) {
        const char *path = judge_path_name(judge, regions.items[i].path);
        if (regions.items[i].level == LEVEL_WRITE && path != NULL)
            (void)windows_tree_at(judge->empty, path, true);
    }
    (void)windows_apply(judge->empty, judge->spec, &applied);
}

void judge_list_closed(const struct judge *judge, struct query_set *set)
{
    struct region_list regions = bound_regions(judge->arena, judge->bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++) {
        const struct region *region = &regions.items[i];
        if (!is_denied(judge, region))
            continue;
        queries_add_name(set, QUERY_FACT, arena_join(judge->arena, lasting, region->path));
        if (level_around(judge->bound, region->path) == LEVEL_WRITE &&
            !judge_accepts(judge, CONTROL_FS_DENY_MISSING))
            queries_add_name(set, QUERY_FACT, arena_join(judge->arena, making, region->path));
    }
}

/* Where nothing was made, what is there of the directories above decides. */
static struct verdicts judge_making(const struct judge *judge, const char *path)
{
    char *above = arena_strdup(judge->arena, judge_path_name(judge, path));
    const struct windows_node *node = windows_tree_find(judge->empty, above);
    if (node != NULL)
        return (struct verdicts){0};
    for (char *last = strrchr(above, '\\'); node == NULL && last != NULL; last = strrchr(above, '\\')) {
        *last = '\0';
        node = windows_tree_find(judge->empty, above);
    }
    bool may = node != NULL && windows_may(&judge->token, node, WINDOWS_OPERATION_WRITE, WINDOWS_LOOSE);
    return judge_differ("deny", may ? "allow" : "deny");
}

/* Without its `cap` a deny gives way to what is granted deeper, and to a root that comes to lie there. */
static struct verdicts judge_lasting(const struct judge *judge, const char *name)
{
    const char *path = judge_path_name(judge, name);
    for (uint32_t i = 0; i < judge->spec->object_count; i++) {
        const struct windows_object *object = &judge->spec->objects[i];
        if (!object->cap && object->ace_count > 0 && object->aces[0].deny &&
            windows_path_equal(object->path, path))
            return (struct verdicts){{.text = "yes"}, {.text = "no", .line = object->line}};
    }
    return (struct verdicts){0};
}

bool judge_closed(const struct judge *judge, const char *fact, struct verdicts *verdicts)
{
    if (strncmp(fact, making, sizeof making - 1) == 0)
        *verdicts = judge_making(judge, fact + sizeof making - 1);
    else if (strncmp(fact, lasting, sizeof lasting - 1) == 0)
        *verdicts = judge_lasting(judge, fact + sizeof lasting - 1);
    else
        return false;
    return true;
}
