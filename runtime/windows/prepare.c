#include "runtime/windows/prepare.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/file.h"
#include "policy/host.h"
#include "policy/host_look.h"
#include "policy/host_path.h"
#include "runtime/windows/machine.h"
#include "runtime/windows/managed.h"
#include "runtime/windows/open.h"
#include "runtime/windows/wide.h"

#include <string.h>

enum { POLICY_BYTES = 256 << 20, PROGRAM_LONGEST = 32768 };

struct preparation {
    struct arena *arena;
    const struct prepare_request *request;
    struct windows_prepared *prepared;
    struct note_list *notes;
    struct {
        struct own_path *items;
        uint32_t count, capacity;
    } own;
    /* The policy as it was read; of an .xml also that of the .bin beside it, if there is one. */
    const char *bytes, *bin;
    size_t length, bin_length;
    bool specification;
};

static bool refuse(const struct preparation *preparation, enum code code, const char *text, const char *help)
{
    note_add(preparation->notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

/* ---- where the command starts ---- */

static const char *canonical_directory(struct arena *arena, const char *path)
{
    const char *found = host_resolve(arena, path);
    return found != NULL && machine_is_directory(found) ? windows_path_from_model(arena, found) : NULL;
}

static const char *given_root(const struct prepare_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->root_count; i++)
        if (strcmp(request->roots[i].name, name) == 0)
            return request->roots[i].value;
    return NULL;
}

static bool is_absolute(const char *path)
{
    return path[0] == '\\' || path[0] == '/' || (path[0] != '\0' && path[1] == ':');
}

static bool find_directory(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    struct windows_prepared *prepared = preparation->prepared;
    const char *given = given_root(preparation->request, "WORK"), *work = given != NULL ? given : ".";
    const char *start = preparation->request->chdir;
    prepared->work = canonical_directory(arena, work);
    if (prepared->work == NULL)
        return refuse(preparation, SBX409_DIRECTORY_MISSING,
                      arena_format(arena, "the working directory %s is no directory on a drive",
                                   escape_windows(arena, work)),
                      "start in a directory that exists, or name one with --root WORK=PATH");
    prepared->directory = prepared->work;
    if (start == NULL)
        return true;
    if (!is_absolute(start))
        start = arena_format(arena, "%s\\%s", prepared->work, start);
    prepared->directory = canonical_directory(arena, start);
    return prepared->directory != NULL ||
           refuse(preparation, SBX409_DIRECTORY_MISSING,
                  arena_format(arena, "--chdir %s is no directory on a drive", escape_windows(arena, start)),
                  NULL);
}

/* ---- the policy and the managed ones ---- */

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && windows_path_equal(path + length - tail, suffix);
}

static char *read_file(struct preparation *preparation, const char *path, size_t *length)
{
    const char *error = NULL;
    char *bytes = file_read(preparation->arena, path, POLICY_BYTES, length, &error);
    if (bytes == NULL)
        refuse(preparation, SBX401_POLICY_UNREADABLE, error, NULL);
    return bytes;
}

/* The .bin that lies beside an .xml; only managed policies ask for it. */
static const char *path_of_bin(struct arena *arena, const char *path)
{
    return arena_join(arena, arena_copy(arena, path, strlen(path) - strlen(".xml")), ".bin");
}

static bool read_policy(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    const char *given = preparation->request->policy, *place = host_resolve(arena, given);
    if (place == NULL)
        return refuse(
            preparation, SBX401_POLICY_UNREADABLE,
            arena_format(arena, "%s does not exist or lies on no drive", escape_windows(arena, given)), NULL);
    if (has_suffix(given, ".sbx"))
        return refuse(preparation, SBX403_COMPILER, "on Windows a policy is compiled before it is used",
                      "compile it first: sbxc POLICY.sbx -o policy.bin");
    const char *path = preparation->prepared->policy_path = windows_path_from_model(arena, place);
    preparation->specification = has_suffix(given, ".xml");
    preparation->bytes = read_file(preparation, path, &preparation->length);
    if (preparation->bytes == NULL || !preparation->specification || !has_suffix(path, ".xml") ||
        preparation->prepared->managed.count == 0)
        return preparation->bytes != NULL;
    const char *beside = path_of_bin(arena, path);
    if (host_resolve(arena, beside) != NULL)
        preparation->bin = read_file(preparation, beside, &preparation->bin_length);
    return host_resolve(arena, beside) == NULL || preparation->bin != NULL;
}

static bool read_managed(struct preparation *preparation)
{
    const struct prepare_request *request = preparation->request;
    struct managed_list *list = &preparation->prepared->managed;
    bool good = managed_system(preparation->arena, list, preparation->notes);
    for (uint32_t i = 0; i < request->managed_count && good; i++)
        good = managed_directory(preparation->arena, request->managed[i], list, preparation->notes);
    return good;
}

/* ---- what belongs to the launcher ---- */

static void own_add(struct preparation *preparation, const char *model, const char *what, bool hidden)
{
    const char *path = windows_path_from_model(preparation->arena, model);
    for (uint32_t i = 0; i < preparation->own.count; i++)
        if (windows_path_equal(preparation->own.items[i].path, path))
            return;
    VECTOR_PUSH(preparation->arena, &preparation->own, (struct own_path){path, what, hidden});
}

/* What exists at `path`, by that name and by its own. */
static bool own_add_existing(struct preparation *preparation, const char *path, const char *what)
{
    const char *named = open_absolute(preparation->arena, path);
    const char *place = named == NULL ? NULL : host_resolve(preparation->arena, named);
    if (place == NULL)
        return false;
    own_add(preparation, place, what, false);
    own_add(preparation, named, what, false);
    return true;
}

/* Sources are named relative to the .bin. */
static void own_add_sources(struct preparation *preparation, const struct policy *policy)
{
    struct arena *arena = preparation->arena;
    const char *path = preparation->prepared->policy_path;
    const char *holder = arena_copy(arena, path, (size_t)(strrchr(path, '\\') - path));
    for (uint32_t i = 0; policy != NULL && i < policy->source_count; i++) {
        const char *name = policy->sources[i].name;
        if (policy->sources[i].kind == SOURCE_PRESET_BUILTIN || strcmp(name, "-") == 0)
            continue;
        const char *source = is_absolute(name) ? name : arena_format(arena, "%s\\%s", holder, name);
        if (own_add_existing(preparation, source, "a file that the policy comes from"))
            continue;
        note_add(
            preparation->notes,
            (struct note){.code = SBX431_SOURCE_NOT_FOUND,
                          .text = arena_format(arena,
                                               "%s, from which the policy comes, is not found, so that it is "
                                               "not kept from the command",
                                               escape_windows(arena, source)),
                          .help = "compile the policy again where its files are"});
    }
}

static void own_add_programs(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    wchar_t *wide = arena_array(arena, PROGRAM_LONGEST, sizeof *wide);
    DWORD length = GetModuleFileNameW(NULL, wide, PROGRAM_LONGEST);
    const char *self = length == 0 || length >= PROGRAM_LONGEST ? NULL : wide_to(arena, wide);
    const char *end = self == NULL ? NULL : strrchr(self, '\\');
    if (end == NULL)
        return;
    own_add_existing(preparation, self, "the launcher");
    own_add_existing(preparation, arena_format(arena, "%.*s\\sbxc.exe", (int)(end - self), self),
                     "the compiler");
}

static void own_find(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    struct windows_prepared *prepared = preparation->prepared;
    const char *error = NULL, *managed = managed_place(arena), *state = preparation->request->state;
    own_add_existing(preparation, prepared->policy_path, "the policy file");
    own_add_existing(preparation, preparation->request->policy, "the policy file");
    if (preparation->specification && has_suffix(prepared->policy_path, ".xml"))
        own_add_existing(preparation, path_of_bin(arena, prepared->policy_path), "the policy file");
    else
        own_add_sources(preparation, policy_read(arena, preparation->bytes, preparation->length, &error));
    for (uint32_t i = 0; i < prepared->managed.count; i++)
        own_add_existing(preparation, prepared->managed.items[i].path, "a managed policy");
    if (managed != NULL)
        own_add_existing(preparation, managed, "the managed policies");
    own_add_programs(preparation);
    const char *place = state == NULL ? NULL : host_canonical(arena, state);
    if (place != NULL)
        own_add(preparation, place, "the launcher's records", true);
    prepared->own = preparation->own.items;
    prepared->own_count = preparation->own.count;
}

/* ---- the specification ---- */

static void bind_machine(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    const struct prepare_request *request = preparation->request;
    struct windows_prepared *prepared = preparation->prepared;
    prepared->environment = host_environment(arena);
    const struct host_request host = {.work = prepared->work,
                                      .given_roots = request->roots,
                                      .given_root_count = request->root_count,
                                      .environment = prepared->environment.items,
                                      .environment_count = prepared->environment.count,
                                      .uid = look_user()};
    host_bind(arena, &host, &prepared->bindings, preparation->notes);
}

static bool resolve(struct preparation *preparation)
{
    struct arena *arena = preparation->arena;
    const struct prepare_request *request = preparation->request;
    struct windows_prepared *prepared = preparation->prepared;
    struct machine_paths guarded = machine_guarded(arena);
    for (uint32_t i = 0; i < guarded.count; i++)
        guarded.items[i] = windows_path_from_model(arena, guarded.items[i]);
    const struct resolve_request wanted = {.arena = arena,
                                           .bindings = &prepared->bindings,
                                           .managed = &prepared->managed,
                                           .given_roots = request->roots,
                                           .given_root_count = request->root_count,
                                           .guarded = guarded.items,
                                           .guarded_count = guarded.count,
                                           .own = prepared->own,
                                           .own_count = prepared->own_count,
                                           .command = request->command,
                                           .command_trusted = host_command_trusted,
                                           .notes = preparation->notes};
    const char *name = strrchr(prepared->policy_path, '\\') + 1;
    return preparation->specification
               ? spec_of_xml(&wanted, name, preparation->bytes, preparation->length, preparation->bin,
                             preparation->bin_length, &prepared->resolved)
               : spec_of_bin(&wanted, preparation->bytes, preparation->length, &prepared->resolved);
}

bool windows_prepare(struct arena *arena, const struct prepare_request *request,
                     struct windows_prepared *prepared, struct note_list *notes)
{
    struct preparation preparation = {
        .arena = arena, .request = request, .prepared = prepared, .notes = notes};
    *prepared = (struct windows_prepared){0};
    if (!find_directory(&preparation) || !read_managed(&preparation) || !read_policy(&preparation))
        return false;
    bind_machine(&preparation);
    if (notes->errors > 0)
        return false;
    own_find(&preparation);
    return resolve(&preparation);
}
