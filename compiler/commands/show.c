#include "compiler/commands/show.h"

#include "compiler/commands/command.h"
#include "compiler/dump.h"

#include <string.h>

const struct show_class show_classes[] = {
    {"network", "network", RULE_GRANT_NETWORK, RULE_DENY_NETWORK, RULE_LIMIT_NETWORK},
    {"listen", "listen", RULE_GRANT_LISTEN, RULE_DENY_LISTEN, RULE_KINDS},
    {"sockets", "sockets", RULE_GRANT_SOCKET, RULE_DENY_SOCKET, RULE_LIMIT_SOCKET},
    {"env", "environment", RULE_GRANT_ENV, RULE_DENY_ENV, RULE_LIMIT_ENV},
    {"services", "services", RULE_GRANT_SERVICE, RULE_DENY_SERVICE, RULE_LIMIT_SERVICE},
    {"syscalls", "system calls", RULE_GRANT_SYSCALL, RULE_DENY_SYSCALL, RULE_KINDS},
    {"exec", "exec", RULE_KINDS, RULE_DENY_EXEC, RULE_KINDS},
    {NULL, NULL, RULE_KINDS, RULE_KINDS, RULE_KINDS},
};

const char *show_effect(const struct show_class *class, const struct rule *rule)
{
    return rule->kind == class->grant   ? "grant"
           : rule->kind == class->deny  ? "deny"
           : rule->kind == class->limit ? "limit"
                                        : NULL;
}

bool show_is_written(const struct policy *policy, const struct bound_rule *bound)
{
    return !bound->itself && !bound->dropped && bound->because == NULL &&
           !rule_is_marker(policy, bound->rule);
}

const char *show_source(const struct policy *policy, const struct bound_rule *bound)
{
    const struct layer *layer = &policy->layers[bound->rule->layer];
    if (bound->itself)
        return "itself";
    if (layer->kind == LAYER_MANAGED)
        return layer->name;
    const struct policy_source *source = &policy->sources[bound->rule->origin.source];
    bool preset = source->kind == SOURCE_PRESET_BUILTIN || source->kind == SOURCE_PRESET_FILE;
    return preset ? source->name : "policy";
}

bool show_only_narrows(const struct policy *policy)
{
    return policy->layers[0].kind == LAYER_MANAGED;
}

/* Where a managed file alone leaves everything unless it says otherwise: those places must be listed,
 * since what is not listed is closed. */
static struct region_list regions_shown(struct session *session, const struct bound_policy *bound)
{
    const char *tops[ROOTS + 1];
    uint32_t count = 0;
    if (show_only_narrows(bound->policy)) {
        tops[count++] = "/";
        for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
            if (bound->bindings.managed_roots[root].state == ROOT_SYMBOLIC)
                tops[count++] = arena_format(session->arena, "$%s", root_names[root]);
    }
    return bound_regions(session->arena, bound, tops, count);
}

/* The rules of `when command` hold for a command that is called by its bare name. */
static const char *command_of(const struct options *options)
{
    if (options->trailing.count == 0)
        return options->command_name;
    const char *name = options->trailing.items[0];
    return strchr(name, '/') == NULL ? name : NULL;
}

int command_show(struct session *session)
{
    session->options.command_name = command_of(&session->options);
    session->may_be_bin = true;
    const struct policy *policy = session_compile(session);
    if (session->options.dump != NULL)
        return dump(session, policy);
    if (policy == NULL)
        return session->exit;
    struct bindings bindings;
    session_bindings(session, session->system, true, &bindings);
    /* Where the policy's files lie is this machine's business. */
    const struct bound_policy *bound = session_bind(session, policy, &bindings, !session->options.pure);
    if (bound == NULL)
        return session->exit;
    const struct showing showing = {
        .session = session,
        .out = &session->out,
        .policy = policy,
        .bound = bound,
        .regions = regions_shown(session, bound),
    };
    if (session->options.json)
        show_json(&showing);
    else
        show_text(&showing);
    return EXIT_DONE;
}
