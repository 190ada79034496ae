#include "emitters/seatbelt_value.h"

#include <stdarg.h>

enum { STEPS_MOST = 10 * 1000 * 1000 };
enum { MEMORY_MOST = 256 * 1024 * 1024 };

void seatbelt_fail_at(struct seatbelt_machine *machine, uint32_t line, uint32_t column, const char *text)
{
    if (machine->failed)
        return;
    machine->failed = true;
    if (machine->import_line > 0) {
        text = arena_format(machine->arena, "%s (in %s, line %u)", text, machine->source, line);
        line = machine->import_line;
        column = 1;
    }
    *machine->error = (struct seatbelt_error){.text = text, .line = line, .column = column};
}

const struct seatbelt_value *seatbelt_fail(struct seatbelt_machine *machine, const struct seatbelt_value *at,
                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vformat(machine->arena, format, arguments);
    va_end(arguments);
    seatbelt_fail_at(machine, at != NULL ? at->line : 0, at != NULL ? at->column : 0, text);
    return NULL;
}

const struct seatbelt_value *seatbelt_fail_unbound(struct seatbelt_machine *machine,
                                                   const struct seatbelt_value *symbol)
{
    return seatbelt_fail(machine, symbol, "unbound variable: %s at %s, line %u, column %u", symbol->as.symbol,
                         machine->source, symbol->line, symbol->column);
}

bool seatbelt_step(struct seatbelt_machine *machine, const struct seatbelt_value *at)
{
    if (++machine->steps > STEPS_MOST)
        return seatbelt_fail(machine, at, "the profile takes too many steps") != NULL;
    if (arena_used(machine->arena) - machine->memory_before > MEMORY_MOST)
        return seatbelt_fail(machine, at, "the profile takes too much memory") != NULL;
    return !machine->failed;
}

struct seatbelt_value *seatbelt_value(struct seatbelt_machine *machine, enum seatbelt_kind kind,
                                      const struct seatbelt_value *at)
{
    struct seatbelt_value *value = arena_alloc(machine->arena, sizeof *value);
    value->kind = kind;
    value->line = at != NULL ? at->line : 0;
    value->column = at != NULL ? at->column : 0;
    return value;
}

const struct seatbelt_value *seatbelt_pair(struct seatbelt_machine *machine,
                                           const struct seatbelt_value *head,
                                           const struct seatbelt_value *tail, const struct seatbelt_value *at)
{
    struct seatbelt_value *pair = seatbelt_value(machine, SEATBELT_VALUE_PAIR, at);
    pair->as.pair.head = head;
    pair->as.pair.tail = tail;
    return pair;
}

const struct seatbelt_value *seatbelt_boolean(struct seatbelt_machine *machine, bool truth,
                                              const struct seatbelt_value *at)
{
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_BOOLEAN, at);
    value->as.boolean = truth;
    return value;
}

const struct seatbelt_value *seatbelt_nothing(struct seatbelt_machine *machine,
                                              const struct seatbelt_value *at)
{
    return seatbelt_value(machine, SEATBELT_VALUE_NOTHING, at);
}

const struct seatbelt_value *seatbelt_filter_value(struct seatbelt_machine *machine,
                                                   const struct seatbelt_filter *filter,
                                                   const struct seatbelt_value *at)
{
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_FILTER, at);
    value->as.filter = filter;
    return value;
}

const char *seatbelt_type(const struct seatbelt_value *value)
{
    static const char *const types[] = {
        [SEATBELT_VALUE_NIL] = "list",
        [SEATBELT_VALUE_BOOLEAN] = "boolean",
        [SEATBELT_VALUE_NUMBER] = "number",
        [SEATBELT_VALUE_CHARACTER] = "character",
        [SEATBELT_VALUE_STRING] = "string",
        [SEATBELT_VALUE_SYMBOL] = "symbol",
        [SEATBELT_VALUE_PAIR] = "list",
        [SEATBELT_VALUE_FORM] = "syntax",
        [SEATBELT_VALUE_PRIMITIVE] = "procedure",
        [SEATBELT_VALUE_CLOSURE] = "procedure",
        [SEATBELT_VALUE_MACRO] = "macro",
        [SEATBELT_VALUE_OPERATION] = "operation",
        [SEATBELT_VALUE_FILTER] = "filter",
        [SEATBELT_VALUE_MODIFIER] = "modifier",
        [SEATBELT_VALUE_CONSTANT] = "constant",
        [SEATBELT_VALUE_NOTHING] = "nothing",
        [SEATBELT_VALUE_PENDING] = "nothing",
    };
    return types[value->kind];
}

bool seatbelt_is_true(const struct seatbelt_value *value)
{
    return value->kind != SEATBELT_VALUE_BOOLEAN || value->as.boolean;
}

uint32_t seatbelt_length(const struct seatbelt_value *list)
{
    uint32_t length = 0;
    for (; list->kind == SEATBELT_VALUE_PAIR; list = list->as.pair.tail)
        length++;
    return list->kind == SEATBELT_VALUE_NIL ? length : UINT32_MAX;
}
