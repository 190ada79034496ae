#include "base/pages.h"

#include <windows.h>

void *pages_create(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void pages_destroy(void *memory, size_t size)
{
    (void)size;
    VirtualFree(memory, 0, MEM_RELEASE);
}

void *pages_stretch(void *memory, size_t old, size_t size)
{
    (void)memory, (void)old, (void)size;
    return NULL;
}
