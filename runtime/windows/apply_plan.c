/* apply_plan.c - see apply_plan.h. */
#include "runtime/windows/apply_plan.h"

#include "base/escape.h"
#include "base/vector.h"

#include <string.h>

enum windows_principal plan_principal(const struct apply *apply)
{
    return apply->spec->tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN;
}

static struct windows_ace pin_of(const struct apply *apply)
{
    return (struct windows_ace){
        .deny = true,
        .principal = plan_principal(apply),
        .mask = WINDOWS_DENY_DELETE,
    };
}

static void plan_add(struct applying *applying, const struct windows_object *said)
{
    VECTOR_PUSH(applying->apply->arena, &applying->places, (struct place){.said = *said});
}

void plan_pin_above(struct applying *applying, const char *path, const char *rule)
{
    const struct apply *apply = applying->apply;
    for (;;) {
        const char *end = strrchr(path, '\\');
        if (end == NULL || end[-1] == ':')
            return;
        path = arena_copy(apply->arena, path, (size_t)(end - path));
        /* What lies above a pinned directory was pinned with it. */
        if (intern_find(applying->pinned, path, strlen(path)) != NULL || place_is_late(applying) ||
            !place_is_opened(apply, path, true))
            return;
        (void)intern_string(applying->pinned, path);
        plan_add(applying, &(struct windows_object){
                               .path = path,
                               .kind = WINDOWS_DIRECTORY,
                               .aces = {pin_of(apply)},
                               .ace_count = 1,
                               .rule = rule,
                           });
    }
}

/* The label that holds at `path` by the nearest object that has one. */
static struct windows_label label_around(const struct apply *apply, const char *path)
{
    struct windows_label label = {0};
    for (uint32_t i = 0; i < apply->spec->object_count; i++)
        if (apply->spec->objects[i].label.present && windows_path_covers(apply->spec->objects[i].path, path))
            label = apply->spec->objects[i].label;
    return label;
}

void plan_deny(struct applying *applying, const char *path, uint32_t denies,
               const struct windows_label *label, const char *rule)
{
    const struct apply *apply = applying->apply;
    const struct windows_label around = label_around(apply, path);
    struct windows_object said = {
        .path = path,
        .cap = true,
        .aces = {pin_of(apply)},
        .ace_count = 1,
        .label = label->present ? windows_label_on(label, &around) : *label,
        .rule = rule,
    };
    if (denies != 0)
        said.aces[said.ace_count++] = (struct windows_ace){
            .deny = true,
            .inherit = denies != WINDOWS_DENY_EXECUTE,
            .principal = plan_principal(apply),
            .mask = denies,
        };
    plan_add(applying, &said);
    plan_pin_above(applying, path, rule);
}

void plan_allow(struct applying *applying, const char *path, uint32_t allows, const char *rule)
{
    struct windows_ace allow = {
        .inherit = true,
        .principal = plan_principal(applying->apply),
        .mask = allows,
    };
    plan_add(applying, &(struct windows_object){.path = path, .aces = {allow}, .ace_count = 1, .rule = rule});
}

static struct windows_label label_of(const struct apply *apply, uint32_t policy)
{
    return (struct windows_label){
        .present = apply->spec->tier == WINDOWS_RESTRICTED_LOW,
        .level = WINDOWS_MEDIUM,
        .policy = policy,
    };
}

/* What lies in nothing opened is as closed as the rest of the machine, but for what labels leave open. */
static void plan_own(struct applying *applying)
{
    const struct apply *apply = applying->apply;
    struct windows_label changed = label_of(apply, WINDOWS_NO_WRITE_UP);
    struct windows_label seen =
        label_of(apply, WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP);
    for (uint32_t i = 0; i < apply->own_count; i++) {
        const struct own_path *own = &apply->own[i];
        if (place_is_opened(apply, own->path, !own->hidden))
            plan_deny(applying, own->path, own->hidden ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE,
                      own->hidden ? &seen : &changed, own->what);
    }
}

static bool plan_requires(const struct apply *apply)
{
    for (uint32_t i = 0; i < apply->spec->require_count; i++) {
        const struct windows_require *require = &apply->spec->requires[i];
        if (!windows_path_covers(require->below, require->path))
            continue;
        struct arena *arena = apply->notes->arena;
        note_add(
            apply->notes,
            (struct note){
                .code = SBX483_PLACE_UNFIT,
                .text =
                    arena_format(arena, "%s lies in %s, which the specification rules out",
                                 escape_windows(arena, require->path), escape_windows(arena, require->below)),
                .help = "give the roots other places with --root, or compile with the roots as they are here",
            });
        return false;
    }
    return true;
}

bool plan_places(struct applying *applying)
{
    const struct apply *apply = applying->apply;
    applying->pinned = intern_create(apply->arena, 0);
    VECTOR_RESERVE(apply->arena, &applying->places, apply->spec->object_count + 8);
    for (uint32_t i = 0; i < apply->spec->object_count; i++)
        plan_add(applying, &apply->spec->objects[i]);
    plan_own(applying);
    return plan_requires(apply);
}
