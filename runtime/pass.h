/* pass.h - packets on a Unix socket that carry a descriptor with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Sends one packet, with `descriptor` if it is not -1. */
bool packet_send(int socket, const void *bytes, size_t length, int descriptor);

/* Waits for one packet of exactly `length` bytes. `*descriptor` is the one that came with it, close-on-exec,
 * or -1. */
bool packet_take(int socket, void *bytes, size_t length, int *descriptor);
