/* open.h - objects of the file system by their paths, as binding looks at them. */
#pragma once

#include "emitters/windows_descriptor.h"

#include <windows.h>

#include <shtypes.h>

/* `path` ("C:\a", "C:/a", "a/b") as an absolute one of the model ("C:/a"), by its text alone. NULL if it
 * lies on no drive or holds a name that Windows reads otherwise than it stands there. */
const char *open_absolute(struct arena *arena, const char *path);

/* Opens the absolute model path `path` for `access`; a link at its end is followed or opened itself.
 * INVALID_HANDLE_VALUE with GetLastError. */
HANDLE open_path(struct arena *arena, const char *path, DWORD access, bool follow);

/* Where an open object lies: canonical, of the model. NULL if it lies on no drive or has no name that is
 * text. */
const char *open_place(struct arena *arena, HANDLE file);

/* Owner, group and DACL of an object that is open for READ_CONTROL. False with GetLastError. */
bool open_descriptor(struct arena *arena, HANDLE file, struct windows_descriptor *descriptor);

/* The bytes of an open regular file and a NUL behind them, at most `limit`. NULL with *problem set. */
char *open_read(struct arena *arena, HANDLE file, size_t limit, size_t *length, const char **problem);

/* The SID of who runs this process; length 0 if Windows does not say. */
struct windows_sid open_caller(void);

/* A known folder of Windows or of this user, by its text alone; NULL if Windows does not say. Variables are
 * not asked. */
const char *open_folder(struct arena *arena, const KNOWNFOLDERID *id);
