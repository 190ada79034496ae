#include "runtime/windows/interrupt.h"

#include <windows.h>

/* Windows hands nothing of its caller's to a handler. Set once, before there is a handler. */
static HANDLE asked;

static BOOL WINAPI handle(DWORD kind)
{
    SetEvent(asked);
    /* After these Windows ends the process as soon as its handler returns; taking everything back needs that time. */
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

void *interrupt_take(void)
{
    asked = CreateEventW(NULL, TRUE, FALSE, NULL);
    return asked != NULL && SetConsoleCtrlHandler(handle, TRUE) ? asked : NULL;
}

bool interrupt_came(void *event)
{
    return WaitForSingleObject(event, 0) == WAIT_OBJECT_0;
}
