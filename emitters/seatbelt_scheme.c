#include "emitters/seatbelt_scheme.h"

#include "emitters/seatbelt_lex.h"

#include <string.h>

enum { DEPTH_MOST = 800 };

/* SYS_open and MSC_task_self_trap stand for numbers that only macOS knows. */
static const struct seatbelt_value *find_system_call(struct seatbelt_machine *machine,
                                                     const struct seatbelt_value *symbol)
{
    const char *name = symbol->as.symbol;
    if (strncmp(name, "SYS_", 4) != 0 && strncmp(name, "MSC_", 4) != 0)
        return seatbelt_fail_unbound(machine, symbol);
    struct seatbelt_constant *constant = arena_alloc(machine->arena, sizeof *constant);
    *constant = (struct seatbelt_constant){.name = name, .kind = SEATBELT_CONSTANT_SYSCALL};
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_CONSTANT, symbol);
    value->as.constant = constant;
    return value;
}

static const struct seatbelt_value *evaluate_symbol(struct seatbelt_machine *machine,
                                                    const struct seatbelt_value *symbol,
                                                    const struct seatbelt_environment *environment)
{
    const struct seatbelt_value *value = seatbelt_find(machine, symbol->as.symbol, environment);
    if (value == NULL)
        return find_system_call(machine, symbol);
    return value->kind == SEATBELT_VALUE_PENDING ? seatbelt_fail_unbound(machine, symbol) : value;
}

static const struct seatbelt_value *call_primitive(struct seatbelt_machine *machine,
                                                   const struct seatbelt_builtin *builtin,
                                                   const struct seatbelt_value *at,
                                                   const struct seatbelt_arguments *arguments)
{
    if (arguments->count < builtin->least)
        return seatbelt_fail(machine, at, "%s: needs at least %u argument(s)", builtin->name, builtin->least);
    if (arguments->count > builtin->most)
        return seatbelt_fail(machine, at, "%s: needs at most %u argument(s)", builtin->name, builtin->most);
    struct seatbelt_arguments own = {arguments->items, arguments->count, builtin};
    /* cppcheck-suppress returnDanglingLifetime */
    return builtin->primitive(machine, at, &own);
}

static const struct seatbelt_value *list_of(struct seatbelt_machine *machine, const struct seatbelt_value *at,
                                            const struct seatbelt_value *const *items, uint32_t count)
{
    const struct seatbelt_value *list = seatbelt_value(machine, SEATBELT_VALUE_NIL, at);
    while (count-- > 0)
        list = seatbelt_pair(machine, items[count], list, at);
    return list;
}

/* The scope of a closure's body, its parameters bound; NULL: wrong number. */
static struct seatbelt_environment *bind_parameters(struct seatbelt_machine *machine,
                                                    const struct seatbelt_closure *closure,
                                                    const struct seatbelt_value *at,
                                                    const struct seatbelt_arguments *arguments)
{
    struct seatbelt_environment *scope = seatbelt_scope(machine, closure->environment);
    const struct seatbelt_value *parameter = closure->parameters;
    uint32_t i = 0;
    for (; parameter->kind == SEATBELT_VALUE_PAIR && i < arguments->count;
         parameter = parameter->as.pair.tail)
        seatbelt_bind(machine, scope, parameter->as.pair.head->as.symbol, arguments->items[i++]);
    if (parameter->kind == SEATBELT_VALUE_SYMBOL) {
        seatbelt_bind(machine, scope, parameter->as.symbol,
                      list_of(machine, at, arguments->items + i, arguments->count - i));
        return scope;
    }
    if (parameter->kind == SEATBELT_VALUE_PAIR || i < arguments->count) {
        (void)seatbelt_fail(machine, at, "%s: wrong number of arguments", closure->name);
        return NULL;
    }
    return scope;
}

/* Evaluates all of a body but its last expression, which becomes the tail. */
static bool enter_body(struct seatbelt_machine *machine, const struct seatbelt_value *body,
                       struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    for (; body->as.pair.tail->kind == SEATBELT_VALUE_PAIR; body = body->as.pair.tail)
        if (seatbelt_evaluate(machine, body->as.pair.head, environment) == NULL)
            return false;
    *tail = (struct seatbelt_tail){body->as.pair.head, environment};
    return true;
}

/* Calls a procedure, or enters a closure's body and leaves its last expression in `tail`. */
static const struct seatbelt_value *
call(struct seatbelt_machine *machine, const struct seatbelt_value *procedure,
     const struct seatbelt_value *at, const struct seatbelt_arguments *arguments, struct seatbelt_tail *tail)
{
    if (procedure->kind == SEATBELT_VALUE_PRIMITIVE)
        return call_primitive(machine, procedure->as.builtin, at, arguments);
    if (procedure->kind != SEATBELT_VALUE_CLOSURE)
        return seatbelt_fail(machine, at, "illegal function");
    struct seatbelt_environment *scope = bind_parameters(machine, procedure->as.closure, at, arguments);
    if (scope != NULL)
        (void)enter_body(machine, procedure->as.closure->body, scope, tail);
    return NULL;
}

const struct seatbelt_value *seatbelt_apply(struct seatbelt_machine *machine,
                                            const struct seatbelt_value *procedure,
                                            const struct seatbelt_value *at,
                                            const struct seatbelt_arguments *arguments)
{
    struct seatbelt_tail tail = {0};
    const struct seatbelt_value *result = call(machine, procedure, at, arguments, &tail);
    if (result != NULL || tail.expression == NULL)
        return result;
    return seatbelt_evaluate(machine, tail.expression, tail.environment);
}

static bool evaluate_arguments(struct seatbelt_machine *machine, const struct seatbelt_value *expressions,
                               struct seatbelt_environment *environment, struct seatbelt_arguments *arguments)
{
    uint32_t count = seatbelt_length(expressions);
    if (count == UINT32_MAX)
        return seatbelt_fail(machine, expressions, "syntax error: a call must be a proper list") != NULL;
    const struct seatbelt_value **items = arena_array(machine->arena, count + 1, sizeof(void *));
    for (uint32_t i = 0; i < count; i++, expressions = expressions->as.pair.tail) {
        items[i] = seatbelt_evaluate(machine, expressions->as.pair.head, environment);
        if (items[i] == NULL)
            return false;
    }
    *arguments = (struct seatbelt_arguments){.items = items, .count = count};
    return true;
}

/* One step of a list: a value, or NULL with `tail` set, or NULL and failed. */
static const struct seatbelt_value *evaluate_list(struct seatbelt_machine *machine,
                                                  const struct seatbelt_value *list,
                                                  struct seatbelt_environment *environment,
                                                  struct seatbelt_tail *tail)
{
    const struct seatbelt_value *head = seatbelt_evaluate(machine, list->as.pair.head, environment);
    struct seatbelt_arguments arguments;
    if (head == NULL)
        return NULL;
    if (head->kind == SEATBELT_VALUE_FORM)
        return head->as.builtin->form(machine, list, environment, tail);
    if (head->kind == SEATBELT_VALUE_MACRO) {
        /* A macro gets the whole call unevaluated; what it makes of it is evaluated in its stead. */
        struct seatbelt_value *procedure = seatbelt_value(machine, SEATBELT_VALUE_CLOSURE, list);
        procedure->as.closure = head->as.closure;
        tail->expression = seatbelt_apply(machine, procedure, list,
                                          &(struct seatbelt_arguments){.items = &list, .count = 1});
        tail->environment = environment;
        return NULL;
    }
    if (!evaluate_arguments(machine, list->as.pair.tail, environment, &arguments))
        return NULL;
    return call(machine, head, list, &arguments, tail);
}

const struct seatbelt_value *seatbelt_evaluate(struct seatbelt_machine *machine,
                                               const struct seatbelt_value *expression,
                                               struct seatbelt_environment *environment)
{
    const struct seatbelt_value *result = NULL;
    if (++machine->depth > DEPTH_MOST)
        return seatbelt_fail(machine, expression, "the profile is nested too deeply");
    while (result == NULL && seatbelt_step(machine, expression)) {
        struct seatbelt_tail tail = {0};
        if (expression->kind == SEATBELT_VALUE_SYMBOL)
            result = evaluate_symbol(machine, expression, environment);
        else if (expression->kind == SEATBELT_VALUE_PAIR)
            result = evaluate_list(machine, expression, environment, &tail);
        else
            result = expression;
        if (tail.expression == NULL)
            break;
        expression = tail.expression;
        environment = tail.environment;
    }
    machine->depth--;
    return machine->failed ? NULL : result;
}

/* Before its version no form of a profile means anything. */
static bool is_out_of_turn(const struct seatbelt_machine *machine, const struct seatbelt_value *expression)
{
    if (machine->version_seen || machine->import_depth > 0)
        return false;
    const struct seatbelt_value *name =
        expression->kind == SEATBELT_VALUE_PAIR ? expression->as.pair.head : expression;
    return name->kind != SEATBELT_VALUE_SYMBOL || strcmp(name->as.symbol, "version") != 0;
}

bool seatbelt_evaluate_text(struct seatbelt_machine *machine, const char *text, size_t length)
{
    struct seatbelt_reader reader = {.machine = machine, .text = text, .length = length, .line = 1};
    for (;;) {
        const struct seatbelt_value *expression = seatbelt_next(&reader);
        if (expression == NULL)
            return !machine->failed;
        if (is_out_of_turn(machine, expression))
            return seatbelt_fail(machine, expression, "no version specified") != NULL;
        if (seatbelt_evaluate(machine, expression, NULL) == NULL)
            return false;
    }
}
