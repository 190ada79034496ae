/* stand_in.c - stands for sandbox-exec where there is none: reads the profile with the project's own reader and says what
 * macOS would say; a command named `judge` is not executed, its questions are answered; any other is executed without a
 * sandbox, if the profile lets it.
 *
 *   judge OPERATION ARGUMENT ...   one line each: "allow" or "deny". Operations: those of a profile, and `read`, `write`,
 *                                  `socket PATH`, `connect HOST:PORT`, `listen PORT`, where HOST is localhost or other.
 *   judge environment | arguments | directory
 *
 * A file `nested` beside the program makes it behave as inside another sandbox.
 */
#include "emitters/seatbelt_read.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { EXIT_PROFILE = 65, EXIT_EXECUTE = 71, PARAMETERS_MOST = 64, DARWIN_AF_UNIX = 1, DARWIN_AF_INET = 2 };

struct call {
    const char *profile;
    struct seatbelt_parameter parameters[PARAMETERS_MOST];
    uint32_t count;
    char **command;
};

static int fail(int code, const char *text)
{
    fprintf(stderr, "sandbox-exec: %s\n", text);
    return code;
}

static bool call_read(struct call *call, char **argv)
{
    char **at = argv + 1;

    for (; *at != NULL && **at == '-'; at += 2) {
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        if (at[1] == NULL)
            return false;
        char *equals = strchr(at[1], '=');
        if (strcmp(*at, "-p") == 0) {
            call->profile = at[1];
        } else if (strcmp(*at, "-D") == 0 && equals != NULL && call->count < PARAMETERS_MOST) {
            *equals = '\0';
            call->parameters[call->count++] = (struct seatbelt_parameter){at[1], equals + 1};
        } else {
            return false;
        }
    }
    call->command = at;
    return call->profile != NULL && *at != NULL;
}

/* As the kernel resolves a path: links followed, a missing end below its deepest existing directory. */
static const char *kernel_path(struct arena *arena, const char *path)
{
    char resolved[PATH_MAX];
    const char *rest = "";
    char *head = path[0] == '/' ? arena_strdup(arena, path)
                                : arena_format(arena, "%s/%s", getcwd(resolved, sizeof resolved), path);

    while (realpath(head, resolved) == NULL) {
        char *slash = strrchr(head, '/');
        rest = arena_format(arena, "%s%s", slash, rest);
        *slash = '\0';
        if (*head == '\0')
            return rest;
    }
    return strcmp(resolved, "/") == 0 && *rest != '\0' ? rest : arena_format(arena, "%s%s", resolved, rest);
}

static enum seatbelt_vnode vnode_of(const char *path)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return SEATBELT_VNODE_FILE;
    return S_ISDIR(status.st_mode)    ? SEATBELT_VNODE_DIRECTORY
           : S_ISSOCK(status.st_mode) ? SEATBELT_VNODE_SOCKET
           : S_ISCHR(status.st_mode)  ? SEATBELT_VNODE_CHARACTER
                                      : SEATBELT_VNODE_FILE;
}

static bool allowed(const struct seatbelt_profile *profile, struct seatbelt_question question)
{
    question.fold_case = true;
    return seatbelt_decide(profile, &question, NULL) == SEATBELT_ALLOW;
}

static bool file_allowed(struct arena *arena, const struct seatbelt_profile *profile, const char *operation,
                         const char *argument)
{
    const char *path = kernel_path(arena, argument);
    return allowed(
        profile,
        (struct seatbelt_question){
            .operation = operation, .path = path, .vnode = vnode_of(path), .mode_known = true, .mode = 0644});
}

static bool write_allowed(struct arena *arena, const struct seatbelt_profile *profile, const char *argument)
{
    return file_allowed(arena, profile, "file-write-data", argument) &&
           file_allowed(arena, profile, "file-write-create", argument) &&
           file_allowed(arena, profile, "file-write-unlink", argument);
}

static bool socket_allowed(struct arena *arena, const struct seatbelt_profile *profile, const char *argument)
{
    struct seatbelt_question question = {.operation = "system-socket", .socket_domain = DARWIN_AF_UNIX};
    if (!allowed(profile, question))
        return false;
    question.operation = "network-outbound";
    question.path = kernel_path(arena, argument);
    question.vnode = SEATBELT_VNODE_SOCKET;
    question.protocol = SEATBELT_PROTOCOL_UNIX;
    return allowed(profile, question);
}

static bool network_allowed(const struct seatbelt_profile *profile, const char *operation,
                            const char *argument)
{
    const char *colon = strrchr(argument, ':');
    const char *port = colon == NULL ? argument : colon + 1;
    bool local = colon != NULL && strncmp(argument, "localhost:", 10) == 0;
    struct seatbelt_address far = {.host = local ? SEATBELT_HOST_LOOPBACK : SEATBELT_HOST_OTHER,
                                   .port = (uint16_t)atoi(port)};
    struct seatbelt_question question = {.operation = operation,
                                         .protocol = SEATBELT_PROTOCOL_TCP,
                                         .version = 4,
                                         .socket_domain = DARWIN_AF_INET,
                                         .socket_type = 1};
    bool out = strcmp(operation, "network-outbound") == 0;
    question.remote = out ? far : (struct seatbelt_address){.host = SEATBELT_HOST_OTHER, .port = 40000};
    question.local = out ? (struct seatbelt_address){.host = SEATBELT_HOST_UNSPECIFIED} : far;
    return allowed(profile, question);
}

static bool answer(struct arena *arena, const struct seatbelt_profile *profile, const char *operation,
                   const char *argument)
{
    if (strcmp(operation, "read") == 0)
        return file_allowed(arena, profile, "file-read-data", argument);
    if (strcmp(operation, "write") == 0)
        return write_allowed(arena, profile, argument);
    if (strcmp(operation, "socket") == 0)
        return socket_allowed(arena, profile, argument);
    if (strcmp(operation, "connect") == 0)
        return network_allowed(profile, "network-outbound", argument);
    if (strcmp(operation, "listen") == 0)
        return network_allowed(profile, "network-bind", argument) &&
               network_allowed(profile, "network-inbound", argument);
    return file_allowed(arena, profile, operation, argument);
}

static int print_list(char *const *list)
{
    for (; *list != NULL; list++)
        puts(*list);
    return EXIT_SUCCESS;
}

static int judge(struct arena *arena, const struct seatbelt_profile *profile, char **command)
{
    char directory[PATH_MAX];

    if (command[1] != NULL && strcmp(command[1], "environment") == 0)
        return print_list(environ);
    if (command[1] != NULL && strcmp(command[1], "arguments") == 0)
        return print_list(command);
    if (command[1] != NULL && strcmp(command[1], "directory") == 0)
        return puts(getcwd(directory, sizeof directory)) < 0;
    for (char **at = command + 1; at[0] != NULL && at[1] != NULL; at += 2)
        puts(answer(arena, profile, at[0], at[1]) ? "allow" : "deny");
    return EXIT_SUCCESS;
}

static bool is_nested(struct arena *arena)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return true;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    return access(arena_format(arena, "%s/nested", self), F_OK) == 0;
}

static int execute(struct arena *arena, const struct seatbelt_profile *profile, char **command)
{
    const char *name = strrchr(command[0], '/');

    if (!file_allowed(arena, profile, "process-exec*", command[0]))
        errno = EPERM;
    else if (strcmp(name == NULL ? command[0] : name + 1, "judge") == 0)
        return judge(arena, profile, command);
    else
        execvp(command[0], command);
    return fail(EXIT_EXECUTE,
                arena_format(arena, "execvp() of '%s' failed: %s", command[0], strerror(errno)));
}

int main(int argc, char **argv)
{
    struct call call = {0};
    struct seatbelt_error error;
    struct arena *arena = arena_create(0);

    (void)argc;
    if (arena == NULL)
        return fail(EXIT_EXECUTE, "out of memory");
    if (!call_read(&call, argv))
        return fail(64, "usage: sandbox-exec [-D NAME=VALUE] -p PROFILE -- COMMAND");
    const struct seatbelt_profile *profile = seatbelt_read(arena, call.profile, strlen(call.profile),
                                                           call.parameters, call.count, NULL, NULL, &error);
    if (profile == NULL)
        return fail(EXIT_PROFILE, error.text);
    if (is_nested(arena))
        return fail(EXIT_EXECUTE, "sandbox_apply: Operation not permitted");
    int code = execute(arena, profile, call.command);
    arena_destroy(arena);
    return code;
}
