/* launch_make.c - a launch on Windows from its first change to the process that waits for its first instruction. */
#include "runtime/windows/launch_steps.h"

#include "runtime/windows/apply.h"
#include "runtime/windows/canary.h"
#include "runtime/windows/environment.h"
#include "runtime/windows/evidence.h"
#include "runtime/windows/interrupt.h"
#include "runtime/windows/package.h"
#include "runtime/windows/token.h"
#include "runtime/windows/token_model.h"
#include "runtime/windows/token_read.h"
#include "runtime/windows/trial.h"
#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <string.h>

bool step_system(struct launch *launch)
{
    return verify_system(&launch->notes);
}

bool step_interrupts(struct launch *launch)
{
    launch->run.interrupted = interrupt_take();
    launch->place.stop = interrupt_came;
    launch->place.stop_context = launch->run.interrupted;
    return launch->run.interrupted != NULL ||
           launch_refuse(launch, SBX414_BACKEND_FAILED, "Ctrl-C cannot be taken over", NULL);
}

bool step_identity(struct launch *launch)
{
    return identity_make(&launch->identity, &launch->notes);
}

/* Its name stands in the journal before it exists. */
bool step_journal(struct launch *launch)
{
    struct journal_run run = {0};
    const char *error = NULL;

    memcpy(run.policy_hash, launch->spec->policy_hash, sizeof run.policy_hash);
    if (launch->spec->tier == WINDOWS_APPCONTAINER &&
        (run.package = package_name(launch->arena, &launch->notes)) == NULL)
        return false;
    launch->journal = journal_begin(&launch->place, &run, &error);
    if (launch->journal == NULL)
        return launch_refuse(launch, SBX414_BACKEND_FAILED, error, NULL);
    return run.package == NULL || package_create(&launch->identity, run.package, &launch->notes);
}

static void take_package(struct launch *launch)
{
    struct windows_sid sids[PACKAGE_CAPABILITIES];
    uint32_t count = package_capabilities(launch->spec->capabilities, sids);
    SID_AND_ATTRIBUTES *list = arena_array(launch->arena, PACKAGE_CAPABILITIES, sizeof *list);

    for (uint32_t i = 0; i < count; i++)
        list[i] = (SID_AND_ATTRIBUTES){sid_to(launch->arena, &sids[i]), SE_GROUP_ENABLED};
    launch->capabilities =
        (SECURITY_CAPABILITIES){.AppContainerSid = sid_to(launch->arena, &launch->identity.package),
                                .Capabilities = list,
                                .CapabilityCount = count};
    launch->ground.package = &launch->capabilities;
}

/* The process of an AppContainer starts from such a token too: the package takes neither privileges nor administrators
 * away. */
bool step_token(struct launch *launch)
{
    if (launch->spec->tier == WINDOWS_APPCONTAINER)
        take_package(launch);
    return token_make(launch->arena, launch->spec, &launch->identity, &launch->ground.token,
                      &launch->notes) &&
           token_verify(launch->arena, launch->spec, &launch->identity, launch->ground.token, &launch->notes);
}

static uint64_t clock_now(void)
{
    return GetTickCount64();
}

bool step_apply(struct launch *launch)
{
    struct token_models models;

    if (!token_model(launch->arena, launch->spec, &launch->identity, launch->ground.token, &models,
                     &launch->notes))
        return false;
    return apply_run(&(struct apply){.arena = launch->arena,
                                     .spec = launch->spec,
                                     .identity = &launch->identity,
                                     .acl = launch->place.acl,
                                     .journal = launch->journal,
                                     .notes = &launch->notes,
                                     .own = launch->prepared.own,
                                     .own_count = launch->prepared.own_count,
                                     .token = &models.command,
                                     .caller = &models.caller,
                                     .judge_volume = verify_volume,
                                     .now = clock_now});
}

bool step_own_directory(struct launch *launch)
{
    struct own_directory_request request = {.arena = launch->arena,
                                            .acl = launch->place.acl,
                                            .spec = launch->spec,
                                            .identity = &launch->identity,
                                            .parent = launch_own_parent(launch),
                                            .state = launch->state,
                                            .id = launch->lease.id,
                                            .writable = launch->spec->scratch};

    return !launch_needs_own_directory(launch) || own_directory_make(&request, &launch->own, &launch->notes);
}

bool step_job(struct launch *launch)
{
    struct job_limits limits = {.processes = launch->spec->processes, .memory = launch->spec->memory};

    return job_make(&launch->run.job, &limits, &launch->notes);
}

bool step_desktop(struct launch *launch)
{
    if (!desktop_make(launch->arena, launch->lease.id, &launch->identity, &launch->desktop, &launch->notes))
        return false;
    launch->ground.desktop = launch->desktop.name;
    return true;
}

/* An AppContainer can read nothing of the user's, so the canary is put where it can. */
static const wchar_t *canary_program(struct launch *launch)
{
    const wchar_t *own = trial_own_program(launch->arena);

    if (own == NULL || launch->spec->tier != WINDOWS_APPCONTAINER)
        return own;
    const wchar_t *copy =
        wide_from(launch->arena, arena_format(launch->arena, "%s\\canary.exe", launch->own.path));
    return CopyFileW(own, copy, TRUE) ? copy : NULL;
}

bool step_canary(struct launch *launch)
{
    struct trial trial = {.arena = launch->arena,
                          .ground = &launch->ground,
                          .program = canary_program(launch),
                          .directory = wide_from(launch->arena, launch->prepared.directory),
                          .environment = environment_block(launch->arena, &launch->variables)};
    struct canary canary = {.arena = launch->arena,
                            .spec = launch->spec,
                            .identity = &launch->identity,
                            .acl = launch->place.acl,
                            .journal = launch->journal,
                            .directory = launch->state,
                            .start = trial_start,
                            .context = &trial};

    if (trial.program == NULL)
        return launch_refuse(launch, SBX486_CANARY,
                             arena_format(launch->arena, "this program cannot be started inside: %s",
                                          wide_error(launch->arena, GetLastError())),
                             NULL);
    bool held = canary_run(&canary, &launch->notes);
    if (launch->spec->tier == WINDOWS_APPCONTAINER)
        DeleteFileW(trial.program);
    return held;
}

/* ---- the command ---- */

bool step_make(struct launch *launch)
{
    struct run *run = &launch->run;
    bool failed;

    run->arena = launch->arena;
    run->spec = launch->spec;
    run->identity = &launch->identity;
    run->ground = &launch->ground;
    run->program = launch->executed;
    run->line = wide_from(launch->arena, launch->line);
    run->environment = environment_block(launch->arena, &launch->variables);
    run->directory = wide_from(launch->arena, launch->prepared.directory);
    launch->failure = run_make(run, &failed, &launch->notes);
    launch->not_executed = !failed && launch->failure != 0;
    return !failed && launch->failure == 0;
}

bool step_verify(struct launch *launch)
{
    if (!run_verify(&launch->run, &launch->notes))
        return false;
    launch->not_executed = launch->run.denied;
    launch->failure = ERROR_ACCESS_DENIED;
    return !launch->run.denied;
}

bool step_record(struct launch *launch)
{
    bool verified = true;

    for (uint32_t i = 0; i < launch->notes.count; i++)
        verified &= launch->notes.items[i].code != SBX480_CANNOT_VERIFY;
    struct evidence_facts facts = {.resolved = &launch->prepared.resolved,
                                   .variables = launch->variables.count,
                                   .scratch = launch->spec->scratch ? launch->own.path : NULL,
                                   .verified = verified};
    const char *unknown = evidence_list(launch->arena, &facts, &launch->lease.controls);
    if (unknown != NULL)
        return launch_refuse(launch, SBX416_EVIDENCE,
                             arena_format(launch->arena, "nothing is known to hold %s", unknown), NULL);
    launch->lease.notes = &launch->notes;
    lease_describe(launch->arena, &launch->lease, &launch->prepared.resolved);
    return lease_file_write(launch->arena, &launch->lease, &launch->lease_file, &launch->notes);
}

bool step_ready(struct launch *launch)
{
    return !interrupt_came(launch->run.interrupted) ||
           launch_refuse(launch, SBX424_INTERRUPTED, "it was interrupted before the command was started",
                         NULL);
}
