/* own_limits.h - the caller's limits as far as they would hold up the launcher itself: what it changes for itself,
 * and what the command gets back. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* What the caller had. */
struct own_limits {
    mode_t mode_mask;
    uint64_t stack_soft;
};

/* Makes room: what is made can be used by its maker, whatever the umask says (for group and others it stays the
 * caller's), and the stack may grow as far as the hard limit lets it, but not beyond what is usual. Returns
 * why the launcher cannot run, or NULL. */
const char *own_limits_take(struct own_limits *before);

/* In a child that becomes the command: gives back what was taken. Async-signal-safe. */
void own_limits_give_back(const struct own_limits *before);
