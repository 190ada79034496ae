/* acl_sidecar.h - in the build for tests alone: files as they are on the machine, their descriptors in a file
 * beside it, %LOCALAPPDATA%\sbx-descriptors, because Wine keeps none.
 *
 * A line for each object that has been written: its volume, its number, its descriptor. What has no line has
 * what a user's own files usually have.
 */
#pragma once

#include "runtime/windows/acl.h"

const struct acl_operations *acl_sidecar(void);
