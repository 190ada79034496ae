#include "emitters/windows_build.h"

#include "base/vector.h"
#include "emitters/bwrap_text.h"

#include <string.h>

void windows_require_add(struct windows_build *build, const char *path, const char *below)
{
    struct windows_require require = {.path = path, .below = below};
    VECTOR_PUSH(build->arena, &build->acl.requires, require);
}

/* An automatic grant counts only where no configured one covers it. */
static void require_for_automatic(struct windows_build *build, const struct windows_place *place)
{
    for (uint32_t i = 0; i < build->bound->rules.count; i++) {
        const struct bound_rule *rule = &build->bound->rules.items[i];
        const char *problem, *path;
        if (rule->dropped || rule->holds_as_deny_write || rule->rule->kind != RULE_GRANT ||
            rule->rule->automatic || rule->rule->level >= place->level || path_of_variable(rule->at.path))
            continue;
        path = windows_place_name(build->arena, rule->at.path, &problem);
        if (path != NULL && windows_may_nest(path, place->path))
            windows_require_add(build, place->path, path);
    }
}

/* With labels a lowered place inside a writable one would not be held. */
static void require_for_labels(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->acl.objects.count; i++) {
        const struct windows_object *object = &build->acl.objects.items[i];
        if (!object->label.present || object->label.level == WINDOWS_LOW)
            continue;
        for (uint32_t j = 0; j < build->places.count; j++)
            if (build->places.items[j].level == LEVEL_WRITE &&
                windows_may_nest(build->places.items[j].path, object->path))
                windows_require_add(build, object->path, build->places.items[j].path);
    }
}

void windows_build_requires(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->places.count; i++) {
        const struct windows_place *place = &build->places.items[i];
        bool automatic =
            place->why != NULL && place->why->rule->kind == RULE_GRANT && place->why->rule->automatic;
        if (automatic && place->level > place->around)
            require_for_automatic(build, place);
    }
    if (build->tier == WINDOWS_RESTRICTED_LOW)
        require_for_labels(build);
}
