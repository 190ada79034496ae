/* launch_plan.c - what a launch on Windows knows before it changes anything. */
#include "runtime/windows/launch_steps.h"

#include "runtime/report.h"
#include "runtime/windows/journal_store.h"
#include "runtime/windows/package.h"
#include "runtime/windows/program.h"
#include "runtime/windows/quote.h"
#include "runtime/windows/variables.h"
#include "runtime/windows/wide.h"

bool launch_refuse(struct launch *launch, enum code code, const char *text, const char *help)
{
    note_add(&launch->notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

/* ---- what is left of earlier runs ---- */

bool launch_open_state(struct arena *arena, struct journal_place *place, const char **state,
                       const char **error)
{
    *state = journal_state_directory(arena, error);
    if (*state == NULL)
        return false;
    *place = (struct journal_place){.arena = arena,
                                    .store = journal_store_open(arena, error),
                                    .acl = acl_windows(arena),
                                    .remove_package = package_remove};
    return place->store != NULL;
}

bool step_recover(struct launch *launch)
{
    struct journal_sentences done = {0}, left = {0};
    const char *error = NULL;

    if (!launch_open_state(launch->arena, &launch->place, &launch->state, &error))
        return launch_refuse(launch, SBX414_BACKEND_FAILED, error, NULL);
    if (launch->options->dry_run)
        return true;
    journal_recover(&launch->place, &done, &left);
    own_directory_recover(launch->arena, launch->state);
    for (uint32_t i = 0; i < left.count && !launch->options->quiet; i++)
        report_line(launch->arena, "%s", left.items[i]);
    return true;
}

/* ---- what the caller asked for ---- */

bool step_prepare(struct launch *launch)
{
    const struct options *options = launch->options;
    struct prepare_request request = {.policy = options->policy,
                                      .chdir = options->chdir,
                                      .roots = options->roots.items,
                                      .root_count = options->roots.count,
                                      .managed = options->managed.items,
                                      .managed_count = options->managed.count,
                                      .command = options->command[0],
                                      .state = launch->state};

    if (!windows_prepare(launch->arena, &request, &launch->prepared, &launch->notes))
        return false;
    launch->spec = launch->prepared.resolved.spec;
    return true;
}

bool step_lease_place(struct launch *launch)
{
    const char *file = launch->options->lease;

    if (!lease_start(launch->arena, &launch->lease))
        return launch_refuse(launch, SBX414_BACKEND_FAILED, "Windows gives no random bytes", NULL);
    if (launch->options->dry_run)
        return true;
    launch->lease_file = lease_file_default(launch->arena, launch->state, &launch->lease);
    return file == NULL ||
           lease_file_named(launch->arena, file, launch->spec, &launch->lease_file, &launch->notes);
}

/* Where a directory of the run's own lies; needed for scratch, and for the canary where the command cannot read this
 * program's own file. */
const char *launch_own_parent(struct launch *launch)
{
    const struct root_value *temporary = &launch->prepared.bindings.roots[ROOT_TMP];

    return temporary->state == ROOT_BOUND && temporary->count > 0
               ? windows_path_from_model(launch->arena, temporary->paths[0])
               : NULL;
}

bool launch_needs_own_directory(const struct launch *launch)
{
    return launch->spec->scratch || launch->spec->tier == WINDOWS_APPCONTAINER;
}

bool step_variables(struct launch *launch)
{
    const char *parent = launch_own_parent(launch);

    if (parent == NULL && launch_needs_own_directory(launch))
        return launch_refuse(launch, SBX414_BACKEND_FAILED, "there is no directory for temporary files",
                             "name one: --root TMP=PATH");
    const char *scratch =
        launch->spec->scratch ? own_directory_path(launch->arena, parent, launch->lease.id) : NULL;
    launch->variables =
        variables_choose(launch->arena, &launch->spec->environment, &launch->prepared.environment, scratch);
    return true;
}

static const char *system_program(struct arena *arena, const char *name)
{
    wchar_t directory[MAX_PATH];
    UINT length = GetSystemDirectoryW(directory, MAX_PATH);
    const char *text = length == 0 || length >= MAX_PATH ? NULL : wide_to(arena, directory);

    return text == NULL ? NULL : arena_format(arena, "%s\\%s", text, name);
}

/* A word that cannot be handed on is no fault of the policy: exit 126. */
bool step_program(struct launch *launch)
{
    char *const *command = launch->options->command;
    struct buffer line = buffer_in(launch->arena);
    const char *wrong = "Windows does not say where its programs are";

    launch->program = program_find(launch->arena, command[0], launch->prepared.directory,
                                   variables_find(&launch->variables, "PATH"));
    if (launch->program == NULL)
        return true;
    bool batch = quote_is_batch(launch->program);
    launch->executed = batch ? system_program(launch->arena, "cmd.exe") : launch->program;
    if (launch->executed != NULL)
        wrong = batch ? quote_batch(&line, launch->executed, launch->program, command)
                      : quote_words(&line, command);
    launch->line = line.bytes;
    if (wrong == NULL)
        return true;
    launch->not_executed = true;
    report_line(launch->arena, "%s: %s", command[0], wrong);
    return false;
}
