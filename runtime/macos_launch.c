/* macos_launch.c - one launch on macOS from beginning to end, in order (launch.h): POSIX alone, and sandbox-exec. */
#include "runtime/launch.h"

#include "base/escape.h"
#include "base/vector.h"
#include "runtime/expectations.h"
#include "runtime/launch_steps.h"
#include "runtime/macos_profile.h"
#include "runtime/macos_run.h"
#include "runtime/macos_sandbox.h"
#include "runtime/own_files.h"
#include "runtime/report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What only a launch on macOS hands from step to step. */
struct macos {
    struct launch *launch;
    const char *profile, *said; /* NULL without a sandbox */
    const char *program;        /* path of the command's file, or NULL */
    int missing;                /* errno where there is no such file */
    struct macos_scratch scratch;
    struct macos_run run;
};

static bool step_options(struct macos *macos)
{
    return macos->launch->options->engine == ENGINE_AUTO ||
           launch_refuse(macos->launch, SBX420_ENGINE, "--engine chooses among engines of Linux",
                         "leave it out: macOS has sandbox-exec alone");
}

static bool step_prepare(struct macos *macos)
{
    return step_directory(macos->launch) && step_policy(macos->launch) && step_bind(macos->launch);
}

static bool step_controls(struct macos *macos)
{
    struct launch *launch = macos->launch;

    controls_needed(launch->prepared.bound, launch->needs);
    return controls_check(launch->prepared.bound, CONTROL_TARGET_SEATBELT, launch->needs, launch->accepted,
                          &launch->notes);
}

static bool step_place_of_lease(struct macos *macos)
{
    return step_lease(macos->launch);
}

static bool step_facts(struct macos *macos)
{
    struct launch *launch = macos->launch;
    struct facts_request request = {.uid = geteuid(), .patience = &launch->patience};

    patience_begin(&launch->patience, NULL, launch->options->quiet);
    bool gathered =
        facts_gather(launch->arena, launch->prepared.bound, &request, &launch->facts, &launch->notes);
    patience_over(&launch->patience);
    if (!gathered || !own_files_hold(launch->arena, &launch->prepared, &launch->notes))
        return false;
    for (uint32_t i = 0; i < launch->facts.match_count; i++)
        note_add(&launch->notes,
                 (struct note){.code = SBX425_MATCH,
                               .text = arena_format(launch->arena, "a pattern denies %s",
                                                    escape_string(launch->arena, launch->facts.matches[i]))});
    const char *wrong = bound_prove(launch->arena, launch->prepared.bound);
    if (wrong != NULL)
        return launch_refuse(launch, SBX418_MERGE_WRONG, wrong, NULL);
    /* Links on this machine may have opened more than the text says. */
    return expectations_hold(launch->arena, launch->prepared.bound, true, &launch->notes);
}

static bool is_scratch_variable(const char *name)
{
    return strcmp(name, "TMPDIR") == 0 || strcmp(name, "TMP") == 0 || strcmp(name, "TEMP") == 0;
}

static bool step_variables(struct macos *macos)
{
    static const char *const scratch[] = {"TMPDIR", "TMP", "TEMP"};
    struct launch *launch = macos->launch;
    const struct root_value *temporary = &launch->prepared.bindings.roots[ROOT_TMP];
    struct variable_list all = bound_environment(launch->arena, launch->prepared.bound, &launch->notes);
    bool own_scratch = bound_scratch(launch->prepared.bound) && !launch->options->unsandboxed;

    if (own_scratch)
        launch->scratch.path = macos->scratch.files.path = scratch_place(
            launch->arena, temporary->state == ROOT_BOUND ? temporary->paths[0] : "/private/tmp",
            launch->lease.id[0] == '\0' ? "ID" : launch->lease.id);
    for (uint32_t i = 0; i < all.count; i++) {
        if (strcmp(all.items[i].name, "PWD") == 0)
            all.items[i].value = launch->prepared.directory;
        if (!own_scratch || !is_scratch_variable(all.items[i].name))
            VECTOR_PUSH(launch->arena, &launch->variables, all.items[i]);
    }
    for (size_t i = 0; own_scratch && i < sizeof scratch / sizeof scratch[0]; i++)
        VECTOR_PUSH(launch->arena, &launch->variables,
                    (struct variable){.name = scratch[i], .value = launch->scratch.path});
    return true;
}

/* 0 if `path` can be executed, else an errno. */
static int executable(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return errno;
    return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

static const char *variable_value(const struct variable_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return list->items[i].value;
    return NULL;
}

/* By the PATH that the command gets, as execvp would. */
static void program_search(struct macos *macos, const char *name)
{
    const char *given = variable_value(&macos->launch->variables, "PATH");
    char *rest = arena_strdup(macos->launch->arena, given == NULL ? "/usr/bin:/bin" : given), *directory;

    macos->missing = ENOENT;
    while (macos->program == NULL && (directory = strsep(&rest, ":")) != NULL) {
        const char *base = *directory == '/' ? directory
                                             : arena_format(macos->launch->arena, "%s/%s",
                                                            macos->launch->prepared.directory, directory);
        const char *path = arena_format(macos->launch->arena, "%s/%s", base, name);
        int error = executable(path);
        if (error == 0)
            macos->program = path;
        else if (error == EACCES)
            macos->missing = EACCES;
    }
}

/* sandbox-exec would end with a code of its own, which could as well be the command's. */
static bool step_program(struct macos *macos)
{
    struct launch *launch = macos->launch;
    const char *name = launch->options->command[0];

    if (strchr(name, '/') == NULL) {
        program_search(macos, name);
    } else {
        const char *path =
            *name == '/' ? name : arena_format(launch->arena, "%s/%s", launch->prepared.directory, name);
        macos->missing = executable(path);
        macos->program = macos->missing == 0 ? path : NULL;
    }
    if (macos->program == NULL || launch->options->unsandboxed)
        return true;
    const struct resolved *leads = resolver_find(launch->facts.seen, macos->program);
    if (!bound_exec(launch->prepared.bound, leads->path, strlen(leads->path))) {
        macos->program = NULL;
        macos->missing = EPERM;
    }
    return true;
}

static bool step_profile(struct macos *macos)
{
    macos->profile = macos_profile(macos->launch);
    return macos->profile != NULL;
}

static bool step_call(struct macos *macos)
{
    struct launch *launch = macos->launch;
    size_t count = 0, needed, allowed;

    while (launch->options->command[count] != NULL)
        count++;
    char **command = arena_array(launch->arena, count + 1, sizeof *command);
    memcpy(command, launch->options->command, count * sizeof *command);
    if (macos->program != NULL)
        command[0] = arena_strdup(launch->arena, macos->program);
    macos->run.environment = sandbox_environment(launch->arena, &launch->variables);
    macos->run.directory = launch->prepared.directory;
    macos->run.scratch = &macos->scratch;
    macos->run.signals = &launch->signals;
    macos->run.program = macos->profile == NULL ? macos->program : sandbox_exec_path(launch->arena);
    if (macos->profile == NULL) {
        macos->run.arguments = launch->options->command;
        return true;
    }
    macos->run.arguments = sandbox_arguments(launch->arena, macos->profile, launch->scratch.path, command);
    macos->run.files = bound_limit(launch->prepared.bound, RULE_LIMIT_FILES);
    macos->run.seconds = launch->inner.time_seconds = bound_limit(launch->prepared.bound, RULE_LIMIT_TIME);
    return sandbox_call_fits(macos->run.arguments, macos->run.environment, &needed, &allowed) ||
           launch_refuse(
               launch, SBX437_CALL_TOO_LONG,
               arena_format(launch->arena, "sandbox-exec would get %zu bytes of %zu", needed, allowed),
               "name directories instead of many files, or grant fewer variables");
}

/* Once the signals are taken over something may exist that has to be removed again. */
static bool step_start(struct macos *macos)
{
    struct launch *launch = macos->launch;

    if (!step_signals(launch))
        return false;
    if (launch->prepared.state != NULL)
        scratch_recover(launch->arena, launch->prepared.state);
    if (launch->scratch.path != NULL &&
        !scratch_make(launch->arena, &macos->scratch, launch->prepared.state, launch->lease.id))
        return launch_refuse(launch, SBX414_BACKEND_FAILED,
                             arena_format(launch->arena, "%s could not be made: %s",
                                          escape_string(launch->arena, launch->scratch.path),
                                          strerror(errno)),
                             NULL);
    return true;
}

static bool step_trial(struct macos *macos)
{
    struct launch *launch = macos->launch;

    switch (sandbox_try(launch->arena, macos->profile, launch->scratch.path, &macos->said)) {
    case TRIAL_TAKEN:
        return true;
    case TRIAL_NESTED:
        return launch_refuse(
            launch, SBX435_NESTED_SANDBOX,
            arena_format(launch->arena, "no sandbox can be made inside another: %s", macos->said),
            "start sbx-launch outside of it");
    case TRIAL_REFUSED:
        break;
    }
    return launch_refuse(launch, SBX436_PROFILE_REFUSED, macos->said,
                         "sbx-launch --dry-run shows the profile");
}

static bool step_ready(struct macos *macos)
{
    struct launch *launch = macos->launch;
    int number = signals_next_end(&launch->signals);

    if (number != 0)
        return launch_refuse(
            launch, SBX424_INTERRUPTED,
            arena_format(launch->arena, "signal %d came before the command was started", number), NULL);
    return macos->program == NULL || run_prepare(&macos->run) ||
           launch_refuse(launch, SBX414_BACKEND_FAILED,
                         arena_format(launch->arena, "no process can be made: %s", strerror(errno)), NULL);
}

static bool step_record(struct macos *macos)
{
    struct launch *launch = macos->launch;

    launch->lease.policy = launch->prepared.policy;
    launch->lease.backend = macos->profile == NULL ? "none" : "sandbox-exec";
    launch->lease.backend_version = macos->profile == NULL ? "" : macos_version(launch->arena);
    launch->lease.notes = &launch->notes;
    if (macos->profile != NULL) {
        launch->lease.accepted = launch->accepted;
        macos_evidence(launch, macos->profile, macos->said, &launch->lease.controls);
    }
    return lease_write(launch->arena, &launch->lease, &launch->place, &launch->notes);
}

static bool step_without(struct macos *macos)
{
    return step_bypass(macos->launch);
}

/* The order of a launch. Whatever returns false ends it with exit 125; nothing has run then. */
static bool (*const planning[])(struct macos *macos) = {
    step_options,   step_prepare, step_controls, step_place_of_lease, step_facts,
    step_variables, step_program, step_profile,  step_call,
};

static bool (*const starting[])(struct macos *macos) = {step_start, step_trial, step_ready, step_record};

static bool (*const without_sandbox[])(struct macos *macos) = {
    step_options, step_prepare, step_without, step_place_of_lease, step_variables,
    step_program, step_call,    step_start,   step_ready,          step_record,
};

#define STEPS(list) list, sizeof(list) / sizeof((list)[0])

static bool take_steps(struct macos *macos, bool (*const *list)(struct macos *), size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i](macos))
            return false;
    return true;
}

static int print_dry_run(struct macos *macos)
{
    struct buffer out = buffer_in(macos->launch->arena);

    buffer_format(&out, "# %s is given this profile, %zu bytes:\n%s", macos->run.program,
                  strlen(macos->profile), macos->profile);
    buffer_format(&out, "# and this call, in %s:\n", escape_string(out.arena, macos->run.directory));
    for (char *const *word = macos->run.environment; *word != NULL; word++)
        buffer_format(&out, "# %s\n", escape_string(out.arena, *word));
    buffer_string(&out, "#");
    for (char *const *word = macos->run.arguments; *word != NULL; word++)
        buffer_format(&out, " %s",
                      *word == macos->profile || strcmp(*word, macos->profile) == 0
                          ? "PROFILE"
                          : escape_string(out.arena, *word));
    buffer_byte(&out, '\n');
    return report_answer(macos->launch->arena, &out);
}

static int run(struct macos *macos)
{
    struct launch *launch = macos->launch;
    struct run_end end = {.error = macos->missing};

    if (macos->program != NULL)
        end = run_finish(&macos->run);
    scratch_remove(&macos->scratch);
    if (end.error != 0)
        return launch_ended(launch, launch_not_executed(launch, end.error), 0);
    if (end.time_over)
        end.status = launch_time_over(launch, &(struct outcome){.kind = OUTCOME_ENDED, .number = end.status});
    return launch_ended(launch, end.status, 0);
}

int launch(struct arena *arena, const struct options *options)
{
    enum report_level level = options->verbose ? REPORT_NOTES
                              : options->quiet ? REPORT_ERRORS
                                               : REPORT_WARNINGS;
    struct launch common = {.arena = arena, .options = options, .notes = note_list_in(arena)};
    struct macos macos = {.launch = &common};

    bool ready = options->unsandboxed ? take_steps(&macos, STEPS(without_sandbox))
                                      : take_steps(&macos, STEPS(planning));
    bool dry = ready && options->dry_run && !options->unsandboxed;
    int code = dry ? print_dry_run(&macos) : EXIT_REFUSED;
    if (!dry && !options->unsandboxed)
        ready = ready && take_steps(&macos, STEPS(starting));
    report_notes(arena, common.prepared.policy, &common.notes, level);
    if (ready && !dry)
        return run(&macos);
    run_cancel(&macos.run);
    scratch_remove(&macos.scratch);
    return code;
}
