/* The special forms: what takes its parts unevaluated. */
#include "base/vector.h"
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

typedef const struct seatbelt_value expression;

static expression *head(expression *pair)
{
    return pair->as.pair.head;
}

static expression *tail_of(expression *pair)
{
    return pair->as.pair.tail;
}

static expression *fail_syntax(struct seatbelt_machine *machine, expression *at)
{
    const char *name = head(at)->kind == SEATBELT_VALUE_SYMBOL ? head(at)->as.symbol : "form";
    return seatbelt_fail(machine, at, "syntax error: malformed %s", name);
}

/* Whether a form has so many parts behind its name. */
static bool has_parts(struct seatbelt_machine *machine, expression *at, uint32_t least, uint32_t most)
{
    uint32_t length = seatbelt_length(at);
    machine->steps += length != UINT32_MAX ? length : 0;
    if (length != UINT32_MAX && length - 1 >= least && length - 1 <= most)
        return true;
    return fail_syntax(machine, at) != NULL;
}

/* Evaluates all but the last of `expressions`, which is left to be evaluated in the form's stead. */
static expression *leave_body(struct seatbelt_machine *machine, expression *at, expression *expressions,
                              struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (expressions->kind != SEATBELT_VALUE_PAIR)
        return seatbelt_nothing(machine, at);
    for (; tail_of(expressions)->kind == SEATBELT_VALUE_PAIR; expressions = tail_of(expressions))
        if (seatbelt_evaluate(machine, head(expressions), environment) == NULL)
            return NULL;
    *tail = (struct seatbelt_tail){head(expressions), environment};
    return NULL;
}

static expression *form_quote(struct seatbelt_machine *machine, expression *at,
                              struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)environment, (void)tail;
    return has_parts(machine, at, 1, 1) ? head(tail_of(at)) : NULL;
}

static expression *form_if(struct seatbelt_machine *machine, expression *at,
                           struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 2, 3))
        return NULL;
    expression *parts = tail_of(at), *condition = seatbelt_evaluate(machine, head(parts), environment);
    if (condition == NULL)
        return NULL;
    expression *rest = tail_of(parts);
    if (!seatbelt_is_true(condition))
        rest = tail_of(rest);
    if (rest->kind != SEATBELT_VALUE_PAIR)
        return seatbelt_nothing(machine, at);
    *tail = (struct seatbelt_tail){head(rest), environment};
    return NULL;
}

static expression *guarded(struct seatbelt_machine *machine, expression *at,
                           struct seatbelt_environment *environment, struct seatbelt_tail *tail, bool wanted)
{
    if (!has_parts(machine, at, 1, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *condition = seatbelt_evaluate(machine, head(tail_of(at)), environment);
    if (condition == NULL)
        return NULL;
    if (seatbelt_is_true(condition) != wanted)
        return seatbelt_nothing(machine, at);
    return leave_body(machine, at, tail_of(tail_of(at)), environment, tail);
}

static expression *form_when(struct seatbelt_machine *machine, expression *at,
                             struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    return guarded(machine, at, environment, tail, true);
}

static expression *form_unless(struct seatbelt_machine *machine, expression *at,
                               struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    return guarded(machine, at, environment, tail, false);
}

static expression *form_begin(struct seatbelt_machine *machine, expression *at,
                              struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 0, SEATBELT_ANY_NUMBER))
        return NULL;
    return leave_body(machine, at, tail_of(at), environment, tail);
}

static bool is_else(expression *test)
{
    return test->kind == SEATBELT_VALUE_SYMBOL && strcmp(test->as.symbol, "else") == 0;
}

static expression *form_cond(struct seatbelt_machine *machine, expression *at,
                             struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 0, SEATBELT_ANY_NUMBER))
        return NULL;
    for (expression *clauses = tail_of(at); clauses->kind == SEATBELT_VALUE_PAIR;
         clauses = tail_of(clauses)) {
        expression *clause = head(clauses);
        if (clause->kind != SEATBELT_VALUE_PAIR || seatbelt_length(clause) == UINT32_MAX)
            return fail_syntax(machine, at);
        if (is_else(head(clause)))
            return leave_body(machine, at, tail_of(clause), environment, tail);
        expression *condition = seatbelt_evaluate(machine, head(clause), environment);
        if (condition == NULL)
            return NULL;
        if (!seatbelt_is_true(condition))
            continue;
        if (tail_of(clause)->kind != SEATBELT_VALUE_PAIR)
            return condition;
        return leave_body(machine, at, tail_of(clause), environment, tail);
    }
    return seatbelt_nothing(machine, at);
}

/* and: the first false value; or: the first true one; else the last. */
static expression *chained(struct seatbelt_machine *machine, expression *at,
                           struct seatbelt_environment *environment, struct seatbelt_tail *tail,
                           bool stops_at)
{
    if (!has_parts(machine, at, 0, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *parts = tail_of(at);
    if (parts->kind != SEATBELT_VALUE_PAIR)
        return seatbelt_boolean(machine, !stops_at, at);
    for (; tail_of(parts)->kind == SEATBELT_VALUE_PAIR; parts = tail_of(parts)) {
        expression *value = seatbelt_evaluate(machine, head(parts), environment);
        if (value == NULL || seatbelt_is_true(value) == stops_at)
            return value;
    }
    *tail = (struct seatbelt_tail){head(parts), environment};
    return NULL;
}

static expression *form_and(struct seatbelt_machine *machine, expression *at,
                            struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    return chained(machine, at, environment, tail, false);
}

static expression *form_or(struct seatbelt_machine *machine, expression *at,
                           struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    return chained(machine, at, environment, tail, true);
}

/* Whether `parameters` is a symbol, or a list of symbols that may end in a dot and one. */
static bool are_parameters(expression *parameters)
{
    for (; parameters->kind == SEATBELT_VALUE_PAIR; parameters = tail_of(parameters))
        if (head(parameters)->kind != SEATBELT_VALUE_SYMBOL)
            return false;
    return parameters->kind == SEATBELT_VALUE_NIL || parameters->kind == SEATBELT_VALUE_SYMBOL;
}

static expression *make_closure(struct seatbelt_machine *machine, enum seatbelt_kind kind, expression *at,
                                const struct seatbelt_closure *filled)
{
    uint32_t length = seatbelt_length(filled->body);
    if (!are_parameters(filled->parameters) || length == 0 || length == UINT32_MAX)
        return fail_syntax(machine, at);
    struct seatbelt_closure *closure = arena_alloc(machine->arena, sizeof *closure);
    struct seatbelt_value *value = seatbelt_value(machine, kind, at);
    *closure = *filled;
    value->as.closure = closure;
    return value;
}

static expression *form_lambda(struct seatbelt_machine *machine, expression *at,
                               struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    return make_closure(
        machine, SEATBELT_VALUE_CLOSURE, at,
        &(struct seatbelt_closure){"lambda", head(tail_of(at)), tail_of(tail_of(at)), environment});
}

/* (NAME (name parameters...) body...): a procedure or a macro of that name. */
static expression *define_called(struct seatbelt_machine *machine, expression *at, enum seatbelt_kind kind,
                                 struct seatbelt_environment *environment)
{
    expression *signature = head(tail_of(at));
    if (signature->kind != SEATBELT_VALUE_PAIR || head(signature)->kind != SEATBELT_VALUE_SYMBOL)
        return fail_syntax(machine, at);
    const char *name = head(signature)->as.symbol;
    expression *value =
        make_closure(machine, kind, at,
                     &(struct seatbelt_closure){name, tail_of(signature), tail_of(tail_of(at)), environment});
    if (value == NULL)
        return NULL;
    seatbelt_bind(machine, environment, name, value);
    return seatbelt_nothing(machine, at);
}

static expression *form_define(struct seatbelt_machine *machine, expression *at,
                               struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *name = head(tail_of(at));
    if (name->kind != SEATBELT_VALUE_SYMBOL)
        return define_called(machine, at, SEATBELT_VALUE_CLOSURE, environment);
    if (!has_parts(machine, at, 2, 2))
        return NULL;
    expression *value = seatbelt_evaluate(machine, head(tail_of(tail_of(at))), environment);
    if (value == NULL)
        return NULL;
    seatbelt_bind(machine, environment, name->as.symbol, value);
    return seatbelt_nothing(machine, at);
}

static expression *form_macro(struct seatbelt_machine *machine, expression *at,
                              struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    return define_called(machine, at, SEATBELT_VALUE_MACRO, environment);
}

static expression *form_set(struct seatbelt_machine *machine, expression *at,
                            struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 2, 2))
        return NULL;
    expression *name = head(tail_of(at)),
               *value = seatbelt_evaluate(machine, head(tail_of(tail_of(at))), environment);
    if (value == NULL)
        return NULL;
    if (name->kind != SEATBELT_VALUE_SYMBOL)
        return fail_syntax(machine, at);
    if (!seatbelt_assign(machine, environment, name->as.symbol, value))
        return seatbelt_fail_unbound(machine, name);
    return seatbelt_nothing(machine, at);
}

/* Whether `bindings` is a list of (name expression). */
static bool are_bindings(expression *bindings)
{
    for (; bindings->kind == SEATBELT_VALUE_PAIR; bindings = tail_of(bindings))
        if (seatbelt_length(head(bindings)) != 2 || head(head(bindings))->kind != SEATBELT_VALUE_SYMBOL)
            return false;
    return bindings->kind == SEATBELT_VALUE_NIL;
}

static expression *bound_expression(expression *bindings)
{
    return head(tail_of(head(bindings)));
}

/* Binds each name in `scope` to what its expression is in `inside`. */
static bool bind_all(struct seatbelt_machine *machine, expression *bindings,
                     struct seatbelt_environment *scope, struct seatbelt_environment *inside)
{
    for (; bindings->kind == SEATBELT_VALUE_PAIR; bindings = tail_of(bindings)) {
        expression *value = seatbelt_evaluate(machine, bound_expression(bindings), inside);
        if (value == NULL)
            return false;
        seatbelt_bind(machine, scope, head(head(bindings))->as.symbol, value);
    }
    return true;
}

static expression *names_of(struct seatbelt_machine *machine, expression *bindings)
{
    if (bindings->kind != SEATBELT_VALUE_PAIR)
        return bindings;
    struct seatbelt_value *first = seatbelt_value(machine, SEATBELT_VALUE_PAIR, bindings), *last = first;
    for (;; bindings = tail_of(bindings)) {
        last->as.pair.head = head(head(bindings));
        struct seatbelt_value *next = seatbelt_value(machine, tail_of(bindings)->kind, bindings);
        last->as.pair.tail = next;
        if (next->kind != SEATBELT_VALUE_PAIR)
            return first;
        last = next;
    }
}

/* (let name ((x 1) ...) body...): the body is a procedure that can call itself by name. */
static expression *named_let(struct seatbelt_machine *machine, expression *at,
                             struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    expression *name = head(tail_of(at)), *rest = tail_of(tail_of(at));
    if (rest->kind != SEATBELT_VALUE_PAIR || !are_bindings(head(rest)))
        return fail_syntax(machine, at);
    struct seatbelt_environment *loop = seatbelt_scope(machine, environment);
    struct seatbelt_environment *scope = seatbelt_scope(machine, loop);
    expression *closure = make_closure(
        machine, SEATBELT_VALUE_CLOSURE, at,
        &(struct seatbelt_closure){name->as.symbol, names_of(machine, head(rest)), tail_of(rest), loop});
    if (closure == NULL)
        return NULL;
    seatbelt_bind(machine, loop, name->as.symbol, closure);
    if (!bind_all(machine, head(rest), scope, environment))
        return NULL;
    return leave_body(machine, at, tail_of(rest), scope, tail);
}

static expression *form_let(struct seatbelt_machine *machine, expression *at,
                            struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *bindings = head(tail_of(at));
    if (bindings->kind == SEATBELT_VALUE_SYMBOL)
        return named_let(machine, at, environment, tail);
    if (!are_bindings(bindings))
        return fail_syntax(machine, at);
    struct seatbelt_environment *scope = seatbelt_scope(machine, environment);
    if (!bind_all(machine, bindings, scope, environment))
        return NULL;
    return leave_body(machine, at, tail_of(tail_of(at)), scope, tail);
}

static expression *form_let_star(struct seatbelt_machine *machine, expression *at,
                                 struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *bindings = head(tail_of(at));
    if (!are_bindings(bindings))
        return fail_syntax(machine, at);
    struct seatbelt_environment *scope = seatbelt_scope(machine, environment);
    for (; bindings->kind == SEATBELT_VALUE_PAIR; bindings = tail_of(bindings)) {
        expression *value = seatbelt_evaluate(machine, bound_expression(bindings), scope);
        if (value == NULL)
            return NULL;
        scope = seatbelt_scope(machine, scope);
        seatbelt_bind(machine, scope, head(head(bindings))->as.symbol, value);
    }
    return leave_body(machine, at, tail_of(tail_of(at)), scope, tail);
}

static expression *form_letrec(struct seatbelt_machine *machine, expression *at,
                               struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    if (!has_parts(machine, at, 2, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *bindings = head(tail_of(at)), *pending = seatbelt_value(machine, SEATBELT_VALUE_PENDING, at);
    if (!are_bindings(bindings))
        return fail_syntax(machine, at);
    struct seatbelt_environment *scope = seatbelt_scope(machine, environment);
    for (expression *each = bindings; each->kind == SEATBELT_VALUE_PAIR; each = tail_of(each))
        seatbelt_bind(machine, scope, head(head(each))->as.symbol, pending);
    if (!bind_all(machine, bindings, scope, scope))
        return NULL;
    return leave_body(machine, at, tail_of(tail_of(at)), scope, tail);
}

static bool is_call_of(expression *template, const char *name)
{
    return template->kind == SEATBELT_VALUE_PAIR && head(template)->kind == SEATBELT_VALUE_SYMBOL &&
           strcmp(head(template)->as.symbol, name) == 0 && seatbelt_length(template) == 2;
}

static expression *fill_template(struct seatbelt_machine *machine, expression *template,
                                 struct seatbelt_environment *environment, uint32_t depth);

/* The items of `list` before `rest`. */
static expression *append_before(struct seatbelt_machine *machine, expression *list, expression *rest)
{
    struct seatbelt_value *first = NULL, *last = NULL;
    for (; list->kind == SEATBELT_VALUE_PAIR; list = tail_of(list)) {
        if (!seatbelt_step(machine, list))
            return NULL;
        struct seatbelt_value *next = seatbelt_value(machine, SEATBELT_VALUE_PAIR, list);
        next->as.pair.head = head(list);
        next->as.pair.tail = rest;
        if (last != NULL)
            last->as.pair.tail = next;
        else
            first = next;
        last = next;
    }
    return first != NULL ? first : rest;
}

enum { TEMPLATE_DEPTH_MOST = 2000 };

static expression *fill_pair(struct seatbelt_machine *machine, expression *template,
                             struct seatbelt_environment *environment, uint32_t depth)
{
    expression *rest = fill_template(machine, tail_of(template), environment, depth + 1);
    if (rest == NULL)
        return NULL;
    if (is_call_of(head(template), "unquote-splicing")) {
        expression *list = seatbelt_evaluate(machine, head(tail_of(head(template))), environment);
        if (list == NULL)
            return NULL;
        if (seatbelt_length(list) == UINT32_MAX)
            return seatbelt_fail(machine, template, "only a list can be spliced in");
        return append_before(machine, list, rest);
    }
    expression *first = fill_template(machine, head(template), environment, depth + 1);
    return first == NULL ? NULL : seatbelt_pair(machine, first, rest, template);
}

static expression *fill_template(struct seatbelt_machine *machine, expression *template,
                                 struct seatbelt_environment *environment, uint32_t depth)
{
    if (depth > TEMPLATE_DEPTH_MOST)
        return seatbelt_fail(machine, template, "the profile is nested too deeply");
    if (is_call_of(template, "unquote"))
        return seatbelt_evaluate(machine, head(tail_of(template)), environment);
    if (is_call_of(template, "quasiquote"))
        return seatbelt_fail(machine, template, "a quasiquote inside another is not supported");
    if (template->kind == SEATBELT_VALUE_PAIR)
        return fill_pair(machine, template, environment, depth);
    return template;
}

static expression *form_quasiquote(struct seatbelt_machine *machine, expression *at,
                                   struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 1, 1))
        return NULL;
    return fill_template(machine, head(tail_of(at)), environment, 0);
}

/* (debug deny): once printed, now nothing. */
static expression *form_debug(struct seatbelt_machine *machine, expression *at,
                              struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)environment, (void)tail;
    return seatbelt_nothing(machine, at);
}

/* The body of with-filter and its like, in the scope of one more thing around its rules. */
static expression *form_with(struct seatbelt_machine *machine, expression *at,
                             struct seatbelt_environment *environment, struct seatbelt_tail *tail)
{
    (void)tail;
    if (!has_parts(machine, at, 1, SEATBELT_ANY_NUMBER))
        return NULL;
    expression *value = seatbelt_evaluate(machine, head(tail_of(at)), environment);
    if (value == NULL)
        return NULL;
    struct seatbelt_surrounding surrounding = {.outer = machine->surrounding, .value = value};
    /* cppcheck-suppress autoVariables */
    machine->surrounding = &surrounding;
    for (expression *body = tail_of(tail_of(at)); body->kind == SEATBELT_VALUE_PAIR; body = tail_of(body))
        if (seatbelt_evaluate(machine, head(body), environment) == NULL)
            break;
    machine->surrounding = surrounding.outer;
    return machine->failed ? NULL : seatbelt_nothing(machine, at);
}

const struct seatbelt_builtin seatbelt_forms[] = {
    {.name = "quote", .form = form_quote},
    {.name = "quasiquote", .form = form_quasiquote},
    {.name = "if", .form = form_if},
    {.name = "when", .form = form_when},
    {.name = "unless", .form = form_unless},
    {.name = "cond", .form = form_cond},
    {.name = "and", .form = form_and},
    {.name = "or", .form = form_or},
    {.name = "begin", .form = form_begin},
    {.name = "lambda", .form = form_lambda},
    {.name = "define", .form = form_define},
    {.name = "macro", .form = form_macro},
    {.name = "set!", .form = form_set},
    {.name = "let", .form = form_let},
    {.name = "let*", .form = form_let_star},
    {.name = "letrec", .form = form_letrec},
    {.name = "debug", .form = form_debug},
    {.name = "with-filter", .form = form_with},
    {.name = "with-modifier", .form = form_with},
    {.name = "with-operations", .form = form_with},
    {.name = NULL},
};
