#include "runtime/windows/resolve.h"

#include "base/escape.h"
#include "emitters/windows.h"
#include "policy/file.h"
#include "runtime/expectations.h"
#include "runtime/windows/resolve_bind.h"

#include <string.h>

static bool refuse(const struct resolve_request *request, enum code code, const char *text, const char *help)
{
    note_add(request->notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

/* ---- the policy ---- */

static const struct policy *policy_load(const struct resolve_request *request, const char *bytes,
                                        size_t length)
{
    const char *error = NULL;
    const struct policy *policy = policy_read(request->arena, bytes, length, &error);
    if (policy == NULL)
        refuse(request, SBX402_POLICY_DAMAGED,
               arena_format(request->arena, "the policy: %s", escape_windows(request->arena, error)),
               "compile it again: sbxc POLICY.sbx -o policy.bin");
    if (policy == NULL || policy->layers[0].kind == LAYER_POLICY)
        return policy;
    refuse(request, SBX402_POLICY_DAMAGED, "the policy is a managed one, which grants nothing",
           "put it into a directory given by --managed");
    return NULL;
}

static const struct policy *policy_merged(const struct resolve_request *request, const struct policy *own)
{
    uint32_t count = request->managed->count;
    const struct policy **layers = arena_array(request->arena, count, sizeof *layers);
    for (uint32_t i = 0; i < count; i++)
        layers[i] = request->managed->items[i].policy;
    return policy_merge(request->arena, own, layers, count);
}

static struct bound_policy *bind(const struct resolve_request *request, const struct policy *policy,
                                 const char *command, struct note_list *notes)
{
    struct bindings bindings = *request->bindings;
    bindings.command = command;
    return policy_bind(request->arena, policy, &bindings, notes);
}

/* What the command may not change, for decisions; the access control lists themselves are made by
 * apply_run. */
static struct bound_policy *bind_with_own(const struct resolve_request *request, const struct policy *policy,
                                          const char *command, struct note_list *notes)
{
    struct bound_policy *bound = bind(request, policy, command, notes);
    for (uint32_t i = 0; i < request->own_count; i++) {
        const struct own_path *own = &request->own[i];
        const char *path = windows_path_to_model(request->arena, own->path);
        if (own->hidden)
            bound_close_itself(bound, path, own->what);
        else
            bound_add_itself(bound, path, own->what);
    }
    bound_seal(bound, notes);
    return bound;
}

static const char *value_of(const struct variable_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (windows_path_equal(list->items[i].name, name))
            return list->items[i].value;
    return NULL;
}

/* Judged on the policy as if the rules held: they must not vouch for a file that they make writable. */
static const char *trusted_command(const struct resolve_request *request, const struct policy *policy)
{
    struct note_list unheard = note_list_in(request->arena);
    if (request->command == NULL || strpbrk(request->command, "\\/:") != NULL || !policy_has_commands(policy))
        return NULL;
    const struct bound_policy *trial = bind_with_own(request, policy, request->command, &unheard);
    struct variable_list environment = bound_environment(request->arena, trial, &unheard);
    if (request->command_trusted != NULL &&
        request->command_trusted(request->arena, trial, request->command, value_of(&environment, "PATH")))
        return request->command;
    note_add(
        request->notes,
        (struct note){.code = SBX427_COMMAND_NOT_TRUSTED,
                      .text = arena_format(request->arena,
                                           "rules for the command %s do not hold: it is not found, or found "
                                           "through a link or where the command can write",
                                           escape_windows(request->arena, request->command))});
    return NULL;
}

/* ---- the specification ---- */

/* Appends what the compiler would write of `bound`. */
static bool emit(const struct resolve_request *request, const struct policy *policy,
                 const struct bound_policy *bound, const char *output_name, const struct rule **accepted,
                 struct buffer *out)
{
    const struct emit_request emission = {
        .arena = request->arena,
        .policy = policy,
        .bound = bound,
        .version = SBX_VERSION,
        .architecture = "x86_64",
        .output_name = output_name,
        .accepted = accepted,
        .notes = request->notes,
    };
    return emit_windows(&emission, out);
}

static const struct windows_spec *load(const struct resolve_request *request, struct resolved_spec *out)
{
    const char *error = NULL;
    const struct windows_spec *spec = windows_load(request->arena, out->xml, out->xml_length, &error);
    if (spec == NULL)
        refuse(request, SBX469_SPECIFICATION,
               arena_format(request->arena, "the specification: %s", escape_windows(request->arena, error)),
               "compile it again: sbxc POLICY.sbx -t windows -o policy.xml");
    return spec;
}

static bool allows(const struct windows_object *object)
{
    return object->ace_count > 0 && !object->aces[object->ace_count - 1].deny;
}

/* Where Windows and the profile lie is known only here. */
static bool guarded_stay_closed(const struct resolve_request *request, const struct windows_spec *spec)
{
    for (uint32_t i = 0; i < spec->object_count; i++)
        for (uint32_t j = 0; j < request->guarded_count && allows(&spec->objects[i]); j++)
            if (windows_path_covers(spec->objects[i].path, request->guarded[j]))
                return refuse(request, SBX469_SPECIFICATION,
                              arena_format(request->arena, "%s is a place where nothing may be granted (%s)",
                                           escape_windows(request->arena, spec->objects[i].path),
                                           spec->objects[i].rule),
                              "grant the directories below it that are needed");
    return true;
}

static bool settle(const struct resolve_request *request, const char *name, struct resolved_spec *out)
{
    const struct windows_spec *spec = load(request, out);
    if (spec != NULL)
        out->spec = spec_bind(request->arena, spec, request->bindings, name, request->notes);
    return out->spec != NULL && guarded_stay_closed(request, out->spec);
}

bool spec_of_bin(const struct resolve_request *request, const char *bytes, size_t length,
                 struct resolved_spec *out)
{
    struct note_list *notes = request->notes, unheard = note_list_in(request->arena);
    uint32_t errors = notes->errors;
    *out = (struct resolved_spec){.own = policy_load(request, bytes, length)};
    if (out->own == NULL)
        return false;
    out->policy = policy_merged(request, out->own);
    if (!managed_roots_are_free(request->arena, out->policy, request->given_roots, request->given_root_count,
                                notes))
        return false;
    const char *command = trusted_command(request, out->policy);
    out->bound = bind_with_own(request, out->policy, command, notes);
    const char *wrong = notes->errors > errors ? NULL : bound_prove(request->arena, out->bound);
    if (wrong != NULL)
        return refuse(request, SBX418_MERGE_WRONG, wrong, NULL);
    if (notes->errors > errors || !expectations_hold(request->arena, out->bound, false, notes))
        return false;
    controls_needed(out->bound, out->needs);
    if (!controls_check(out->bound, CONTROL_TARGET_WINDOWS, out->needs, out->accepted, notes))
        return false;
    struct bound_policy *plain = bind(request, out->policy, command, &unheard);
    struct buffer xml = buffer_in(request->arena);
    bound_seal(plain, NULL);
    if (!emit(request, out->policy, plain, "", out->accepted, &xml))
        return false;
    out->xml = xml.bytes;
    out->xml_length = xml.length;
    return settle(request, "the policy", out);
}

/* ---- a specification beside managed layers ---- */

/* What the compiler makes of the policy and the managed layers where it knows nothing of a machine. */
static bool emit_pure(const struct resolve_request *request, const char *name, const char *bin,
                      size_t bin_length, struct buffer *xml)
{
    const struct policy *own = policy_load(request, bin, bin_length), *policy;
    struct note_list unheard = note_list_in(request->arena);
    struct resolve_request pure = *request;
    struct bindings bindings = {.system = SYSTEM_WINDOWS};
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS] = {0};
    if (own == NULL)
        return false;
    policy = policy_merged(request, own);
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    pure.bindings = &bindings;
    pure.notes = &unheard;
    struct bound_policy *bound = bind(&pure, policy, NULL, &unheard);
    bound_seal(bound, NULL);
    controls_needed(bound, needs);
    return unheard.errors == 0 &&
           managed_roots_are_free(request->arena, policy, request->given_roots, request->given_root_count,
                                  request->notes) &&
           controls_check(bound, CONTROL_TARGET_WINDOWS, needs, accepted, &unheard) &&
           emit(&pure, policy, bound, name, accepted, xml);
}

/* Whoever wrote the .xml must not have left a managed layer out. */
static bool managed_layers_are_in(const struct resolve_request *request, const char *name, const char *bytes,
                                  size_t length, const char *bin, size_t bin_length)
{
    struct buffer xml = buffer_in(request->arena);
    uint32_t errors = request->notes->errors;
    if (request->managed->count == 0)
        return true;
    if (bin != NULL && emit_pure(request, name, bin, bin_length, &xml) && xml.length == length &&
        memcmp(xml.bytes, bytes, length) == 0)
        return true;
    if (request->notes->errors > errors)
        return false;
    const char *stem = arena_copy(request->arena, name, strcspn(name, "."));
    return refuse(request, SBX470_SPECIFICATION_MANAGED,
                  bin == NULL
                      ? "managed policies apply here, and the .bin of this specification is not beside it"
                      : "managed policies apply here, and with them the .bin beside it gives another "
                        "specification",
                  arena_format(request->arena, "start from the policy: sbx-launch.exe %s.bin -- COMMAND",
                               escape_windows(request->arena, stem)));
}

bool spec_of_xml(const struct resolve_request *request, const char *name, const char *bytes, size_t length,
                 const char *bin, size_t bin_length, struct resolved_spec *out)
{
    *out = (struct resolved_spec){.xml = bytes, .xml_length = length};
    return managed_layers_are_in(request, name, bytes, length, bin, bin_length) && settle(request, name, out);
}
