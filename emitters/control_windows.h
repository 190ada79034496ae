/* control_windows.h - how Windows holds each control, by the tier that carries a policy.
 *
 * A tier is a way to confine a process that an ordinary user may take: a restricted token, one that also has low
 * integrity, an AppContainer. Each holds more than the one before and asks more of the programs inside.
 */
#pragma once

#include "emitters/control.h"
#include "emitters/windows_network.h"
#include "emitters/windows_spec.h"

/* Of the tier `appcontainer`. */
extern control_table control_windows;

/* What of a policy takes away what holds a control. */
struct windows_ground {
    const struct bound_policy *bound;
    enum windows_network network;
    bool lowers;     /* a place inside a writable one has a lower level, or may have by a pattern */
    bool sockets;    /* a Unix socket is granted by path */
    bool exec_trees; /* a program is denied by pattern, or a directory of them */
    bool syscalls;   /* a system call is denied by name */
};

struct windows_ground windows_ground_of(const struct bound_policy *bound);

/* How `tier` holds `control` for this policy. */
struct control_entry control_windows_entry(const struct windows_ground *ground, enum windows_tier tier,
                                           enum control control);

/* The first tier that holds everything that is needed and not accepted; if there is none, the strongest. What a
 * managed layer needs no accept covers. */
enum windows_tier windows_tier_for(const struct windows_ground *ground,
                                   const struct control_need needs[CONTROLS]);

/* The same for a policy whose needs are not known yet. */
enum windows_tier windows_tier_of(const struct bound_policy *bound);

/* What a tier leaves open besides what the policy grants: sentences for people, NULL at the end. */
const char *const *windows_tier_open(enum windows_tier tier, enum windows_network network);

/* "an AppContainer (tier appcontainer)" and so on. */
extern const char *const windows_tier_words[WINDOWS_TIERS];

/* Queues notes that say which tier holds the policy, and what that leaves open or closes besides. */
void windows_tier_say(const struct windows_ground *ground, enum windows_tier tier, struct note_list *notes);
