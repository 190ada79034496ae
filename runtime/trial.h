/* trial.h - what a sandbox does, tried one step after another in a process of its own that leaves nothing
 * behind. */
#pragma once

/* In their order. */
enum step {
    STEP_USER_NAMESPACE,
    STEP_USER_MAP,
    STEP_NAMESPACES,
    STEP_MOUNT_PRIVATE,
    STEP_MOUNT_TMPFS,
    STEP_MOUNT_PROC,
    STEP_LOOPBACK,
    STEP_NONE /* all of it worked */
};

struct trial {
    enum step failed; /* the first one that did */
    int error;        /* its errno */
};

struct trial trial_make(void);

/* "making a user namespace" */
const char *step_name(enum step step);
