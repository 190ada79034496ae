/* presets.h - the presets that are built into sbxc: the texts of compiler/std, made part of the program by
 * embed.sh. */
#pragma once

#include <stdint.h>

struct builtin_preset {
    const char *name; /* "std/dev" */
    const char *text; /* NUL after the last byte */
    uint32_t length;
};

/* Sorted by name; a NULL name ends it. */
extern const struct builtin_preset builtin_presets[];

/* The preset called `name`, or NULL. */
const struct builtin_preset *preset_named(const char *name);
