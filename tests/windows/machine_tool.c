/* machine_tool.c - for tests under Wine: what preparing a launch finds on this machine, a line for each fact.
 *
 * machine-tool.exe POLICY|- [NAME=PATH | managed=DIR | chdir=DIR | command=NAME | state=DIR]...: roots alone with "-",
 * else also what belongs to the launcher, objects, matches and variables. Exit 0 if nothing was refused, else 1.
 */
#include "base/escape.h"
#include "base/vector.h"
#include "policy/host.h"
#include "policy/host_look.h"
#include "runtime/windows/machine.h"
#include "runtime/windows/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    struct arena *arena;
    struct prepare_request request;
    struct {
        struct variable *items;
        uint32_t count, capacity;
    } roots;
    struct {
        const char **items;
        uint32_t count, capacity;
    } managed;
};

static void read_word(struct call *call, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *name = equals == NULL ? word : arena_copy(call->arena, word, (size_t)(equals - word));
    const char *value = equals == NULL ? "" : equals + 1;
    if (strcmp(name, "managed") == 0)
        VECTOR_PUSH(call->arena, &call->managed, value);
    else if (strcmp(name, "chdir") == 0)
        call->request.chdir = value;
    else if (strcmp(name, "command") == 0)
        call->request.command = value;
    else if (strcmp(name, "state") == 0)
        call->request.state = value;
    else
        VECTOR_PUSH(call->arena, &call->roots, (struct variable){name, value});
}

static void print_root(const struct bindings *bindings, enum root root)
{
    const struct root_value *value = &bindings->roots[root], *managed = &bindings->managed_roots[root];
    for (uint32_t i = 0; i < value->count; i++)
        printf("root %s %s\n", root_names[root], value->paths[i]);
    for (uint32_t i = 0; i < value->deny_count; i++)
        printf("deny %s %s\n", root_names[root], value->deny_paths[i]);
    for (uint32_t i = 0; i < managed->count; i++)
        printf("managed %s %s\n", root_names[root], managed->paths[i]);
    if (value->unknown != NULL)
        printf("unknown %s %s\n", root_names[root], value->unknown);
}

static void print_spec(const struct windows_spec *spec)
{
    for (uint32_t i = 0; i < spec->object_count; i++) {
        const struct windows_object *object = &spec->objects[i];
        printf("object %s", object->path);
        for (uint32_t j = 0; j < object->ace_count; j++)
            printf(" %s%x", object->aces[j].deny ? "-" : "+", (unsigned)object->aces[j].mask);
        printf("\n");
    }
    for (uint32_t i = 0; i < spec->match_count; i++)
        printf("match %s\n", spec->matches[i].pattern);
}

static bool print_prepared(struct call *call, struct note_list *notes)
{
    struct windows_prepared prepared;
    bool good = windows_prepare(call->arena, &call->request, &prepared, notes);
    if (prepared.work != NULL)
        printf("work %s\n", prepared.work);
    if (prepared.directory != NULL)
        printf("directory %s\n", prepared.directory);
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        print_root(&prepared.bindings, root);
    for (uint32_t i = 0; i < prepared.own_count; i++)
        printf("%s %s\n", prepared.own[i].hidden ? "hidden" : "own", prepared.own[i].path);
    if (good)
        print_spec(prepared.resolved.spec);
    return good;
}

static bool print_machine(const struct call *call, struct note_list *notes)
{
    struct bindings bindings = {0};
    struct variable_list environment = host_environment(call->arena);
    const struct host_request request = {.given_roots = call->roots.items,
                                         .given_root_count = call->roots.count,
                                         .environment = environment.items,
                                         .environment_count = environment.count,
                                         .uid = look_user()};
    host_bind(call->arena, &request, &bindings, notes);
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        print_root(&bindings, root);
    struct machine_paths guarded = machine_guarded(call->arena);
    for (uint32_t i = 0; i < guarded.count; i++)
        printf("guarded %s\n", guarded.items[i]);
    for (uint32_t i = 0; i < environment.count; i++)
        printf("variable %s\n", environment.items[i].name);
    return notes->errors == 0;
}

int main(int argc, char **argv)
{
    struct call call = {.arena = arena_create(0)};
    struct note_list notes = note_list_in(call.arena);
    for (int i = 2; i < argc; i++)
        read_word(&call, argv[i]);
    call.request.policy = argc > 1 ? argv[1] : "-";
    call.request.roots = call.roots.items;
    call.request.root_count = call.roots.count;
    call.request.managed = call.managed.items;
    call.request.managed_count = call.managed.count;
    bool good =
        strcmp(call.request.policy, "-") == 0 ? print_machine(&call, &notes) : print_prepared(&call, &notes);
    for (uint32_t i = 0; i < notes.count; i++)
        printf("%s SBX%03d %s\n", notes.items[i].severity == SEVERITY_ERROR ? "error" : "note",
               (int)notes.items[i].code, escape_windows(call.arena, notes.items[i].text));
    arena_destroy(call.arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
