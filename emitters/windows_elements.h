/* windows_elements.h - makes a specification from the elements of its XML, one after the other.
 *
 * Elements come before anyone knows whether the document is valid: whatever they hold is harmless, and what
 * is made counts only if the schema is fulfilled in the end. Private to windows_load.c.
 */
#pragma once

#include "emitters/windows_spec.h"

struct windows_elements;

struct windows_attribute {
    const char *name, *value; /* the value in the arena */
};

struct windows_element {
    const char *name;
    const struct windows_attribute *attributes;
    uint32_t attribute_count, line;
};

struct windows_elements *windows_elements_create(struct arena *arena);

void windows_elements_start(struct windows_elements *elements, const struct windows_element *element);
void windows_elements_text(struct windows_elements *elements, const char *bytes, size_t length);
void windows_elements_end(struct windows_elements *elements, const char *name);

/* The specification of a valid document; NULL with *error if its token does not fit its tier, or no program
 * knows the tier yet. */
const struct windows_spec *windows_elements_finish(struct windows_elements *elements, const char **error);
