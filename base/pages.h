/* pages.h - zeroed memory straight from the system: what an arena is made of. */
#pragma once

#include <stddef.h>

/* Memory from this size on comes in huge pages, where there are such: touching many small pages for the first
 * time costs more than what large jobs do with them. */
enum { HUGE_PAGE = 2 * 1024 * 1024 };
enum { SMALL_PAGE = 4096 };

/* `size` zeroed bytes, whole small pages of them; NULL if there are none. */
void *pages_create(size_t size);

/* Gives them back; `size` as they were made or moved with. */
void pages_destroy(void *memory, size_t size);

/* Makes them `size` bytes, at least a huge page, without copying or clearing what is there; where they are
 * then. NULL where the system cannot do that: they are as they were. */
void *pages_stretch(void *memory, size_t old, size_t size);
