#include "runtime/probe.h"

#include "base/escape.h"
#include "runtime/report.h"
#include "runtime/supervise.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The smallest sandbox: no part of the machine's file system, only /proc and /dev. */
static const char *const smallest[] = {
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--remount-ro",
    "/",
    "--as-pid-1",
    NULL,
};

/* Makes the smallest sandbox; true if process 1 inside could say what it measured. */
static bool try_sandbox(struct arena *arena, const struct backend *backend, struct outcome *outcome)
{
    char *const no_command[] = {NULL};
    struct note_list notes = note_list_in(arena);
    struct buffer words = buffer_in(arena);
    struct inner_config inner = {
        .directory = "/", .files_soft = 64, .files_hard = 64, .arguments = no_command};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct signals signals;
    struct sandbox sandbox;
    struct evidence evidence;

    for (int i = 0; smallest[i] != NULL; i++)
        buffer_bytes(&words, smallest[i], strlen(smallest[i]) + 1);
    if (null < 0 || !signals_take(&signals))
        return false;
    struct backend_request request = {.backend = backend,
                                      .words = &words,
                                      .inner = &inner,
                                      .streams = {null, null, null},
                                      .signals = &signals};
    if (!backend_start(arena, &request, &sandbox, &notes))
        return false;
    *outcome = sandbox_await(arena, &sandbox, &signals, &evidence);
    sandbox_end(&sandbox);
    return outcome->kind == OUTCOME_READY;
}

struct probe_result probe_backend(struct arena *arena)
{
    struct probe_result result = {0};
    struct note_list notes = note_list_in(arena);
    struct outcome outcome = {0};
    struct backend backend;

    backend_seek(arena, &backend);
    if (!backend_find(arena, NULL, NULL, &backend, &notes) || !backend_check(arena, &backend, &notes)) {
        result.cause = notes.items[0].text;
        result.remedy = notes.items[0].help;
        return result;
    }
    result.version = backend.version;
    result.usable = try_sandbox(arena, &backend, &outcome);
    if (!result.usable && !probe_diagnose(arena, &result.cause, &result.remedy)) {
        result.cause = outcome.text != NULL ? outcome.text : "bubblewrap ended without a word";
        result.remedy =
            "namespaces work here, so look at bubblewrap itself: its version, its owner, its mode";
    }
    return result;
}

static void add_member(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    if (value == NULL)
        buffer_string(out, "null");
    else
        json_string(out, value, strlen(value));
}

static void add_json(struct buffer *out, const struct probe_result *result, const char *kernel)
{
    buffer_string(out, "{\"kernel\":");
    json_string(out, kernel, strlen(kernel));
    buffer_string(out, ",\"backends\":[{\"name\":\"bwrap\"");
    add_member(out, "version", result->version);
    buffer_format(out, ",\"usable\":%s", result->usable ? "true" : "false");
    add_member(out, "cause", result->cause);
    add_member(out, "remedy", result->remedy);
    buffer_string(out, "}]}\n");
}

void probe_print(struct buffer *out, const struct probe_result *result, bool json)
{
    struct utsname system = {0};

    uname(&system);
    if (json) {
        add_json(out, result, system.release);
    } else {
        buffer_format(out, "%s (kernel %s)\n",
                      result->usable ? "policies can be enforced here" : "policies cannot be enforced here",
                      system.release);
        buffer_format(out, "  bwrap  %s  %s\n", result->version == NULL ? "missing" : result->version,
                      result->usable ? "usable" : "not usable");
        if (!result->usable)
            buffer_format(out, "  cause:  %s\n  remedy: %s\n", result->cause, result->remedy);
    }
}
