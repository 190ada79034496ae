/* terminals.c - typing into the caller's terminal, and changing it. */
#include "tests/escape/attempt.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Puts `text` into the input queue of the terminal on standard error; `high` is for the request's upper half,
 * which the kernel ignores. */
static void type_with(unsigned long high, const char *text)
{
    for (; *text != '\0'; text++)
        ioctl(STDERR_FILENO, TIOCSTI | high, text);
}

static void type_text(char **arguments)
{
    type_with(0, arguments[0]);
}

static void type_text_masked(char **arguments)
{
    type_with(1UL << 32, arguments[0]);
}

static void change_discipline(char **arguments)
{
    int null_discipline = 27;

    (void)arguments;
    ioctl(STDERR_FILENO, TIOCSETD, &null_discipline);
}

static void write_to_terminal(char **arguments)
{
    put_text(arguments[0], O_WRONLY | O_NOCTTY, arguments[1]);
}

static void switch_echo_off(char **arguments)
{
    int terminal = strcmp(arguments[0], "/dev/stdin") == 0 ? STDIN_FILENO : open(arguments[0], O_RDWR);
    struct termios settings;

    /* Else it would be stopped: it is in no foreground. */
    signal(SIGTTOU, SIG_IGN);
    if (tcgetattr(terminal, &settings) != 0)
        return;
    settings.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(terminal, TCSANOW, &settings);
}

const struct attempt terminal_attempts[] = {
    {"type", type_text},
    {"type-masked", type_text_masked},
    {"change-discipline", change_discipline},
    {"write-to-terminal", write_to_terminal},
    {"switch-echo-off", switch_echo_off},
    {NULL, NULL},
};
