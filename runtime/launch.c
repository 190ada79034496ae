#include "runtime/launch.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"
#include "runtime/afterwards.h"
#include "runtime/evidence_text.h"
#include "runtime/expectations.h"
#include "runtime/expected.h"
#include "runtime/hint.h"
#include "runtime/landlock_launch.h"
#include "runtime/landlock_rules.h"
#include "runtime/launch_steps.h"
#include "runtime/own_files.h"
#include "runtime/probe.h"
#include "runtime/report.h"
#include "runtime/turn.h"
#include "runtime/unsandboxed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
static const char architecture[] = "x86_64";
#elif defined(__aarch64__)
static const char architecture[] = "aarch64";
#else
static const char architecture[] = "unknown";
#endif

enum { WATCHDOG_SECONDS = LOOK_SECONDS + 15 };

/* An engine that has to be asked for its version answers while this machine is looked at and a sandbox is made. */
static bool step_engine(struct launch *launch)
{
    return landlock_is_chosen(launch)
               ? landlock_take(launch)
               : engine_choose(launch->arena, launch->options->engine, &launch->engine, &launch->notes);
}

static bool step_controls(struct launch *launch)
{
    controls_needed(launch->prepared.bound, launch->needs);
    if (launch->alone)
        return landlock_controls(launch);
    return controls_check(launch->prepared.bound, CONTROL_TARGET_BWRAP, launch->needs, launch->accepted,
                          &launch->notes);
}

static bool step_streams(struct launch *launch)
{
    if (!streams_prepare(&launch->streams, launch->prepared.bound, &launch->notes))
        return false;
    enum terminal_place place = launch->alone ? TERMINAL_OUTSIDE : TERMINAL_INSIDE;
    if (!measure_holds(MEASURE_OWN_TERMINAL) || launch->options->dry_run ||
        terminal_prepare(&launch->terminal, &launch->streams, place))
        return true;
    return launch_refuse(
        launch, SBX464_STREAM_REFUSED,
        arena_format(launch->arena, "no terminal can be made for the command: %s", strerror(errno)),
        "redirect standard input, output and error");
}

static void note_list_of(struct launch *launch, enum code code, const char *what, const char *const *paths,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        note_add(&launch->notes, (struct note){.code = code,
                                               .text = arena_format(launch->arena, "%s %s", what,
                                                                    escape_string(launch->arena, paths[i]))});
}

/* From looking at denied paths until theirs are made, launches take turns. A dry run makes nothing. */
static bool step_turn(struct launch *launch)
{
    if (launch->options->dry_run)
        return true;
    launch->turn =
        turn_begin(launch->arena, launch->prepared.state, launch->prepared.directory, &launch->notes);
    if (launch->turn >= 0)
        placeholders_recover(launch->arena, launch->prepared.state);
    return launch->turn >= 0;
}

static void end_turn(struct launch *launch)
{
    turn_end(launch->turn);
    launch->turn = -1;
}

static void remove_placeholders(struct launch *launch)
{
    struct note_list unheard = note_list_in(launch->arena);
    int turn = launch->turn;
    if (launch->placeholders != NULL && turn < 0)
        turn = turn_begin(launch->arena, launch->prepared.state, launch->prepared.directory, &unheard);
    placeholders_remove(launch->placeholders);
    turn_end(turn);
    launch->turn = -1;
}

/* $TMP where it is not /tmp, else NULL. */
static const char *temporary_of(const struct launch *launch)
{
    const struct root_value *temporary = &launch->prepared.bindings.roots[ROOT_TMP];
    bool other = temporary->state == ROOT_BOUND && strcmp(temporary->paths[0], "/tmp") != 0;
    return other ? temporary->paths[0] : NULL;
}

static bool has_own_tmp(const struct launch *launch)
{
    return bound_scratch(launch->prepared.bound) && !launch->alone;
}

static bool step_facts(struct launch *launch)
{
    struct facts_request request = {.unix_sockets = launch->unix_sockets,
                                    .uid = geteuid(),
                                    .patience = &launch->patience,
                                    .remote = launch->prepared.remote,
                                    .scratch = has_own_tmp(launch),
                                    .temporary = temporary_of(launch)};

    patience_begin(&launch->patience, &launch->signals, launch->options->quiet);
    bool gathered =
        facts_gather(launch->arena, launch->prepared.bound, &request, &launch->facts, &launch->notes);
    patience_over(&launch->patience);
    if (!gathered || !own_files_hold(launch->arena, &launch->prepared, &launch->notes))
        return false;
    if (launch->alone)
        landlock_settle_facts(launch);
    else
        note_list_of(launch, SBX425_MATCH, "a pattern denies", launch->facts.matches,
                     launch->facts.match_count);
    note_list_of(launch, SBX426_SOCKET_MASKED, "out of reach: the socket", launch->facts.masked_sockets,
                 launch->facts.masked_socket_count);
    const char *wrong = bound_prove(launch->arena, launch->prepared.bound);
    if (wrong != NULL)
        return launch_refuse(launch, SBX418_MERGE_WRONG, wrong, NULL);
    /* Links on this machine may have opened more than the text says. */
    return expectations_hold(launch->arena, launch->prepared.bound, true, &launch->notes);
}

static bool step_plan(struct launch *launch)
{
    struct plan_input input = {.places = launch->facts.places,
                               .place_count = launch->facts.place_count,
                               .links = launch->facts.links,
                               .link_count = launch->facts.link_count,
                               .scratch = has_own_tmp(launch),
                               .temporary = temporary_of(launch),
                               .proc_read_only = launch->facts.proc_read_only,
                               .proc_read_only_count = launch->facts.proc_read_only_count};

    if (input.scratch)
        hint_hidden(launch->arena, launch->prepared.bound, launch->options->command, input.temporary,
                    &launch->notes);
    hint_cache(launch->arena, launch->prepared.bound, &launch->notes);
    launch->plan = plan_make(launch->arena, &input);
    for (uint32_t i = 0; i < launch->plan.skipped.count; i++)
        note_add(&launch->notes,
                 (struct note){
                     .code = SBX432_PLACE_LEFT_OUT,
                     .text = arena_format(launch->arena, "%s is not what the policy says: %s",
                                          escape_string(launch->arena, launch->plan.skipped.items[i].path),
                                          launch->plan.skipped.items[i].reason)});
    return !launch->alone || landlock_plan(launch);
}

static bool is_scratch_variable(const char *name)
{
    return strcmp(name, "TMPDIR") == 0 || strcmp(name, "TMP") == 0 || strcmp(name, "TEMP") == 0;
}

/* PWD is set by the inner stage, and only where it is granted. */
static bool step_variables(struct launch *launch)
{
    static const char *const scratch[] = {"TMPDIR", "TMP", "TEMP"};
    struct variable_list all = bound_environment(launch->arena, launch->prepared.bound, &launch->notes);
    bool own_scratch = bound_scratch(launch->prepared.bound);

    for (uint32_t i = 0; i < all.count; i++) {
        if (strcmp(all.items[i].name, "PWD") == 0)
            launch->inner.working_variable = true;
        else if (!own_scratch || !is_scratch_variable(all.items[i].name))
            VECTOR_PUSH(launch->arena, &launch->variables, all.items[i]);
    }
    for (size_t i = 0; own_scratch && i < sizeof scratch / sizeof scratch[0]; i++)
        VECTOR_PUSH(
            launch->arena, &launch->variables,
            (struct variable){.name = scratch[i], .value = launch->alone ? launch->scratch.path : "/tmp"});
    return true;
}

static const char *search_path(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->prepared.environment.count; i++)
        if (strcmp(launch->prepared.environment.items[i].name, "PATH") == 0)
            return launch->prepared.environment.items[i].value;
    return NULL;
}

static bool step_backend(struct launch *launch)
{
    return engine_find(launch->arena, &launch->engine, launch->prepared.bound, search_path(launch),
                       &launch->notes);
}

static struct sandbox_request request_of(struct launch *launch)
{
    struct sandbox_request request = {.plan = &launch->plan,
                                      .environment = launch->variables.items,
                                      .environment_count = launch->variables.count,
                                      .share_network = !launch->own_network,
                                      .nested = launch->nested,
                                      .filter = &launch->filter,
                                      .inner = &launch->inner,
                                      .signals = &launch->signals};

    memcpy(request.streams, launch->streams.inside, sizeof request.streams);
    return request;
}

static bool step_filter(struct launch *launch)
{
    struct seccomp_request filter = {0};
    const char *error = NULL;

    launch->filter = buffer_in(launch->arena);
    seccomp_request_of(launch->arena, launch->prepared.bound, architecture, &filter);
    if (launch->alone)
        landlock_filter(launch, &filter);
    for (const char *const *name = filter.reopened; *name != NULL; name++)
        launch->nested = launch->nested || strcmp(*name, "unshare") == 0 || strcmp(*name, "clone") == 0;
    return seccomp_program(launch->arena, &filter, &launch->filter, &error) > 0 ||
           launch_refuse(launch, SBX423_NO_FILTER, error, NULL);
}

static bool step_prepare(struct launch *launch)
{
    struct sandbox_request request = request_of(launch);

    launch->inner.directory = launch->prepared.directory;
    return engine_prepare(launch->arena, &launch->engine, &request, &launch->notes);
}

static int print_dry_run(struct launch *launch)
{
    struct buffer out = buffer_in(launch->arena);
    struct sandbox_request request = request_of(launch);

    buffer_format(&out, "# plan of %s\n", escape_string(launch->arena, launch->prepared.policy->name));
    plan_print(&out, &launch->plan);
    for (uint32_t i = 0; i < launch->facts.missing_count; i++)
        buffer_format(&out, "placeholder %s%s\n", escape_string(launch->arena, launch->facts.missing[i].path),
                      launch->facts.missing[i].directory ? "/" : "");
    launch->engine.engine->print(&out, &launch->engine, &request);
    return report_answer(launch->arena, &out);
}

/* What the command may have open: its own former limit, or less by `limit files`. */
static void limit_files(struct launch *launch, const struct rlimit *before)
{
    uint64_t limit = bound_limit(launch->prepared.bound, RULE_LIMIT_FILES);

    launch->inner.files_soft = before->rlim_cur;
    launch->inner.files_hard = before->rlim_max;
    if (limit != 0 && limit < launch->inner.files_hard)
        launch->inner.files_hard = limit;
    if (launch->inner.files_soft > launch->inner.files_hard)
        launch->inner.files_soft = launch->inner.files_hard;
}

static bool step_inner(struct launch *launch)
{
    const char *directory = launch->prepared.directory;
    struct rlimit before = {0};
    const struct resolved *own = resolver_find(launch->facts.seen, directory);

    getrlimit(RLIMIT_NOFILE, &before);
    if (!engine_reserve(launch->arena, &launch->engine, &launch->notes))
        return false;
    limit_files(launch, &before);
    namespaces_measure(launch->inner.host_namespaces);
    if (launch->inner.host_namespaces[NAMESPACE_USER] == 0)
        return launch_refuse(launch, SBX413_NO_NAMESPACES, "/proc shows no namespaces here",
                             "mount it: mount -t proc proc /proc");
    if (!own->process && (own->kind != ENTRY_DIRECTORY || own->link_count > 0))
        return launch_refuse(launch, SBX409_DIRECTORY_MISSING,
                             arena_format(launch->arena, "%s was replaced while the sandbox was prepared",
                                          escape_string(launch->arena, directory)),
                             NULL);
    if (launch->alone)
        memset(launch->inner.host_namespaces, 0, sizeof launch->inner.host_namespaces);
    else
        launch->inner.processes = bound_limit(launch->prepared.bound, RULE_LIMIT_PROCESSES);
    memcpy(launch->inner.terminal, launch->terminal.streams, sizeof launch->inner.terminal);
    launch->inner.time_seconds = bound_limit(launch->prepared.bound, RULE_LIMIT_TIME);
    launch->inner.directory_known =
        bound_level(launch->prepared.bound, directory, strlen(directory)) != LEVEL_NONE && !own->process;
    launch->inner.device = own->device;
    launch->inner.inode = own->inode;
    if (!launch->own_network)
        launch->inner.host_namespaces[NAMESPACE_NETWORK] = 0;
    launch->inner.arguments = launch->options->command;
    return true;
}

static bool step_placeholders(struct launch *launch)
{
    struct placeholder_record record =
        placeholder_record_begin(launch->arena, launch->prepared.state, launch->lease.id);

    launch->placeholders = placeholders_make(launch->arena, &launch->facts, &record, &launch->notes);
    end_turn(launch);
    return launch->placeholders != NULL;
}

/* Other processes may put something else at a path meanwhile: what stands there when the mounts are made is compared
 * with what was looked at. */
static bool step_mounts(struct launch *launch)
{
    if (launch->alone)
        return landlock_scratch_ready(launch);
    struct expected_mount *mounts = mounts_expected(launch->arena, &launch->plan, &launch->inner.mount_count);
    const char *changed =
        mounts_identify(launch->arena, launch->facts.seen, mounts, launch->inner.mount_count);

    struct landlock_rules rules =
        landlock_rules_of(launch->arena, launch->prepared.bound, &launch->plan, &launch->facts);

    launch->inner.mounts = mounts;
    launch->inner.rules = rules.items;
    launch->inner.rule_count = rules.count;
    launch->inner.no_rules = rules.none;
    return changed == NULL || !measure_holds(MEASURE_IDENTITY) ||
           launch_refuse(launch, SBX416_EVIDENCE,
                         arena_format(launch->arena, "%s was replaced while the sandbox was prepared",
                                      escape_string(launch->arena, changed)),
                         "nothing ran; start again when nothing else changes it");
}

static bool backend_problem(struct launch *launch, const struct outcome *outcome)
{
    const char *cause, *remedy, *title = launch->engine.engine->title;

    if (outcome->kind == OUTCOME_INTERRUPTED)
        return launch_refuse(
            launch, SBX424_INTERRUPTED,
            arena_format(launch->arena, "signal %d came before the command was started", outcome->number),
            NULL);
    if (outcome->kind == OUTCOME_LATE)
        return launch_refuse(
            launch, SBX415_BACKEND_LATE,
            arena_format(launch->arena, "%s made no sandbox within %d seconds", title, START_SECONDS),
            "look for a file system that does not answer among the granted paths");
    if (!launch->alone && probe_diagnose(launch->arena, &cause, &remedy))
        return launch_refuse(launch, SBX413_NO_NAMESPACES, cause, remedy);
    return launch_refuse(launch, SBX414_BACKEND_FAILED,
                         outcome->text == NULL
                             ? arena_format(launch->arena, "%s ended before the command was started", title)
                             : arena_format(launch->arena, "%s failed: %s", title, outcome->text),
                         "sbx-launch --dry-run shows what it was asked for");
}

static bool step_start(struct launch *launch)
{
    const struct engine *engine = launch->engine.engine;
    struct sandbox_request request = request_of(launch);

    if (!engine->start(launch->arena, &launch->engine, &request, &launch->sandbox, &launch->notes))
        return false;
    for (int i = 0; i < 3; i++)
        if (launch->streams.inside[i] > STDERR_FILENO)
            close(launch->streams.inside[i]);
    if (!engine_check(launch->arena, &launch->engine, &launch->notes))
        return false;
    watch_start(launch->arena, &launch->plan, &launch->facts, launch->nested, &launch->watch);
    launch->sandbox.keeper = launch->watch.keeper;
    struct outcome outcome = sandbox_await(launch->arena, &launch->sandbox, &launch->signals,
                                           &launch->evidence, &launch->terminal.master);
    return outcome.kind == OUTCOME_READY || backend_problem(launch, &outcome);
}

static bool step_watch(struct launch *launch)
{
    const char *error = NULL;
    struct watch_run run = {.arena = launch->arena,
                            .lease = &launch->lease,
                            .placeholders = launch->placeholders,
                            .state = launch->prepared.state,
                            .directory = launch->prepared.directory};
    bool entered = watch_enter(&launch->watch, &run, launch->sandbox.mounts, &error);

    if (launch->sandbox.mounts >= 0)
        close(launch->sandbox.mounts);
    launch->sandbox.mounts = -1;
    return entered || launch_refuse(launch, SBX416_EVIDENCE, error,
                                    "nothing ran; start again when nothing else changes it");
}

static const char *evidence_help(const struct launch *launch)
{
    bool of_directory = strncmp(launch->evidence.problem, "the working directory", 21) == 0;

    return of_directory && !launch->inner.directory_known
               ? "grant read $WORK, or start with --chdir DIR in a directory that is granted"
               : "nothing ran; sbx-launch --dry-run shows what was asked for";
}

/* What was measured inside must be what was asked for. */
static bool step_evidence(struct launch *launch)
{
    if (launch->evidence.problem[0] != '\0')
        return launch_refuse(launch, SBX416_EVIDENCE, launch->evidence.problem, evidence_help(launch));
    if (launch->evidence.variables != launch->variables.count + launch->inner.working_variable &&
        measure_holds(MEASURE_EVIDENCE))
        return launch_refuse(launch, SBX416_EVIDENCE,
                             "the environment inside is not the one that was asked for", NULL);
    launch->lease.policy = launch->prepared.policy;
    launch->lease.backend = launch->engine.engine->name;
    launch->lease.backend_version = launch->engine.version;
    launch->lease.accepted = launch->accepted;
    launch->lease.notes = &launch->notes;
    return evidence_controls(launch, &launch->lease.controls);
}

static bool step_record(struct launch *launch)
{
    return lease_write(launch->arena, &launch->lease, &launch->place, &launch->notes);
}

/* The order of a launch. Whatever returns false ends it with exit 125; nothing has run then. */
static bool (*const steps[])(struct launch *launch) = {
    step_directory, step_policy,    step_bind,    step_engine, step_controls,
    step_lease,     step_turn,      step_signals, step_facts,  step_streams,
    step_plan,      step_variables, step_backend, step_filter, step_prepare,
};

static bool (*const starting_steps[])(struct launch *launch) = {
    step_inner, step_placeholders, step_mounts,   step_start,
    step_watch, step_groups,       step_evidence, step_record,
};

/* The wait status to speak of, and a word to the caller where the command itself did not end. */
static int outcome_status(struct launch *launch, const struct outcome *outcome)
{
    if (outcome->time_over)
        return launch_time_over(launch, outcome);
    if (outcome->kind == OUTCOME_ENDED)
        return outcome->number;
    if (outcome->kind == OUTCOME_NOT_STARTED)
        return launch_not_executed(launch, outcome->number);
    if (outcome->kind == OUTCOME_UNHELD) {
        report_line(launch->arena, "the run was ended: %s", launch->watch.lost);
        return SIGKILL;
    }
    report_line(launch->arena, outcome->kind == OUTCOME_SILENT
                                   ? "the sandbox did not answer a signal and was killed"
                                   : "the sandbox was ended from outside");
    return SIGKILL;
}

static int run(struct launch *launch)
{
    struct timespec start = afterwards_start();
    terminal_begin(&launch->terminal);
    struct outcome outcome = sandbox_run(launch->arena, &launch->sandbox, &launch->signals, &launch->streams,
                                         &launch->terminal, launch->inner.time_seconds, &launch->watch);
    pid_t left = sandbox_end(&launch->sandbox);
    watch_end(&launch->watch);

    streams_drain(&launch->streams);
    terminal_end(&launch->terminal);
    bool whole = launch_output_whole(launch);
    groups_end(launch);
    landlock_scratch_remove(&launch->scratch);
    remove_placeholders(launch);
    afterwards_look(launch->arena, &launch->plan, launch->prepared.work, &start, launch->prepared.remote,
                    &launch->lease);
    int code = launch_ended(launch, outcome_status(launch, &outcome), left);
    watch_reap(&launch->watch);
    return whole || code != EXIT_SUCCESS ? code : EXIT_OUTPUT_LOST;
}

static enum report_level level_of(const struct options *options)
{
    return options->verbose ? REPORT_NOTES : options->quiet ? REPORT_ERRORS : REPORT_WARNINGS;
}

static bool take_steps(struct launch *launch, bool (*const *list)(struct launch *), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        watchdog_again(&launch->watchdog);
        if (!list[i](launch))
            return false;
    }
    return true;
}

int launch(struct arena *arena, const struct options *options)
{
    struct launch launch = {.arena = arena,
                            .options = options,
                            .notes = note_list_in(arena),
                            .sandbox = {.status = -1, .go = -1, .errors = -1, .mounts = -1},
                            .watch = {.socket = -1},
                            .turn = -1};
    bool ready;

    const char *narrow = own_limits_take(&launch.inner.before);
    if (narrow != NULL) {
        report_line(arena, "%s", narrow);
        return EXIT_REFUSED;
    }
    if (options->unsandboxed)
        return launch_unsandboxed(&launch);
    launch.prepared.remote = remote_find(arena);
    if (launch.prepared.remote != NULL)
        watchdog_begin(&launch.watchdog, WATCHDOG_SECONDS);
    ready = take_steps(&launch, steps, sizeof steps / sizeof steps[0]);
    watchdog_end(&launch.watchdog);
    if (options->dry_run)
        ready = ready && engine_check(arena, &launch.engine, &launch.notes);
    if (ready && options->dry_run) {
        int code = print_dry_run(&launch);
        report_notes(arena, launch.prepared.policy, &launch.notes, level_of(options));
        return code;
    }
    ready = ready && take_steps(&launch, starting_steps, sizeof starting_steps / sizeof starting_steps[0]);
    report_notes(arena, launch.prepared.policy, &launch.notes, level_of(options));
    if (ready)
        return run(&launch);
    sandbox_end(&launch.sandbox);
    groups_end(&launch);
    watch_end(&launch.watch);
    landlock_scratch_remove(&launch.scratch);
    remove_placeholders(&launch);
    watch_reap(&launch.watch);
    return EXIT_REFUSED;
}
