/* inet.h - what <arpa/inet.h> of POSIX and BSD says, for programs of Windows. */
#pragma once

#include <winsock2.h>
#include <ws2tcpip.h>

/* Reads all forms of BSD: one to four numbers with dots, decimal, octal (0...) or hexadecimal (0x...), the last
 * one for all bytes that are left. What follows a blank is not looked at. 0 if it is none. */
int inet_aton(const char *text, struct in_addr *address);
