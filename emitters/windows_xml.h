/* windows_xml.h - what the bytes of a specification must hold before an XML parser sees them.
 *
 * A specification is plain XML: elements, attributes, text and comments. Whatever lets a document reach
 * outside itself, grow, nest or mean another encoding is refused here, so that its size bounds the time and
 * memory of what follows.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>

enum {
    WINDOWS_XML_SIZE = 8 << 20,
    WINDOWS_XML_ELEMENTS = 200000,
    WINDOWS_XML_DEPTH = 8,
    WINDOWS_XML_ATTRIBUTES = 16, /* of one element */
    WINDOWS_XML_PIECE = 1 << 20  /* bytes of a tag, a comment, or the text between two tags */
};

/* NULL, or why the bytes are refused, with the line where there is one (in `arena`). O(length), and no memory
 * but the answer's. */
const char *windows_xml_problem(struct arena *arena, const char *bytes, size_t length);
