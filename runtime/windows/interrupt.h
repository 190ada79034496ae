/* interrupt.h - Ctrl-C, Ctrl-Break, the closing of the console and the end of the session, as one event to wait for. */
#pragma once

#include <stdbool.h>

/* Takes them over: from here on they end nothing by themselves. The event (a HANDLE) is set once one came; NULL with
 * GetLastError. Windows ends the launcher some seconds after its console was closed, whatever it does. */
void *interrupt_take(void);

/* Whether one came. */
bool interrupt_came(void *event);
