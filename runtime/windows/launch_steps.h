/* launch_steps.h - what the steps of a launch on Windows hand to each other, and the steps in their order (launch.c).
 *
 * A step returns false with an error note, or with not_executed, if the launch must not go on; what was changed by then is
 * taken back, and nothing of the command has run.
 */
#pragma once

#include "runtime/options.h"
#include "runtime/windows/desktop.h"
#include "runtime/windows/journal.h"
#include "runtime/windows/lease_file.h"
#include "runtime/windows/own_directory.h"
#include "runtime/windows/prepare.h"
#include "runtime/windows/run.h"

struct launch {
    struct arena *arena;
    const struct options *options;
    struct note_list notes;
    const char *state; /* the launcher's own directory */
    struct journal_place place;
    struct windows_prepared prepared;
    const struct windows_spec *spec;
    struct lease lease;
    struct lease_file lease_file;
    struct variable_list variables; /* of the command */
    const char *program;            /* NULL: not found */
    const char *executed, *line;    /* the program, or what runs it */
    struct windows_identity identity;
    SECURITY_CAPABILITIES capabilities;
    struct process_ground ground;
    struct journal *journal;
    struct own_directory own;
    struct desktop desktop;
    struct run run;
    bool not_executed; /* `failure`: why Windows refused the program */
    DWORD failure;
};

/* launch_plan.c: nothing is changed but what earlier runs left. */
bool step_recover(struct launch *launch);
bool step_prepare(struct launch *launch);
bool step_lease_place(struct launch *launch);
bool step_variables(struct launch *launch);
bool step_program(struct launch *launch);

/* launch_make.c: from here on there is something to take back. */
bool step_system(struct launch *launch);
bool step_interrupts(struct launch *launch);
bool step_identity(struct launch *launch);
bool step_journal(struct launch *launch);
bool step_token(struct launch *launch);
bool step_apply(struct launch *launch);
bool step_own_directory(struct launch *launch);
bool step_job(struct launch *launch);
bool step_desktop(struct launch *launch);
bool step_canary(struct launch *launch);
bool step_make(struct launch *launch);
bool step_verify(struct launch *launch);
bool step_record(struct launch *launch);
bool step_ready(struct launch *launch);

/* Queues an error note; always false. */
bool launch_refuse(struct launch *launch, enum code code, const char *text, const char *help);

/* Whether the run has a directory of its own, and where it lies ("C:\a", NULL: nowhere). */
bool launch_needs_own_directory(const struct launch *launch);
const char *launch_own_parent(struct launch *launch);

/* Opens the launcher's state directory and the journals in it. False with *error. */
bool launch_open_state(struct arena *arena, struct journal_place *place, const char **state,
                       const char **error);
