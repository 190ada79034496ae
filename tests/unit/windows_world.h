/* windows_world.h - a machine of Windows whose roots a test places, and what holds on it of a policy or a specification. */
#pragma once

#include "compiler/compile.h"
#include "policy/file.h"
#include "runtime/windows/resolve.h"

#include "tests/unit/windows_symbolic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct root_at {
    enum root root;
    const char *path; /* NULL: unset */
};

struct world {
    struct arena *arena;
    struct bindings bindings;
    struct managed_list managed;
    struct note_list notes;
    struct resolve_request request;
    struct resolved_spec resolved;
    const char *statements, *bin, *xml;
    size_t bin_length, xml_length;
};

/* ---- a machine ---- */

static inline void root_set(struct world *world, enum root root, const char *path)
{
    const char **paths = arena_alloc(world->arena, sizeof *paths);
    *paths = path;
    struct root_value value = {
        .state = path == NULL ? ROOT_UNSET : ROOT_BOUND, .paths = paths, .count = path != NULL};
    if (root_of_repository(root)) {
        value.deny_paths = value.paths;
        value.deny_count = value.count;
    }
    world->bindings.roots[root] = world->bindings.managed_roots[root] = value;
}

static inline void world_begin(struct world *world)
{
    static const struct root_at usual[] = {
        {ROOT_WORK, "D:/w"},        {ROOT_HOME, "C:/h/me"},     {ROOT_TMP, "C:/h/me/l/Temp"},
        {ROOT_CONFIG, "C:/h/me/r"}, {ROOT_CACHE, "C:/h/me/l"},  {ROOT_DATA, "C:/h/me/l"},
        {ROOT_REPO, "D:/w"},        {ROOT_GITDIR, "D:/w/.git"}, {ROOT_SUBMODULES, NULL},
        {ROOT_GITDIRS, NULL},
    };
    *world = (struct world){.arena = arena_create(0)};
    world->notes = note_list_in(world->arena);
    world->bindings.system = SYSTEM_WINDOWS;
    world->bindings.environment_known = true;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        root_set(world, usual[i].root, usual[i].path);
    world->request = (struct resolve_request){.arena = world->arena,
                                              .bindings = &world->bindings,
                                              .managed = &world->managed,
                                              .notes = &world->notes};
}

static inline void world_end(struct world *world)
{
    arena_destroy(world->arena);
}

/* ---- policies ---- */

static inline const struct policy *policy_made(struct world *world, const char *kind, const char *statements)
{
    const char *text = arena_format(world->arena, "sbx 1\n%s \"t\"\n%s\n", kind, statements);
    const struct compile_input input = {.input = {"t.sbx", text, (uint32_t)strlen(text)}};
    const struct policy *policy = compile(world->arena, &input)->policy;
    assert_non_null(policy);
    return policy;
}

static inline void managed_add(struct world *world, const char *statements)
{
    struct managed_file *files = arena_array(world->arena, world->managed.count + 1, sizeof *files);
    if (world->managed.count > 0)
        memcpy(files, world->managed.items, world->managed.count * sizeof *files);
    files[world->managed.count] = (struct managed_file){"C:/ProgramData/sbx/managed.d/m.bin",
                                                        policy_made(world, "managed", statements)};
    world->managed.items = files;
    world->managed.count++;
}

/* What sbxc writes of it without a machine; false if it refuses. */
static inline bool compile_both(struct world *world, const char *statements, bool with_managed)
{
    const struct policy *policy = policy_made(world, "policy", statements);
    world->statements = statements;
    struct buffer bin = buffer_in(world->arena), xml = buffer_in(world->arena);
    policy_write(&bin, policy);
    world->bin = bin.bytes;
    world->bin_length = bin.length;
    const struct policy *layer = with_managed ? world->managed.items[0].policy : NULL;
    policy = policy_merge(world->arena, policy, &layer, with_managed);

    struct note_list notes = note_list_in(world->arena);
    if (!emit_symbolic(world->arena, policy, &notes, &xml))
        return false;
    world->xml = xml.bytes;
    world->xml_length = xml.length;
    return true;
}

static inline bool take_bin(struct world *world)
{
    world->notes = note_list_in(world->arena);
    return spec_of_bin(&world->request, world->bin, world->bin_length, &world->resolved);
}

static inline bool take_xml(struct world *world, bool beside)
{
    world->notes = note_list_in(world->arena);
    return spec_of_xml(&world->request, "t.xml", world->xml, world->xml_length, beside ? world->bin : NULL,
                       beside ? world->bin_length : 0, &world->resolved);
}

static inline bool was_said(const struct world *world, enum code code, const char *part)
{
    for (uint32_t i = 0; i < world->notes.count; i++)
        if (world->notes.items[i].code == code && strstr(world->notes.items[i].text, part) != NULL)
            return true;
    return false;
}

/* ---- what a specification gives ---- */

/* The rights at `path`: an object's own entries before those of what is above it, denies before allows. */
static inline uint32_t rights_at(const struct windows_spec *spec, const char *path)
{
    uint32_t allowed = 0, denied = 0;
    for (uint32_t i = spec->object_count; i-- > 0;) {
        const struct windows_object *object = &spec->objects[i];
        bool same = windows_path_equal(object->path, path);
        for (uint32_t j = 0; j < object->ace_count && windows_path_covers(object->path, path); j++) {
            const struct windows_ace *ace = &object->aces[j];
            if (!same && !ace->inherit)
                continue;
            *(ace->deny ? &denied : &allowed) |= ace->mask & ~(ace->deny ? allowed : denied);
        }
    }
    return allowed;
}

static inline enum level level_at(const struct windows_spec *spec, const char *path)
{
    uint32_t rights = rights_at(spec, path);
    return (rights & 0x116) != 0 ? LEVEL_WRITE : (rights & 0x1) != 0 ? LEVEL_READ : LEVEL_NONE;
}

static inline const struct windows_object *object_at(const struct windows_spec *spec, const char *path)
{
    for (uint32_t i = 0; i < spec->object_count; i++)
        if (windows_path_equal(spec->objects[i].path, path))
            return &spec->objects[i];
    return NULL;
}

static inline bool is_pinned(const struct windows_spec *spec, const char *path)
{
    const struct windows_object *object = object_at(spec, path);
    for (uint32_t i = 0; object != NULL && i < object->ace_count; i++)
        if (object->aces[i].deny && (object->aces[i].mask & WINDOWS_DENY_DELETE) != 0)
            return true;
    return false;
}
