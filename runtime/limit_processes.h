/* limit_processes.h - `limit processes` by RLIMIT_NPROC, where the kernel counts each user namespace for
 * itself (Linux 5.14) and the user is not the machine's root, for whom it does not hold. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For process 1 alone in its sandbox: sets the limit to `processes` beside itself and the launcher's keeper, for
 * good, if two new processes show that it holds and counts nothing outside. Returns how many it leaves then,
 * at most `processes`, or 0: nothing was changed. */
uint64_t process_limit_set(uint64_t processes);

/* For process 1 after process_limit_set, before it starts the command and once the keeper has come, if it does:
 * takes the room for the keeper away where the kernel does not count it here. False on failure. */
bool process_limit_settle(uint64_t processes);
