#include "runtime/windows/lease_file.h"

#include "base/sha256.h"
#include "base/vector.h"
#include "policy/host.h"
#include "runtime/report.h"
#include "runtime/windows/fault.h"
#include "runtime/windows/machine.h"
#include "runtime/windows/system.h"
#include "runtime/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <bcrypt.h>

enum { RECORDS_KEPT = 500 };

static const char suffix[] = ".json";

void lease_now(char text[LEASE_TIME])
{
    SYSTEMTIME now;

    GetSystemTime(&now);
    snprintf(text, LEASE_TIME, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", now.wYear % 10000u, now.wMonth % 100u,
             now.wDay % 100u, now.wHour % 100u, now.wMinute % 100u, now.wSecond % 100u,
             now.wMilliseconds % 1000u);
}

bool lease_start(struct arena *arena, struct lease *lease)
{
    unsigned char bytes[16] = {0};

    snprintf(lease->kernel, sizeof lease->kernel, "%s", system_version(arena));
    if (!fault_random() || BCryptGenRandom(NULL, bytes, sizeof bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(lease->id + 2 * i, 3, "%02x", bytes[i]);
    lease_now(lease->started);
    return true;
}

/* ---- what a specification says ---- */

static int index_in(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* A specification by itself stands for a policy of one layer whose text is its own bytes. */
static const struct policy *policy_of(struct arena *arena, const struct resolved_spec *resolved)
{
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    struct layer *layer = arena_alloc(arena, sizeof *layer);

    layer->kind = LAYER_POLICY;
    layer->name = policy->name = resolved->spec->policy_name;
    policy->layers = layer;
    policy->layer_count = 1;
    memcpy(layer->hash, resolved->spec->policy_hash, sizeof layer->hash);
    memcpy(policy->effective_hash, resolved->spec->policy_hash, sizeof policy->effective_hash);
    sha256(policy->requested_hash, resolved->xml, resolved->xml_length);
    return policy;
}

static const struct rule *const *accepted_of(struct arena *arena, const struct windows_spec *spec)
{
    const struct rule **accepted = arena_array(arena, CONTROLS, sizeof *accepted);

    for (uint32_t i = 0; i < spec->accepted_count; i++) {
        int control = index_in(control_names, CONTROLS, spec->accepted[i].control);
        struct rule *rule = arena_alloc(arena, sizeof *rule);
        *rule = (struct rule){.kind = RULE_ACCEPT,
                              .name = spec->accepted[i].control,
                              .value = spec->accepted[i].text,
                              .target = "windows",
                              .origin = {.source = UINT32_MAX}};
        if (control >= 0)
            accepted[control] = rule;
    }
    return accepted;
}

void lease_describe(struct arena *arena, struct lease *lease, const struct resolved_spec *resolved)
{
    lease->backend = "windows";
    lease->backend_version = windows_tier_names[resolved->spec->tier];
    lease->policy = resolved->policy != NULL ? resolved->policy : policy_of(arena, resolved);
    lease->accepted = resolved->policy != NULL ? resolved->accepted : accepted_of(arena, resolved->spec);
}

void lease_finish(struct lease *lease, uint32_t code, uint32_t unterminated)
{
    lease->exit_code = code;
    lease->unterminated = (pid_t)unterminated;
    lease_now(lease->ended);
}

/* ---- where it is kept ---- */

/* Whether a place that the command may write is around it. What is closed again inside such a place counts as open: a
 * record lies somewhere else. */
static bool in_reach(const struct windows_spec *spec, const char *path)
{
    for (uint32_t i = 0; i < spec->object_count; i++) {
        const struct windows_object *object = &spec->objects[i];
        for (uint32_t j = 0; j < object->ace_count; j++)
            if (!object->aces[j].deny && object->aces[j].mask == WINDOWS_ALLOW_WRITE &&
                windows_path_covers(object->path, path))
                return true;
    }
    return false;
}

static bool refuse(struct note_list *notes, enum code code, const char *text, const char *help)
{
    note_add(notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

bool lease_file_named(struct arena *arena, const char *file, const struct windows_spec *spec,
                      struct lease_file *place, struct note_list *notes)
{
    const char *name = file + strlen(file);

    while (name > file && strchr("\\/:", name[-1]) == NULL)
        name--;
    const char *directory =
        host_canonical(arena, name == file ? "." : arena_copy(arena, file, (size_t)(name - file)));
    if (directory == NULL || !machine_is_directory(directory))
        return refuse(notes, SBX411_LEASE_UNWRITABLE,
                      arena_format(arena, "the lease %s cannot be written: no such directory",
                                   report_safe(arena, file)),
                      "make the directory, or name a file elsewhere");
    *place = (struct lease_file){.directory = windows_path_from_model(arena, directory), .name = name};
    bool root = place->directory[strlen(place->directory) - 1] == '\\';
    place->path = arena_format(arena, "%s%s%s", place->directory, root ? "" : "\\", name);
    const char *wrong = windows_path_problem(place->path);
    if (wrong != NULL || *name == '\0')
        return refuse(notes, SBX411_LEASE_UNWRITABLE,
                      arena_format(arena, "the lease %s cannot be written: %s", report_safe(arena, file),
                                   wrong == NULL ? "it names a directory" : wrong),
                      "name a file");
    return !in_reach(spec, place->path) ||
           refuse(notes, SBX410_LEASE_IN_REACH,
                  arena_format(arena, "the command could write its own lease %s",
                               report_safe(arena, place->path)),
                  "name a file outside what the policy grants for writing");
}

struct lease_file lease_file_default(struct arena *arena, const char *state, const struct lease *lease)
{
    char *name = arena_format(arena, "%s-%s%s", lease->started, lease->id, suffix);

    for (char *colon; (colon = strchr(name, ':')) != NULL;)
        *colon = '-';
    return (struct lease_file){.path = arena_format(arena, "%s\\%s", state, name),
                               .directory = state,
                               .name = name,
                               .keep_few = true};
}

static int name_order(const void *left, const void *right)
{
    return wcscmp(*(const wchar_t *const *)left, *(const wchar_t *const *)right);
}

/* Names begin with the time, so the oldest come first. */
static void remove_old(struct arena *arena, const struct lease_file *place)
{
    struct {
        const wchar_t **items;
        uint32_t count, capacity;
    } records = {0};
    const wchar_t *pattern = wide_from(arena, arena_format(arena, "%s\\*%s", place->directory, suffix));
    WIN32_FIND_DATAW entry;
    HANDLE search = FindFirstFileW(pattern, &entry);

    while (search != INVALID_HANDLE_VALUE) {
        const char *name = wide_to(arena, entry.cFileName);
        if (name != NULL && name[0] != '.')
            VECTOR_PUSH(arena, &records,
                        wide_from(arena, arena_format(arena, "%s\\%s", place->directory, name)));
        if (!FindNextFileW(search, &entry))
            break;
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    if (records.count <= RECORDS_KEPT)
        return;
    qsort(records.items, records.count, sizeof *records.items, name_order);
    for (uint32_t i = 0; i < records.count - RECORDS_KEPT; i++)
        DeleteFileW(records.items[i]);
}

/* 0, or a Windows error. */
static DWORD write_new(const wchar_t *path, const struct buffer *text)
{
    DWORD wrote = 0;
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);

    if (file == INVALID_HANDLE_VALUE)
        return GetLastError();
    DWORD error = WriteFile(file, text->bytes, (DWORD)text->length, &wrote, NULL) && FlushFileBuffers(file)
                      ? 0
                      : GetLastError();
    CloseHandle(file);
    return error;
}

bool lease_file_write(struct arena *arena, const struct lease *lease, const struct lease_file *place,
                      struct note_list *notes)
{
    if (place->path == NULL)
        return true;
    struct buffer text = lease_text(arena, lease);
    const wchar_t *fresh = wide_from(arena, arena_format(arena, "%s\\.%s.new", place->directory, lease->id));
    DWORD error = write_new(fresh, &text);

    if (error == 0 && !MoveFileExW(fresh, wide_from(arena, place->path),
                                   MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        error = GetLastError();
    if (error == 0) {
        if (place->keep_few && lease->ended[0] != '\0')
            remove_old(arena, place);
        return true;
    }
    if (error != ERROR_FILE_EXISTS)
        DeleteFileW(fresh);
    return refuse(notes, SBX411_LEASE_UNWRITABLE,
                  arena_format(arena, "the lease %s cannot be written: %s", report_safe(arena, place->path),
                               wide_error(arena, error)),
                  "name another place with --lease");
}
