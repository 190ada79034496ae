/* prepare.h - from a policy file to a bound, sealed and proven policy for this launch. */
#pragma once

#include "emitters/control.h"
#include "policy/bound.h"
#include "runtime/managed.h"
#include "runtime/options.h"
#include "runtime/remote.h"

struct prepared {
    struct remote *remote;    /* file systems to ask before they are looked at, or NULL; set by the caller */
    const char *policy_path;  /* canonical */
    const struct policy *own; /* as it was read */
    const struct policy *policy; /* merged with the managed layers */
    struct own_files *own_files; /* own_files.h */
    struct managed_list managed;
    const char *work;                 /* $WORK */
    const char *directory;            /* where the command starts */
    const char *state;                /* the launcher's own directory for records, or NULL */
    struct variable_list environment; /* of the caller */
    struct bindings bindings;
    struct bound_policy *bound;
};

/* Finds $WORK and the directory in which the command starts, both canonical. */
bool prepare_directory(struct arena *arena, const struct options *options, struct prepared *prepared,
                       struct note_list *notes);

/* Reads the policy (a .sbx file by running the compiler beside this program) and all managed layers, and
 * merges them. */
bool prepare_policy(struct arena *arena, const struct options *options, struct prepared *prepared,
                    struct note_list *notes);

/* Binds it to this machine, settles `when command`, caps what is the launcher's own, seals and proves. */
bool prepare_bound(struct arena *arena, const struct options *options, struct prepared *prepared,
                   struct note_list *notes);
