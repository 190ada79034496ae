#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

static void *small_pages_create(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* `size` zeroed bytes that begin where a huge page may begin; NULL if there are none. Behind the last whole huge
 * page come small ones, so that no more memory is used than was asked for. */
static void *huge_pages_create(size_t size)
{
    char *memory = size > SIZE_MAX - HUGE_PAGE ? NULL : small_pages_create(size + HUGE_PAGE);
    if (memory == NULL)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)memory % HUGE_PAGE);
    if (before > 0)
        (void)munmap(memory, before);
    if (before < HUGE_PAGE)
        (void)munmap(memory + before + size, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory + before, size, MADV_HUGEPAGE);
#endif
    return memory + before;
}

void *pages_create(size_t size)
{
    return size >= HUGE_PAGE ? huge_pages_create(size) : small_pages_create(size);
}

void pages_destroy(void *memory, size_t size)
{
    (void)munmap(memory, size);
}

void *pages_stretch(void *memory, size_t old, size_t size)
{
#ifdef MREMAP_FIXED
    char *place = huge_pages_create(size);
    if (place == NULL)
        return NULL;
    /* After a failure the place may be another thread's already, so it is left as it is. */
    if (mremap(memory, old, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
        return NULL;
    (void)madvise(place, size, MADV_HUGEPAGE);
    return place;
#else
    (void)memory, (void)old, (void)size;
    return NULL;
#endif
}
