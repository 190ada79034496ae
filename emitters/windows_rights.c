#include "emitters/windows_rights.h"

const char *const windows_operation_names[WINDOWS_OPERATIONS] = {
    "read", "write", "create in", "delete", "rename", "execute", "change the DACL of"};

enum {
    WRITES_DATA = 0x2,
    APPENDS = 0x4,
    READS_EXTENDED = 0x8,
    WRITES_EXTENDED = 0x10,
    WRITES_ATTRIBUTES = 0x100
};

/* What all of is needed, and what any of is enough. */
static const struct {
    uint32_t all, any;
} needs[WINDOWS_OPERATIONS] = {
    [WINDOWS_OPERATION_READ] = {WINDOWS_FILE_READ, WINDOWS_RIGHT_READ | READS_EXTENDED},
    [WINDOWS_OPERATION_WRITE] = {WINDOWS_FILE_WRITE,
                                 WRITES_DATA | APPENDS | WRITES_EXTENDED | WRITES_ATTRIBUTES},
    [WINDOWS_OPERATION_CREATE] = {WINDOWS_RIGHT_WRITE | WINDOWS_RIGHT_APPEND,
                                  WINDOWS_RIGHT_WRITE | WINDOWS_RIGHT_APPEND},
    [WINDOWS_OPERATION_DELETE] = {WINDOWS_RIGHT_DELETE, WINDOWS_RIGHT_DELETE},
    [WINDOWS_OPERATION_RENAME] = {WINDOWS_RIGHT_DELETE, WINDOWS_RIGHT_DELETE},
    [WINDOWS_OPERATION_EXECUTE] = {WINDOWS_FILE_EXECUTE, WINDOWS_RIGHT_EXECUTE},
    [WINDOWS_OPERATION_CHANGE_DACL] = {WINDOWS_RIGHT_WRITE_DAC,
                                       WINDOWS_RIGHT_WRITE_DAC | WINDOWS_RIGHT_WRITE_OWNER},
};

bool windows_may(const struct windows_token *token, const struct windows_node *node,
                 enum windows_operation operation, enum windows_reading reading)
{
    uint32_t rights = windows_access(token, &node->descriptor, reading);
    bool enough = reading == WINDOWS_STRICT ? (rights & needs[operation].all) == needs[operation].all
                                            : (rights & needs[operation].any) != 0;
    bool removes = operation == WINDOWS_OPERATION_DELETE || operation == WINDOWS_OPERATION_RENAME;
    /* What lies in a directory can be taken out of it by who may take anything out of it. */
    if (enough || !removes || node->parent == NULL)
        return enough;
    return (windows_access(token, &node->parent->descriptor, reading) & WINDOWS_RIGHT_DELETE_CHILD) != 0;
}
