#include "emitters/bwrap_args.h"

#include "base/vector.h"
#include "emitters/bwrap.h"
#include "emitters/bwrap_text.h"
#include "emitters/bwrap_twin.h"
#include "emitters/control_need.h"

#include <string.h>

enum { FIRST_MASK = 10 };

struct places {
    struct plan_place *items;
    uint32_t count, capacity;
};

/* The name of the root that `path` still hangs on, or NULL for an absolute path. */
static const char *symbolic_root(struct arena *arena, const char *path)
{
    return path[0] == '$' ? arena_copy(arena, path + 1, strcspn(path + 1, "/")) : NULL;
}

static void note_root(const struct emit_request *request, const char *root, const struct rule *rule)
{
    note_add(request->notes,
             (struct note){
                 .code = SBX350_ROOT_MISSING,
                 .rule = rule,
                 .text = arena_format(request->arena, "bwrap needs $%s as an absolute path", root),
                 .help = of_account(rule, root)
                             ? "use -t bwrap-sh: a managed layer takes it from the account where it runs"
                             : arena_format(request->arena, "give --root %s=PATH, or use -t bwrap-sh", root),
             });
}

static bool root_noted(const struct note_list *notes, uint32_t from, const char *root)
{
    for (uint32_t i = from; i < notes->count; i++)
        if (notes->items[i].code == SBX350_ROOT_MISSING && strstr(notes->items[i].text, root) != NULL)
            return true;
    return false;
}

/* Whether every rule's root is known; says which is not, once each. */
static bool check_roots(const struct emit_request *request)
{
    uint32_t from = request->notes->count;
    bool known = true;
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        if (bound->dropped || bound->at.path == NULL || bound->rule->kind == RULE_EXPECT ||
            path_of_variable(bound->at.path))
            continue;
        const char *root = symbolic_root(request->arena, bound->at.path);
        if (root == NULL)
            continue;
        known = false;
        if (!root_noted(request->notes, from, arena_format(request->arena, "$%s ", root)))
            note_root(request, root, bound->rule);
    }
    return known;
}

static struct places places_of(const struct emit_request *request)
{
    struct places places = {0};
    struct region_list regions = bound_regions(request->arena, request->bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++) {
        const struct region *region = &regions.items[i];
        if (region->path[0] == '$')
            continue; /* a variable without a value: left out */
        VECTOR_PUSH(request->arena, &places,
                    (struct plan_place){.path = region->path,
                                        .level = region->level,
                                        .directory = region->why != NULL && region->why->directory});
    }
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *rule = &request->bound->rules.items[i];
        if (rule->rule->kind != RULE_GRANT_SOCKET || rule->dropped || rule->at.path[0] == '$' ||
            !bound_socket(request->bound, rule->at.path, strlen(rule->at.path)))
            continue;
        /* What is there is not known, and writing was not granted; connecting needs only that it can be seen.
         */
        enum level level = bound_level(request->bound, rule->at.path, strlen(rule->at.path));
        if (level == LEVEL_NONE)
            VECTOR_PUSH(request->arena, &places,
                        (struct plan_place){.path = rule->at.path, .level = LEVEL_READ});
    }
    return places;
}

static const char *bound_root(const struct emit_request *request, enum root root)
{
    const struct root_value *value = &request->bound->bindings.roots[root];
    return value->state == ROOT_BOUND && value->count > 0 ? value->paths[0] : NULL;
}

static struct plan make_plan(const struct emit_request *request)
{
    struct places places = places_of(request);
    const char *temporary = bound_root(request, ROOT_TMP);
    return plan_make(request->arena, &(struct plan_input){
                                         .places = places.items,
                                         .place_count = places.count,
                                         .scratch = bound_scratch(request->bound),
                                         .temporary = temporary,
                                         .proc_read_only = text_proc_read_only,
                                         .proc_read_only_count = TEXT_PROC_READ_ONLY,
                                     });
}

static void note_skipped(const struct emit_request *request, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->skipped.count; i++)
        note_add(request->notes,
                 (struct note){
                     .code = SBX310_NOT_SHOWN,
                     .text = arena_format(request->arena, "%s is not shown: %s", plan->skipped.items[i].path,
                                          plan->skipped.items[i].reason),
                 });
}

bool emit_bwrap_args(const struct emit_request *request, struct buffer *out)
{
    struct text_artifact artifact;
    bool known = check_roots(request), closed = twins_are_closed(request);
    if (!text_artifact_prepare(request, "bwrap", false, &artifact) || !known || !closed)
        return false;

    struct plan plan = make_plan(request);
    const char *work = bound_root(request, ROOT_WORK);
    bool start_there = work != NULL && bound_level(request->bound, work, strlen(work)) != LEVEL_NONE;
    size_t before = out->length;
    note_skipped(request, &plan);
    buffer_string(out, "--setenv");
    buffer_byte(out, '\0');
    buffer_string(out, "SBX_POLICY");
    buffer_byte(out, '\0');
    buffer_string(out, text_artifact_label(request, &artifact));
    buffer_byte(out, '\0');
    bwrap_arguments(out, &(struct bwrap_request){
                             .plan = &plan,
                             .environment = artifact.environment.items,
                             .environment_count = artifact.environment.count,
                             .share_network = network_is_shared(request->bound),
                             .new_session = true,
                             .seccomp_fd = -1,
                             .first_mask_fd = FIRST_MASK,
                             .chdir = start_there ? work : NULL,
                         });
    uint32_t count = bwrap_word_count(out);
    if (count <= BWRAP_WORDS)
        return true;
    out->length = before;
    note_add(request->notes,
             (struct note){
                 .code = SBX303_TOO_MANY_WORDS,
                 .text = arena_format(request->arena, "%u arguments; bubblewrap takes at most %d", count,
                                      BWRAP_WORDS),
             });
    return false;
}
