/* acl_win32.h - the operations of acl.h on the file systems of this machine, and what tests put between. */
#pragma once

#include "runtime/windows/acl.h"

#include <windows.h>

/* What acl_windows() gives, but in the build for tests too. */
const struct acl_operations *acl_machine(void);

HANDLE acl_handle(const struct acl_object *object);

/* A handle that is open already as an object, without owning it. */
struct acl_object *acl_object_of(struct arena *arena, HANDLE handle);

/* "\\?\C:\a": any length, and nothing is read into it. NULL if it is not valid UTF-8. */
const wchar_t *acl_wide_path(struct arena *arena, const char *path);

/* The last error of the thread as operations answer it. */
uint32_t acl_last_error(void);
