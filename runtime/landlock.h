/* landlock.h - what the launcher asks of Landlock: rights by path, and signals and abstract sockets that stay
 * inside.
 *
 * Rules only add to what is open: a narrower rule below a wider one takes nothing away.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    LANDLOCK_ABI_REFER = 2,    /* Linux 5.19; before it, nothing can be renamed into another directory */
    LANDLOCK_ABI_TRUNCATE = 3, /* Linux 6.2 */
    LANDLOCK_ABI_DEVICES = 5,  /* Linux 6.10: ioctl on devices */
    LANDLOCK_ABI_SCOPES = 6,   /* Linux 6.12 */
    LANDLOCK_ABI_SOCKETS = 9   /* Linux 7.1: Unix sockets by path */
};

/* The kernel's rights, under its numbers. */
enum {
    RIGHT_EXECUTE = 1 << 0,
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIRECTORY = 1 << 3,
    RIGHT_REFER = 1 << 13,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHT_DEVICE_IOCTL = 1 << 15,
    RIGHT_RESOLVE_SOCKET = 1 << 16,
};

/* What an area of the policy gives, before the kernel's version takes away what it does not know. */
enum {
    RIGHTS_READ = RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIRECTORY,
    RIGHTS_WRITE =
        ((1 << 13) - 1) | RIGHT_REFER | RIGHT_TRUNCATE, /* all that make, change, remove and read */
    RIGHTS_DEVICES = RIGHTS_WRITE | RIGHT_DEVICE_IOCTL,
    RIGHTS_OF_FILES = RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE |
                      RIGHT_DEVICE_IOCTL |
                      RIGHT_RESOLVE_SOCKET /* the others mean something for directories only */
};

struct landlock_rule {
    const char *path;
    uint32_t rights;
    bool known; /* then exactly this file must be there */
    dev_t device;
    ino_t inode;
};

enum { LANDLOCK_REASON = 256 };

struct landlock_result {
    uint32_t rules;                /* held for files; 0: none */
    bool scoped;                   /* signals and abstract sockets stay inside */
    char missing[LANDLOCK_REASON]; /* why nothing is held for files, or "" */
};

/* The kernel's Landlock version, 0 without Landlock. */
uint32_t landlock_abi(void);

/* The rights that a ruleset handles under `abi`: what no rule gives of them is refused. Of a version that
 * is not known yet, those of the last known one. */
uint32_t landlock_handled(uint32_t abi);

/* Puts the calling thread into a domain of its own: only what `rules` give can be opened, and both scopes
 * hold where the kernel has them. What the three `streams` are open on stays open by name too, unless it
 * is a stored file. No rules, or any that cannot be had: then only the scopes are held, and `result` says
 * why; never less than that. Needs no_new_privs. */
void landlock_restrict(const struct landlock_rule *rules, uint32_t count, const int streams[3],
                       struct landlock_result *result);

/* A further domain of its own inside the first, with both scopes and nothing else; true where the kernel
 * has none. */
bool landlock_scope_again(void);
