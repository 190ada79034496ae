/* limit_processes.h - `limit processes` by RLIMIT_NPROC, where the kernel counts each user namespace for
 * itself (Linux 5.14) and the user is not the machine's root, for whom it does not hold. */
#pragma once

#include <stdint.h>

/* For process 1 alone in its sandbox: sets the limit to `processes` beside itself, for good, if two new
 * processes show that it holds and counts nothing outside. Returns what is set then, at most `processes`, or
 * 0: nothing was changed. */
uint64_t process_limit_set(uint64_t processes);
