#include "compiler/compile.h"

#include "base/escape.h"
#include "compiler/build.h"
#include "policy/file.h"
#include "policy/host.h"

#include <stdlib.h>
#include <string.h>

/* Whether the file may stand where it was given. */
static bool kind_fits(struct compilation *compilation, const struct load *load, bool managed)
{
    const struct syntax_file *file = load->units[0]->syntax;
    /* What it says can be judged all the same, though nothing comes of it. */
    if (!file->has_header)
        return true;
    const char *problem = NULL;
    if (managed && file->kind != FILE_MANAGED)
        problem = "--managed takes managed files, and this is none";
    else if (!managed && file->kind == FILE_PRESET)
        problem = "a preset is only for `use` and cannot be compiled by itself";
    if (problem != NULL)
        diagnostic_add(&compilation->diagnostics,
                       (struct diagnostic){
                           .code = SBX124_FILE_KIND,
                           .at = file->name.span,
                           .text = problem,
                           .help = managed ? "begin the file with `managed \"NAME\"`"
                                           : "begin the file with `policy \"NAME\"`, or compile what uses it",
                       });
    return problem == NULL;
}

static struct compiled_layer compile_layer(struct compilation *compilation, const struct compile_input *job,
                                           const struct load_input *input, bool managed)
{
    bool keep = job->keep_syntax || job->only_syntax;
    struct arena *syntax = keep ? compilation->arena : arena_child(compilation->arena);
    struct load *load = arena_alloc(compilation->arena, sizeof *load);
    *load = (struct load){
        .arena = compilation->arena,
        .syntax_arena = syntax,
        .pool = compilation->pool,
        .sources = &compilation->sources,
        .diagnostics = &compilation->diagnostics,
    };
    struct compiled_layer layer = {.load = load};
    bool loaded = load_files(load, input, &compilation->failure);
    compilation->pool = load->pool;
    if (loaded && !job->only_syntax && kind_fits(compilation, load, managed))
        layer.policy = build_policy(load);
    /* Syntax trees are larger than what is made of them, so they go before the rest needs the room; but the
     * texts of diagnostics lie among them. */
    if (!keep && compilation->diagnostics.count == 0)
        arena_destroy(syntax);
    if (layer.policy != NULL && (!job->no_hash || job->managed_count > 0))
        policy_hash(layer.policy);
    return layer;
}

static struct compiled_layer read_layer(struct compilation *compilation, const char *file, bool managed)
{
    struct compiled_layer layer = {0};
    size_t length = 0;
    const char *error = NULL, *bytes = file_read(compilation->arena, file, LOAD_FILE_LIMIT, &length, &error);
    if (bytes != NULL)
        layer.policy = policy_read(compilation->arena, bytes, length, &error);
    if (managed && layer.policy != NULL &&
        (layer.policy->layer_count != 1 || layer.policy->layers[0].kind != LAYER_MANAGED)) {
        layer.policy = NULL;
        error = "it is not one managed policy";
    }
    if (layer.policy == NULL)
        compilation->failure = bytes == NULL ? error
                                             : arena_format(compilation->arena, "%s: %s",
                                                            escape_string(compilation->arena, file), error);
    return layer;
}

static bool is_bin(const char *file)
{
    size_t length = strlen(file);
    return length > 4 && strcmp(file + length - 4, ".bin") == 0;
}

static void merge(struct compilation *compilation)
{
    uint32_t managed_count = compilation->layer_count - 1;
    const struct policy **managed = arena_array(compilation->arena, managed_count, sizeof *managed);
    for (uint32_t i = 0; i < managed_count; i++)
        managed[i] = compilation->layers[i + 1].policy;
    compilation->policy = compilation->layers[0].policy;
    if (managed_count > 0)
        compilation->policy = policy_merge(compilation->arena, compilation->policy, managed, managed_count);
}

/* --- order of diagnostics ------------------------------------------------------------------------------- */

struct numbered {
    struct diagnostic diagnostic;
    uint32_t number;
};

static int compare_places(const void *a, const void *b)
{
    const struct numbered *first = a, *second = b;
    const struct span *x = &first->diagnostic.at, *y = &second->diagnostic.at;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

void diagnostics_sort(struct diagnostic_list *list)
{
    struct numbered *items = arena_array(list->arena, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++)
        items[i] = (struct numbered){list->items[i], i};
    if (list->count > 1)
        qsort(items, list->count, sizeof *items, compare_places);
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i] = items[i].diagnostic;
}

/* -------------------------------------------------------------------------------------------------------- */

struct compilation *compile(struct arena *arena, const struct compile_input *input)
{
    struct compilation *compilation = arena_alloc(arena, sizeof *compilation);
    compilation->arena = arena;
    compilation->sources.arena = arena;
    compilation->diagnostics = diagnostic_list_in(arena);
    compilation->layers = arena_array(arena, (size_t)input->managed_count + 1, sizeof *compilation->layers);
    bool compiled =
        input->may_be_bin && !input->only_syntax && input->input.text == NULL && is_bin(input->input.file);
    compilation->layers[compilation->layer_count++] =
        compiled ? read_layer(compilation, input->input.file, false)
                 : compile_layer(compilation, input, &input->input, false);
    for (uint32_t i = 0; i < input->managed_count && compilation->failure == NULL; i++) {
        const char *file = input->managed[i];
        const struct load_input managed = {.file = file};
        compilation->layers[compilation->layer_count++] =
            is_bin(file) ? read_layer(compilation, file, true)
                         : compile_layer(compilation, input, &managed, true);
    }
    diagnostics_sort(&compilation->diagnostics);
    if (compilation->failure == NULL && compilation->diagnostics.errors == 0 && !input->only_syntax)
        merge(compilation);
    return compilation;
}

uint32_t compilation_source(const struct compilation *compilation, const struct policy *policy,
                            uint32_t source)
{
    if (source >= policy->source_count)
        return SOURCE_NONE;
    const char *name = policy->sources[source].name;
    for (uint32_t i = 0; i < compilation->layer_count; i++) {
        const struct load *load = compilation->layers[i].load;
        for (uint32_t j = 0; load != NULL && j < load->unit_count; j++)
            if (load->units[j]->record == name)
                return load->units[j]->source;
    }
    return SOURCE_NONE;
}
