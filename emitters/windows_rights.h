/* windows_rights.h - what a token may do to a file or directory of a tree, as the file system decides it: most of it by
 * the rights on the object, some of it by those on the directory that holds it.
 */
#pragma once

#include "emitters/windows_access.h"
#include "emitters/windows_tree.h"

enum windows_operation {
    WINDOWS_OPERATION_READ,
    WINDOWS_OPERATION_WRITE,
    WINDOWS_OPERATION_CREATE, /* something new in this directory */
    WINDOWS_OPERATION_DELETE,
    WINDOWS_OPERATION_RENAME, /* away from where it is; whether it may be put elsewhere is that place's matter */
    WINDOWS_OPERATION_EXECUTE,
    WINDOWS_OPERATION_CHANGE_DACL,
    WINDOWS_OPERATIONS
};

extern const char *const windows_operation_names[WINDOWS_OPERATIONS];

/* Traversal is not asked about: every token keeps the privilege for it. In the strict reading all rights must be there
 * that programs ask for together; in the loose one any that does some of it is enough. */
bool windows_may(const struct windows_token *token, const struct windows_node *node,
                 enum windows_operation operation, enum windows_reading reading);
