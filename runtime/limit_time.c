#include "runtime/limit_time.h"

#include "runtime/process.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { LATE_SECONDS = 2 };

/* Far beyond any run, and far from what the kernel's and this program's arithmetic can hold. */
static const uint64_t longest_seconds = UINT64_C(1) << 32;

static uint64_t seconds_within(uint64_t seconds)
{
    return seconds < longest_seconds ? seconds : longest_seconds;
}

int time_limit_clock(void)
{
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

bool time_limit_start(int clock, uint64_t seconds)
{
    const struct itimerspec when = {.it_value.tv_sec = (time_t)seconds_within(seconds),
                                    .it_interval.tv_sec = GRACE_SECONDS};

    return timerfd_settime(clock, 0, &when, NULL) == 0;
}

uint64_t time_limit_left(int clock)
{
    struct itimerspec when;

    if (timerfd_gettime(clock, &when) != 0)
        return 0;
    return (uint64_t)when.it_value.tv_sec + (when.it_value.tv_nsec > 0 ? 1 : 0);
}

void time_limit_ask(void)
{
    kill(-1, SIGTERM);
    kill(-1, SIGCONT);
}

int64_t time_limit_latest(uint64_t seconds)
{
    if (seconds == 0)
        return INT64_MAX;
    return now_milliseconds() + (int64_t)(seconds_within(seconds) + GRACE_SECONDS + LATE_SECONDS) * 1000;
}
