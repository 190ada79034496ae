/* attempt.h - attempts to get out of a sandbox, by name. Whether one succeeded is judged from outside
 * (harness.py); what it says counts for nothing, unless it is a secret.
 */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

struct attempt {
    const char *name;
    void (*run)(char **arguments); /* NULL at the end; more than enough of them is there */
};

/* Ended by an entry without a name. */
extern const struct attempt file_attempts[], mode_attempts[], mount_attempts[], process_attempts[],
    first_process_attempts[], socket_attempts[], kernel_attempts[], terminal_attempts[];

/* To standard output, in whole. */
void say(const void *bytes, size_t length);
void say_text(const char *text);
void say_hex(const void *bytes, size_t length);

/* Says everything that can be read from `descriptor`. */
void say_all(int descriptor);
void say_file(const char *path);

/* Writes `text` into what `flags` open at `path`. */
void put_text(const char *path, int flags, const char *text);

/* Says that all is done, and stays for judgement until standard input ends. */
SBX_NORETURN void hold(void);

/* The same, with `descriptor` as number 100. */
SBX_NORETURN void hold_descriptor(int descriptor);

enum { HELD_DESCRIPTOR = 100 };
