#include "runtime/windows/evidence.h"

#include "base/vector.h"

#include <string.h>

static const char *of_files(struct arena *arena, const struct evidence_facts *facts)
{
    const struct windows_spec *spec = facts->resolved->spec;

    return arena_format(
        arena,
        "the descriptors of %u objects and %u patterns were read back and judged, and a process "
        "under the same token tried them",
        (unsigned)spec->object_count, (unsigned)spec->match_count);
}

static const char *of_network(struct arena *arena, const struct evidence_facts *facts)
{
    const struct windows_spec *spec = facts->resolved->spec;

    return arena_format(
        arena, "the process's AppContainer has%s%s%s%s", spec->capabilities == 0 ? " no capability" : "",
        (spec->capabilities & WINDOWS_INTERNET_CLIENT) != 0 ? " internetClient" : "",
        (spec->capabilities & WINDOWS_INTERNET_CLIENT_SERVER) != 0 ? " internetClientServer" : "",
        (spec->capabilities & WINDOWS_PRIVATE_NETWORK) != 0 ? " privateNetworkClientServer" : "");
}

static const char *of_variables(struct arena *arena, const struct evidence_facts *facts)
{
    return arena_format(arena, "the process was given %u variables", (unsigned)facts->variables);
}

static const char *of_scratch(struct arena *arena, const struct evidence_facts *facts)
{
    return arena_format(arena, "the descriptor of %s was read back",
                        facts->scratch == NULL ? "none" : facts->scratch);
}

static const char *of_limits(struct arena *arena, const struct evidence_facts *facts)
{
    const struct windows_spec *spec = facts->resolved->spec;

    return arena_format(arena, "the job's limits were read back: %llu processes, %llu bytes (0: any)",
                        (unsigned long long)spec->processes, (unsigned long long)spec->memory);
}

static const char *of_time(struct arena *arena, const struct evidence_facts *facts)
{
    return arena_format(arena, "the launcher ends the job after %llu milliseconds",
                        (unsigned long long)facts->resolved->spec->time);
}

static const char *of_tree(struct arena *arena, const struct evidence_facts *facts)
{
    (void)facts;
    return arena_strdup(arena, "the process is in a job that ends with the launcher and that nothing leaves");
}

static const char *of_terminal(struct arena *arena, const struct evidence_facts *facts)
{
    (void)facts;
    return arena_strdup(arena,
                        "the process was given three pipes, a desktop and a hidden console of its own");
}

static const char *of_token(struct arena *arena, const struct evidence_facts *facts)
{
    return arena_format(arena, "the token of the process was read back: tier %s",
                        windows_tier_names[facts->resolved->spec->tier]);
}

/* By the beginning of a control's name; the first that fits. */
static const struct {
    const char *control;
    const char *(*text)(struct arena *arena, const struct evidence_facts *facts);
} sources[] = {
    {"fs.", of_files},         {"exec.", of_files},     {"net.", of_network},    {"listen", of_network},
    {"env", of_variables},     {"scratch", of_scratch}, {"limit.time", of_time}, {"limit.", of_limits},
    {"process.tree", of_tree}, {"tty", of_terminal},    {"", of_token},
};

static int name_index(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static const char *evidence_of(struct arena *arena, const struct evidence_facts *facts, const char *control)
{
    size_t i = 0;

    if (!facts->verified)
        return "nothing: this is the build for tests";
    while (strncmp(control, sources[i].control, strlen(sources[i].control)) != 0)
        i++;
    return sources[i].text(arena, facts);
}

const char *evidence_list(struct arena *arena, const struct evidence_facts *facts,
                          struct lease_control_list *controls)
{
    const struct windows_spec *spec = facts->resolved->spec;

    for (uint32_t i = 0; i < spec->claim_count; i++) {
        int control = name_index(control_names, CONTROLS, spec->claims[i].control);
        int strength = name_index(strength_names, STRENGTH_UNENFORCEABLE, spec->claims[i].strength);
        if (control < 0 || strength < 0)
            return spec->claims[i].control;
        VECTOR_PUSH(arena, controls,
                    (struct lease_control){.control = (enum control)control,
                                           .how = (enum strength)strength,
                                           .evidence = evidence_of(arena, facts, spec->claims[i].control)});
    }
    return NULL;
}
