/* probe.h - which engine can make a sandbox on this machine, and if one cannot, which known cause and what
 * remedy.
 *
 * Nothing is read out of messages: a sandbox is tried, then one step after another in a child process, and
 * the cause is told from the step, its errno and facts about the machine. Nothing on the machine changes.
 */
#pragma once

#include "policy/note.h"

/* Of one engine. */
struct probe_backend {
    const char *name;
    bool usable;
    const char *version;        /* or NULL */
    const char *cause, *remedy; /* NULL when usable */
};

/* The engines that hold policies whole, then the one that needs exceptions. On macOS and on Windows there is one; the
 * other entries have no name. */
enum { PROBE_WHOLE = 2, PROBE_BACKENDS = 3 };

struct probe_result {
    struct probe_backend backends[PROBE_BACKENDS]; /* the one that is preferred first */
    bool usable;                                   /* one of the first PROBE_WHOLE is */
};

/* Tries each engine. */
struct probe_result probe_machine(struct arena *arena);

/* Why namespaces cannot be made here. False if they can: the cause lies elsewhere. */
bool probe_diagnose(struct arena *arena, const char **cause, const char **remedy);

/* Appends the result, as text or as the JSON of commands.md; `kernel`: its version here. */
void probe_print(struct buffer *out, const struct probe_result *result, const char *kernel, bool json);
