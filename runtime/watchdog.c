#include "runtime/watchdog.h"

#include "runtime/process.h"
#include "runtime/report.h"

#include <time.h>
#include <unistd.h>

static void *watch(void *argument)
{
    static const char text[] =
        "sbx-launch: error[SBX477]: a file system does not answer\n"
        "help: see which one hangs: mount, or stat on each granted path; umount -l PLACE takes it away\n";
    struct watchdog *watchdog = argument;

    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->over && now_milliseconds() < watchdog->until) {
        struct timespec until = {.tv_sec = watchdog->until / 1000,
                                 .tv_nsec = watchdog->until % 1000 * 1000000};
        pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until);
    }
    if (!watchdog->over) {
        /* The other thread is inside the kernel: it can do nothing more, and nothing has been made yet. */
        write_all(STDERR_FILENO, text, sizeof text - 1);
        _exit(EXIT_REFUSED);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

bool watchdog_begin(struct watchdog *watchdog, int seconds)
{
    pthread_condattr_t clock;

    *watchdog = (struct watchdog){.seconds = seconds, .until = now_milliseconds() + (int64_t)seconds * 1000};
    if (pthread_condattr_init(&clock) != 0)
        return false;
    watchdog->running = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0 &&
                        pthread_mutex_init(&watchdog->lock, NULL) == 0 &&
                        pthread_cond_init(&watchdog->changed, &clock) == 0 &&
                        pthread_create(&watchdog->thread, NULL, watch, watchdog) == 0;
    pthread_condattr_destroy(&clock);
    return watchdog->running;
}

void watchdog_again(struct watchdog *watchdog)
{
    if (!watchdog->running)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->until = now_milliseconds() + (int64_t)watchdog->seconds * 1000;
    pthread_mutex_unlock(&watchdog->lock);
}

void watchdog_end(struct watchdog *watchdog)
{
    if (!watchdog->running)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->over = true;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    watchdog->running = false;
}
