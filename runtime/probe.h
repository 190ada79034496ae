/* probe.h - whether bubblewrap can make a sandbox on this machine, and if not, which known cause and what
 * remedy.
 *
 * Nothing is read out of messages: a sandbox is tried, then one step after another in a child process, and
 * the cause is told from the step, its errno and facts about the machine. Nothing on the machine changes.
 */
#pragma once

#include "policy/note.h"

struct probe_result {
    bool usable;
    const char *version;        /* of bubblewrap, or NULL */
    const char *cause, *remedy; /* NULL when usable */
};

struct probe_result probe_backend(struct arena *arena);

/* Why namespaces cannot be made here. False if they can: the cause lies elsewhere. */
bool probe_diagnose(struct arena *arena, const char **cause, const char **remedy);

/* Appends the result, as text or as the JSON of commands.md. */
void probe_print(struct buffer *out, const struct probe_result *result, bool json);
