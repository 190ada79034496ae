#include "runtime/inner_terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool inner_terminal_make(struct inner_terminal *terminal)
{
    char path[sizeof "/dev/pts/" + 3 * sizeof(int)];
    int number = 0, locked = 0;

    terminal->slave = -1;
    terminal->master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->master < 0 || ioctl(terminal->master, TIOCSPTLCK, &locked) != 0 ||
        ioctl(terminal->master, TIOCGPTN, &number) != 0)
        return false;
    snprintf(path, sizeof path, "/dev/pts/%d", number);
    terminal->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return terminal->slave >= 0;
}

bool inner_terminal_control(const struct inner_terminal *terminal)
{
    return ioctl(terminal->slave, TIOCSCTTY, 0) == 0;
}

bool inner_terminal_take(const struct inner_terminal *terminal)
{
    return tcsetpgrp(terminal->slave, getpgrp()) == 0;
}
