/* A call that does not return ends the launcher, and nothing else does. */
#include "runtime/watchdog.h"

#include "tests/unit/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

static void sleep_milliseconds(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Runs `work` in a process of its own, whose standard error is closed; its exit code. */
static int code_of(void (*work)(struct watchdog *watchdog))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct watchdog watchdog = {0};
        close(STDERR_FILENO);
        if (watchdog_begin(&watchdog, 1))
            work(&watchdog);
        _exit(9);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void hang(struct watchdog *watchdog)
{
    (void)watchdog;
    sleep_milliseconds(60000);
}

static void go_on(struct watchdog *watchdog)
{
    for (int i = 0; i < 4; i++) {
        sleep_milliseconds(500);
        watchdog_again(watchdog);
    }
}

static void be_over(struct watchdog *watchdog)
{
    watchdog_end(watchdog);
    watchdog_end(watchdog);
    watchdog_again(watchdog);
    sleep_milliseconds(1500);
}

static void what_does_not_return_ends_it(void **state)
{
    (void)state;
    assert_int_equal(code_of(hang), 125);
}

static void what_goes_on_or_is_over_does_not(void **state)
{
    (void)state;
    assert_int_equal(code_of(go_on), 9);
    assert_int_equal(code_of(be_over), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_return_ends_it),
        cmocka_unit_test(what_goes_on_or_is_over_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
