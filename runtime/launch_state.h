/* launch_state.h - what the steps of a launch hand to each other (launch.c). */
#pragma once

#include "emitters/seccomp.h"
#include "runtime/engine.h"
#include "runtime/facts.h"
#include "runtime/landlock_scratch.h"
#include "runtime/lease.h"
#include "runtime/limit_group.h"
#include "runtime/patience.h"
#include "runtime/placeholder.h"
#include "runtime/prepare.h"
#include "runtime/supervise.h"
#include "runtime/terminal.h"
#include "runtime/watch.h"
#include "runtime/watchdog.h"

struct launch {
    struct arena *arena;
    const struct options *options;
    struct note_list notes;
    struct prepared prepared;
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];
    struct lease lease;
    struct lease_place place;
    struct streams streams;
    struct terminal terminal;
    struct watchdog watchdog;
    struct patience patience;
    struct facts facts;
    struct plan plan;
    struct variable_list variables; /* of the command */
    bool own_network, unix_sockets, nested;
    struct landlock_scratch scratch; /* of a launch that goes alone */
    bool alone;                      /* without namespaces, by Landlock: landlock_launch.h */
    struct engine_use engine;
    struct buffer filter;
    struct inner_config inner;
    struct signals signals;
    struct placeholder_set *placeholders;
    int turn; /* see turn.h; -1: not held */
    struct sandbox sandbox;
    struct watch watch;
    struct evidence evidence;
    struct limit_groups groups;
    int exit_code;
};
