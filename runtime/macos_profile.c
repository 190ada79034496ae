#include "runtime/macos_profile.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/seatbelt.h"
#include "runtime/launch_steps.h"

#include <string.h>

/* The line of the profile's header that begins with `start`, without it; NULL if there is none. */
static const char *header_line(struct arena *arena, const char *profile, const char *start)
{
    const char *at = strstr(profile, start);

    return at == NULL || (at != profile && at[-1] != '\n')
               ? NULL
               : arena_copy(arena, at + strlen(start), strcspn(at + strlen(start), "\n"));
}

/* With all roots bound their order is that of their paths, and binding has compared them. A condition that is left
 * speaks of a root that has no value, so nobody knows whether it is met. */
static bool conditions_hold(struct launch *launch, const char *profile)
{
    const char *condition = header_line(launch->arena, profile, "; requires: ");

    return condition == NULL ||
           launch_refuse(launch, SBX438_ROOTS_LIE_OTHERWISE,
                         arena_format(launch->arena, "it is not known that %s", condition),
                         "name the roots: --root NAME=PATH");
}

static bool is_required(const struct launch *launch, const char *profile)
{
    for (const char *at = profile; (at = strstr(at, "\n; parameter: ")) != NULL; at++) {
        size_t length = strcspn(at + 1, "\n");
        const char *line = arena_copy(launch->arena, at + 1, length);
        if (strstr(line, " required - ") != NULL)
            return true;
    }
    return false;
}

const char *macos_profile(struct launch *launch)
{
    struct buffer text = buffer_in(launch->arena);
    struct emit_request request = {.arena = launch->arena,
                                   .policy = launch->prepared.policy,
                                   .bound = launch->prepared.bound,
                                   .version = SBX_VERSION,
                                   .architecture = "",
                                   .output_name = "",
                                   .accepted = launch->accepted,
                                   .notes = &launch->notes};

    if (!emit_seatbelt_launch(&request, &text))
        return NULL;
    if (!conditions_hold(launch, text.bytes))
        return NULL;
    if (is_required(launch, text.bytes)) {
        launch_refuse(launch, SBX438_ROOTS_LIE_OTHERWISE, "a root that the profile needs has no value",
                      "name it: --root NAME=PATH");
        return NULL;
    }
    return text.bytes;
}

/* What was looked at here, control by control; NULL: what sandbox-exec said of the profile. */
static const char *own_evidence(const struct launch *launch, enum control control)
{
    struct arena *arena = launch->arena;

    if (control == CONTROL_ENV)
        return arena_format(arena, "sandbox-exec is executed with %u variables and no others",
                            launch->variables.count);
    if (control == CONTROL_SCRATCH)
        return arena_format(arena, "%s, made empty for this run", escape_string(arena, launch->scratch.path));
    if (control == CONTROL_PROCESS_TREE)
        return "a process group of its own, with a guard that ends it when the launcher ends; what leaves "
               "the "
               "group is not found";
    if (control == CONTROL_LIMIT_TIME)
        return arena_format(arena, "the launcher ends the process group after %llu seconds",
                            (unsigned long long)bound_limit(launch->prepared.bound, RULE_LIMIT_TIME));
    if (control == CONTROL_LIMIT_FILES)
        return arena_format(arena, "RLIMIT_NOFILE is set to %llu before sandbox-exec is executed",
                            (unsigned long long)bound_limit(launch->prepared.bound, RULE_LIMIT_FILES));
    return NULL;
}

void macos_evidence(struct launch *launch, const char *profile, const char *said,
                    struct lease_control_list *list)
{
    const char *taken = arena_format(
        launch->arena,
        "sandbox-exec took the profile of %zu bytes and then could not execute /dev/null under it: %s",
        strlen(profile), said);

    for (enum control control = 0; control < CONTROLS; control++) {
        if (!launch->needs[control].needed || launch->accepted[control] != NULL)
            continue;
        struct control_entry entry =
            control_entry_of(launch->prepared.bound, CONTROL_TARGET_SEATBELT, control);
        const char *evidence = own_evidence(launch, control);
        if (control == CONTROL_FS_DENY && launch->facts.hard_links)
            entry.strength = STRENGTH_SNAPSHOT;
        VECTOR_PUSH(launch->arena, list,
                    (struct lease_control){.control = control,
                                           .how = entry.strength,
                                           .evidence = evidence != NULL ? evidence : taken});
    }
}
