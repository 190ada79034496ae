/* The procedures on lists, numbers and truth. */
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

typedef const struct seatbelt_value expression;

/* Of what is calculated, so that nothing overflows. */
static const int64_t number_most = INT64_C(1) << 31;

static expression *make_list(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    expression *list = seatbelt_value(machine, SEATBELT_VALUE_NIL, at);
    for (uint32_t i = arguments->count; i-- > 0;)
        list = seatbelt_pair(machine, arguments->items[i], list, at);
    return list;
}

static expression *make_pair(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    return seatbelt_pair(machine, arguments->items[0], arguments->items[1], at);
}

/* car, cdr and their compositions: the letters between c and r, from the last to the first. */
static expression *take_part(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    const char *name = arguments->self->name;
    expression *value = arguments->items[0];
    for (size_t i = strlen(name) - 2; i > 0; i--) {
        if (value->kind != SEATBELT_VALUE_PAIR)
            return seatbelt_fail(machine, at, "%s: argument 1 must be: pair", name);
        value = name[i] == 'a' ? value->as.pair.head : value->as.pair.tail;
    }
    return value;
}

#define ASKED(function, condition)                                                                           \
    static expression *function(struct seatbelt_machine *machine, expression *at,                            \
                                const struct seatbelt_arguments *arguments)                                  \
    {                                                                                                        \
        expression *value = arguments->items[0];                                                             \
        return seatbelt_boolean(machine, (condition), at);                                                   \
    }
ASKED(is_null, value->kind == SEATBELT_VALUE_NIL)
ASKED(is_pair, value->kind == SEATBELT_VALUE_PAIR)
ASKED(is_list, seatbelt_length(value) != UINT32_MAX)
ASKED(is_string, value->kind == SEATBELT_VALUE_STRING)
ASKED(is_symbol, value->kind == SEATBELT_VALUE_SYMBOL)
ASKED(is_number, value->kind == SEATBELT_VALUE_NUMBER)
ASKED(is_boolean, value->kind == SEATBELT_VALUE_BOOLEAN)
ASKED(is_procedure, value->kind == SEATBELT_VALUE_CLOSURE || value->kind == SEATBELT_VALUE_PRIMITIVE)
ASKED(is_false, !seatbelt_is_true(value))
#undef ASKED

static expression *make_number(struct seatbelt_machine *machine, expression *at, int64_t number)
{
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_NUMBER, at);
    value->as.number = number;
    return value;
}

/* A proper list whose items count as steps; UINT32_MAX and failed if it is none. */
static uint32_t list_length(struct seatbelt_machine *machine, expression *at, expression *list,
                            const char *name)
{
    uint32_t length = seatbelt_length(list);
    if (length == UINT32_MAX)
        (void)seatbelt_fail(machine, at, "%s: argument must be: list", name);
    else
        machine->steps += length;
    return length;
}

static expression *take_length(struct seatbelt_machine *machine, expression *at,
                               const struct seatbelt_arguments *arguments)
{
    uint32_t length = list_length(machine, at, arguments->items[0], "length");
    return length == UINT32_MAX ? NULL : make_number(machine, at, length);
}

static expression *reverse_before(struct seatbelt_machine *machine, expression *at, expression *list,
                                  expression *rest)
{
    for (; list->kind == SEATBELT_VALUE_PAIR; list = list->as.pair.tail)
        rest = seatbelt_pair(machine, list->as.pair.head, rest, at);
    return rest;
}

static expression *reverse(struct seatbelt_machine *machine, expression *at,
                           const struct seatbelt_arguments *arguments)
{
    if (list_length(machine, at, arguments->items[0], "reverse") == UINT32_MAX)
        return NULL;
    return reverse_before(machine, at, arguments->items[0], seatbelt_value(machine, SEATBELT_VALUE_NIL, at));
}

static expression *append(struct seatbelt_machine *machine, expression *at,
                          const struct seatbelt_arguments *arguments)
{
    expression *nil = seatbelt_value(machine, SEATBELT_VALUE_NIL, at), *list = nil;
    for (uint32_t i = arguments->count; i-- > 0;) {
        if (list_length(machine, at, arguments->items[i], "append") == UINT32_MAX)
            return NULL;
        list = reverse_before(machine, at, reverse_before(machine, at, arguments->items[i], nil), list);
    }
    return list;
}

/* Calls the procedure with the next item of each list; NULL with `*ended` set once one list has ended. */
static expression *call_with_next(struct seatbelt_machine *machine, expression *at, expression *procedure,
                                  expression **lists, uint32_t count, bool *ended)
{
    expression **items = arena_array(machine->arena, count, sizeof(void *));
    for (uint32_t i = 0; i < count; i++) {
        if (lists[i]->kind != SEATBELT_VALUE_PAIR) {
            *ended = true;
            return NULL;
        }
        items[i] = lists[i]->as.pair.head;
        lists[i] = lists[i]->as.pair.tail;
    }
    if (!seatbelt_step(machine, at))
        return NULL;
    return seatbelt_apply(machine, procedure, at,
                          &(struct seatbelt_arguments){.items = items, .count = count});
}

static expression *map(struct seatbelt_machine *machine, expression *at,
                       const struct seatbelt_arguments *arguments)
{
    uint32_t count = arguments->count - 1;
    expression **lists = arena_array(machine->arena, count, sizeof(void *));
    expression *nil = seatbelt_value(machine, SEATBELT_VALUE_NIL, at), *results = nil;
    bool ended = false;
    memcpy(lists, arguments->items + 1, count * sizeof(void *));
    for (;;) {
        expression *result = call_with_next(machine, at, arguments->items[0], lists, count, &ended);
        if (result == NULL)
            return ended ? reverse_before(machine, at, results, nil) : NULL;
        results = seatbelt_pair(machine, result, results, at);
    }
}

static expression *for_each(struct seatbelt_machine *machine, expression *at,
                            const struct seatbelt_arguments *arguments)
{
    return map(machine, at, arguments) == NULL ? NULL : seatbelt_nothing(machine, at);
}

static expression *apply(struct seatbelt_machine *machine, expression *at,
                         const struct seatbelt_arguments *arguments)
{
    expression *list = arguments->items[arguments->count - 1];
    uint32_t length = list_length(machine, at, list, "apply"), before = arguments->count - 2;
    if (length == UINT32_MAX)
        return NULL;
    expression **items = arena_array(machine->arena, (size_t)before + length + 1, sizeof(void *));
    memcpy(items, arguments->items + 1, before * sizeof(void *));
    for (uint32_t i = before; list->kind == SEATBELT_VALUE_PAIR; list = list->as.pair.tail)
        items[i++] = list->as.pair.head;
    return seatbelt_apply(machine, arguments->items[0], at,
                          &(struct seatbelt_arguments){.items = items, .count = before + length});
}

static bool equal_texts(const struct seatbelt_text *a, const struct seatbelt_text *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

enum { EQUAL_DEPTH_MOST = 500 };

/* `deep`: lists and strings by what they hold. */
static bool is_same(struct seatbelt_machine *machine, expression *a, expression *b, bool deep, uint32_t depth)
{
    for (; a != b; a = a->as.pair.tail, b = b->as.pair.tail) {
        if (a->kind != b->kind || depth > EQUAL_DEPTH_MOST || !seatbelt_step(machine, a))
            return false;
        if (a->kind == SEATBELT_VALUE_NIL)
            return true;
        if (a->kind == SEATBELT_VALUE_BOOLEAN)
            return a->as.boolean == b->as.boolean;
        if (a->kind == SEATBELT_VALUE_NUMBER || a->kind == SEATBELT_VALUE_CHARACTER)
            return a->as.number == b->as.number;
        if (a->kind == SEATBELT_VALUE_SYMBOL)
            return a->as.symbol == b->as.symbol;
        if (a->kind == SEATBELT_VALUE_OPERATION)
            return a->as.operation == b->as.operation;
        if (a->kind == SEATBELT_VALUE_STRING)
            return deep && equal_texts(&a->as.string, &b->as.string);
        if (a->kind != SEATBELT_VALUE_PAIR || !deep ||
            !is_same(machine, a->as.pair.head, b->as.pair.head, deep, depth + 1))
            return false;
    }
    return true;
}

static expression *is_identical(struct seatbelt_machine *machine, expression *at,
                                const struct seatbelt_arguments *arguments)
{
    return seatbelt_boolean(machine, is_same(machine, arguments->items[0], arguments->items[1], false, 0),
                            at);
}

static expression *is_equal(struct seatbelt_machine *machine, expression *at,
                            const struct seatbelt_arguments *arguments)
{
    return seatbelt_boolean(machine, is_same(machine, arguments->items[0], arguments->items[1], true, 0), at);
}

static bool are_numbers(struct seatbelt_machine *machine, expression *at,
                        const struct seatbelt_arguments *arguments)
{
    const char *name = arguments->self->name;
    for (uint32_t i = 0; i < arguments->count; i++) {
        if (arguments->items[i]->kind != SEATBELT_VALUE_NUMBER)
            return seatbelt_fail(machine, at, "%s: argument %u must be: number", name, i + 1) != NULL;
        if (arguments->items[i]->as.number > number_most || arguments->items[i]->as.number < -number_most)
            return seatbelt_fail(machine, at, "%s: argument %u is too large", name, i + 1) != NULL;
    }
    return true;
}

enum comparison { EQUAL, LESS, GREATER, AT_MOST, AT_LEAST };

static bool compared(enum comparison comparison, int64_t a, int64_t b)
{
    const bool holds[] = {
        [EQUAL] = a == b,
        [LESS] = a<b, [GREATER] = a> b,
        [AT_MOST] = a <= b,
        [AT_LEAST] = a >= b,
    };
    return holds[comparison];
}

static expression *compare(struct seatbelt_machine *machine, expression *at,
                           const struct seatbelt_arguments *arguments)
{
    bool holds = true;
    if (!are_numbers(machine, at, arguments))
        return NULL;
    for (uint32_t i = 1; i < arguments->count; i++)
        holds = holds && compared((enum comparison)arguments->self->choice,
                                  arguments->items[i - 1]->as.number, arguments->items[i]->as.number);
    return seatbelt_boolean(machine, holds, at);
}

static expression *calculated(struct seatbelt_machine *machine, expression *at, int64_t number)
{
    if (number > number_most || number < -number_most)
        return seatbelt_fail(machine, at, "a number is too large");
    return make_number(machine, at, number);
}

static expression *add(struct seatbelt_machine *machine, expression *at,
                       const struct seatbelt_arguments *arguments)
{
    int64_t sum = 0;
    if (!are_numbers(machine, at, arguments))
        return NULL;
    for (uint32_t i = 0; i < arguments->count; i++)
        sum += arguments->items[i]->as.number;
    return calculated(machine, at, sum);
}

static expression *subtract(struct seatbelt_machine *machine, expression *at,
                            const struct seatbelt_arguments *arguments)
{
    if (!are_numbers(machine, at, arguments))
        return NULL;
    int64_t difference = arguments->items[0]->as.number;
    if (arguments->count == 1)
        difference = -difference;
    for (uint32_t i = 1; i < arguments->count; i++)
        difference -= arguments->items[i]->as.number;
    return calculated(machine, at, difference);
}

static expression *multiply(struct seatbelt_machine *machine, expression *at,
                            const struct seatbelt_arguments *arguments)
{
    expression *product = make_number(machine, at, 1);
    if (!are_numbers(machine, at, arguments))
        return NULL;
    for (uint32_t i = 0; i < arguments->count && product != NULL; i++)
        product = calculated(machine, at, product->as.number * arguments->items[i]->as.number);
    return product;
}

const struct seatbelt_builtin seatbelt_primitives[] = {
    {.name = "list", .primitive = make_list, .most = SEATBELT_ANY_NUMBER},
    {.name = "cons", .primitive = make_pair, .least = 2, .most = 2},
    {.name = "car", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cdr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "caar", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cadr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cdar", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cddr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "caddr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cdddr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "cadddr", .primitive = take_part, .least = 1, .most = 1},
    {.name = "null?", .primitive = is_null, .least = 1, .most = 1},
    {.name = "pair?", .primitive = is_pair, .least = 1, .most = 1},
    {.name = "list?", .primitive = is_list, .least = 1, .most = 1},
    {.name = "string?", .primitive = is_string, .least = 1, .most = 1},
    {.name = "symbol?", .primitive = is_symbol, .least = 1, .most = 1},
    {.name = "number?", .primitive = is_number, .least = 1, .most = 1},
    {.name = "boolean?", .primitive = is_boolean, .least = 1, .most = 1},
    {.name = "procedure?", .primitive = is_procedure, .least = 1, .most = 1},
    {.name = "not", .primitive = is_false, .least = 1, .most = 1},
    {.name = "length", .primitive = take_length, .least = 1, .most = 1},
    {.name = "reverse", .primitive = reverse, .least = 1, .most = 1},
    {.name = "append", .primitive = append, .most = SEATBELT_ANY_NUMBER},
    {.name = "map", .primitive = map, .least = 2, .most = SEATBELT_ANY_NUMBER},
    {.name = "for-each", .primitive = for_each, .least = 2, .most = SEATBELT_ANY_NUMBER},
    {.name = "apply", .primitive = apply, .least = 2, .most = SEATBELT_ANY_NUMBER},
    {.name = "eq?", .primitive = is_identical, .least = 2, .most = 2},
    {.name = "eqv?", .primitive = is_identical, .least = 2, .most = 2},
    {.name = "equal?", .primitive = is_equal, .least = 2, .most = 2},
    {.name = "=", .primitive = compare, .choice = EQUAL, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = "<", .primitive = compare, .choice = LESS, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = ">", .primitive = compare, .choice = GREATER, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = "<=", .primitive = compare, .choice = AT_MOST, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = ">=", .primitive = compare, .choice = AT_LEAST, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = "+", .primitive = add, .most = SEATBELT_ANY_NUMBER},
    {.name = "-", .primitive = subtract, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = "*", .primitive = multiply, .most = SEATBELT_ANY_NUMBER},
    {.name = NULL},
};
