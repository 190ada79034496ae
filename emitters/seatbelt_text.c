/* The procedures on strings, parameters and names, and the header and imports of a profile. */
#include "base/buffer.h"
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

typedef const struct seatbelt_value expression;

/* Of one string, and of imports inside imports. */
enum { TEXT_MOST = 65535, IMPORTS_MOST = 16 };

static expression *make_string(struct seatbelt_machine *machine, expression *at, const char *bytes,
                               size_t length)
{
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_STRING, at);
    value->as.string = (struct seatbelt_text){arena_copy(machine->arena, bytes, length), length};
    return value;
}

/* Whether argument `i` is a string. */
static bool has_string(struct seatbelt_machine *machine, expression *at,
                       const struct seatbelt_arguments *arguments, uint32_t i)
{
    if (arguments->items[i]->kind == SEATBELT_VALUE_STRING)
        return true;
    return seatbelt_fail(machine, at, "%s: argument %u must be: string", arguments->self->name, i + 1) !=
           NULL;
}

static bool is_named(const struct seatbelt_text *text, const char *name)
{
    return text->length == strlen(name) && memcmp(text->bytes, name, text->length) == 0;
}

/* (param "NAME"): #f if it was not given. */
static expression *parameter(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    for (uint32_t i = 0; i < machine->parameter_count; i++)
        if (is_named(&arguments->items[0]->as.string, machine->parameters[i].name))
            return make_string(machine, at, machine->parameters[i].value,
                               strlen(machine->parameters[i].value));
    machine->steps += machine->parameter_count;
    return seatbelt_boolean(machine, false, at);
}

static expression *string_append(struct seatbelt_machine *machine, expression *at,
                                 const struct seatbelt_arguments *arguments)
{
    struct buffer out = buffer_in(machine->arena);
    for (uint32_t i = 0; i < arguments->count; i++) {
        if (!has_string(machine, at, arguments, i))
            return NULL;
        buffer_bytes(&out, arguments->items[i]->as.string.bytes, arguments->items[i]->as.string.length);
        if (out.length > TEXT_MOST)
            return seatbelt_fail(machine, at, "string-append: the string is too long");
    }
    return make_string(machine, at, out.length > 0 ? out.bytes : "", out.length);
}

static expression *string_equal(struct seatbelt_machine *machine, expression *at,
                                const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0) || !has_string(machine, at, arguments, 1))
        return NULL;
    const struct seatbelt_text *a = &arguments->items[0]->as.string, *b = &arguments->items[1]->as.string;
    return seatbelt_boolean(machine, a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0,
                            at);
}

static expression *string_length(struct seatbelt_machine *machine, expression *at,
                                 const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_NUMBER, at);
    value->as.number = (int64_t)arguments->items[0]->as.string.length;
    return value;
}

/* (substring TEXT BEGIN [END]) */
static expression *substring(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    const struct seatbelt_text *text = &arguments->items[0]->as.string;
    int64_t bounds[2] = {0, (int64_t)text->length};
    for (uint32_t i = 1; i < arguments->count; i++) {
        if (arguments->items[i]->kind != SEATBELT_VALUE_NUMBER)
            return seatbelt_fail(machine, at, "substring: argument %u must be: number", i + 1);
        bounds[i - 1] = arguments->items[i]->as.number;
    }
    if (bounds[0] < 0 || bounds[0] > bounds[1])
        return seatbelt_fail(machine, at, "substring: start out of bounds");
    if (bounds[1] > (int64_t)text->length)
        return seatbelt_fail(machine, at, "substring: end out of bounds");
    return make_string(machine, at, text->bytes + bounds[0], (size_t)(bounds[1] - bounds[0]));
}

static expression *number_to_string(struct seatbelt_machine *machine, expression *at,
                                    const struct seatbelt_arguments *arguments)
{
    if (arguments->items[0]->kind != SEATBELT_VALUE_NUMBER)
        return seatbelt_fail(machine, at, "number->string: argument 1 must be: number");
    const char *text = arena_format(machine->arena, "%lld", (long long)arguments->items[0]->as.number);
    return make_string(machine, at, text, strlen(text));
}

/* A decimal number, or #f. */
static expression *string_to_number(struct seatbelt_machine *machine, expression *at,
                                    const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    const struct seatbelt_text *text = &arguments->items[0]->as.string;
    int64_t number = 0;
    if (text->length == 0 || text->length > 9)
        return seatbelt_boolean(machine, false, at);
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] < '0' || text->bytes[i] > '9')
            return seatbelt_boolean(machine, false, at);
        number = number * 10 + (text->bytes[i] - '0');
    }
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_NUMBER, at);
    value->as.number = number;
    return value;
}

static expression *symbol_to_string(struct seatbelt_machine *machine, expression *at,
                                    const struct seatbelt_arguments *arguments)
{
    if (arguments->items[0]->kind != SEATBELT_VALUE_SYMBOL)
        return seatbelt_fail(machine, at, "symbol->string: argument 1 must be: symbol");
    return make_string(machine, at, arguments->items[0]->as.symbol, strlen(arguments->items[0]->as.symbol));
}

static expression *string_to_symbol(struct seatbelt_machine *machine, expression *at,
                                    const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_SYMBOL, at);
    value->as.symbol =
        intern(machine->names, arguments->items[0]->as.string.bytes, arguments->items[0]->as.string.length);
    return value;
}

/* A string in which every sign of an expression stands for itself. */
static expression *regex_quote(struct seatbelt_machine *machine, expression *at,
                               const struct seatbelt_arguments *arguments)
{
    struct buffer out = buffer_in(machine->arena);
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    const struct seatbelt_text *text = &arguments->items[0]->as.string;
    for (size_t i = 0; i < text->length; i++) {
        if (strchr("^.[$()|*+?{\\", text->bytes[i]) != NULL)
            buffer_byte(&out, '\\');
        buffer_byte(&out, text->bytes[i]);
    }
    return make_string(machine, at, out.length > 0 ? out.bytes : "", out.length);
}

/* (defined? 'name) */
static expression *is_defined(struct seatbelt_machine *machine, expression *at,
                              const struct seatbelt_arguments *arguments)
{
    if (arguments->items[0]->kind != SEATBELT_VALUE_SYMBOL)
        return seatbelt_fail(machine, at, "defined?: argument 1 must be: symbol");
    bool found = seatbelt_find(machine, arguments->items[0]->as.symbol, NULL) != NULL;
    return seatbelt_boolean(machine, found, at);
}

/* (error "text" ...): the profile refuses itself. */
static expression *raise_error(struct seatbelt_machine *machine, expression *at,
                               const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    return seatbelt_fail(machine, at, "%s", arguments->items[0]->as.string.bytes);
}

/* _IO and its like give the number of an ioctl or fsctl: a letter and a number. */
static expression *command_number(struct seatbelt_machine *machine, expression *at,
                                  const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    const struct seatbelt_text *group = &arguments->items[0]->as.string;
    if (group->length != 1 || arguments->items[1]->kind != SEATBELT_VALUE_NUMBER ||
        arguments->items[1]->as.number < 0 || arguments->items[1]->as.number > 255)
        return seatbelt_fail(machine, at, "_IO: needs a letter and a number below 256");
    struct seatbelt_value *value = seatbelt_value(machine, SEATBELT_VALUE_NUMBER, at);
    /* IOC_VOID, and no size */
    value->as.number =
        INT64_C(0x20000000) | (unsigned char)group->bytes[0] << 8 | arguments->items[1]->as.number;
    return value;
}

static expression *version(struct seatbelt_machine *machine, expression *at,
                           const struct seatbelt_arguments *arguments)
{
    if (machine->version_seen)
        return seatbelt_fail(machine, at, "only one version may be specified");
    if (arguments->items[0]->kind != SEATBELT_VALUE_NUMBER || arguments->items[0]->as.number != 1)
        return seatbelt_fail(machine, at, "unsupported version");
    machine->version_seen = true;
    return seatbelt_nothing(machine, at);
}

static expression *trace(struct seatbelt_machine *machine, expression *at,
                         const struct seatbelt_arguments *arguments)
{
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    if (machine->trace_seen)
        return seatbelt_fail(machine, at, "only one trace may be specified");
    machine->trace_seen = true;
    return seatbelt_nothing(machine, at);
}

/* An imported text may begin with a version of its own; its rules are those of the import's line. */
static bool evaluate_import(struct seatbelt_machine *machine, expression *at, const char *name,
                            const char *text, size_t length)
{
    const char *source = machine->source;
    uint32_t line = machine->import_line;
    machine->source = name;
    machine->import_line = line > 0 ? line : at->line;
    machine->version_seen = false;
    bool done = seatbelt_evaluate_text(machine, text, length);
    machine->version_seen = true;
    machine->import_line = line;
    machine->source = source;
    return done;
}

static expression *import(struct seatbelt_machine *machine, expression *at,
                          const struct seatbelt_arguments *arguments)
{
    size_t length = 0;
    if (!has_string(machine, at, arguments, 0))
        return NULL;
    const char *name = arguments->items[0]->as.string.bytes;
    const char *text = machine->resolve != NULL ? machine->resolve(machine->context, name, &length) : NULL;
    if (text == NULL)
        return seatbelt_fail(machine, at, "unable to open %s", name);
    if (++machine->import_depth > IMPORTS_MOST)
        return seatbelt_fail(machine, at, "imports are nested too deeply");
    bool done = evaluate_import(machine, at, name, text, length);
    machine->import_depth--;
    return done ? seatbelt_nothing(machine, at) : NULL;
}

const struct seatbelt_builtin seatbelt_text_primitives[] = {
    {.name = "param", .primitive = parameter, .least = 1, .most = 1},
    {.name = "getenv", .primitive = parameter, .least = 1, .most = 1},
    {.name = "string-append", .primitive = string_append, .most = SEATBELT_ANY_NUMBER},
    {.name = "string=?", .primitive = string_equal, .least = 2, .most = 2},
    {.name = "string-length", .primitive = string_length, .least = 1, .most = 1},
    {.name = "substring", .primitive = substring, .least = 2, .most = 3},
    {.name = "number->string", .primitive = number_to_string, .least = 1, .most = 1},
    {.name = "string->number", .primitive = string_to_number, .least = 1, .most = 1},
    {.name = "symbol->string", .primitive = symbol_to_string, .least = 1, .most = 1},
    {.name = "string->symbol", .primitive = string_to_symbol, .least = 1, .most = 1},
    {.name = "regex-quote", .primitive = regex_quote, .least = 1, .most = 1},
    {.name = "defined?", .primitive = is_defined, .least = 1, .most = 1},
    {.name = "error", .primitive = raise_error, .least = 1, .most = SEATBELT_ANY_NUMBER},
    {.name = "_IO", .primitive = command_number, .least = 2, .most = 2},
    {.name = "version", .primitive = version, .least = 1, .most = 1},
    {.name = "trace", .primitive = trace, .least = 1, .most = 1},
    {.name = "import", .primitive = import, .least = 1, .most = 1},
    {.name = NULL},
};
