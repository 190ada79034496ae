#include "emitters/windows_build.h"

#include "base/vector.h"
#include "emitters/bwrap_text.h"

#include <string.h>

void windows_require_add(struct windows_build *build, const char *path, const char *below)
{
    struct windows_require require = {.path = path, .below = below};
    if (!windows_path_covers(below, path))
        VECTOR_PUSH(build->arena, &build->acl.requires, require);
}

struct names {
    const char **items;
    uint32_t count, capacity;
};

/* Where configured grants open reading alone. */
static struct names configured_reads(const struct windows_build *build)
{
    struct names names = {0};
    for (uint32_t i = 0; i < build->bound->rules.count; i++) {
        const struct bound_rule *rule = &build->bound->rules.items[i];
        const char *problem, *path;
        if (rule->dropped || rule->holds_as_deny_write || rule->rule->kind != RULE_GRANT ||
            rule->rule->automatic || rule->rule->level != LEVEL_READ || path_of_variable(rule->at.path))
            continue;
        if ((path = windows_place_name(build->arena, rule->at.path, &problem)) != NULL)
            VECTOR_PUSH(build->arena, &names, path);
    }
    return names;
}

static bool denies(const struct windows_object *object)
{
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny && object->aces[i].inherit)
            return true;
    return false;
}

/* With labels neither a lowered place inside a writable one would be held, nor a writable one inside what a deny
 * closes. */
static void require_for_labels(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->acl.objects.count; i++) {
        const struct windows_object *object = &build->acl.objects.items[i];
        if (object->label.present ? object->label.level == WINDOWS_LOW : !denies(object))
            continue;
        for (uint32_t j = 0; j < build->places.count; j++) {
            const struct windows_place *place = &build->places.items[j];
            if (place->level != LEVEL_WRITE || !windows_may_nest(place->path, object->path))
                continue;
            windows_require_add(build, object->path, place->path);
            if (object->cap)
                windows_require_add(build, place->path, object->path);
        }
    }
}

/* An automatic grant counts only where no configured one covers it. */
void windows_build_requires(struct windows_build *build)
{
    struct names reads = configured_reads(build);
    for (uint32_t i = 0; i < build->places.count; i++) {
        const struct windows_place *place = &build->places.items[i];
        bool automatic =
            place->why != NULL && place->why->rule->kind == RULE_GRANT && place->why->rule->automatic;
        for (uint32_t j = 0; j < reads.count && automatic && place->level == LEVEL_WRITE; j++)
            if (windows_may_nest(reads.items[j], place->path))
                windows_require_add(build, place->path, reads.items[j]);
    }
    if (build->tier == WINDOWS_RESTRICTED_LOW)
        require_for_labels(build);
}
