/* main.c - sbxc: reads the call, runs one command, writes what it has to say. */
#include "compiler/commands/command.h"
#include "compiler/output.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A descriptor that is closed would be taken by the next file opened; what is written to it must fail
 * instead. */
static void occupy_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
            _exit(EXIT_WRONG);
}

static int run(struct session *session, int argc, char **argv)
{
    struct options *options = &session->options;
    const char *problem = options_read(session->arena, argc, argv, options);
    if (problem != NULL)
        return session_complain(session, problem);
    if (options->version) {
        buffer_string(&session->out, "sbxc " SBX_VERSION "\n");
        return EXIT_DONE;
    }
    if (options->help) {
        options_usage(&session->out, options->command);
        return EXIT_DONE;
    }
    return session_begin(session) ? options->command->run(session) : session->exit;
}

static int write_out(struct session *session, int status)
{
    if (session->out.length == 0)
        return status;
    if (output_standard(session->out.bytes, session->out.length) && close(STDOUT_FILENO) == 0)
        return status;
    return session_complain(
        session, arena_format(session->arena, "cannot write to standard output: %s", strerror(errno)));
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is an error of write(2), and the old output stays */
    struct arena *arena = arena_create(0);
    jmp_buf exhausted;
    static const char message[] = "sbxc: out of memory\n";
    if (arena == NULL || setjmp(exhausted) != 0) {
        output_error(message, sizeof message - 1);
        return EXIT_WRONG;
    }
    arena_on_exhausted(arena, &exhausted);
    struct session session = {.arena = arena, .out = buffer_in(arena)};
    int status = write_out(&session, run(&session, argc, argv));
    if (SBX_SANITIZED)
        arena_destroy(arena); /* else the system takes all memory back at once */
    return status;
}
