/* seatbelt_operations.h - the operations that a Seatbelt rule can name: what each falls back to, and which
 * filters fit it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Sorts of filters, as bits: what an operation knows about itself decides which filters fit it. */
enum seatbelt_sort {
    SEATBELT_SORT_PATH = 1 << 0,
    SEATBELT_SORT_FILE = 1 << 1, /* file-mode, vnode-type */
    SEATBELT_SORT_DEVICE = 1 << 2,
    SEATBELT_SORT_XATTR = 1 << 3,
    SEATBELT_SORT_IOCTL = 1 << 4,
    SEATBELT_SORT_EXTENSION_CLASS = 1 << 5,
    SEATBELT_SORT_ADDRESS = 1 << 6, /* local, remote */
    SEATBELT_SORT_CONTROL = 1 << 7,
    SEATBELT_SORT_SOCKET = 1 << 8, /* socket-domain, socket-type, socket-protocol */
    SEATBELT_SORT_MACH = 1 << 9,
    SEATBELT_SORT_IPC = 1 << 10,
    SEATBELT_SORT_SEMAPHORE = 1 << 11,
    SEATBELT_SORT_TARGET = 1 << 12,
    SEATBELT_SORT_SIGNAL = 1 << 13,
    SEATBELT_SORT_SYSCTL = 1 << 14,
    SEATBELT_SORT_FSCTL = 1 << 15,
    SEATBELT_SORT_INFO = 1 << 16,
    SEATBELT_SORT_IOKIT = 1 << 17,
    SEATBELT_SORT_IOKIT_PROPERTY = 1 << 18,
    SEATBELT_SORT_PREFERENCE = 1 << 19,
    SEATBELT_SORT_APPLEEVENT = 1 << 20,
    SEATBELT_SORT_RIGHT = 1 << 21,
    SEATBELT_SORT_NOTIFICATION = 1 << 22,
    SEATBELT_SORT_NVRAM = 1 << 23,
    SEATBELT_SORT_SYSCALL = 1 << 24,
    SEATBELT_SORT_KEXT = 1 << 25,
    SEATBELT_SORT_BOOT_ARGUMENT = 1 << 26,
};

enum seatbelt_operation {
#define OPERATION(id, name, parent, sorts) SEATBELT_OPERATION_##id,
#define ALLOWED(id, name, sorts) SEATBELT_OPERATION_##id,
#define ALIAS(name, id)
#include "emitters/seatbelt_operations.def"
#undef OPERATION
#undef ALLOWED
#undef ALIAS
    SEATBELT_OPERATIONS,
    SEATBELT_NO_PARENT = SEATBELT_OPERATIONS,
};

struct seatbelt_operation_entry {
    const char *name;
    enum seatbelt_operation parent; /* SEATBELT_NO_PARENT: it ends here, in `default` or allowed */
    uint32_t sorts;
};

extern const struct seatbelt_operation_entry seatbelt_operations[SEATBELT_OPERATIONS];

/* Other names of operations, and where they end: an entry whose name is NULL. */
struct seatbelt_operation_alias {
    const char *name;
    enum seatbelt_operation operation;
};

extern const struct seatbelt_operation_alias seatbelt_operation_aliases[];
