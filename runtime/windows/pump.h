/* pump.h - the standard streams of a command: pipes that the launcher copies, byte for byte.
 *
 * A command gets no handle of the caller's, neither of a console nor of a file: what reaches it are the bytes. One thread a
 * stream copies, so that none waits for another.
 */
#pragma once

#include "policy/note.h"

#include <windows.h>

typedef DWORD pump_take(HANDLE from, char *bytes, DWORD size);

struct pump {
    pump_take *read;
    HANDLE from, to, thread; /* NULL: none or no longer */
    DWORD lost;              /* the error with which output could not be written; 0: none was lost */
};

struct pumps {
    HANDLE inside[3]; /* the command's ends: inheritable */
    struct pump streams[3];
};

/* Makes the pipes. A standard stream that the caller closed is an empty one. False with an error note. */
bool pumps_make(struct pumps *pumps, struct note_list *notes);

/* Closes the command's ends, which it has by now, and begins to copy. False with GetLastError. */
bool pumps_begin(struct pumps *pumps);

/* Waits until all that was written has been copied, which ends when the last process that holds the other end is gone, and
 * stops reading. Once the event `interrupted` is set output that nobody takes is given up after a second. */
void pumps_end(struct pumps *pumps, HANDLE interrupted);

/* Reads what is there in a pipe of the launcher's own, and waits where there is nothing. Returns how many bytes came, 0 at the
 * end. */
pump_take pump_read;
