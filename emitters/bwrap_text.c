#include "emitters/bwrap_text.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"

#include <string.h>

const char *const text_proc_read_only[TEXT_PROC_READ_ONLY + 1] = {
    "acpi", "asound", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger", NULL,
};

bool path_of_variable(const char *path)
{
    return strncmp(path, "$env.", 5) == 0;
}

bool of_account(const struct rule *rule, const char *root)
{
    return rule->layer != 0 && (strcmp(root, "HOME") == 0 || strcmp(root, "CONFIG") == 0 ||
                                strcmp(root, "CACHE") == 0 || strcmp(root, "DATA") == 0);
}

static bool check_controls(const struct emit_request *request, const char *name, bool can_limit,
                           const struct rule *accepted[CONTROLS])
{
    struct control_need needs[CONTROLS];
    bool held = true;
    controls_needed(request->bound, needs);
    for (int i = 0; i < CONTROLS; i++) {
        enum control control = (enum control)i;
        struct control_entry entry = control_entry_in_text(request->bound, control, can_limit);
        if (!control_check(request->bound, CONTROL_TARGET_BWRAP, name, control, &needs[control], &entry,
                           &accepted[control], request->notes))
            held = false;
    }
    return held;
}

static const char *join_exceptions(struct arena *arena, const struct rule *const accepted[CONTROLS])
{
    struct buffer text = buffer_in(arena);
    for (int i = 0; i < CONTROLS; i++)
        if (accepted[i] != NULL)
            buffer_format(&text, "%s%s", text.length > 0 ? "," : "", control_names[i]);
    return text.length > 0 ? text.bytes : "none";
}

struct names {
    const char **items;
    uint32_t count, capacity;
};

static void add_name(struct arena *arena, struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    VECTOR_PUSH(arena, names, name);
}

bool text_needs_not(const struct emit_request *request, const struct bound_rule *rule)
{
    const struct bound_policy *bound = request->bound;
    bool opens =
        bound->bindings.system == SYSTEM_LINUX ? text_opens_unix_sockets(bound) : policy_grants_socket(bound);
    return rule->service != NULL && rule->rule->kind == RULE_DENY_SOCKET && !opens;
}

/* A variable without a value leaves grants out, and denies that a built-in preset makes just in case. A deny
 * that the policy's own author wrote must hold. */
bool text_variables(const struct emit_request *request, const char *const **names)
{
    struct names list = {0}, *left_out = &list;
    const struct policy *policy = request->policy;
    bool held = true;
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        const struct rule *rule = bound->rule;
        if (bound->dropped || bound->at.path == NULL || !path_of_variable(bound->at.path) ||
            rule->kind == RULE_EXPECT || text_needs_not(request, bound))
            continue;
        bool denies =
            rule->kind == RULE_DENY || rule->kind == RULE_DENY_SOCKET || rule->kind == RULE_DENY_EXEC;
        bool builtin = policy->sources[rule->origin.source].kind == SOURCE_PRESET_BUILTIN;
        add_name(request->arena, left_out, rule->path.name);
        if (!denies || builtin)
            continue;
        held = false;
        note_add(
            request->notes,
            (struct note){
                .code = SBX304_VARIABLE_UNBOUND,
                .rule = rule,
                .text = arena_format(request->arena, "%s has no value here, so \"%s\" would hold nothing",
                                     arena_format(request->arena, "$env.%s", rule->path.name),
                                     rule_text(request->arena, rule)),
                .help = arena_format(request->arena, "give --env %s=VALUE", rule->path.name),
            });
    }
    VECTOR_PUSH(request->arena, left_out, NULL);
    *names = list.items;
    return held;
}

/* Where scratch is, programs are told by these. */
static void add_scratch(struct arena *arena, struct variable_list *environment)
{
    static const char *const names[] = {"TMPDIR", "TMP", "TEMP"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t at = 0;
        while (at < environment->count && strcmp(environment->items[at].name, names[i]) != 0)
            at++;
        if (at == environment->count)
            VECTOR_PUSH(arena, environment, (struct variable){names[i], "/tmp"});
        environment->items[at].value = "/tmp";
    }
}

bool text_artifact_prepare(const struct emit_request *request, const char *name, bool can_limit,
                           struct text_artifact *artifact)
{
    *artifact = (struct text_artifact){0};
    bool held = check_controls(request, name, can_limit, artifact->accepted);
    if (!text_variables(request, &artifact->left_out) || !held)
        return false;
    artifact->exceptions = join_exceptions(request->arena, artifact->accepted);
    artifact->environment = bound_environment(request->arena, request->bound, request->notes);
    if (bound_scratch(request->bound))
        add_scratch(request->arena, &artifact->environment);
    return true;
}

const char *text_artifact_label(const struct emit_request *request, const struct text_artifact *artifact)
{
    struct buffer label = buffer_in(request->arena);
    buffer_format(&label, "%s sha256:", request->policy->name);
    for (size_t i = 0; i < sizeof request->policy->effective_hash; i++)
        buffer_format(&label, "%02x", request->policy->effective_hash[i]);
    buffer_format(&label, " exceptions=%s", artifact->exceptions);
    return label.bytes;
}
