#include "runtime/windows/pump.h"

#include "runtime/windows/wide.h"

enum { CHUNK = 65536, STOP_MILLISECONDS = 1000 };

/* A program may also write nothing at all, which is no end. */
DWORD pump_read(HANDLE from, char *bytes, DWORD size)
{
    DWORD got = 0;

    while (ReadFile(from, bytes, size, &got, NULL))
        if (got > 0)
            return got;
    return 0;
}

/* From whatever the caller has there; nothing read is its end, as for every program. */
static DWORD read_input(HANDLE from, char *bytes, DWORD size)
{
    DWORD got = 0;

    return ReadFile(from, bytes, size, &got, NULL) ? got : 0;
}

static DWORD put(HANDLE to, const char *bytes, DWORD length)
{
    for (DWORD done = 0, wrote; done < length; done += wrote)
        if (!WriteFile(to, bytes + done, length - done, &wrote, NULL))
            return GetLastError();
    return 0;
}

/* Ends when there is no more to read or nobody takes it; closing both ends tells the one who writes or reads there. */
static DWORD WINAPI copy(void *argument)
{
    struct pump *pump = argument;
    char *bytes = HeapAlloc(GetProcessHeap(), 0, CHUNK);
    DWORD got, error = bytes == NULL ? ERROR_NOT_ENOUGH_MEMORY : 0;

    while (error == 0 && (got = pump->read(pump->from, bytes, CHUNK)) > 0)
        error = put(pump->to, bytes, got);
    pump->lost = error;
    HeapFree(GetProcessHeap(), 0, bytes);
    CloseHandle(pump->from);
    CloseHandle(pump->to);
    return 0;
}

/* The caller's stream, for a thread to close, or the null device. */
static HANDLE callers(int i)
{
    static const DWORD which[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    HANDLE known = GetStdHandle(which[i]), own;

    if (known != NULL && known != INVALID_HANDLE_VALUE &&
        DuplicateHandle(GetCurrentProcess(), known, GetCurrentProcess(), &own, 0, FALSE,
                        DUPLICATE_SAME_ACCESS))
        return own;
    own = CreateFileW(L"NUL", i == 0 ? GENERIC_READ : GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                      OPEN_EXISTING, 0, NULL);
    return own == INVALID_HANDLE_VALUE ? NULL : own;
}

static bool make(struct pumps *pumps, int i)
{
    struct pump *pump = &pumps->streams[i];
    HANDLE reading, writing;

    if (!CreatePipe(&reading, &writing, NULL, CHUNK))
        return false;
    pumps->inside[i] = i == 0 ? reading : writing;
    pump->read = i == 0 ? read_input : pump_read;
    pump->from = i == 0 ? callers(i) : reading;
    pump->to = i == 0 ? writing : callers(i);
    return pump->from != NULL && pump->to != NULL &&
           SetHandleInformation(pumps->inside[i], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
}

bool pumps_make(struct pumps *pumps, struct note_list *notes)
{
    *pumps = (struct pumps){0};
    for (int i = 0; i < 3; i++)
        if (!make(pumps, i)) {
            const char *error = wide_error(notes->arena, GetLastError());
            note_add(notes,
                     (struct note){.code = SBX414_BACKEND_FAILED,
                                   .text = arena_format(notes->arena, "no pipe can be made: %s", error)});
            return false;
        }
    return true;
}

bool pumps_begin(struct pumps *pumps)
{
    for (int i = 0; i < 3; i++) {
        CloseHandle(pumps->inside[i]);
        pumps->inside[i] = NULL;
        pumps->streams[i].thread = CreateThread(NULL, 0, copy, &pumps->streams[i], 0, NULL);
        if (pumps->streams[i].thread == NULL)
            return false;
    }
    return true;
}

static void stop(struct pump *pump)
{
    CancelSynchronousIo(pump->thread);
    if (WaitForSingleObject(pump->thread, STOP_MILLISECONDS) != WAIT_OBJECT_0)
        pump->lost = ERROR_OPERATION_ABORTED;
}

/* Whoever takes the output may take his time; whoever pressed Ctrl-C has no more. */
static void finish(struct pump *pump, HANDLE interrupted)
{
    HANDLE events[] = {pump->thread, interrupted};

    if (WaitForMultipleObjects(2, events, FALSE, INFINITE) != WAIT_OBJECT_0 &&
        WaitForSingleObject(pump->thread, STOP_MILLISECONDS) != WAIT_OBJECT_0)
        stop(pump);
}

void pumps_end(struct pumps *pumps, HANDLE interrupted)
{
    for (int i = 1; i < 3; i++)
        if (pumps->streams[i].thread != NULL)
            finish(&pumps->streams[i], interrupted);
    /* It may wait for a key that nobody presses. */
    if (pumps->streams[0].thread != NULL)
        stop(&pumps->streams[0]);
}
