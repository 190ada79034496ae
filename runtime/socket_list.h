/* socket_list.h - the Unix sockets that are bound to a path, as the kernel lists them for this network
 * namespace. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One bound socket. The path is what its owner gave to bind(2): relative, stale, or of another mount
 * namespace perhaps; inode and device are the kernel's own. */
struct host_socket {
    const char *path;
    uint32_t inode; /* the low 32 bits */
    dev_t device;
};

struct host_socket_list {
    struct host_socket *items;
    uint32_t count, capacity;
};

/* Appends all bound sockets, accepted connections (which repeat their listener's name) included. False with
 * errno. */
bool host_sockets_list(struct arena *arena, struct host_socket_list *list);
