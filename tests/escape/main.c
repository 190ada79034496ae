/* escape-attempt NAME [ARGUMENT...] - one attempt. */
#include "tests/escape/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void say(const void *bytes, size_t length)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t wrote = write(STDOUT_FILENO, at, length);
        if (wrote <= 0)
            _exit(3);
        at += wrote;
        length -= (size_t)wrote;
    }
}

void say_text(const char *text)
{
    say(text, strlen(text));
    say("\n", 1);
}

void say_hex(const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *at = bytes;

    for (size_t i = 0; i < length; i++) {
        say(&digits[at[i] >> 4], 1);
        say(&digits[at[i] & 15], 1);
    }
    say("\n", 1);
}

void say_all(int descriptor)
{
    char chunk[4096];
    ssize_t got;

    while ((got = read(descriptor, chunk, sizeof chunk)) > 0)
        say(chunk, (size_t)got);
}

void say_file(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    say_all(descriptor);
    close(descriptor);
}

void put_text(const char *path, int flags, const char *text)
{
    int descriptor = open(path, flags | O_CLOEXEC, 0644);
    ssize_t ignored = write(descriptor, text, strlen(text));

    (void)ignored;
    close(descriptor);
}

void hold(void)
{
    char byte;

    say_text("holding");
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    _exit(0);
}

void hold_descriptor(int descriptor)
{
    dup2(descriptor, HELD_DESCRIPTOR);
    hold();
}

int main(int argc, char **argv)
{
    enum { ARGUMENTS = 8 };
    static const struct attempt *const tables[] = {
        file_attempts,          mode_attempts,   mount_attempts,  process_attempts,
        first_process_attempts, socket_attempts, kernel_attempts, terminal_attempts,
    };
    char nothing[] = "", *arguments[ARGUMENTS + 1];

    for (int i = 0; i <= ARGUMENTS; i++)
        arguments[i] = i < argc - 2 ? argv[i + 2] : nothing;
    for (size_t i = 0; argc >= 2 && i < sizeof tables / sizeof tables[0]; i++)
        for (const struct attempt *attempt = tables[i]; attempt->name != NULL; attempt++)
            if (strcmp(attempt->name, argv[1]) == 0) {
                say_text("started");
                attempt->run(arguments);
                say_text(errno == 0 ? "done" : strerror(errno));
                return EXIT_SUCCESS;
            }
    say_text("no such attempt");
    return EXIT_FAILURE;
}
