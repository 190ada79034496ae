#include "base/vector.h"
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

/* Interned names by their address; at most half of the slots are taken. */
struct seatbelt_globals {
    struct seatbelt_binding *slots;
    uint32_t size, count;
};

enum { GLOBALS_EXPECTED = 2048 };

static struct seatbelt_binding *slot_of(const struct seatbelt_globals *globals, const char *name)
{
    uint64_t hash = (uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (globals->size - 1);
    while (globals->slots[at].name != NULL && globals->slots[at].name != name)
        at = (at + 1) & (globals->size - 1);
    return &globals->slots[at];
}

static void globals_grow(struct seatbelt_machine *machine)
{
    struct seatbelt_globals old = *machine->globals;
    machine->globals->size = old.size * 2;
    machine->globals->slots =
        arena_array(machine->arena, machine->globals->size, sizeof *machine->globals->slots);
    for (uint32_t i = 0; i < old.size; i++)
        if (old.slots[i].name != NULL)
            *slot_of(machine->globals, old.slots[i].name) = old.slots[i];
}

void seatbelt_define(struct seatbelt_machine *machine, const char *name, const struct seatbelt_value *value)
{
    if (machine->globals->count * 2 >= machine->globals->size)
        globals_grow(machine);
    struct seatbelt_binding *slot = slot_of(machine->globals, name);
    machine->globals->count += slot->name == NULL;
    *slot = (struct seatbelt_binding){name, value};
}

/* What is looked through counts as steps, so that large scopes do not make a profile slow. */
static struct seatbelt_binding *find_here(struct seatbelt_machine *machine,
                                          const struct seatbelt_environment *environment, const char *name)
{
    machine->steps += environment->bindings.count;
    for (uint32_t i = environment->bindings.count; i-- > 0;)
        if (environment->bindings.items[i].name == name)
            return &environment->bindings.items[i];
    return NULL;
}

static struct seatbelt_binding *find_local(struct seatbelt_machine *machine,
                                           const struct seatbelt_environment *environment, const char *name)
{
    struct seatbelt_binding *found = NULL;
    for (; environment != NULL && found == NULL; environment = environment->outer) {
        found = find_here(machine, environment, name);
        machine->steps++;
    }
    return found;
}

const struct seatbelt_value *seatbelt_find(struct seatbelt_machine *machine, const char *name,
                                           const struct seatbelt_environment *environment)
{
    const struct seatbelt_binding *local = find_local(machine, environment, name);
    return local != NULL ? local->value : slot_of(machine->globals, name)->value;
}

struct seatbelt_environment *seatbelt_scope(struct seatbelt_machine *machine,
                                            struct seatbelt_environment *outer)
{
    struct seatbelt_environment *environment = arena_alloc(machine->arena, sizeof *environment);
    environment->outer = outer;
    return environment;
}

void seatbelt_bind(struct seatbelt_machine *machine, struct seatbelt_environment *environment,
                   const char *name, const struct seatbelt_value *value)
{
    if (environment == NULL) {
        seatbelt_define(machine, name, value);
        return;
    }
    struct seatbelt_binding *bound = find_here(machine, environment, name);
    if (bound != NULL)
        bound->value = value;
    else
        VECTOR_PUSH(machine->arena, &environment->bindings, (struct seatbelt_binding){name, value});
}

bool seatbelt_assign(struct seatbelt_machine *machine, struct seatbelt_environment *environment,
                     const char *name, const struct seatbelt_value *value)
{
    struct seatbelt_binding *local = find_local(machine, environment, name);
    if (local == NULL && slot_of(machine->globals, name)->name == NULL)
        return false;
    if (local != NULL)
        local->value = value;
    else
        seatbelt_define(machine, name, value);
    return true;
}

static void define_new(struct seatbelt_machine *machine, const char *name, enum seatbelt_kind kind,
                       const struct seatbelt_value *filled)
{
    struct seatbelt_value *value = seatbelt_value(machine, kind, NULL);
    value->as = filled->as;
    seatbelt_define(machine, intern_string(machine->names, name), value);
}

static void define_builtins(struct seatbelt_machine *machine, const struct seatbelt_builtin *builtins)
{
    for (; builtins->name != NULL; builtins++)
        define_new(machine, builtins->name,
                   builtins->form != NULL ? SEATBELT_VALUE_FORM : SEATBELT_VALUE_PRIMITIVE,
                   &(struct seatbelt_value){.as.builtin = builtins});
}

static void define_operations(struct seatbelt_machine *machine)
{
    for (uint32_t i = 0; i < SEATBELT_OPERATIONS; i++)
        define_new(machine, seatbelt_operations[i].name, SEATBELT_VALUE_OPERATION,
                   &(struct seatbelt_value){.as.operation = (enum seatbelt_operation)i});
    for (const struct seatbelt_operation_alias *alias = seatbelt_operation_aliases; alias->name != NULL;
         alias++)
        define_new(machine, alias->name, SEATBELT_VALUE_OPERATION,
                   &(struct seatbelt_value){.as.operation = alias->operation});
}

void seatbelt_globals_create(struct seatbelt_machine *machine)
{
    machine->globals = arena_alloc(machine->arena, sizeof *machine->globals);
    machine->globals->size = GLOBALS_EXPECTED;
    machine->globals->slots = arena_array(machine->arena, GLOBALS_EXPECTED, sizeof *machine->globals->slots);
    define_builtins(machine, seatbelt_forms);
    define_builtins(machine, seatbelt_primitives);
    define_builtins(machine, seatbelt_text_primitives);
    define_builtins(machine, seatbelt_filter_primitives);
    define_builtins(machine, seatbelt_rule_primitives);
    define_operations(machine);
    for (const struct seatbelt_constant *constant = seatbelt_constants; constant->name != NULL; constant++)
        define_new(machine, constant->name, SEATBELT_VALUE_CONSTANT,
                   &(struct seatbelt_value){.as.constant = constant});
}
