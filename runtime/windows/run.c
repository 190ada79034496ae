#include "runtime/windows/run.h"

#include "runtime/report.h"
#include "runtime/windows/fault.h"
#include "runtime/windows/token.h"
#include "runtime/windows/verify.h"
#include "runtime/windows/wide.h"

#include <string.h>

enum {
    END_MILLISECONDS = 30000,
    CODE_ENDED = 1,
    WAIT_LONGEST = 60 * 60 * 1000,
    PATH_MOST = 32768,
    DESCRIPTOR_MOST = 131072
};

/* Errors of Windows that the compiler's headers do not name. */
enum { HAS_A_VIRUS = 225, NEEDS_ELEVATION = 740 };

static bool refuse(struct note_list *notes, const char *what, DWORD error)
{
    note_add(notes, (struct note){
                        .code = SBX414_BACKEND_FAILED,
                        .text = arena_format(notes->arena, "%s: %s", what, wide_error(notes->arena, error))});
    return false;
}

/* Of the errors with which a process cannot be made those that speak of its program. */
static bool is_of_program(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_ACCESS_DENIED:
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
    case ERROR_SHARING_VIOLATION:
    case NEEDS_ELEVATION:
    case HAS_A_VIRUS:
    case ERROR_ACCESS_DISABLED_BY_POLICY:
        return true;
    default:
        return false;
    }
}

/* Sharing counts for who may read or execute it. Returns 0, or a Windows error. */
static DWORD image_hold(struct run *run)
{
    HANDLE image =
        CreateFileW(wide_from(run->arena, run->program), FILE_EXECUTE | FILE_READ_ATTRIBUTES | READ_CONTROL,
                    FILE_SHARE_READ, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);

    run->image = image == INVALID_HANDLE_VALUE ? NULL : image;
    return run->image != NULL ? 0 : GetLastError();
}

static void image_let_go(struct run *run)
{
    if (run->image != NULL)
        CloseHandle(run->image);
    run->image = NULL;
}

DWORD run_make(struct run *run, bool *failed, struct note_list *notes)
{
    *failed = !pumps_make(&run->pumps, notes);
    DWORD refused = *failed ? 0 : image_hold(run);
    if (*failed || refused != 0)
        return refused;
    fault_made();
    struct process_call call = {.program = wide_from(run->arena, run->program),
                                .command_line = run->line,
                                .environment = run->environment,
                                .directory = run->directory,
                                .job = run->job.handle};
    for (int i = 0; i < 3; i++)
        call.streams[i] = run->pumps.inside[i];
    DWORD error = process_make(run->ground, &call, &run->process);
    *failed = error != 0 && !is_of_program(error) && !refuse(notes, "the process cannot be made", error);
    return *failed ? 0 : error;
}

/* The token of the process, for asking only. NULL with GetLastError. */
static HANDLE token_of(HANDLE process)
{
    HANDLE token = NULL, duplicate = NULL;

    if (!OpenProcessToken(process, TOKEN_DUPLICATE | TOKEN_QUERY, &token))
        return NULL;
    if (!DuplicateTokenEx(token, TOKEN_QUERY, NULL, SecurityImpersonation, TokenImpersonation, &duplicate))
        duplicate = NULL;
    CloseHandle(token);
    return duplicate;
}

/* Who may do what with the program, its label included. */
static bool read_access(const struct run *run, void *descriptor, struct note_list *notes)
{
    const SECURITY_INFORMATION entries =
        OWNER_SECURITY_INFORMATION | GROUP_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    DWORD needed;

    return GetKernelObjectSecurity(run->image, entries | LABEL_SECURITY_INFORMATION, descriptor,
                                   DESCRIPTOR_MOST, &needed) ||
           (verify_refuse(notes, "who may execute %s: %s", report_safe(run->arena, run->program),
                          wide_error(run->arena, GetLastError())) &&
            GetKernelObjectSecurity(run->image, entries, descriptor, DESCRIPTOR_MOST, &needed));
}

/* Windows opened the program for the launcher, so whether the command's token may execute it is asked here. */
static bool find_denied(struct run *run, struct note_list *notes)
{
    GENERIC_MAPPING mapping = {FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_GENERIC_EXECUTE, FILE_ALL_ACCESS};
    void *descriptor = arena_alloc(run->arena, DESCRIPTOR_MOST);
    PRIVILEGE_SET privileges;
    DWORD size = sizeof privileges, granted;
    BOOL may = FALSE;

    if (!read_access(run, descriptor, notes))
        return false;
    HANDLE token = token_of(run->process.handle);
    const char *fact = "that the command may execute its program";
    bool known = token != NULL && !fault_doubts(fact) &&
                 AccessCheck(descriptor, token, FILE_EXECUTE, &mapping, &privileges, &size, &granted, &may);
    DWORD error = GetLastError();
    if (token != NULL)
        CloseHandle(token);
    run->denied = known && !may;
    return known || verify_refuse(notes, "%s: %s", fact, wide_error(run->arena, error));
}

/* A link on the way to the program may lead elsewhere than a moment before. */
static bool runs_image(const struct run *run)
{
    wchar_t *path = arena_array(run->arena, PATH_MOST, sizeof *path);
    DWORD length = PATH_MOST;
    FILE_ID_INFO held, made;

    if (!QueryFullProcessImageNameW(run->process.handle, 0, path, &length))
        return false;
    HANDLE image =
        CreateFileW(path, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    bool same = image != INVALID_HANDLE_VALUE &&
                GetFileInformationByHandleEx(run->image, FileIdInfo, &held, sizeof held) &&
                GetFileInformationByHandleEx(image, FileIdInfo, &made, sizeof made) &&
                memcmp(&held.FileId, &made.FileId, sizeof held.FileId) == 0 &&
                held.VolumeSerialNumber == made.VolumeSerialNumber;
    if (image != INVALID_HANDLE_VALUE)
        CloseHandle(image);
    return same;
}

bool run_verify(struct run *run, struct note_list *notes)
{
    const char *inside = "that the process is in its job";
    const char *image =
        arena_format(run->arena, "that the process runs %s", report_safe(run->arena, run->program));
    if ((fault_doubts(inside) || !job_holds(&run->job, run->process.handle)) &&
        !verify_refuse(notes, "%s", inside))
        return false;
    if ((fault_doubts(image) || !runs_image(run)) && !verify_refuse(notes, "%s", image))
        return false;
    bool held = token_verify_process(run->arena, run->spec, run->identity, run->process.handle, notes) &&
                find_denied(run, notes);
    image_let_go(run);
    return held;
}

/* Milliseconds until `until`, at most as many as one call waits for. */
static DWORD left_until(uint64_t until)
{
    uint64_t now = GetTickCount64();

    if (until == 0)
        return INFINITE;
    if (until <= now)
        return 0;
    return until - now < WAIT_LONGEST ? (DWORD)(until - now) : WAIT_LONGEST;
}

static enum run_outcome wait(const struct run *run)
{
    HANDLE events[] = {run->process.handle, run->interrupted};
    uint64_t until = run->spec->time == 0 ? 0 : GetTickCount64() + run->spec->time;

    for (;;) {
        DWORD which = WaitForMultipleObjects(2, events, FALSE, left_until(until));
        if (which == WAIT_OBJECT_0)
            return RUN_ENDED;
        if (which == WAIT_OBJECT_0 + 1)
            return RUN_INTERRUPTED;
        if (which != WAIT_TIMEOUT || GetTickCount64() >= until)
            return RUN_TIME_OVER;
    }
}

bool run_finish(struct run *run, struct run_end *end, struct note_list *notes)
{
    DWORD code = CODE_ENDED;

    if (!pumps_begin(&run->pumps))
        return refuse(notes, "no thread can be made", GetLastError());
    DWORD error = process_resume(&run->process);
    if (error != 0)
        return refuse(notes, "the process cannot be let go", error);
    end->outcome = wait(run);
    GetExitCodeProcess(run->process.handle, &code);
    end->code = code;
    end->left = job_end(&run->job, CODE_ENDED, END_MILLISECONDS);
    if (end->left == 0)
        pumps_end(&run->pumps, run->interrupted);
    return true;
}

void run_cancel(struct run *run)
{
    process_cancel(&run->process);
    image_let_go(run);
    if (run->job.handle != NULL)
        job_end(&run->job, CODE_ENDED, END_MILLISECONDS);
    job_close(&run->job);
}
