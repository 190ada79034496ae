/* desktop.h - a desktop of the run's own, so that its windows neither send messages to those of the user nor see them. */
#pragma once

#include "runtime/windows/identity.h"

#include <windows.h>

struct desktop {
    HDESK handle;
    const wchar_t *name; /* with its window station: what a process is started on */
};

/* Makes it under a name with `id`, open to the run's token alone and to the user. False with an error note. */
bool desktop_make(struct arena *arena, const char *id, const struct windows_identity *identity,
                  struct desktop *desktop, struct note_list *notes);

void desktop_close(struct desktop *desktop);
