#include "emitters/windows_build.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/bwrap_text.h"
#include "emitters/windows_refuse.h"
#include "policy/pattern.h"

#include <string.h>

/* ---- objects ---- */

struct windows_object windows_object_at(const struct windows_build *build, const char *path,
                                        const struct bound_rule *rule)
{
    return (struct windows_object){
        .path = path,
        .rule = rule != NULL ? bound_statement_text(build->arena, build->bound->policy, rule)
                             : "closed by default"};
}

static bool mask_lasts(uint32_t mask)
{
    return mask != WINDOWS_DENY_DELETE && mask != WINDOWS_DENY_EXECUTE;
}

void windows_object_add(const struct windows_build *build, struct windows_object *object, bool deny,
                        uint32_t mask)
{
    struct windows_ace ace = {
        .deny = deny,
        .inherit = mask_lasts(mask),
        .principal = build->tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN,
        .mask = mask,
    };
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].mask == mask)
            return;
    object->aces[object->ace_count++] = ace;
}

struct windows_label windows_label_for(const struct windows_build *build, enum level level)
{
    static const uint32_t policies[] = {
        [LEVEL_NONE] = WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP,
        [LEVEL_READ] = WINDOWS_NO_WRITE_UP,
        [LEVEL_WRITE] = WINDOWS_NO_WRITE_UP,
    };
    return (struct windows_label){
        .present = build->tier == WINDOWS_RESTRICTED_LOW,
        .level = level == LEVEL_WRITE ? WINDOWS_LOW : WINDOWS_MEDIUM,
        .policy = policies[level],
    };
}

static size_t root_length(const char *path)
{
    return *path == '$' ? strcspn(path, "\\") : 0;
}

bool windows_same_root(const char *path, const char *other)
{
    size_t length = root_length(path);
    return length == root_length(other) && strncmp(path, other, length) == 0;
}

/* Directories of which one may lie in another: that of a linked worktree lies in that of its repository. */
static bool is_list(const char *path)
{
    static const char *const lists[] = {"$GITDIR", "$GITDIRS", "$SUBMODULES"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (windows_same_root(path, lists[i]))
            return true;
    return false;
}

bool windows_may_nest(const char *path, const char *other)
{
    return !windows_same_root(path, other) || is_list(path);
}

/* ---- places ---- */

void windows_build_roots(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->places.count; i++) {
        const struct windows_place *place = &build->places.items[i];
        uint32_t at = 0;
        while (at < build->roots.count && !windows_same_root(build->roots.items[at].path, place->path))
            at++;
        if (at == build->roots.count)
            build->roots.items[build->roots.count++] = *place;
        if (place->level > build->roots.items[at].level)
            build->roots.items[at].level = place->level;
    }
}

bool windows_may_lie_in(const struct windows_build *build, const char *path, enum level level)
{
    for (uint32_t i = 0; i < build->roots.count; i++)
        if (build->roots.items[i].level > level && windows_may_nest(build->roots.items[i].path, path))
            return true;
    return false;
}

bool windows_opens_below(const struct windows_build *build, const char *path, enum level level)
{
    for (uint32_t i = windows_places_from(&build->places, path);
         i < build->places.count && windows_path_covers(path, build->places.items[i].path); i++)
        if (build->places.items[i].level > level)
            return true;
    return false;
}

/* Whether nothing is done here, since Windows opens it by itself, or nothing may be granted. */
static bool is_left_out(const struct windows_place *place)
{
    struct rule grant = {.kind = RULE_GRANT, .level = place->level};
    return place->level > place->around &&
           (windows_path_is_of_system(place->path) || windows_grant_problem(&grant, place->path) != NULL);
}

static bool is_automatic(const struct windows_place *place)
{
    return place->why != NULL && place->why->rule->kind == RULE_GRANT && place->why->rule->automatic;
}

/* What may be missing in a writable directory must not be made there. */
static enum windows_missing missing_at(const struct windows_place *place)
{
    if (place->around != LEVEL_WRITE || place->level == LEVEL_WRITE)
        return WINDOWS_SKIP;
    return place->why != NULL && place->why->directory ? WINDOWS_CREATE_DIRECTORY : WINDOWS_CREATE_FILE;
}

static void add_readable(struct windows_build *build, const struct windows_place *place,
                         struct windows_object *object)
{
    if (place->around == LEVEL_WRITE) {
        windows_object_add(build, object, true, WINDOWS_DENY_WRITE);
        object->label = windows_label_for(build, LEVEL_READ);
    }
    windows_object_add(build, object, false, WINDOWS_ALLOW_READ);
    object->automatic = is_automatic(place);
}

static void add_place(struct windows_build *build, const struct windows_place *place)
{
    struct windows_object object = windows_object_at(build, place->path, place->why);
    object.missing = missing_at(place);
    object.cap = place->capped;
    if (place->level == LEVEL_NONE) {
        windows_object_add(build, &object, true, WINDOWS_DENY_ALL);
        object.label = windows_label_for(build, LEVEL_NONE);
    } else if (place->level == LEVEL_READ) {
        add_readable(build, place, &object);
    } else {
        windows_object_add(build, &object, true, WINDOWS_DENY_DELETE);
        windows_object_add(build, &object, false, WINDOWS_ALLOW_WRITE);
        object.label = windows_label_for(build, LEVEL_WRITE);
        object.automatic = is_automatic(place);
    }
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

void windows_build_places(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->places.count; i++)
        if (!is_left_out(&build->places.items[i]))
            add_place(build, &build->places.items[i]);
}

/* ---- denies where nothing is lowered ---- */

static bool is_deny(const struct bound_rule *rule)
{
    return !rule->dropped && !rule->at.pattern && rule->at.path != NULL && !path_of_variable(rule->at.path) &&
           (rule->rule->kind == RULE_DENY || rule->holds_as_deny_write);
}

static enum level cap_of(const struct bound_rule *rule)
{
    return rule->holds_as_deny_write ? LEVEL_READ : rule->rule->level;
}

/* With reads open to begin with, a deny needs a label even where nothing is granted. */
static void add_label(struct windows_build *build, const struct bound_rule *rule, const char *path,
                      bool opens)
{
    struct windows_object object = windows_object_at(build, path, rule);
    windows_object_add(build, &object, true, WINDOWS_DENY_ALL);
    object.label = windows_label_for(build, LEVEL_NONE);
    object.cap = !opens;
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
    for (uint32_t i = windows_places_from(&build->places, path);
         i < build->places.count && windows_path_covers(path, build->places.items[i].path); i++) {
        const struct windows_place *place = &build->places.items[i];
        if (place->level != LEVEL_READ)
            continue;
        struct windows_object readable = windows_object_at(build, place->path, place->why);
        readable.label = windows_label_for(build, LEVEL_READ);
        VECTOR_PUSH(build->arena, &build->acl.objects, readable);
    }
}

/* A deny at `path` would close what its exceptions open, so none is written; that nothing else opens it, or something in
 * it, is a condition then. */
static void require_apart(struct windows_build *build, const char *path)
{
    for (uint32_t i = 0; i < build->places.count; i++) {
        const struct windows_place *place = &build->places.items[i];
        if (place->around != LEVEL_NONE || !windows_may_nest(place->path, path))
            continue;
        windows_require_add(build, path, place->path);
        windows_require_add(build, place->path, path);
    }
}

/* Whether an exception covers all that the deny closes at `name`. */
static bool is_lifted(const struct windows_build *build, const struct bound_rule *rule, const char *name)
{
    const char *path = windows_path_to_model(build->arena, name);
    for (uint32_t i = 0; i < rule->except_count; i++) {
        const struct bound_path *except = &rule->except[i];
        size_t length = strlen(except->path);
        if (except->pattern
                ? pattern_covers(pattern_compile(build->arena, except->path, false), path, strlen(path))
                : strncmp(except->path, path, length) == 0 && (path[length] == '/' || path[length] == '\0'))
            return true;
    }
    return false;
}

/* Nothing opens the exceptions as far as the compiler can see, so the deny closes them with the place. */
static void note_excepts(const struct windows_build *build, const struct bound_rule *rule, const char *path)
{
    for (uint32_t i = 0; i < rule->except_count && windows_may_lie_in(build, path, cap_of(rule)); i++) {
        const char *problem, *except;
        if (rule->except[i].pattern || path_of_variable(rule->except[i].path) ||
            (except = windows_place_name(build->arena, rule->except[i].path, &problem)) == NULL ||
            !windows_path_covers(path, except))
            continue;
        note_add(
            build->notes,
            (struct note){.code = SBX320_WINDOWS_LESS,
                          .rule = rule->rule,
                          .text = arena_format(
                              build->arena, "%s stays closed if it lies in what another root opens (%s)",
                              escape_windows(build->arena, except), bound_rule_text(build->arena, rule))});
    }
}

static void add_deny(struct windows_build *build, const struct bound_rule *rule, const char *path)
{
    enum level cap = cap_of(rule);
    const struct windows_place *place = windows_places_at(&build->places, path);
    if (bound_level(build->bound, rule->at.path, strlen(rule->at.path)) > cap ||
        windows_deny_is_match(build, rule) || windows_path_is_of_system(path) || is_lifted(build, rule, path))
        return; /* an exception leaves the place itself open, or it is said in another way */
    bool lowered = place != NULL && windows_path_equal(place->path, path) && place->level < place->around;
    bool opens = windows_opens_below(build, path, cap);
    for (uint32_t i = 0; i < rule->except_count && !opens; i++)
        opens = rule->except[i].pattern && !path_of_variable(rule->except[i].path) &&
                windows_exception_level(build, &rule->except[i]) > cap;
    if (build->tier == WINDOWS_RESTRICTED_LOW && cap == LEVEL_NONE && !lowered) {
        add_label(build, rule, path, opens);
        return;
    }
    if (!lowered && opens) {
        require_apart(build, path);
        return;
    }
    /* What is open to everyone may be open to an AppContainer, too; elsewhere nothing opens such a place. */
    if (!lowered && build->tier != WINDOWS_APPCONTAINER && !windows_may_lie_in(build, path, cap))
        return;
    if (!lowered)
        note_excepts(build, rule, path);
    struct windows_object object = windows_object_at(build, path, rule);
    windows_object_add(build, &object, true, cap == LEVEL_NONE ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE);
    object.cap = true;
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

static void add_program(struct windows_build *build, const struct bound_rule *rule, const char *path)
{
    struct windows_object object = windows_object_at(build, path, rule);
    object.kind = WINDOWS_FILE;
    windows_object_add(build, &object, true, WINDOWS_DENY_EXECUTE);
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

static const char *configured_at(const struct windows_build *build, const struct bound_rule *rule,
                                 enum level level)
{
    const char *problem;
    return rule->dropped || rule->at.pattern || rule->rule->kind != RULE_GRANT || rule->rule->automatic ||
                   rule->rule->level != level || path_of_variable(rule->at.path)
               ? NULL
               : windows_place_name(build->arena, rule->at.path, &problem);
}

static bool may_be_lowered(const struct windows_build *build, const char *path)
{
    for (uint32_t i = 0; i < build->bound->rules.count; i++) {
        const char *reads = configured_at(build, &build->bound->rules.items[i], LEVEL_READ);
        if (reads != NULL && windows_may_nest(reads, path))
            return true;
    }
    return false;
}

/* A configured grant of writing raises again what one of reading lowers, also where that one comes to lie around it. The
 * launcher pins the place then. */
static void add_raising(struct windows_build *build, const struct bound_rule *rule)
{
    const char *path = configured_at(build, rule, LEVEL_WRITE);
    const struct windows_place *place = path != NULL ? windows_places_at(&build->places, path) : NULL;
    if (place == NULL || place->level != LEVEL_WRITE || windows_path_equal(place->path, path) ||
        bound_level(build->bound, rule->at.path, strlen(rule->at.path)) != LEVEL_WRITE ||
        !may_be_lowered(build, path))
        return;
    struct windows_object object = windows_object_at(build, path, rule);
    windows_object_add(build, &object, false, WINDOWS_ALLOW_WRITE);
    object.label = windows_label_for(build, LEVEL_WRITE);
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

/* A configured grant of reading lowers what is writable around it, also where roots come to lie so. */
static void add_lowering(struct windows_build *build, const struct bound_rule *rule)
{
    const char *path = configured_at(build, rule, LEVEL_READ);
    if (path == NULL || windows_path_is_of_system(path) || !windows_may_lie_in(build, path, LEVEL_READ))
        return;
    struct windows_object object = windows_object_at(build, path, rule);
    windows_object_add(build, &object, true, WINDOWS_DENY_WRITE);
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

/* A deny holds for a name in both normal forms, which are two files. */
static void add_forms(struct windows_build *build, const struct bound_rule *rule, bool program)
{
    struct windows_forms forms = windows_forms_of(build->arena, rule->at.path);
    for (uint32_t i = 0; i < forms.count; i++) {
        const char *problem, *path = windows_place_name(build->arena, forms.items[i], &problem);
        if (path != NULL && !program)
            add_deny(build, rule, path);
        else if (path != NULL && !bound_exec(build->bound, rule->at.path, strlen(rule->at.path)))
            add_program(build, rule, path);
    }
}

void windows_build_denies(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->bound->rules.count; i++) {
        const struct bound_rule *rule = &build->bound->rules.items[i];
        bool program = !rule->dropped && rule->rule->kind == RULE_DENY_EXEC && !rule->at.pattern &&
                       build->tier == WINDOWS_APPCONTAINER;
        add_lowering(build, rule);
        add_raising(build, rule);
        if (program || is_deny(rule))
            add_forms(build, rule, program);
    }
}

/* ---- pins ---- */

static void pin(struct windows_build *build, const char *path, const struct bound_rule *rule)
{
    struct windows_object object = windows_object_at(build, path, rule);
    object.kind = WINDOWS_DIRECTORY;
    windows_object_add(build, &object, true, WINDOWS_DENY_DELETE);
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

/* From the directory of `path` up to the writable place that it lies in, which has a pin of its own. */
static void pin_above(struct windows_build *build, const char *path, const struct windows_place *writable,
                      const struct bound_rule *rule)
{
    char *above = arena_strdup(build->arena, path);
    for (char *slash = strrchr(above, '\\'); slash != NULL; slash = strrchr(above, '\\')) {
        *slash = '\0';
        if (strlen(above) <= strlen(writable->path))
            return;
        pin(build, arena_strdup(build->arena, above), rule);
    }
}

/* An automatic grant on a root that is too wide at launch is left out; what remains open below it is known as its part by
 * an object at the root. */
static void pin_root(struct windows_build *build, const struct bound_rule *rule)
{
    const char *path = rule->at.path;
    bool bare = path != NULL && (strcmp(path, "$WORK") == 0 || strcmp(path, "$TMP") == 0);
    if (rule->dropped || rule->rule->kind != RULE_GRANT || !rule->rule->automatic || !bare ||
        !windows_opens_below(build, path, LEVEL_NONE))
        return;
    struct windows_object object = {.path = path, .rule = arena_join(build->arena, "auto grant ", path)};
    windows_object_add(build, &object, true, WINDOWS_DENY_DELETE);
    VECTOR_PUSH(build->arena, &build->acl.objects, object);
}

void windows_build_pins(struct windows_build *build)
{
    for (uint32_t i = 0; i < build->bound->rules.count; i++)
        pin_root(build, &build->bound->rules.items[i]);
    for (uint32_t i = 0; i < build->places.count; i++) {
        const struct windows_place *place = &build->places.items[i];
        if (place->around == LEVEL_WRITE)
            pin_above(build, place->path, &build->places.items[place->above], place->why);
    }
}
