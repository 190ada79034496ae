/* fold.h - one spelling for all names that macOS and Windows take for the same: case and normalisation
 * form folded. */
#pragma once

#include <stddef.h>

enum {
    /* Enough for every path of 4096 bytes but a few made to grow. No file system of those systems holds
     * longer names. */
    FOLD_CAPACITY = 16384,
    /* What fold_text returns if the folded text does not fit. */
    FOLD_TOO_LONG = -1
};

/* Writes `length` bytes with case folded (Unicode full case folding) and in NFC to `out` and returns how
 * many bytes that are, or FOLD_TOO_LONG. Of bytes that are not UTF-8 only ASCII letters are folded. A '/'
 * stays where it is between its neighbours, so that a folded path has the components of the path. No
 * allocation. */
ptrdiff_t fold_text(const char *bytes, size_t length, char *out, size_t capacity);
