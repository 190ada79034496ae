/* fault.h - steps between which a build for tests can be killed; in every other build there are none.
 *
 * SBX_TEST_DIE_AT=N in the environment of such a build ends the process before its step number N (from 0), as
 * a kill does, and with SBX_TEST_PAUSE_AT=N it sleeps there for a second. SBX_TEST_DISK=N leaves room for N
 * bytes of journal. With SBX_TEST_MADE=FILE it makes that file before the command's process, and goes on once the
 * file is gone. With SBX_TEST_NO_RANDOM Windows gives no random bytes for the number of the run. With
 * SBX_TEST_DOUBT=TEXT the build refuses, as every other one does, where a fact that holds TEXT cannot be verified.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef SBX_TEST_UNENFORCED

void fault_step(void);

/* How many of `length` bytes the disk takes. */
size_t fault_room(size_t length);

/* Before the command's process is made. */
void fault_made(void);

/* Whether there are random bytes. */
bool fault_random(void);

/* Whether `fact` is one that cannot be verified. */
bool fault_doubts(const char *fact);

#else

static inline void fault_step(void)
{
}

static inline size_t fault_room(size_t length)
{
    return length;
}

static inline void fault_made(void)
{
}

static inline bool fault_random(void)
{
    return true;
}

static inline bool fault_doubts(const char *fact)
{
    (void)fact;
    return false;
}

#endif
