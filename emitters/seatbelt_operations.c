#include "emitters/seatbelt_operations.h"

#define NONE 0
#define PATH SEATBELT_SORT_PATH
#define FILE (PATH | SEATBELT_SORT_FILE | SEATBELT_SORT_DEVICE)
#define XATTR SEATBELT_SORT_XATTR
#define IOCTL SEATBELT_SORT_IOCTL
#define EXTENSION SEATBELT_SORT_EXTENSION_CLASS
#define SOCKET SEATBELT_SORT_SOCKET
#define NETWORK (PATH | SEATBELT_SORT_FILE | SEATBELT_SORT_ADDRESS | SEATBELT_SORT_CONTROL | SOCKET)
#define MACH SEATBELT_SORT_MACH
#define IPC SEATBELT_SORT_IPC
#define SEMAPHORE (IPC | SEATBELT_SORT_SEMAPHORE)
#define TARGET SEATBELT_SORT_TARGET
#define SIGNAL (TARGET | SEATBELT_SORT_SIGNAL)
#define SYSCTL SEATBELT_SORT_SYSCTL
#define FSCTL (FILE | SEATBELT_SORT_FSCTL)
#define INFO SEATBELT_SORT_INFO
#define IOKIT SEATBELT_SORT_IOKIT
#define IOKIT_PROPERTY (IOKIT | SEATBELT_SORT_IOKIT_PROPERTY)
#define PREFERENCE SEATBELT_SORT_PREFERENCE
#define APPLEEVENT SEATBELT_SORT_APPLEEVENT
#define RIGHT SEATBELT_SORT_RIGHT
#define NOTIFICATION SEATBELT_SORT_NOTIFICATION
#define NVRAM SEATBELT_SORT_NVRAM
#define SYSCALL SEATBELT_SORT_SYSCALL
#define KEXT SEATBELT_SORT_KEXT
#define BOOT_ARGUMENT SEATBELT_SORT_BOOT_ARGUMENT

const struct seatbelt_operation_entry seatbelt_operations[SEATBELT_OPERATIONS] = {
#define OPERATION(id, name, parent, sorts)                                                                   \
    [SEATBELT_OPERATION_##id] = {name, SEATBELT_OPERATION_##parent, sorts},
#define ALLOWED(id, name, sorts) [SEATBELT_OPERATION_##id] = {name, SEATBELT_NO_PARENT, sorts},
#define ALIAS(name, id)
#include "emitters/seatbelt_operations.def"
#undef OPERATION
#undef ALLOWED
#undef ALIAS
};

const struct seatbelt_operation_alias seatbelt_operation_aliases[] = {
#define OPERATION(id, name, parent, sorts)
#define ALLOWED(id, name, sorts)
#define ALIAS(name, id) {name, SEATBELT_OPERATION_##id},
#include "emitters/seatbelt_operations.def"
#undef OPERATION
#undef ALLOWED
#undef ALIAS
    {NULL, SEATBELT_OPERATION_DEFAULT},
};
