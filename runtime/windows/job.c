#include "runtime/windows/job.h"

#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <string.h>

enum {
    LIMITS_ALWAYS = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    WINDOWS_CLOSED = JOB_OBJECT_UILIMIT_HANDLES | JOB_OBJECT_UILIMIT_READCLIPBOARD |
                     JOB_OBJECT_UILIMIT_WRITECLIPBOARD | JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS |
                     JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | JOB_OBJECT_UILIMIT_GLOBALATOMS |
                     JOB_OBJECT_UILIMIT_DESKTOP | JOB_OBJECT_UILIMIT_EXITWINDOWS,
    PAGE = 4096,
    LOOK_AGAIN = 50 /* milliseconds: a message of Windows can be lost */
};

static JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits_of(const struct job_limits *limits)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION wanted = {.BasicLimitInformation.LimitFlags = LIMITS_ALWAYS};

    if (limits->processes != 0) {
        wanted.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
        wanted.BasicLimitInformation.ActiveProcessLimit =
            limits->processes < UINT32_MAX ? (DWORD)limits->processes : UINT32_MAX;
    }
    if (limits->memory != 0) {
        wanted.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
        /* Windows counts in pages, and says so when it is asked. */
        wanted.JobMemoryLimit =
            (SIZE_T)(limits->memory < PAGE ? PAGE : limits->memory - limits->memory % PAGE);
    }
    return wanted;
}

/* Windows puts nothing that is in a job already, as what a launcher in one starts is, into one with such limits. */
static DWORD windows_closed(void)
{
    BOOL inside = TRUE;

    return IsProcessInJob(GetCurrentProcess(), NULL, &inside) && !inside ? WINDOWS_CLOSED : 0;
}

static bool is_as_asked(const struct job *job, const JOBOBJECT_EXTENDED_LIMIT_INFORMATION *wanted,
                        DWORD wanted_windows)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION found = {0};
    JOBOBJECT_BASIC_UI_RESTRICTIONS windows = {0};

    return QueryInformationJobObject(job->handle, JobObjectExtendedLimitInformation, &found, sizeof found,
                                     NULL) &&
           found.BasicLimitInformation.LimitFlags == wanted->BasicLimitInformation.LimitFlags &&
           found.BasicLimitInformation.ActiveProcessLimit ==
               wanted->BasicLimitInformation.ActiveProcessLimit &&
           found.JobMemoryLimit == wanted->JobMemoryLimit &&
           QueryInformationJobObject(job->handle, JobObjectBasicUIRestrictions, &windows, sizeof windows,
                                     NULL) &&
           windows.UIRestrictionsClass == wanted_windows;
}

bool job_make(struct job *job, const struct job_limits *limits, struct note_list *notes)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION wanted = limits_of(limits);
    JOBOBJECT_BASIC_UI_RESTRICTIONS windows = {.UIRestrictionsClass = windows_closed()};

    *job = (struct job){.handle = CreateJobObjectW(NULL, NULL),
                        .port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1)};
    JOBOBJECT_ASSOCIATE_COMPLETION_PORT told = {.CompletionKey = job, .CompletionPort = job->port};
    if (job->handle != NULL && job->port != NULL &&
        SetInformationJobObject(job->handle, JobObjectExtendedLimitInformation, &wanted, sizeof wanted) &&
        SetInformationJobObject(job->handle, JobObjectBasicUIRestrictions, &windows, sizeof windows) &&
        SetInformationJobObject(job->handle, JobObjectAssociateCompletionPortInformation, &told, sizeof told))
        return is_as_asked(job, &wanted, windows.UIRestrictionsClass) ||
               verify_refuse(notes, "the limits of the job");
    const char *error = wide_error(notes->arena, GetLastError());
    note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                  .text = arena_format(notes->arena, "no job can be made: %s", error)});
    return false;
}

bool job_holds(const struct job *job, HANDLE process)
{
    BOOL inside = FALSE;

    return IsProcessInJob(process, job->handle, &inside) && inside;
}

static uint32_t count_of(const struct job *job)
{
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION found = {0};

    return QueryInformationJobObject(job->handle, JobObjectBasicAccountingInformation, &found, sizeof found,
                                     NULL)
               ? found.ActiveProcesses
               : 1;
}

uint32_t job_end(const struct job *job, unsigned code, uint32_t milliseconds)
{
    uint64_t until = GetTickCount64() + milliseconds;
    uint32_t left;

    TerminateJobObject(job->handle, code);
    while ((left = count_of(job)) != 0 && GetTickCount64() < until) {
        DWORD message;
        ULONG_PTR key;
        OVERLAPPED *process;
        GetQueuedCompletionStatus(job->port, &message, &key, &process, LOOK_AGAIN);
    }
    return left;
}

void job_close(struct job *job)
{
    if (job->handle != NULL)
        CloseHandle(job->handle);
    if (job->port != NULL)
        CloseHandle(job->port);
    *job = (struct job){0};
}
