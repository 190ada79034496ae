#include "runtime/macos_sandbox.h"

#include "base/escape.h"
#include "policy/host.h"
#include "runtime/process.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    CALL_RESERVE = 4096, /* of the limit, for what the kernel puts there itself */
    TRIAL_SECONDS = 30,
    TRIAL_BYTES = 64 << 10,
    TRIAL_EXIT = 71, /* of sandbox-exec, where the program could not be executed */
    VERSION_BYTES = 64 << 10
};

char **sandbox_arguments(struct arena *arena, const char *profile, const char *scratch, char *const *command)
{
    size_t count = 0, at = 0;

    while (command[count] != NULL)
        count++;
    char **arguments = arena_array(arena, count + 7, sizeof *arguments);
    arguments[at++] = arena_strdup(arena, "sandbox-exec");
    if (scratch != NULL) {
        arguments[at++] = arena_strdup(arena, "-D");
        arguments[at++] = arena_format(arena, "SCRATCH=%s", scratch);
    }
    arguments[at++] = arena_strdup(arena, "-p");
    arguments[at++] = arena_strdup(arena, profile);
    arguments[at++] = arena_strdup(arena, "--");
    memcpy(&arguments[at], command, count * sizeof *arguments);
    arguments[at + count] = NULL;
    return arguments;
}

char **sandbox_environment(struct arena *arena, const struct variable_list *variables)
{
    char **environment = arena_array(arena, (size_t)variables->count + 1, sizeof *environment);

    for (uint32_t i = 0; i < variables->count; i++)
        environment[i] = arena_format(arena, "%s=%s", variables->items[i].name, variables->items[i].value);
    return environment;
}

static size_t list_bytes(char *const *list)
{
    size_t bytes = sizeof *list;

    for (; *list != NULL; list++)
        bytes += strlen(*list) + 1 + sizeof *list;
    return bytes;
}

bool sandbox_call_fits(char *const *arguments, char *const *environment, size_t *needed, size_t *allowed)
{
    long limit = sysconf(_SC_ARG_MAX);

    *needed = list_bytes(arguments) + list_bytes(environment) + CALL_RESERVE;
    *allowed = limit > 0 ? (size_t)limit : 256 << 10;
    return *needed <= *allowed;
}

enum sandbox_trial sandbox_try(struct arena *arena, const char *profile, const char *scratch,
                               const char **said)
{
    static const char nested[] = "sandbox_apply";
    char *nothing[] = {arena_strdup(arena, "/dev/null"), NULL};
    struct helper trial = {.path = sandbox_exec_path(arena),
                           .argv = sandbox_arguments(arena, profile, scratch, nothing),
                           .errors_too = true,
                           .seconds = TRIAL_SECONDS,
                           .limit = TRIAL_BYTES};
    struct buffer output = buffer_in(arena);
    const char *error = NULL;

    trial.program = -1;
    buffer_string(&output, "");
    int code = helper_run(&trial, &output, &error);
    while (output.length > 0 && output.bytes[output.length - 1] == '\n')
        output.bytes[--output.length] = '\0';
    *said = code < 0             ? escape_string(arena, error)
            : output.length == 0 ? arena_format(arena, "it ended with exit code %d", code)
                                 : escape_string(arena, output.bytes);
    if (strstr(output.bytes, nested) != NULL)
        return TRIAL_NESTED;
    return code == TRIAL_EXIT ? TRIAL_TAKEN : TRIAL_REFUSED;
}

const char *macos_version(struct arena *arena)
{
    static const char key[] = "<key>ProductVersion</key>", open[] = "<string>";
    size_t length;
    const char *error;
    const char *text =
        file_read(arena, "/System/Library/CoreServices/SystemVersion.plist", VERSION_BYTES, &length, &error);
    const char *at = text == NULL ? NULL : strstr(text, key);

    at = at == NULL ? NULL : strstr(at, open);
    if (at == NULL)
        return "unknown";
    at += sizeof open - 1;
    return arena_copy(arena, at, strspn(at, "0123456789."));
}
