#include "runtime/windows/trial.h"

#include "runtime/windows/job.h"
#include "runtime/windows/pump.h"
#include "runtime/windows/quote.h"
#include "runtime/windows/wide.h"

#include <string.h>

enum { TRIAL_MILLISECONDS = 30000, OUTPUT_MOST = 256 * 1024, PATH_MOST = 32768 };

/* What a process says, taken by a thread of its own, so that one that hangs does not hold up the launcher. */
struct listener {
    HANDLE from;
    DWORD length;
    char bytes[OUTPUT_MOST];
};

static DWORD WINAPI listen_to(void *argument)
{
    struct listener *listener = argument;
    DWORD got;

    while (listener->length < OUTPUT_MOST &&
           (got = pump_read(listener->from, listener->bytes + listener->length,
                            OUTPUT_MOST - listener->length)) > 0)
        listener->length += got;
    CloseHandle(listener->from);
    return 0;
}

const wchar_t *trial_own_program(struct arena *arena)
{
    wchar_t *path = arena_array(arena, PATH_MOST, sizeof *path);
    DWORD length = GetModuleFileNameW(NULL, path, PATH_MOST);

    return length > 0 && length < PATH_MOST ? path : NULL;
}

static const wchar_t *line_of(struct arena *arena, const char *const *arguments)
{
    struct buffer line = buffer_in(arena);
    size_t count = 0;

    while (arguments[count] != NULL)
        count++;
    char **words = arena_array(arena, count + 2, sizeof *words);
    words[0] = arena_strdup(arena, "sbx-launch");
    for (size_t i = 0; i < count; i++)
        words[i + 1] = arena_strdup(arena, arguments[i]);
    return quote_words(&line, words) == NULL ? wide_from(arena, line.bytes) : NULL;
}

/* The null device twice and a pipe, whose other end goes to `listener`. */
static bool streams_make(HANDLE streams[3], struct listener *listener)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};

    streams[0] = streams[2] =
        CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                    OPEN_EXISTING, 0, NULL);
    return streams[0] != INVALID_HANDLE_VALUE && CreatePipe(&listener->from, &streams[1], NULL, 0) &&
           SetHandleInformation(streams[1], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

/* Starts it and waits; 0, or a Windows error. */
static DWORD run(struct trial *trial, const wchar_t *line, const struct job *job, struct listener *listener)
{
    struct process_call call = {.program = trial->program,
                                .command_line = line,
                                .environment = trial->environment,
                                .directory = trial->directory,
                                .job = job->handle};
    struct process process = {0};

    if (line == NULL || !streams_make(call.streams, listener))
        return line == NULL ? ERROR_INVALID_PARAMETER : GetLastError();
    DWORD error = process_make(trial->ground, &call, &process);
    CloseHandle(call.streams[0]);
    CloseHandle(call.streams[1]);
    HANDLE thread = CreateThread(NULL, 0, listen_to, listener, 0, NULL);
    if (error == 0)
        error = thread == NULL ? ERROR_NOT_ENOUGH_MEMORY : process_resume(&process);
    if (error == 0 && WaitForSingleObject(process.handle, TRIAL_MILLISECONDS) != WAIT_OBJECT_0)
        error = ERROR_TIMEOUT;
    job_end(job, 1, TRIAL_MILLISECONDS);
    if (thread != NULL) {
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
    }
    process_close(&process);
    return error;
}

bool trial_start(void *context, const char *const *arguments, struct buffer *output, struct note_list *notes)
{
    struct trial *trial = context;
    struct listener *listener = arena_alloc(trial->arena, sizeof *listener);
    struct job job;

    if (!job_make(&job, &(struct job_limits){0}, notes)) {
        job_close(&job);
        return false;
    }
    DWORD error = run(trial, line_of(trial->arena, arguments), &job, listener);
    job_close(&job);
    buffer_bytes(output, listener->bytes, listener->length);
    if (error != 0)
        note_add(notes, (struct note){.code = SBX486_CANARY,
                                      .text = arena_format(trial->arena,
                                                           "a process in the sandbox cannot be tried: %s",
                                                           wide_error(trial->arena, error))});
    return error == 0;
}
