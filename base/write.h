/* write.h - writing all bytes that there are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes all bytes, whatever write(2) takes at a time; false on an error other than EINTR and EAGAIN. */
bool write_all(int descriptor, const void *bytes, size_t length);
