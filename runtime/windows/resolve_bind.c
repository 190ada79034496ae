#include "runtime/windows/resolve_bind.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/windows_objects.h"
#include "emitters/windows_pattern.h"
#include "policy/pattern.h"

#include <stdlib.h>
#include <string.h>

/* Objects and matches are put as rules of a policy, so that roots mean here what they mean everywhere. */

/* What a rule stands for: an object, or the part of one that allows or denies; or a match. */
struct part {
    struct windows_object object;
    const struct windows_match *match; /* NULL: object */
};

struct parts {
    struct part *items;
    uint32_t count, capacity;
};

struct job {
    struct arena *arena;
    const struct windows_spec *spec;
    const char *name;
    struct parts parts; /* what the rules stand for */
    struct {
        struct rule *items;
        uint32_t count, capacity;
    } rules;
    struct parts objects; /* bound */
    struct windows_acl acl;
    struct note_list *notes;
};

/* ---- rules ---- */

static const struct windows_ace *allow_of(const struct windows_object *object)
{
    const struct windows_ace *last = object->ace_count > 0 ? &object->aces[object->ace_count - 1] : NULL;
    return last == NULL || last->deny ? NULL : last;
}

/* What its inheriting entries deny. */
static uint32_t closes(const struct windows_object *object)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny && object->aces[i].inherit)
            mask |= object->aces[i].mask;
    return mask;
}

static bool has_entry(const struct windows_object *object, uint32_t mask)
{
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].mask == mask)
            return true;
    return false;
}

/* Only the entries that allow, or only those that deny. */
static struct windows_object part_of(const struct windows_object *object, bool deny)
{
    struct windows_object part = *object;
    part.ace_count = 0;
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny == deny)
            part.aces[part.ace_count++] = object->aces[i];
    part.label.present = object->label.present && (object->label.level == WINDOWS_MEDIUM) == deny;
    part.cap = deny;
    part.automatic = object->automatic && !deny;
    if (!deny)
        part.missing = WINDOWS_SKIP;
    return part;
}

static struct policy_path path_of(struct arena *arena, const char *path, bool pattern)
{
    size_t top = strcspn(path, "\\");
    struct policy_path found = {
        .root = ROOT_DRIVE, .rest = windows_path_to_model(arena, path + top), .pattern = pattern};
    if (strcmp(found.rest, "/") == 0)
        found.rest = "";
    if (path[0] != '$') {
        char letter[] = {(char)(path[0] >= 'a' ? path[0] - 'a' + 'A' : path[0]), '\0'};
        found.name = arena_strdup(arena, letter);
        return found;
    }
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strlen(root_names[root]) == top - 1 && strncmp(root_names[root], path + 1, top - 1) == 0)
            found.root = root;
    return found;
}

static struct rule *rule_add(struct job *job, enum rule_kind kind, const struct part *part, const char *path,
                             uint32_t line)
{
    struct rule rule = {
        .kind = kind,
        .origin = {.line = line, .column = 1},
        .systems = SYSTEM_ALL,
        .path = path_of(job->arena, path, part->match != NULL),
    };
    VECTOR_PUSH(job->arena, &job->parts, *part);
    VECTOR_PUSH(job->arena, &job->rules, rule);
    return &job->rules.items[job->rules.count - 1];
}

static void grant_add(struct job *job, const struct windows_object *object)
{
    const struct windows_ace *allow = allow_of(object);
    struct part part = {.object = *object};
    struct rule *rule = rule_add(job, RULE_GRANT, &part, object->path, object->line);
    rule->level = allow != NULL && allow->mask == WINDOWS_ALLOW_WRITE ? LEVEL_WRITE : LEVEL_READ;
    /* What opens nothing is never too wide. */
    rule->automatic = object->automatic || allow == NULL;
}

static void deny_add(struct job *job, const struct windows_object *object)
{
    struct part part = {.object = *object};
    enum rule_kind kind = has_entry(object, WINDOWS_DENY_EXECUTE) ? RULE_DENY_EXEC : RULE_DENY;
    struct rule *rule = rule_add(job, kind, &part, object->path, object->line);
    rule->level = has_entry(object, WINDOWS_DENY_WRITE) ? LEVEL_READ : LEVEL_NONE;
}

/* Whether it comes from a deny rule, so that it must not be lost. */
static bool denies(const struct windows_object *object)
{
    return object->cap || has_entry(object, WINDOWS_DENY_ALL) || has_entry(object, WINDOWS_DENY_EXECUTE);
}

static void object_add(struct job *job, const struct windows_object *object)
{
    if (!denies(object)) {
        grant_add(job, object);
        return;
    }
    struct windows_object opening = part_of(object, false), closing = part_of(object, true);
    closing.cap = object->cap;
    if (opening.ace_count > 0)
        grant_add(job, &opening);
    deny_add(job, &closing);
}

static void match_add(struct job *job, const struct windows_match *match)
{
    struct part part = {.match = match};
    bool opens = match->ace.mask != 0 && !match->ace.deny;
    struct rule *rule = rule_add(job, opens ? RULE_GRANT : RULE_DENY, &part, match->pattern, match->line);
    struct policy_path *excepts = arena_array(job->arena, match->except_count, sizeof *excepts);
    struct path_list *list = arena_alloc(job->arena, sizeof *list);
    for (uint32_t i = 0; i < match->except_count; i++)
        excepts[i] = path_of(job->arena, match->excepts[i], true);
    *list = (struct path_list){excepts, match->except_count};
    rule->except = list;
    rule->level = opens || match->ace.mask == WINDOWS_DENY_WRITE ? LEVEL_READ : LEVEL_NONE;
}

static const struct policy *policy_of(struct job *job)
{
    struct policy *policy = arena_alloc(job->arena, sizeof *policy);
    struct layer *layer = arena_alloc(job->arena, sizeof *layer);
    struct policy_source *source = arena_alloc(job->arena, sizeof *source);
    for (uint32_t i = 0; i < job->spec->object_count; i++)
        object_add(job, &job->spec->objects[i]);
    for (uint32_t i = 0; i < job->spec->match_count; i++)
        match_add(job, &job->spec->matches[i]);
    *layer = (struct layer){.kind = LAYER_POLICY, .name = job->spec->policy_name};
    *source = (struct policy_source){.name = job->name};
    *policy = (struct policy){
        .arena = job->arena,
        .name = job->spec->policy_name,
        .layers = layer,
        .layer_count = 1,
        .sources = source,
        .source_count = 1,
        .rules = job->rules.items,
        .rule_count = job->rules.count,
    };
    return policy;
}

/* ---- bound ---- */

static bool refuse(struct job *job, uint32_t line, const char *path, const char *problem)
{
    note_add(job->notes, (struct note){.code = SBX469_SPECIFICATION,
                                       .text = arena_format(job->arena, "%s:%u: %s %s",
                                                            escape_windows(job->arena, job->name), line,
                                                            escape_windows(job->arena, path), problem)});
    return false;
}

/* Notes speak of rules that were made here; afterwards of lines alone. */
static void notes_take(struct job *job, const struct note_list *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        struct note note = notes->items[i];
        if (note.rule != NULL)
            note.text = arena_format(job->arena, "%s:%u: %s", escape_windows(job->arena, job->name),
                                     note.rule->origin.line, note.text);
        note.rule = NULL;
        note_add(job->notes, note);
    }
}

static bool object_bind(struct job *job, const struct part *part, const struct bound_rule *bound)
{
    struct part made = *part;
    made.object.path = windows_path_from_model(job->arena, bound->at.path);
    const char *problem =
        made.object.path == NULL ? "holds a backslash" : windows_path_problem(made.object.path);
    if (problem != NULL)
        return refuse(job, part->object.line, bound->at.path, problem);
    VECTOR_PUSH(job->arena, &job->objects, made);
    return true;
}

/* What a pattern without a sign but brackets around single characters stands for, or NULL. */
static const char *plain_of(struct arena *arena, const char *pattern)
{
    struct buffer plain = buffer_in(arena);
    for (const char *at = pattern; *at != '\0'; at++) {
        bool bracket = *at == '[' && at[1] != '\0' && at[2] == ']';
        if (!bracket && strchr("*?[", *at) != NULL)
            return NULL;
        at += bracket;
        buffer_byte(&plain, *at);
        at += bracket;
    }
    return plain.bytes;
}

/* A plain path is the same object in any case; of a pattern only what its bytes match stays open. */
static bool except_covers(struct arena *arena, const char *except, const char *path)
{
    const char *plain = plain_of(arena, except), *model = windows_path_to_model(arena, path);
    if (plain != NULL)
        return windows_path_covers(plain, path);
    return pattern_covers(pattern_compile(arena, windows_path_to_model(arena, except), false), model,
                          strlen(model));
}

/* A deny of one place with exceptions whose roots were not known: it holds if none of them covers the
 * place. */
static bool match_is_object(struct job *job, const struct windows_match *match)
{
    const char *path = plain_of(job->arena, match->pattern);
    struct part part = {.object = {.path = path,
                                   .cap = true,
                                   .aces = {match->ace},
                                   .ace_count = 1,
                                   .label = match->label,
                                   .rule = match->rule,
                                   .line = match->line}};
    bool lifted = false;
    if (path == NULL || match->ace.mask == 0 || !match->ace.deny)
        return false;
    for (uint32_t i = 0; i < match->except_count; i++)
        lifted = lifted || except_covers(job->arena, match->excepts[i], path);
    if (!lifted)
        VECTOR_PUSH(job->arena, &job->objects, part);
    return true;
}

static bool match_bind(struct job *job, const struct windows_match *match, const struct bound_rule *bound)
{
    const char *problem = NULL;
    struct windows_match made = *match;
    const char **excepts = arena_array(job->arena, bound->except_count, sizeof *excepts);
    made.pattern = windows_pattern_name(job->arena, bound->at.path, &problem);
    for (uint32_t i = 0; i < bound->except_count && problem == NULL; i++)
        excepts[i] = windows_pattern_name(job->arena, bound->except[i].path, &problem);
    if (problem != NULL)
        return refuse(job, match->line, match->pattern, problem);
    made.excepts = excepts;
    made.except_count = bound->except_count;
    if (!match_is_object(job, &made))
        VECTOR_PUSH(job->arena, &job->acl.matches, made);
    return true;
}

static bool opens(const struct rule *rule)
{
    return rule->kind == RULE_GRANT;
}

/* An automatic grant on a root that is too wide here is left out. What other objects open below the root
 * may have been part of what it opened, which a specification does not tell. */
static bool too_wide_opens_nothing(struct job *job, const struct bindings *bindings,
                                   const struct policy *policy, const bool *bound)
{
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *wide = &policy->rules[i];
        const struct root_value *value = &bindings->roots[wide->path.root];
        bool left_out = opens(wide) && !bound[i] && value->state == ROOT_BOUND && value->count > 0;
        for (uint32_t j = 0; j < policy->rule_count && left_out; j++)
            if (opens(&policy->rules[j]) && bound[j] && policy->rules[j].path.root == wide->path.root)
                return refuse(job, policy->rules[j].origin.line, job->parts.items[j].object.path,
                              "is opened below a root that is too wide here");
    }
    return true;
}

static bool paths_bind(struct job *job, const struct bindings *bindings)
{
    struct note_list notes = note_list_in(job->arena);
    const struct policy *policy = policy_of(job);
    const struct bound_policy *bound = policy_bind(job->arena, policy, bindings, &notes);
    notes_take(job, &notes);
    bool good = notes.errors == 0, *kept = arena_array(job->arena, policy->rule_count, sizeof *kept);
    memset(kept, 0, policy->rule_count * sizeof *kept);
    for (uint32_t i = 0; i < bound->rules.count && good; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        const struct part *part = &job->parts.items[rule->rule - policy->rules];
        if (rule->dropped)
            continue;
        kept[rule->rule - policy->rules] = true;
        good = part->match != NULL ? match_bind(job, part->match, rule) : object_bind(job, part, rule);
    }
    return good && too_wide_opens_nothing(job, bindings, policy, kept);
}

/* ---- conditions ---- */

struct texts {
    const char **items;
    uint32_t count, capacity;
};

/* All that `path` may stand for, whoever asks. */
static struct texts places_of(struct job *job, const struct bindings *bindings, const char *path)
{
    struct texts texts = {0};
    struct policy_path parsed = path_of(job->arena, path, false);
    const struct root_value *value = &bindings->roots[parsed.root];
    const char *rest = windows_path_from_model(job->arena, parsed.rest);
    if (parsed.root == ROOT_DRIVE)
        VECTOR_PUSH(job->arena, &texts, path);
    for (uint32_t i = 0; value->state == ROOT_BOUND && i < value->count; i++)
        VECTOR_PUSH(job->arena, &texts,
                    arena_join(job->arena, windows_path_from_model(job->arena, value->paths[i]), rest));
    for (uint32_t i = 0; i < value->deny_count; i++)
        VECTOR_PUSH(job->arena, &texts,
                    arena_join(job->arena, windows_path_from_model(job->arena, value->deny_paths[i]), rest));
    return texts;
}

static void require_bind(struct job *job, const struct bindings *bindings,
                         const struct windows_require *require)
{
    struct texts paths = places_of(job, bindings, require->path);
    struct texts belows = places_of(job, bindings, require->below);
    for (uint32_t i = 0; i < paths.count; i++)
        for (uint32_t j = 0; j < belows.count; j++)
            VECTOR_PUSH(job->arena, &job->acl.requires,
                        (struct windows_require){paths.items[i], belows.items[j], require->line});
}

/* ---- how roots lie in each other ---- */

static int part_order(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    int order = windows_path_compare(left->object.path, right->object.path);
    return order != 0 ? order
                      : (left->object.line > right->object.line) - (left->object.line < right->object.line);
}

static struct windows_ace entry(const struct windows_spec *spec, uint32_t mask)
{
    return (struct windows_ace){
        .deny = true,
        .inherit = mask != WINDOWS_DENY_DELETE,
        .principal = spec->tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN,
        .mask = mask,
    };
}

/* Closes at `opened` what the deny `cap` around it closes, which an entry of the object's own would undo. */
static void cap_repeat(struct job *job, const struct part *cap, const struct part *opened)
{
    uint32_t mask = closes(&cap->object);
    struct windows_object object = {
        .path = opened->object.path,
        .cap = true,
        .aces = {entry(job->spec, mask)},
        .ace_count = 1,
        .label = cap->object.label,
        .rule = cap->object.rule,
        .line = cap->object.line,
    };
    if ((allow_of(&opened->object)->mask & mask) != 0)
        VECTOR_PUSH(job->arena, &job->acl.objects, object);
}

/* Where both begin with the same root the specification says it already. */
static void caps_repeat(struct job *job)
{
    uint32_t *around = arena_array(job->arena, job->objects.count, sizeof *around), depth = 0;
    for (uint32_t i = 0; i < job->objects.count; i++) {
        const struct part *part = &job->objects.items[i];
        while (depth > 0 &&
               !windows_path_covers(job->objects.items[around[depth - 1]].object.path, part->object.path))
            depth--;
        for (uint32_t j = 0; j < depth && allow_of(&part->object) != NULL; j++) {
            const struct part *cap = &job->objects.items[around[j]];
            if (cap->object.cap && closes(&cap->object) != 0)
                cap_repeat(job, cap, part);
        }
        around[depth++] = i;
    }
}

static bool is_writable(const struct windows_object *object)
{
    const struct windows_ace *allow = allow_of(object);
    return allow != NULL && allow->mask == WINDOWS_ALLOW_WRITE && closes(object) == 0;
}

/* For each object the nearest one strictly above it that opens writing or closes, or -1: what opens reading
 * alone lowers nothing. */
static int32_t *around_of(struct job *job)
{
    const struct windows_acl *acl = &job->acl;
    int32_t *around = arena_array(job->arena, acl->objects.count, sizeof *around);
    for (uint32_t i = 0; i < acl->objects.count; i++) {
        int32_t above = (int32_t)i - 1;
        while (above >= 0) {
            const struct windows_object *object = &acl->objects.items[above];
            bool counts = is_writable(object) || closes(object) != 0;
            if (counts && windows_path_covers(object->path, acl->objects.items[i].path))
                break;
            above = counts ? around[above] : above - 1;
        }
        around[i] = above;
    }
    return around;
}

static void pins_add(struct job *job, const char *path, const char *writable, const char *rule)
{
    for (;;) {
        const char *end = strrchr(path, '\\');
        path = arena_copy(job->arena, path, end == NULL ? 0 : (size_t)(end - path));
        if (strlen(path) <= strlen(writable))
            return;
        struct windows_object pin = {.path = path,
                                     .kind = WINDOWS_DIRECTORY,
                                     .aces = {entry(job->spec, WINDOWS_DENY_DELETE)},
                                     .ace_count = 1,
                                     .rule = rule};
        VECTOR_PUSH(job->arena, &job->acl.objects, pin);
    }
}

/* A writable place may come to lie in another one, and what is between them could be moved too. */
static void pins_add_above(struct job *job, const int32_t *around, uint32_t closed)
{
    const struct windows_object *object = &job->acl.objects.items[closed];
    uint32_t top = closed;
    while (around[top] >= 0 && is_writable(&job->acl.objects.items[around[top]]))
        top = (uint32_t)around[top];
    pins_add(job, object->path, job->acl.objects.items[top].path, object->rule);
}

/* What is writable inside something that is not can be changed, and keeps its name. */
static void writable_places_hold(struct job *job, const int32_t *around)
{
    for (uint32_t i = 0, count = job->acl.objects.count; i < count; i++) {
        struct windows_object pin = job->acl.objects.items[i];
        if (!is_writable(&pin) || (around[i] >= 0 && is_writable(&job->acl.objects.items[around[i]])))
            continue;
        pin.aces[0] = entry(job->spec, WINDOWS_DENY_DELETE);
        pin.ace_count = 1;
        VECTOR_PUSH(job->arena, &job->acl.objects, pin);
    }
}

/* What is closed inside something writable must keep its name, and must not be made where it is missing. */
static void closed_places_hold(struct job *job, const int32_t *around)
{
    for (uint32_t i = 0, count = job->acl.objects.count; i < count; i++) {
        struct windows_object *object = &job->acl.objects.items[i];
        bool program = has_entry(object, WINDOWS_DENY_EXECUTE);
        if (around[i] < 0 || !is_writable(&job->acl.objects.items[around[i]]) ||
            (closes(object) == 0 && !program))
            continue;
        if (object->missing == WINDOWS_SKIP && closes(object) != 0)
            object->missing =
                object->kind == WINDOWS_DIRECTORY ? WINDOWS_CREATE_DIRECTORY : WINDOWS_CREATE_FILE;
        pins_add_above(job, around, i);
    }
}

/* Lines of the artifact again, which the order of objects stood in for. */
static void lines_restore(struct job *job)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < job->acl.objects.count; i++) {
        struct windows_object *object = &job->acl.objects.items[i];
        while (at < job->objects.count &&
               windows_path_compare(job->objects.items[at].object.path, object->path) < 0)
            at++;
        bool same =
            at < job->objects.count && windows_path_equal(job->objects.items[at].object.path, object->path);
        object->line = same ? job->objects.items[at].object.line : 0;
    }
}

static void objects_settle(struct job *job)
{
    if (job->objects.count > 1)
        qsort(job->objects.items, job->objects.count, sizeof *job->objects.items, part_order);
    for (uint32_t i = 0; i < job->objects.count; i++)
        VECTOR_PUSH(job->arena, &job->acl.objects, job->objects.items[i].object);
    caps_repeat(job);
    windows_acl_finish(job->arena, &job->acl);
    const int32_t *around = around_of(job);
    closed_places_hold(job, around);
    writable_places_hold(job, around);
    windows_acl_finish(job->arena, &job->acl);
    lines_restore(job);
}

const struct windows_spec *spec_bind(struct arena *arena, const struct windows_spec *spec,
                                     const struct bindings *bindings, const char *name,
                                     struct note_list *notes)
{
    struct job job = {.arena = arena, .spec = spec, .name = name, .notes = notes};
    if (!paths_bind(&job, bindings))
        return NULL;
    for (uint32_t i = 0; i < spec->require_count; i++)
        require_bind(&job, bindings, &spec->requires[i]);
    objects_settle(&job);
    struct windows_spec *bound = arena_alloc(arena, sizeof *bound);
    *bound = *spec;
    bound->objects = job.acl.objects.items;
    bound->object_count = job.acl.objects.count;
    bound->matches = job.acl.matches.items;
    bound->match_count = job.acl.matches.count;
    bound->requires = job.acl.requires.items;
    bound->require_count = job.acl.requires.count;
    const char *problem = windows_spec_check(arena, bound);
    if (problem == NULL)
        return bound;
    note_add(notes, (struct note){
                        .code = SBX469_SPECIFICATION,
                        .text = arena_format(arena, "%s does not hold on this machine: %s",
                                             escape_windows(arena, name), problem),
                        .help = "start from the .bin of the same policy, which is bound to each machine anew",
                    });
    return NULL;
}
