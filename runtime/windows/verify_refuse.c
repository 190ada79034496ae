/* verify_refuse.c - how a doubt is answered: see verify.h. */
#include "runtime/windows/verify.h"

#include "runtime/windows/fault.h"

#include <stdarg.h>

#ifdef SBX_TEST_UNENFORCED
enum { GOES_ON = true };
#else
enum { GOES_ON = false };
#endif

bool verify_refuse(struct note_list *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *fact = arena_vformat(notes->arena, format, arguments);
    va_end(arguments);
    bool goes_on = GOES_ON && !fault_doubts(fact);
    note_add(notes, (struct note){
                        .code = SBX480_CANNOT_VERIFY,
                        .severity = goes_on ? SEVERITY_WARNING : SEVERITY_ERROR,
                        .text = arena_format(notes->arena, "cannot verify %s", fact),
                    });
    return goes_on;
}
