/* diagnose.h - which known cause keeps sandboxes from being made on a machine, told from the step that
 * fails, its errno and facts about the machine, never from the text of a message.
 *
 * Everything that is asked of the machine goes through one table, so that tests can put a machine in it
 * that is not at hand.
 */
#pragma once

#include "base/arena.h"
#include "runtime/trial.h"

#include <stdbool.h>
#include <sys/types.h>

struct machine_calls {
    void *context; /* what each call gets */
    struct trial (*try_steps)(void *context);
    /* The bytes of the file, in `arena`; "" if it cannot be read. */
    const char *(*text)(void *context, struct arena *arena, const char *path);
    bool (*exists)(void *context, const char *path);
    /* Device and inode of a directory; false if it cannot be looked at. */
    bool (*identity)(void *context, const char *path, dev_t *device, ino_t *inode);
};

/* This machine. */
extern const struct machine_calls this_machine;

/* Why namespaces cannot be made on the machine, and what to do. False if they can: the cause lies
 * elsewhere. */
bool machine_diagnose(struct arena *arena, const struct machine_calls *machine, const char **cause,
                      const char **remedy);
