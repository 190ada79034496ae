/* machine.h - what Windows says of this machine beside policy/host.h, whose functions machine.c and look.c
 * have for Windows.
 *
 * There roots come from Windows' known folders, never from variables, which whoever calls may choose. Paths
 * are those of the model: "C:/a/b", canonical (links and junctions resolved, names as they are on the
 * disk).
 */
#pragma once

#include "policy/bound.h"

struct machine_paths {
    const char **items;
    uint32_t count, capacity;
};

/* Directories of Windows and of this user at which nothing may be granted, wherever they are here. */
struct machine_paths machine_guarded(struct arena *arena);

bool machine_is_directory(const char *path);
