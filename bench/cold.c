/* cold.c - cold COUNT COMMAND [ARG ...] [:: COMMAND [ARG ...]] ...: runs the commands in turn, COUNT times,
 * each as a new process, and prints one line a command: median wall ms, median CPU ms, largest resident kB.
 *
 * The commands take turns so that whatever else the machine does falls on all of them alike. What they print
 * goes to /dev/null. A command that does not exit with 0 ends the measurement with exit 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS = 8 };

struct command {
    char **arguments;
    double *wall, *cpu;
    long resident;
};

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void become(char **arguments)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(126);
    execvp(arguments[0], arguments);
    _exit(127);
}

static int run(struct command *command, int round)
{
    struct rusage used;
    int status = 0;
    double start = now();
    pid_t child = fork();
    if (child == 0)
        become(command->arguments);
    while (child > 0 && wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        continue;
    if (child < 0 || status != 0) {
        fprintf(stderr, "cold: %s: %s %d\n", command->arguments[0],
                WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        return 1;
    }
    command->wall[round] = now() - start;
    command->cpu[round] = milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
    if (used.ru_maxrss > command->resident)
        command->resident = used.ru_maxrss;
    return 0;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Cuts the words at each "::". Returns how many commands there are, 0 if too many or an empty one. */
static int read_commands(char **words, struct command *commands)
{
    int count = 0;
    while (*words != NULL) {
        if (count == COMMANDS || strcmp(*words, "::") == 0)
            return 0;
        commands[count++].arguments = words;
        while (*words != NULL && strcmp(*words, "::") != 0)
            words++;
        if (*words != NULL)
            *words++ = NULL;
    }
    return count;
}

int main(int argc, char **argv)
{
    struct command commands[COMMANDS] = {0};
    int rounds = argc > 2 ? atoi(argv[1]) : 0, count = rounds > 0 ? read_commands(argv + 2, commands) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: cold COUNT COMMAND [ARG ...] [:: COMMAND [ARG ...]] ...\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        commands[i].wall = calloc((size_t)rounds, sizeof(double));
        commands[i].cpu = calloc((size_t)rounds, sizeof(double));
        if (commands[i].wall == NULL || commands[i].cpu == NULL)
            return 2;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++)
            if (run(&commands[i], round) != 0)
                return 1;
    for (int i = 0; i < count; i++)
        printf("%.3f %.3f %ld\n", median(commands[i].wall, rounds), median(commands[i].cpu, rounds),
               commands[i].resident);
    return 0;
}
