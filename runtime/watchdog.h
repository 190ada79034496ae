/* watchdog.h - ends the launcher with exit 125 if a call that looks at the machine does not return. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int seconds;
    int64_t until; /* milliseconds of the monotonic clock */
    bool running, over;
};

/* From now on there are `seconds` until watchdog_again or watchdog_end. False if there is no thread for
 * it. */
bool watchdog_begin(struct watchdog *watchdog, int seconds);

/* The time counts from now again. */
void watchdog_again(struct watchdog *watchdog);

/* Like watchdog_again, safe to call where it was never begun (zeroed), and twice. */
void watchdog_end(struct watchdog *watchdog);
