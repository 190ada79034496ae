#include "policy/sbx.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/bound.h"
#include "policy/file.h"
#include "policy/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LARGEST = 1 << 30, HEX_HASH = sizeof "sha256:" + 2 * 32, NAME_LONGEST = 253 };

struct sbx_policy {
    struct arena *arena;       /* of the policy */
    struct arena *bound_arena; /* of the binding; NULL while unbound */
    const struct policy *policy;
    const struct bound_policy *bound;
    char hash[HEX_HASH];
};

static enum sbx_status fail(struct sbx_error *error, enum sbx_status status, const char *message)
{
    if (error != NULL) {
        error->status = status;
        snprintf(error->message, sizeof error->message, "%s", message);
        /* A message that was cut ends with a whole character. */
        for (size_t end = strlen(error->message); !utf8_valid(error->message, end);)
            error->message[--end] = '\0';
    }
    return status;
}

static enum sbx_status fail_memory(struct sbx_error *error)
{
    return fail(error, SBX_OUT_OF_MEMORY, "out of memory");
}

static void policy_adopt(struct sbx_policy *handle, const struct policy *policy)
{
    handle->policy = policy;
    int at = snprintf(handle->hash, sizeof handle->hash, "sha256:");
    for (size_t i = 0; i < sizeof policy->effective_hash; i++)
        at +=
            snprintf(handle->hash + at, sizeof handle->hash - (size_t)at, "%02x", policy->effective_hash[i]);
}

static void unbind(struct sbx_policy *handle)
{
    arena_destroy(handle->bound_arena);
    handle->bound_arena = NULL;
    handle->bound = NULL;
}

/* Loading */

/* What sbx_load and sbx_load_bytes were given. */
struct input {
    const char *path; /* NULL: bytes */
    const void *bytes;
    size_t length;
};

static enum sbx_status policy_load(struct sbx_policy *handle, const struct input *input,
                                   struct sbx_error *error)
{
    const char *problem = NULL;
    const void *bytes = input->bytes;
    size_t length = input->length;
    if (input->path != NULL &&
        (bytes = file_read(handle->arena, input->path, FILE_LARGEST, &length, &problem)) == NULL)
        return fail(error, SBX_UNREADABLE, problem);
    const struct policy *policy = policy_read(handle->arena, bytes, length, &problem);
    if (policy == NULL) {
        const char *name = input->path == NULL ? "the policy" : escape_string(handle->arena, input->path);
        return fail(error, SBX_DAMAGED, arena_format(handle->arena, "cannot use %s: %s", name, problem));
    }
    policy_adopt(handle, policy);
    return SBX_OK;
}

static enum sbx_status policy_load_guarded(struct sbx_policy *handle, const struct input *input,
                                           struct sbx_error *error)
{
    jmp_buf exhausted;
    if (setjmp(exhausted) != 0)
        return fail_memory(error);
    arena_on_exhausted(handle->arena, &exhausted);
    enum sbx_status status = policy_load(handle, input, error);
    arena_on_exhausted(handle->arena, NULL);
    return status;
}

static struct sbx_policy *handle_load(const struct input *input, struct sbx_error *error)
{
    struct sbx_policy *handle = calloc(1, sizeof *handle);
    if (handle == NULL || (handle->arena = arena_create(0)) == NULL)
        fail_memory(error);
    else if (policy_load_guarded(handle, input, error) == SBX_OK)
        return handle;
    sbx_free(handle);
    return NULL;
}

SBX_API struct sbx_policy *sbx_load(const char *path, struct sbx_error *error)
{
    return handle_load(&(struct input){.path = path}, error);
}

SBX_API struct sbx_policy *sbx_load_bytes(const void *bytes, size_t length, struct sbx_error *error)
{
    return handle_load(&(struct input){.bytes = bytes, .length = length}, error);
}

SBX_API void sbx_free(struct sbx_policy *policy)
{
    if (policy == NULL)
        return;
    unbind(policy);
    arena_destroy(policy->arena);
    free(policy);
}

/* A merged policy shares what its parts hold, so the managed one is copied through its bytes first. */
static const struct policy *policy_restrict(struct sbx_policy *handle, const struct policy *managed)
{
    const char *problem;
    struct buffer bytes = buffer_in(handle->arena);
    policy_write(&bytes, managed);
    const struct policy *copy = policy_read(handle->arena, bytes.bytes, bytes.length, &problem);
    return copy == NULL ? NULL : policy_merge(handle->arena, handle->policy, &copy, 1);
}

SBX_API enum sbx_status sbx_restrict(struct sbx_policy *policy, const struct sbx_policy *managed,
                                     struct sbx_error *error)
{
    jmp_buf exhausted;
    unbind(policy);
    if (managed->policy->layers[0].kind != LAYER_MANAGED)
        return fail(error, SBX_NOT_MANAGED, "the policy is not a managed one");
    if (setjmp(exhausted) != 0) {
        arena_on_exhausted(policy->arena, NULL);
        return fail_memory(error);
    }
    arena_on_exhausted(policy->arena, &exhausted);
    const struct policy *merged = policy_restrict(policy, managed->policy);
    arena_on_exhausted(policy->arena, NULL);
    if (merged == NULL)
        return fail(error, SBX_DAMAGED, "the managed policy cannot be read back");
    policy_adopt(policy, merged);
    return SBX_OK;
}

SBX_API const char *sbx_name(const struct sbx_policy *policy)
{
    return policy->policy->name;
}

SBX_API const char *sbx_hash(const struct sbx_policy *policy)
{
    return policy->hash;
}

/* Binding */

static struct variable_list variables_copy(struct arena *arena, const struct sbx_value *values, size_t count)
{
    struct variable_list list = {0};
    for (size_t i = 0; i < count; i++)
        VECTOR_PUSH(
            arena, &list,
            (struct variable){arena_strdup(arena, values[i].name), arena_strdup(arena, values[i].value)});
    return list;
}

/* The roots as given and no others: an unset root makes a deny on it an error, so that nothing is left
 * open. */
static const char *roots_given(struct arena *arena, struct bindings *bindings,
                               const struct variable_list *given)
{
    for (uint32_t i = 0; i < given->count; i++) {
        enum root root = ROOT_WORK;
        while (root < ROOT_ENV && strcmp(root_names[root], given->items[i].name) != 0)
            root++;
        if (root == ROOT_ENV)
            return arena_format(arena, "there is no root %s", escape_string(arena, given->items[i].name));
        struct root_value *value = &bindings->roots[root];
        if (value->count > 0 && !root_is_list(root))
            return arena_format(arena, "the root %s is given twice", root_names[root]);
        const char **paths = arena_array(arena, value->count + 1, sizeof *paths);
        for (uint32_t path = 0; path < value->count; path++)
            paths[path] = value->paths[path];
        paths[value->count] = given->items[i].value;
        *value = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = value->count + 1};
    }
    memcpy(bindings->managed_roots, bindings->roots, sizeof bindings->roots);
    return NULL;
}

/* A deny also holds where the links in its path lead (language.md 7): the caller asks about resolved
 * paths. */
static void denies_follow_links(struct arena *arena, struct bound_policy *bound)
{
    for (uint32_t i = 0, count = bound->rules.count; i < count; i++) {
        struct bound_rule rule = bound->rules.items[i];
        bool denies = rule.rule->kind == RULE_DENY || rule.rule->kind == RULE_DENY_EXEC ||
                      rule.rule->kind == RULE_DENY_SOCKET;
        if (!denies || rule.at.path == NULL || rule.at.pattern || rule.dropped || *rule.at.path != '/')
            continue;
        const char *resolved = host_canonical(arena, rule.at.path);
        if (resolved == NULL || strcmp(resolved, rule.at.path) == 0)
            continue;
        rule.at.path = resolved;
        rule.because = "link";
        VECTOR_PUSH(bound->arena, &bound->rules, rule);
    }
}

static const char *first_error(struct arena *arena, const struct policy *policy,
                               const struct note_list *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->items[i];
        if (note->severity != SEVERITY_ERROR)
            continue;
        if (note->rule == NULL || note->rule->origin.source >= policy->source_count)
            return note->text;
        const char *source = escape_string(arena, policy->sources[note->rule->origin.source].name);
        return arena_format(arena, "%s:%u: %s", source, note->rule->origin.line, note->text);
    }
    return "the policy cannot be bound";
}

static enum sbx_status policy_bind_in(struct arena *arena, struct sbx_policy *handle,
                                      const struct sbx_binding *binding, struct sbx_error *error)
{
    static const enum system systems[] = {
        [SBX_LINUX] = SYSTEM_LINUX, [SBX_MACOS] = SYSTEM_MACOS, [SBX_WINDOWS] = SYSTEM_WINDOWS};
    struct note_list notes = note_list_in(arena);
    struct variable_list roots = variables_copy(arena, binding->roots, binding->root_count);
    struct variable_list environment =
        variables_copy(arena, binding->environment, binding->environment_count);
    struct bindings *bindings = arena_alloc(arena, sizeof *bindings);
    if (binding->this_host) {
        if (binding->environment == NULL)
            environment = host_environment(arena);
        host_bind(arena,
                  &(struct host_request){.given_roots = roots.items,
                                         .given_root_count = roots.count,
                                         .environment = environment.items,
                                         .environment_count = environment.count,
                                         .uid = geteuid()},
                  bindings, &notes);
    } else {
        bindings->system = systems[binding->system];
        bindings->environment = environment.items;
        bindings->environment_count = environment.count;
        bindings->environment_known = true;
        const char *problem = roots_given(arena, bindings, &roots);
        if (problem != NULL)
            return fail(error, SBX_UNBOUND, problem);
    }
    bindings->command = binding->command == NULL ? NULL : arena_strdup(arena, binding->command);

    struct bound_policy *bound = policy_bind(arena, handle->policy, bindings, &notes);
    if (binding->this_host)
        denies_follow_links(arena, bound);
    bound_seal(bound, &notes);
    if (notes.errors > 0)
        return fail(error, SBX_UNBOUND, first_error(arena, handle->policy, &notes));
    handle->bound = bound;
    return SBX_OK;
}

SBX_API enum sbx_status sbx_bind(struct sbx_policy *policy, const struct sbx_binding *binding,
                                 struct sbx_error *error)
{
    jmp_buf exhausted;
    unbind(policy);
    policy->bound_arena = arena_create(0);
    if (policy->bound_arena == NULL || setjmp(exhausted) != 0) {
        unbind(policy);
        return fail_memory(error);
    }
    arena_on_exhausted(policy->bound_arena, &exhausted);
    enum sbx_status status = policy_bind_in(policy->bound_arena, policy, binding, error);
    arena_on_exhausted(policy->bound_arena, NULL);
    if (status != SBX_OK)
        unbind(policy);
    return status;
}

/* Checking */

/* Whether `path` is absolute for the bound system, and normalised. */
static bool path_is_normal(const struct sbx_policy *policy, const char *path, size_t length)
{
    if (policy->bound->bindings.system == SYSTEM_WINDOWS) {
        if (*path < 'A' || *path > 'Z' || path[1] != ':')
            return false;
        path += 2;
        length -= 2;
    }
    if (*path != '/')
        return false;
    if (length == 1)
        return true;
    for (const char *at = path; *at == '/';) {
        size_t component = strcspn(++at, "/");
        if (component == 0 || (component == 1 && at[0] == '.') ||
            (component == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += component;
    }
    return true;
}

static enum sbx_answer answer(bool allowed)
{
    return allowed ? SBX_ALLOW : SBX_DENY;
}

SBX_API enum sbx_answer sbx_check(const struct sbx_policy *policy, enum sbx_operation operation,
                                  const char *path)
{
    size_t length = strlen(path);
    if (policy->bound == NULL || !path_is_normal(policy, path, length))
        return SBX_DENY;
    switch (operation) {
    case SBX_READ:
        return answer(bound_level(policy->bound, path, length) >= LEVEL_READ);
    case SBX_WRITE:
        return answer(bound_level(policy->bound, path, length) >= LEVEL_WRITE);
    case SBX_EXEC:
        return answer(bound_exec(policy->bound, path, length));
    case SBX_SOCKET:
        return answer(bound_socket(policy->bound, path, length));
    }
    return SBX_DENY;
}

/* Fills what both kinds of endpoint have. False if the arguments are none. */
static bool endpoint_fill(struct endpoint *endpoint, const void *address, size_t length, uint16_t port,
                          enum sbx_protocol protocol)
{
    if ((length != 0 && length != 4 && length != 16) || port == 0 ||
        (protocol != SBX_TCP && protocol != SBX_UDP))
        return false;
    *endpoint = (struct endpoint){.port = port,
                                  .protocol = protocol == SBX_TCP ? PROTOCOL_BIT_TCP : PROTOCOL_BIT_UDP,
                                  .has_address = length > 0};
    if (length == 4)
        endpoint->address[10] = endpoint->address[11] = 0xff;
    if (length > 0)
        memcpy(endpoint->address + sizeof endpoint->address - length, address, length);
    return true;
}

/* `name` in lower case and without its final dot. False if it is no name. */
static bool name_fold(char folded[NAME_LONGEST + 1], const char *name)
{
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length == 0 || length > NAME_LONGEST)
        return false;
    for (size_t i = 0; i < length; i++)
        folded[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    folded[length] = '\0';
    return true;
}

SBX_API enum sbx_answer sbx_check_connect(const struct sbx_policy *policy, const char *name,
                                          const void *address, size_t address_length, uint16_t port,
                                          enum sbx_protocol protocol)
{
    char folded[NAME_LONGEST + 1];
    struct endpoint endpoint;
    if (policy->bound == NULL || !endpoint_fill(&endpoint, address, address_length, port, protocol) ||
        (name == NULL && !endpoint.has_address) || (name != NULL && !name_fold(folded, name)))
        return SBX_DENY;
    endpoint.name = name == NULL ? NULL : folded;
    switch (bound_connect(policy->bound, &endpoint)) {
    case VERDICT_ALLOW:
        return SBX_ALLOW;
    case VERDICT_DEPENDS:
        return SBX_DEPENDS;
    case VERDICT_DENY:
        break;
    }
    return SBX_DENY;
}

SBX_API enum sbx_answer sbx_check_listen(const struct sbx_policy *policy, const void *address,
                                         size_t address_length, uint16_t port, enum sbx_protocol protocol)
{
    struct endpoint endpoint;
    if (policy->bound == NULL || !endpoint_fill(&endpoint, address, address_length, port, protocol) ||
        !endpoint.has_address)
        return SBX_DENY;
    return answer(bound_listen(policy->bound, &endpoint));
}

SBX_API enum sbx_answer sbx_check_env(const struct sbx_policy *policy, const char *name)
{
    return answer(policy->bound != NULL && bound_env(policy->bound, name));
}

SBX_API enum sbx_answer sbx_check_service(const struct sbx_policy *policy, const char *name)
{
    return answer(policy->bound != NULL && bound_service(policy->bound, name));
}
