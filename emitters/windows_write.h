/* windows_write.h - the XML text of a specification: elements, attributes and comments, safe whatever stands in them. */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends ` name="value"`. What XML cannot hold in `value` (U+FFFE, U+FFFF, control characters, bytes that are not
 * UTF-8) is shown as \xHH. */
void xml_attribute(struct buffer *out, const char *name, const char *value);
void xml_number(struct buffer *out, const char *name, uint64_t value);
void xml_text(struct buffer *out, const char *text);

/* Whether XML can hold the text as it is. */
bool xml_can_hold(const char *text);

/* Appends a line of a comment: two hyphens, which would end it, get a blank between them. */
void xml_comment_line(struct buffer *out, const char *text);
