#include "runtime/windows/process.h"

#include <wchar.h>

enum { ATTRIBUTES = 3, STREAMS = 3 };

/* The build for tests starts a process outside where Windows takes no package. */
#ifdef SBX_TEST_UNENFORCED
enum { PACKAGE_COUNTS = false };
#else
enum { PACKAGE_COUNTS = true };
#endif

/* Each handle once: the list takes none twice. */
static size_t handles_of(const struct process_call *call, HANDLE handles[STREAMS])
{
    size_t count = 0;

    for (int i = 0; i < STREAMS; i++) {
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known |= handles[j] == call->streams[i];
        if (!known)
            handles[count++] = call->streams[i];
    }
    return count;
}

static bool attribute(LPPROC_THREAD_ATTRIBUTE_LIST list, DWORD_PTR which, void *value, size_t size)
{
    return UpdateProcThreadAttribute(list, 0, which, value, size, NULL, NULL) != 0;
}

/* NULL with GetLastError. `handles` and `job` must live as long as the list. */
static LPPROC_THREAD_ATTRIBUTE_LIST attributes_of(const struct process_ground *ground, HANDLE *handles,
                                                  size_t handle_count, HANDLE *job)
{
    SIZE_T size = 0;

    InitializeProcThreadAttributeList(NULL, ATTRIBUTES, 0, &size);
    LPPROC_THREAD_ATTRIBUTE_LIST list = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
    if (list == NULL || !InitializeProcThreadAttributeList(list, ATTRIBUTES, 0, &size)) {
        HeapFree(GetProcessHeap(), 0, list);
        return NULL;
    }
    if (attribute(list, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, handle_count * sizeof *handles) &&
        attribute(list, PROC_THREAD_ATTRIBUTE_JOB_LIST, job, sizeof *job) &&
        (ground->package == NULL || !PACKAGE_COUNTS ||
         attribute(list, PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES, ground->package,
                   sizeof *ground->package)))
        return list;
    DWORD error = GetLastError();
    DeleteProcThreadAttributeList(list);
    HeapFree(GetProcessHeap(), 0, list);
    /* Wine refuses an attribute that it does not know without saying so. */
    SetLastError(error == 0 ? ERROR_NOT_SUPPORTED : error);
    return NULL;
}

static bool start(const struct process_ground *ground, const struct process_call *call,
                  STARTUPINFOEXW *startup, PROCESS_INFORMATION *started)
{
    const DWORD flags =
        CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    size_t length = wcslen(call->command_line) + 1;
    /* Windows writes into the line. */
    wchar_t *line = HeapAlloc(GetProcessHeap(), 0, length * sizeof *line);

    if (line == NULL) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    wmemcpy(line, call->command_line, length);
    void *environment = (void *)(uintptr_t)call->environment;
    BOOL made = ground->token == NULL
                    ? CreateProcessW(call->program, line, NULL, NULL, TRUE, flags, environment,
                                     call->directory, &startup->StartupInfo, started)
                    : CreateProcessAsUserW(ground->token, call->program, line, NULL, NULL, TRUE, flags,
                                           environment, call->directory, &startup->StartupInfo, started);
    DWORD error = GetLastError();
    HeapFree(GetProcessHeap(), 0, line);
    SetLastError(error);
    return made != 0;
}

DWORD process_make(const struct process_ground *ground, const struct process_call *call,
                   struct process *process)
{
    HANDLE handles[STREAMS], job = call->job;
    STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof startup,
                                              .lpDesktop = (wchar_t *)(uintptr_t)ground->desktop,
                                              .dwFlags = STARTF_USESTDHANDLES,
                                              .hStdInput = call->streams[0],
                                              .hStdOutput = call->streams[1],
                                              .hStdError = call->streams[2]}};
    PROCESS_INFORMATION started = {0};

    startup.lpAttributeList = attributes_of(ground, handles, handles_of(call, handles), &job);
    if (startup.lpAttributeList == NULL)
        return GetLastError();
    DWORD error = start(ground, call, &startup, &started) ? 0 : GetLastError();
    DeleteProcThreadAttributeList(startup.lpAttributeList);
    HeapFree(GetProcessHeap(), 0, startup.lpAttributeList);
    *process = (struct process){started.hProcess, started.hThread, started.dwProcessId};
    return error;
}

DWORD process_resume(const struct process *process)
{
    return ResumeThread(process->thread) == (DWORD)-1 ? GetLastError() : 0;
}

void process_cancel(struct process *process)
{
    if (process->handle == NULL)
        return;
    TerminateProcess(process->handle, 1);
    process_close(process);
}

void process_close(struct process *process)
{
    if (process->handle == NULL)
        return;
    CloseHandle(process->thread);
    CloseHandle(process->handle);
    *process = (struct process){0};
}
