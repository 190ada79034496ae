#include "compiler/commands/why.h"

#include "base/escape.h"
#include "compiler/commands/command.h"
#include "compiler/dump.h"
#include "emitters/control.h"
#include "policy/host.h"

#include <string.h>

bool why_operation_named(const char *name, size_t length, enum operation *operation)
{
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        if (strlen(operation_names[i]) == length && memcmp(operation_names[i], name, length) == 0) {
            *operation = (enum operation)i;
            return true;
        }
    }
    return false;
}

bool why_is_about_path(enum operation operation)
{
    return operation == OPERATION_READ || operation == OPERATION_WRITE || operation == OPERATION_EXEC ||
           operation == OPERATION_SOCKET;
}

/* --- links ---------------------------------------------------------------------------------------------- */

/* The absolute path that `question` asks about, or NULL if its root has no value here. */
static const char *absolute_path(struct arena *arena, const struct bound_policy *bound,
                                 const struct question *question)
{
    const char *text = question->argument;
    if (text[0] != '~' && text[0] != '$')
        return text;
    size_t name = text[0] == '~' ? 0 : strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++) {
        const struct root_value *value = &bound->bindings.roots[root];
        bool meant = text[0] == '~'
                         ? root == ROOT_HOME
                         : strlen(root_names[root]) == name && memcmp(root_names[root], text + 1, name) == 0;
        if (meant && value->state == ROOT_BOUND && value->count > 0)
            return arena_format(arena, "%s%s", value->paths[0], text + 1 + name);
    }
    return NULL;
}

static bool is_lower(const struct decision *decision, const struct decision *than)
{
    if (decision->verdict != than->verdict)
        return decision->verdict == VERDICT_DENY;
    return decision->level < than->level;
}

static bool is_service(const char *name)
{
    for (uint32_t i = 0; service_names[i] != NULL; i++)
        if (strcmp(service_names[i], name) == 0)
            return true;
    return false;
}

struct answer why_decide(struct arena *arena, const struct bound_policy *bound,
                         const struct question *question)
{
    struct answer answer = {0};
    if (question->operation == OPERATION_SERVICE && !is_service(question->argument)) {
        answer.error =
            arena_format(arena, "there is no service %s", escape_string(arena, question->argument));
        return answer;
    }
    answer.decision =
        bound_decide(arena, bound, question->operation, question->argument, question->length, &answer.error);
    if (answer.decision == NULL || bound->bindings.host == NULL || !why_is_about_path(question->operation))
        return answer;
    const char *path = absolute_path(arena, bound, question), *resolved = NULL, *error = NULL;
    if (path != NULL)
        resolved = host_canonical(arena, path);
    if (resolved == NULL || strcmp(resolved, path) == 0)
        return answer;
    const struct decision *there =
        bound_decide(arena, bound, question->operation, resolved, strlen(resolved), &error);
    if (there != NULL && is_lower(there, answer.decision)) {
        answer.decision = there;
        answer.resolved = resolved;
    }
    return answer;
}

/* --- one question --------------------------------------------------------------------------------------- */

static void print_reason(struct buffer *out, const struct policy *policy, const struct reason *reason)
{
    if (reason->rule == NULL) {
        buffer_format(out, "  %s\n", reason->effect);
        return;
    }
    const struct rule *rule = reason->rule->rule;
    const char *place = "";
    if (!reason->rule->itself)
        place = arena_format(out->arena, "%s:%u",
                             escape_string(out->arena, policy->sources[rule->origin.source].name),
                             rule->origin.line);
    const char *layer = escape_string(out->arena, rule_layer_name(policy, rule));
    if (strcmp(layer, "policy") != 0)
        place = arena_format(out->arena, "%s%s%s", place, *place != '\0' ? ", " : "", layer);
    const char *who = *place != '\0' ? place : "the policy's own files";
    buffer_format(out, "  %-24s %s  (%s)\n", reason->effect,
                  bound_statement_text(out->arena, policy, reason->rule), who);
}

static void print_answer(struct session *session, const struct policy *policy,
                         const struct question *question, const struct answer *answer)
{
    static const char *const verdicts[] = {"denied", "allowed", "depends"};
    const struct decision *decision = answer->decision;
    struct buffer *out = &session->out;
    buffer_format(out, "%s: %s %s\n", verdicts[decision->verdict], operation_names[question->operation],
                  escape_text(session->arena, question->argument, question->length));
    if (answer->resolved != NULL)
        buffer_format(out, "  links lead to %s\n", escape_string(session->arena, answer->resolved));
    for (uint32_t i = 0; i < decision->reason_count; i++)
        print_reason(out, policy, &decision->reasons[i]);
    if (decision->fix != NULL)
        buffer_format(out, "fix: %s\n", decision->fix);
}

static int why_one(struct session *session, const struct bound_policy *bound)
{
    const struct text_list *arguments = &session->options.arguments;
    const char *operation = arguments->items[1];
    struct question question = {.argument = arguments->items[2], .length = strlen(arguments->items[2])};
    if (!why_operation_named(operation, strlen(operation), &question.operation)) {
        const char *nearest =
            nearest_word(operation, (const char *[]){"read", "write", "exec", "connect", "listen", "socket",
                                                     "env", "service", NULL});
        return session_complain(session,
                                arena_format(session->arena, "%s is nothing that can be asked; %s%s",
                                             escape_string(session->arena, operation),
                                             nearest != NULL ? "did you mean " : "see docs/commands.md",
                                             nearest != NULL ? nearest : ""));
    }
    struct answer answer = why_decide(session->arena, bound, &question);
    if (answer.decision == NULL)
        return session_complain(session, answer.error);
    if (session->options.json)
        why_put_answer(&session->out, bound->policy, &question, &answer);
    else
        print_answer(session, bound->policy, &question, &answer);
    return answer.decision->verdict == VERDICT_ALLOW ? EXIT_DONE : EXIT_DENIED;
}

int command_why(struct session *session)
{
    const struct options *options = &session->options;
    if (options->dump == NULL && options->arguments.count != (options->batch ? 1 : 3))
        return session_complain(session, "call it as: sbxc why FILE OP ARG, or sbxc why FILE --batch");
    session->may_be_bin = true;
    struct policy *policy = session_compile(session);
    if (options->dump != NULL)
        return dump(session, policy);
    if (policy == NULL)
        return session->exit;
    struct bindings bindings;
    session_bindings(session, session->system, true, &bindings);
    struct bound_policy *bound = session_bind(session, policy, &bindings, true);
    if (bound == NULL)
        return session->exit;
    if (options->verbose)
        session_print_notes(session, policy, SEVERITY_NOTE);
    return options->batch ? why_batch(session, bound) : why_one(session, bound);
}
