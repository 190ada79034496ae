#include "emitters/windows_applied.h"

#include "base/vector.h"
#include "emitters/windows_fixture.h"
#include "policy/pattern.h"

#include <string.h>

struct matcher {
    const struct windows_match *match;
    const struct pattern *pattern, **excepts; /* NULL among the exceptions: a plain path */
};

struct job {
    struct windows_applied *applied;
    const struct windows_spec *spec;
    struct windows_tree *tree;
    struct matcher *matchers;
};

/* --- entries -------------------------------------------------------------------------------------------- */

static struct windows_entry entry_of(const struct windows_ace *ace, const struct windows_node *node)
{
    return (struct windows_entry){
        .type = ace->deny ? WINDOWS_ENTRY_DENY : WINDOWS_ENTRY_ALLOW,
        .flags = ace->inherit && node->directory ? WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT : 0,
        .mask = ace->mask,
        .sid = windows_fixture_sid(ace->principal),
    };
}

static void add(const struct job *job, struct windows_node *node, const struct windows_ace *ace)
{
    struct windows_entry entry = entry_of(ace, node);
    struct windows_descriptor before = node->descriptor;
    node->descriptor = windows_descriptor_with(job->tree->arena, &before, &entry);
    if (!windows_descriptor_equal(&before, &node->descriptor))
        VECTOR_PUSH(job->tree->arena, &job->applied->changes,
                    (struct windows_change){node, entry, !before.dacl_present});
}

static void set_label(const struct job *job, struct windows_node *node, const struct windows_label *label)
{
    VECTOR_PUSH(job->tree->arena, &job->applied->labels,
                (struct windows_labelling){node, node->descriptor.labelled, node->descriptor.label});
    node->descriptor.labelled = true;
    node->descriptor.label = (struct windows_entry){
        .type = WINDOWS_ENTRY_LABEL,
        .flags = node->directory ? WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT : 0,
        .mask = label->policy,
    };
    (void)windows_sid_parse(label->level == WINDOWS_LOW ? "S-1-16-4096" : "S-1-16-8192",
                            &node->descriptor.label.sid);
}

/* --- objects and matches -------------------------------------------------------------------------------- */

static const char *model_path(const struct job *job, const char *path)
{
    return windows_path_to_model(job->tree->arena, path);
}

/* A pattern opens names as they are spelled, as an exception does everywhere; a plain path is one place. */
static bool is_excepted(const struct matcher *matcher, uint32_t except, const struct windows_node *node,
                        const char *path)
{
    if (matcher->excepts[except] == NULL)
        return windows_path_covers(matcher->match->excepts[except], node->path);
    return pattern_covers(matcher->excepts[except], path, strlen(path));
}

/* Whether the node is a match itself (`exactly`), or lies at or below one. */
static bool matches(const struct matcher *matcher, const struct windows_node *node, const char *path,
                    bool exactly)
{
    bool found = exactly ? pattern_matches(matcher->pattern, path, strlen(path))
                         : pattern_covers(matcher->pattern, path, strlen(path));
    for (uint32_t i = 0; i < matcher->match->except_count && found; i++)
        found = !is_excepted(matcher, i, node, path);
    return found;
}

static void compile_matches(struct job *job)
{
    struct arena *arena = job->tree->arena;
    job->matchers = arena_array(arena, job->spec->match_count, sizeof *job->matchers);
    for (uint32_t i = 0; i < job->spec->match_count; i++) {
        const struct windows_match *match = &job->spec->matches[i];
        struct matcher *matcher = &job->matchers[i];
        matcher->match = match;
        /* What a match opens counts as it is spelled. */
        bool opens = match->ace.mask != 0 && !match->ace.deny;
        matcher->pattern = pattern_compile(arena, model_path(job, match->pattern), !opens);
        matcher->excepts = arena_array(arena, match->except_count, sizeof *matcher->excepts);
        for (uint32_t j = 0; j < match->except_count; j++)
            if (strpbrk(match->excepts[j], "*?[") != NULL)
                matcher->excepts[j] = pattern_compile(arena, model_path(job, match->excepts[j]), false);
    }
}

/* The object at `node`, or nearest above it, NULL if there is none; `node` becomes the directory above that one. A root
 * that has a name lies in no place of a path. */
static const struct windows_object *next_above(const struct windows_node **node)
{
    while (*node != NULL) {
        const struct windows_object *object = (*node)->object;
        bool named = (*node)->path[0] == '$' && strchr((*node)->path, '\\') == NULL;
        *node = named ? NULL : (*node)->parent;
        if (object != NULL)
            return object;
    }
    return NULL;
}

/* The object of the specification at `node`, or nearest above it for which `wanted` holds; NULL. */
static const struct windows_object *object_above(const struct windows_node *node,
                                                 bool (*wanted)(const struct windows_object *object))
{
    const struct windows_object *object = next_above(&node);
    while (object != NULL && !wanted(object))
        object = next_above(&node);
    return object;
}

static bool has_label(const struct windows_object *object)
{
    return object->label.present;
}

static bool opens_for_writing(const struct windows_object *object)
{
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (!object->aces[i].deny && object->aces[i].mask == WINDOWS_ALLOW_WRITE)
            return true;
    return false;
}

/* --- the steps ------------------------------------------------------------------------------------------ */

static const char *check_requires(const struct job *job)
{
    for (uint32_t i = 0; i < job->spec->require_count; i++) {
        const struct windows_require *require = &job->spec->requires[i];
        if (windows_path_covers(require->below, require->path))
            return arena_format(job->tree->arena, "%s lies at or below %s", require->path, require->below);
    }
    return NULL;
}

static const char *place_objects(const struct job *job)
{
    struct windows_tree *tree = job->tree;
    for (uint32_t i = 0; i < job->spec->object_count; i++) {
        const struct windows_object *object = &job->spec->objects[i];
        struct windows_node *node = windows_tree_find(tree, object->path);
        if (node == NULL && object->missing != WINDOWS_SKIP) {
            node = windows_tree_at(tree, object->path, object->missing == WINDOWS_CREATE_DIRECTORY);
            VECTOR_PUSH(tree->arena, &job->applied->made, node);
        }
        if (node != NULL && object->kind != WINDOWS_ANY &&
            node->directory != (object->kind == WINDOWS_DIRECTORY))
            return arena_format(tree->arena, "%s is of another kind", object->path);
    }
    return NULL;
}

static void connect_objects(const struct job *job)
{
    for (uint32_t i = 0; i < job->tree->count; i++)
        job->tree->items[i]->object = NULL;
    for (uint32_t i = 0; i < job->spec->object_count; i++) {
        struct windows_node *node = windows_tree_find(job->tree, job->spec->objects[i].path);
        if (node != NULL)
            node->object = &job->spec->objects[i];
    }
}

static void add_objects(const struct job *job, bool deny)
{
    for (uint32_t i = 0; i < job->spec->object_count; i++) {
        const struct windows_object *object = &job->spec->objects[i];
        struct windows_node *node = windows_tree_find(job->tree, object->path);
        for (uint32_t j = 0; node != NULL && j < object->ace_count; j++)
            if (object->aces[j].deny == deny)
                add(job, node, &object->aces[j]);
    }
}

/* A match keeps its name, and so does each directory above it in a writable area. */
static void pin_match(const struct job *job, struct windows_node *node)
{
    const struct windows_ace pin = {
        .deny = true,
        .mask = WINDOWS_DENY_DELETE,
        .principal = job->spec->tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN,
    };
    for (; node != NULL && object_above(node, opens_for_writing) != NULL; node = node->parent)
        add(job, node, &pin);
}

static void add_matches(const struct job *job)
{
    for (uint32_t i = 0; i < job->tree->count; i++) {
        struct windows_node *node = job->tree->items[i];
        const char *path = model_path(job, node->path);
        for (uint32_t j = 0; j < job->spec->match_count; j++) {
            const struct windows_ace *ace = &job->matchers[j].match->ace;
            if (ace->mask == 0 || !matches(&job->matchers[j], node, path, true))
                continue;
            add(job, node, ace);
            if (ace->deny)
                pin_match(job, node);
        }
    }
}

/* Whether what is inherited does not decide there: allows of an object's own come before it, and a protected DACL,
 * or none, inherits nothing. */
static bool has_own_say(const struct windows_node *node)
{
    if (!node->descriptor.dacl_present || node->descriptor.dacl_protected)
        return true;
    for (uint32_t i = 0; i < node->descriptor.count; i++)
        if (node->descriptor.entries[i].type != WINDOWS_ENTRY_DENY &&
            (node->descriptor.entries[i].flags & WINDOWS_INHERITED) == 0)
            return true;
    return false;
}

static bool grants_last(const struct windows_object *object)
{
    return object->ace_count > 0 && !object->aces[object->ace_count - 1].deny;
}

/* There the denies from above are said once more, except what a grant closes and one between grants again. */
static void repeat_denies(const struct job *job)
{
    for (uint32_t i = 0; i < job->tree->count; i++) {
        struct windows_node *node = job->tree->items[i];
        const struct windows_node *from = node;
        const struct windows_object *object = has_own_say(node) ? next_above(&from) : NULL;
        for (bool raised = false; object != NULL; object = next_above(&from)) {
            for (uint32_t k = 0; k < object->ace_count && (object->cap || !raised); k++)
                if (object->aces[k].deny && object->aces[k].inherit)
                    add(job, node, &object->aces[k]);
            raised = raised || grants_last(object);
        }
    }
}

/* Below a match the deny holds for what the specification allows deeper too. */
static void repeat_matches(const struct job *job)
{
    for (uint32_t i = 0; i < job->tree->count; i++) {
        struct windows_node *node = job->tree->items[i];
        const char *path = model_path(job, node->path);
        for (uint32_t j = 0; has_own_say(node) && j < job->spec->match_count; j++)
            if (job->matchers[j].match->ace.deny && matches(&job->matchers[j], node, path, false))
                add(job, node, &job->matchers[j].match->ace);
    }
}

/* Each object gets the label of the nearest place above that has one; a match takes nothing from what that one closes. */
static void label_each(const struct job *job)
{
    for (uint32_t i = 0; i < job->tree->count; i++) {
        struct windows_node *node = job->tree->items[i];
        const char *path = model_path(job, node->path);
        const struct windows_object *object = object_above(node, has_label);
        struct windows_label label = object != NULL ? object->label : (struct windows_label){0};
        for (uint32_t j = 0; j < job->spec->match_count; j++)
            if (job->matchers[j].match->label.present && matches(&job->matchers[j], node, path, false))
                label = windows_label_on(&job->matchers[j].match->label, &label);
        if (label.present)
            set_label(job, node, &label);
    }
}

const char *windows_apply(struct windows_tree *tree, const struct windows_spec *spec,
                          struct windows_applied *applied)
{
    struct job job = {.applied = applied, .spec = spec, .tree = tree};
    *applied = (struct windows_applied){.tree = tree};
    const char *problem = check_requires(&job);
    if (problem == NULL)
        problem = place_objects(&job);
    if (problem != NULL)
        return problem;
    connect_objects(&job);
    compile_matches(&job);
    add_objects(&job, true);
    add_matches(&job);
    label_each(&job);
    add_objects(&job, false);
    repeat_denies(&job);
    repeat_matches(&job);
    windows_tree_propagate(tree);
    return NULL;
}

void windows_revert(struct windows_applied *applied)
{
    struct windows_tree *tree = applied->tree;
    for (uint32_t i = applied->changes.count; i-- > 0;) {
        const struct windows_change *change = &applied->changes.items[i];
        struct windows_descriptor *descriptor = &change->node->descriptor;
        *descriptor = windows_descriptor_without(tree->arena, descriptor, &change->entry);
        if (change->was_open) {
            descriptor->dacl_present = false;
            descriptor->entries = NULL;
            descriptor->count = 0;
        }
    }
    for (uint32_t i = applied->labels.count; i-- > 0;) {
        const struct windows_labelling *label = &applied->labels.items[i];
        label->node->descriptor.labelled = label->labelled;
        label->node->descriptor.label = label->label;
    }
    for (uint32_t i = applied->made.count; i-- > 0;)
        windows_tree_remove(tree, applied->made.items[i]);
    windows_tree_propagate(tree);
}
