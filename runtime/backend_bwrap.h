/* backend_bwrap.h - finds bubblewrap, and starts it with the inner stage as process 1 of a new sandbox. */
#pragma once

#include "policy/bound.h"
#include "runtime/inner_config.h"
#include "runtime/process.h"
#include "runtime/signals.h"

#include <sys/types.h>

struct backend {
    int program;      /* descriptor of the executable, close-on-exec; -1: not found */
    const char *path; /* canonical */
    const char *version;
    struct helper_process asked; /* for its version; no child: not yet */
};

/* Looks for bubblewrap in the fixed system places, and starts asking for its version if it is there. */
void backend_seek(struct arena *arena, struct backend *backend);

/* Where backend_seek found nothing, looks along `search` (a PATH value, or NULL) where `bound` (or NULL: then nowhere)
 * lets the command write no directory on the way. False with an error note if there is none. */
bool backend_find(struct arena *arena, const struct bound_policy *bound, const char *search,
                  struct backend *backend, struct note_list *notes);

/* Waits for the version. False with an error note if it cannot be had or is too old; may be called again. */
bool backend_check(struct arena *arena, struct backend *backend, struct note_list *notes);

/* What bubblewrap is given. */
struct backend_request {
    const struct backend *backend;
    const struct buffer *words;  /* for --args, each ended by NUL */
    const struct buffer *filter; /* the seccomp program, or NULL */
    struct inner_config *inner;  /* descriptors are filled in by backend_start */
    int streams[3];              /* what becomes the command's 0 to 2 */
    const int *masks;            /* consecutive descriptors on /dev/null that the words name */
    uint32_t mask_count;
    const struct signals *signals; /* given back to the command */
};

/* A started sandbox, seen by the launcher. All descriptors are close-on-exec. */
struct sandbox {
    pid_t process; /* bubblewrap */
    int status;    /* socket to the inner stage, one struct status_message a packet */
    int go;        /* one byte starts the command; closing it ends everything */
    int errors;    /* what bubblewrap and the inner stage write on standard error */
};

/* Starts bubblewrap with an empty environment. False with an error note on failure; nothing then runs. */
bool backend_start(struct arena *arena, struct backend_request *request, struct sandbox *sandbox,
                   struct note_list *notes);

/* The call that backend_start makes, for --dry-run: one argument a line, descriptors by what they hold. */
void backend_print(struct buffer *out, const struct backend *backend, const struct buffer *words);
