/* engine.h - what makes a sandbox from a plan, behind one interface: `native` by the kernel's own mount calls
 * (native.c), `bwrap` by bubblewrap (backend_bwrap.c).
 *
 * Whatever the engine, process 1 of the sandbox is the inner stage (inner.h), and it starts the command
 * only after the launcher's go byte.
 */
#pragma once

#include "emitters/plan.h"
#include "runtime/inner_config.h"
#include "runtime/options.h"
#include "runtime/signals.h"

struct engine;

/* The engine of this launch. */
struct engine_use {
    const struct engine *engine;
    const char *version; /* known after engine->check */
    void *own;           /* the engine's */
    const char *instead; /* why bubblewrap takes the native engine's place, or NULL */
};

/* What is to be made. */
struct sandbox_request {
    const struct plan *plan;
    const struct variable *environment; /* of the command, in this order; it has no other variables */
    uint32_t environment_count;
    bool share_network;
    bool nested;                   /* the command may make namespaces of its own */
    const struct buffer *filter;   /* the seccomp program, or NULL */
    struct inner_config *inner;    /* descriptors are filled in by engine->start */
    int streams[3];                /* what becomes the command's 0 to 2 */
    const struct signals *signals; /* given back to the command */
};

/* A started sandbox, seen by the launcher. All descriptors are close-on-exec. */
struct sandbox {
    pid_t process; /* the engine's, or process 1 itself */
    int status;    /* socket to the inner stage, one struct status_message a packet */
    int go;        /* one byte starts the command; closing it ends everything */
    int errors;    /* what the engine and the inner stage write on standard error */
    int mounts;    /* its mount namespace, once the evidence is there; else -1 */
    pid_t keeper;  /* the launcher's own child, which lives on until watch_end; 0: none */
};

/* Functions that return bool return false with an error note in `notes` (or what they are told to set), if
 * the launch must not go on. They are called in this order; an engine that has nothing to do for one of them
 * but `start` and `print` leaves it out. */
struct engine {
    const char *name;  /* in --engine, the lease and --probe */
    const char *title; /* in messages */
    /* Begins what takes time. */
    void (*seek)(struct arena *arena, struct engine_use *use);
    /* `search` is a PATH value or NULL; only directories of it are used in which `bound` lets the command
     * write nothing (`bound` NULL: none). */
    bool (*find)(struct arena *arena, struct engine_use *use, const struct bound_policy *bound,
                 const char *search, struct note_list *notes);
    /* Whether the plan can be carried out. Opens nothing. */
    bool (*prepare)(struct arena *arena, struct engine_use *use, const struct sandbox_request *request,
                    struct note_list *notes);
    /* Opens what start needs at fixed places. */
    bool (*reserve)(struct arena *arena, struct engine_use *use, struct note_list *notes);
    /* Starts the sandbox, with the inner stage in it. */
    bool (*start)(struct arena *arena, struct engine_use *use, struct sandbox_request *request,
                  struct sandbox *sandbox, struct note_list *notes);
    /* Waits for the version. */
    bool (*check)(struct arena *arena, struct engine_use *use, struct note_list *notes);
    /* For --dry-run: what start does, one step a line. */
    void (*print)(struct buffer *out, const struct engine_use *use, const struct sandbox_request *request);
};

/* Takes the engine that `wanted` says; of ENGINE_AUTO the native one, or bubblewrap with a note why, and
 * begins with it (seek). */
bool engine_choose(struct arena *arena, enum engine_wish wanted, struct engine_use *use,
                   struct note_list *notes);

/* What the engine of `use` does for these steps; true where it has nothing to do. */
bool engine_find(struct arena *arena, struct engine_use *use, const struct bound_policy *bound,
                 const char *search, struct note_list *notes);
bool engine_prepare(struct arena *arena, struct engine_use *use, const struct sandbox_request *request,
                    struct note_list *notes);
bool engine_reserve(struct arena *arena, struct engine_use *use, struct note_list *notes);
bool engine_check(struct arena *arena, struct engine_use *use, struct note_list *notes);
