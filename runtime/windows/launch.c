#include "runtime/windows/launch.h"

#include "runtime/report.h"
#include "runtime/windows/launch_steps.h"
#include "runtime/windows/plan_print.h"
#include "runtime/windows/wide.h"

enum { EXIT_INTERRUPTED = 130, EXIT_TIME_OVER = 137 };

/* The order of a launch. Whatever returns false ends it; nothing of the command has run then, and what was changed is taken
 * back. */
static bool (*const planning[])(struct launch *launch) = {
    step_recover, step_prepare, step_lease_place, step_variables, step_program,
};

static bool (*const making[])(struct launch *launch) = {
    step_system, step_interrupts, step_identity, step_journal, step_token,  step_apply,  step_own_directory,
    step_job,    step_desktop,    step_canary,   step_make,    step_verify, step_record, step_ready,
};

#define STEPS(list) list, sizeof(list) / sizeof((list)[0])

static bool take_steps(struct launch *launch, bool (*const *list)(struct launch *), size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i](launch))
            return false;
    return true;
}

/* ---- the end ---- */

static const char *stream_name(int i)
{
    return i == 1 ? "standard output" : "standard error";
}

static bool output_whole(struct launch *launch)
{
    bool whole = true;

    for (int i = 1; i < 3; i++) {
        DWORD lost = launch->run.pumps.streams[i].lost;
        if (lost == 0)
            continue;
        const char *text =
            arena_format(launch->arena, "%s: %s", stream_name(i), wide_error(launch->arena, lost));
        lease_event(launch->arena, &launch->lease, "output.lost", text);
        report_line(launch->arena, "output of the command could not be written to %s", text);
        whole = false;
    }
    return whole;
}

static uint32_t code_of(struct launch *launch, const struct run_end *end)
{
    bool whole = output_whole(launch);

    switch (end->outcome) {
    case RUN_TIME_OVER:
        report_line(launch->arena, "the command was ended: its %llu seconds (limit time) are over",
                    (unsigned long long)launch->spec->time / 1000);
        lease_event(launch->arena, &launch->lease, "limit.time",
                    arena_format(launch->arena, "%llus", (unsigned long long)launch->spec->time / 1000));
        return EXIT_TIME_OVER;
    case RUN_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case RUN_ENDED:
        break;
    }
    return end->code == 0 && !whole ? EXIT_OUTPUT_LOST : end->code;
}

static void take_back(struct launch *launch)
{
    struct journal_sentences left = {0};

    run_cancel(&launch->run);
    desktop_close(&launch->desktop);
    own_directory_remove(launch->arena, &launch->own);
    if (launch->ground.token != NULL)
        CloseHandle(launch->ground.token);
    journal_end(launch->journal, &left);
    for (uint32_t i = 0; i < left.count; i++)
        report_line(launch->arena, "%s", left.items[i]);
}

static uint32_t not_executed(struct launch *launch)
{
    bool missing = launch->program == NULL || launch->failure == ERROR_FILE_NOT_FOUND ||
                   launch->failure == ERROR_PATH_NOT_FOUND;

    /* A word that cannot be handed on was reported where it was found. */
    if (missing || launch->failure != 0)
        report_line(launch->arena, "%s: %s", launch->options->command[0],
                    missing ? "not found" : wide_error(launch->arena, launch->failure));
    return missing ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

static enum report_level level_of(const struct options *options)
{
    return options->quiet ? REPORT_ERRORS : options->verbose ? REPORT_NOTES : REPORT_WARNINGS;
}

static void report(const struct launch *launch, const struct note_list *notes)
{
    report_notes(launch->arena, launch->prepared.resolved.policy, notes, level_of(launch->options));
}

static uint32_t dry_run(struct launch *launch)
{
    struct buffer out = buffer_in(launch->arena);
    struct plan_print plan = {.spec = launch->spec,
                              .variables = &launch->variables,
                              .directory = launch->prepared.directory,
                              .program = launch->executed,
                              .line = launch->line};

    report(launch, &launch->notes);
    plan_print(&out, &plan);
    return report_answer(launch->arena, &out) == 0 ? 0 : EXIT_REFUSED;
}

/* From the moment in which all is made and verified. */
static uint32_t finish(struct launch *launch)
{
    struct note_list late = note_list_in(launch->arena);
    struct run_end end = {0};
    uint32_t code = EXIT_REFUSED;

    report(launch, &launch->notes);
    if (run_finish(&launch->run, &end, &late)) {
        code = code_of(launch, &end);
        lease_finish(&launch->lease, code, end.left);
        lease_file_write(launch->arena, &launch->lease, &launch->lease_file, &late);
    }
    report(launch, &late);
    take_back(launch);
    return code;
}

static uint32_t give_up(struct launch *launch)
{
    report(launch, &launch->notes);
    take_back(launch);
    return launch->not_executed ? not_executed(launch) : EXIT_REFUSED;
}

uint32_t windows_launch(struct arena *arena, const struct options *options)
{
    struct launch launch = {.arena = arena, .options = options, .notes = note_list_in(arena)};

    if (!take_steps(&launch, STEPS(planning)))
        return give_up(&launch);
    if (options->dry_run)
        return dry_run(&launch);
    launch.not_executed = launch.program == NULL;
    return !launch.not_executed && take_steps(&launch, STEPS(making)) ? finish(&launch) : give_up(&launch);
}
