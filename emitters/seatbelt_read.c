#include "emitters/seatbelt_read.h"

#include "base/vector.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_scheme.h"

#include <string.h>

/* macOS puts these before every profile: a process may signal itself and name its own task. */
static const char own_rules[] = "(allow signal (target self)) (allow mach-task-name (target self))";

static bool evaluate(struct seatbelt_machine *machine, const char *text, size_t length)
{
    seatbelt_globals_create(machine);
    machine->version_seen = true;
    if (!seatbelt_evaluate_text(machine, own_rules, strlen(own_rules)))
        return false;
    for (uint32_t i = 0; i < machine->profile->rules.count; i++)
        machine->profile->rules.items[i].line = 0;
    machine->version_seen = false;
    if (!seatbelt_evaluate_text(machine, text, length))
        return false;
    if (!machine->version_seen)
        seatbelt_fail_at(machine, 1, 1, "no version specified");
    return machine->version_seen;
}

struct seatbelt_profile *seatbelt_read(struct arena *arena, const char *text, size_t length,
                                       const struct seatbelt_parameter *parameters, uint32_t count,
                                       seatbelt_import *resolve, void *context, struct seatbelt_error *error)
{
    struct arena *own = arena_child(arena);
    struct seatbelt_profile *profile = arena_alloc(own, sizeof *profile);
    struct seatbelt_machine machine = {
        .arena = own,
        .names = intern_create(own, 0),
        .profile = profile,
        .parameters = parameters,
        .parameter_count = count,
        .resolve = resolve,
        .context = context,
        .error = error,
        .source = "<input string>",
        .memory_before = arena_used(own),
    };
    profile->arena = own;
    if (!evaluate(&machine, text, length)) {
        error->text = arena_strdup(arena, error->text);
        arena_destroy(own);
        return NULL;
    }
    seatbelt_decide_prepare(profile);
    return profile;
}
