/* limit_time.h - `limit time`: process 1 inside ends everything when the command's time is over.
 *
 * First all are asked (SIGTERM, and SIGCONT for those that are stopped), GRACE_SECONDS later process 1 ends,
 * and with it whatever is left. The clock stands still only while the machine sleeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { GRACE_SECONDS = 5 };

/* A clock to wait for together with other descriptors, close-on-exec; -1 on failure. */
int time_limit_clock(void);

/* Starts `clock`: it can be read after `seconds`, and again after each GRACE_SECONDS. With 0 it never can. */
bool time_limit_start(int clock, uint64_t seconds);

/* For how many seconds, rounded up, `clock` is set now; 0: it is not. */
uint64_t time_limit_left(int clock);

/* Asks all processes but this one, which must be process 1, to end. */
void time_limit_ask(void);

/* When nothing may be left any more if a command with this limit starts now, in now_milliseconds; INT64_MAX
 * if there is no limit (0). Later than process 1 acts by itself: the launcher looks whether it did. */
int64_t time_limit_latest(uint64_t seconds);
