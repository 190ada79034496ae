/* canary_words.h - how the launcher and its canary understand each other. */
#pragma once

#include "base/arena.h"

/* What the canary tries; each is followed by a path. */
#define CANARY_CREATE "create" /* a file that is not there, and a byte into it */
#define CANARY_READ "read"     /* the first byte of a file */
#define CANARY_OPEN "open:" /* and a mask in hexadecimal: open what is there for these rights, and no more */

/* It answers each with a line "NUMBER ERROR": 0, or the error of Windows; and after the last with this
 * one. */
#define CANARY_END "end"

/* What came of one attempt: 0, or the error of Windows (canary_main.c). */
unsigned long canary_try(struct arena *arena, const char *word, const char *path);
