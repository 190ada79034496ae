/* acl_memory.h - a file system in memory with descriptors and Windows' inheritance, for tests on any system.
 *
 * Objects lie in the arena given. What is made below a directory inherits from it as Windows does it; nothing
 * else spreads. Names compare without ASCII case.
 */
#pragma once

#include "runtime/windows/acl.h"

/* A process that is killed: after `left` further steps that change anything, in any memory that shares this,
 * nothing is done any more and every operation fails. */
struct acl_fault {
    long left;
    bool dead;
};

struct acl_memory;

/* An empty one with the volume "\\?\Volume{memory}\" and the directory "C:". `fault` may be NULL. */
struct acl_memory *acl_memory_make(struct arena *arena, struct acl_fault *fault);
const struct acl_operations *acl_memory_operations(const struct acl_memory *memory);

/* A new object whose directory is there, with the descriptor of this text (windows_descriptor_read), or
 * NULL: the one that it inherits. `content` NULL: a directory. False if it cannot be made. */
bool acl_memory_add(struct acl_memory *memory, const char *path, const char *content, const char *text);

/* A junction at `path` to a directory. */
bool acl_memory_junction(struct acl_memory *memory, const char *path, const char *directory);

/* What others do to an object meanwhile. False if there is none. */
bool acl_memory_write(struct acl_memory *memory, const char *path, const char *content);
bool acl_memory_move(struct acl_memory *memory, const char *from, const char *to);
bool acl_memory_delete(struct acl_memory *memory, const char *path);
bool acl_memory_describe(struct acl_memory *memory, const char *path,
                         const struct windows_descriptor *descriptor);
/* Opening it for anything but reading is denied, or no longer. */
bool acl_memory_refuse(struct acl_memory *memory, const char *path, bool refused);

/* The descriptor of one object, or NULL. */
const struct windows_descriptor *acl_memory_look(const struct acl_memory *memory, const char *path);

/* All objects by path with identity, content and the bytes of their descriptors, one line each. */
const char *acl_memory_text(struct arena *arena, const struct acl_memory *memory);
