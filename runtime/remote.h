/* remote.h - file systems that another program or machine answers for (NFS, FUSE, autofs), which may never do
 * so: each is asked by a process that can be left behind before the launcher itself looks at it.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum { REMOTE_MILLISECONDS = 3000 }; /* that a file system may take to answer */

/* Whether file systems of this type ("nfs4", "fuse.sshfs") are answered for by another program or machine. */
bool remote_type(const char *type);

struct remote;

/* The ones of this machine's mount table; NULL where there are none or the table cannot be read. Whatever is
 * not known to be answered by the kernel alone is one. */
struct remote *remote_find(struct arena *arena);

/* 0 once each of them on the way to `path` (absolute; links are not followed) has answered, else ETIMEDOUT.
 * Each is asked once; at and below an autofs mount, where the question may make a mount, each path is. May
 * be called by several threads; `remote` may be NULL. */
int remote_ask(struct remote *remote, const char *path);
