#include "runtime/own_files.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"
#include "runtime/process.h"

#include <string.h>
#include <unistd.h>

struct own_file {
    const char *what;
    const struct resolved *leads;
    bool closed; /* for reading too */
};

struct own_files {
    struct own_file *items;
    uint32_t count, capacity;
};

struct finder {
    struct arena *arena;
    struct resolver *resolver;
    const char *current; /* the current directory */
    struct own_files *files;
};

static const struct resolved *add(struct finder *finder, const char *path, const char *what)
{
    if (path[0] != '/')
        path = arena_format(finder->arena, "%s/%s", finder->current, path);
    const struct resolved *leads = resolver_find(finder->resolver, path);
    VECTOR_PUSH(finder->arena, finder->files, (struct own_file){.what = what, .leads = leads});
    return leads;
}

/* Sources are named relative to the file that was read; standard input has no place. */
static void add_sources(struct finder *finder, const struct prepared *prepared, struct note_list *notes)
{
    const struct policy *own = prepared->own;
    const char *base = path_parent(finder->arena, prepared->policy_path);

    for (uint32_t i = 0; i < own->source_count; i++) {
        const char *name = own->sources[i].name;
        if (own->sources[i].kind == SOURCE_PRESET_BUILTIN || strcmp(name, "-") == 0)
            continue;
        const struct resolved *leads = add(finder, arena_format(finder->arena, "%s/%s", base, name),
                                           "a file that the policy comes from");
        if (leads->kind != ENTRY_MISSING && leads->kind != ENTRY_UNKNOWN)
            continue;
        note_add(notes, (struct note){.code = SBX431_SOURCE_NOT_FOUND,
                                      .text = arena_format(
                                          finder->arena,
                                          "%s, from which the policy comes, is not found, so that it is "
                                          "not kept from the command",
                                          escape_string(finder->arena, leads->path)),
                                      .help = "compile the policy again where its files are"});
    }
}

/* Records can be read. What launches lock is closed: whoever reads a file can lock it, and hold others up. */
static void add_state(struct finder *finder, const char *state)
{
    static const char *const locked[] = {"turn", "placeholders"};
    add(finder, state, "the launcher's records");
    for (size_t i = 0; i < sizeof locked / sizeof *locked; i++) {
        add(finder, arena_format(finder->arena, "%s/%s", state, locked[i]), "what launches lock");
        finder->files->items[finder->files->count - 1].closed = true;
    }
}

void own_files_find(struct arena *arena, const struct options *options, struct prepared *prepared,
                    struct note_list *notes)
{
    char current[4097];
    const char *self = own_program(arena), *called = own_call();
    struct finder finder = {.arena = arena,
                            .resolver = resolver_create(arena),
                            .current = getcwd(current, sizeof current) == NULL ? "" : current,
                            .files = arena_alloc(arena, sizeof *finder.files)};

    prepared->own_files = finder.files;
    add(&finder, prepared->policy_path, "the policy file");
    add(&finder, options->policy, "the policy file");
    add_sources(&finder, prepared, notes);
    for (uint32_t i = 0; i < prepared->managed.count; i++)
        add(&finder, prepared->managed.items[i].path, "a managed policy");
    if (called != NULL)
        add(&finder, called, "the launcher");
    if (self != NULL && self[0] == '/') {
        add(&finder, self, "the launcher");
        /* Also while it is missing: the next launch would run it. */
        add(&finder, arena_format(arena, "%s/sbxc", path_parent(arena, self)), "the compiler");
    }
    if (prepared->state != NULL)
        add_state(&finder, prepared->state);
}

void own_files_cap(const struct prepared *prepared, struct bound_policy *bound)
{
    for (uint32_t i = 0; i < prepared->own_files->count; i++) {
        const struct own_file *file = &prepared->own_files->items[i];
        if (file->leads->kind == ENTRY_UNKNOWN || file->leads->process || !measure_holds(MEASURE_OWN_FILES))
            continue;
        if (file->closed)
            bound_close_itself(bound, file->leads->path, file->what);
        else
            bound_add_itself(bound, file->leads->path, file->what);
    }
}

bool own_files_hold(struct arena *arena, const struct prepared *prepared, struct note_list *notes)
{
    uint32_t errors = notes->errors;

    for (uint32_t i = 0; i < prepared->own_files->count; i++) {
        const struct own_file *file = &prepared->own_files->items[i];
        for (uint32_t j = 0; j < file->leads->link_count; j++) {
            const struct passed_link *link = &file->leads->links[j];
            if (bound_level(prepared->bound, link->directory, strlen(link->directory)) != LEVEL_WRITE)
                continue;
            note_add(notes, (struct note){.code = SBX452_DENY_THROUGH_REPLACEABLE_LINK,
                                          .text = arena_format(
                                              arena,
                                              "%s cannot be held: %s is a link to %s in a directory that "
                                              "the command may write",
                                              file->what, escape_string(arena, link->path),
                                              escape_string(arena, link->text)),
                                          .help = arena_format(arena, "name %s itself",
                                                               escape_string(arena, file->leads->path))});
        }
    }
    return notes->errors == errors;
}
