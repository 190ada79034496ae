#include "runtime/windows/fault.h"

#ifdef SBX_TEST_UNENFORCED

#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* One number for the whole process, whose steps are counted where no state is passed. */
static long steps_done;
static size_t bytes_done;

static bool number(const char *name, long *value)
{
    const char *text = getenv(name);
    *value = text != NULL ? strtol(text, NULL, 10) : 0;
    return text != NULL;
}

void fault_step(void)
{
    long at;
    if (number("SBX_TEST_PAUSE_AT", &at) && at == steps_done)
        Sleep(1000);
    if (number("SBX_TEST_DIE_AT", &at) && at == steps_done)
        TerminateProcess(GetCurrentProcess(), 99);
    steps_done++;
}

size_t fault_room(size_t length)
{
    long most;
    if (!number("SBX_TEST_DISK", &most))
        return length;
    size_t room = (size_t)most > bytes_done ? (size_t)most - bytes_done : 0;
    size_t taken = length < room ? length : room;
    bytes_done += taken;
    return taken;
}

void fault_made(void)
{
    const char *path = getenv("SBX_TEST_MADE");
    if (path == NULL)
        return;
    CloseHandle(CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL));
    while (GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES)
        Sleep(20);
}

bool fault_random(void)
{
    return getenv("SBX_TEST_NO_RANDOM") == NULL;
}

bool fault_doubts(const char *fact)
{
    const char *text = getenv("SBX_TEST_DOUBT");
    return text != NULL && strstr(fact, text) != NULL;
}

#endif
