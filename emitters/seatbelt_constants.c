/* The named constants of a profile, with the numbers of macOS. */
#include "emitters/seatbelt_builtins.h"

#define VNODE(name, vnode)                                                                                   \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_VNODE, SEATBELT_VNODE_##vnode, 0                                             \
    }
#define TARGET(name, target)                                                                                 \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_TARGET, SEATBELT_TARGET_##target, 0                                          \
    }
#define PROTOCOL(name, protocol, version)                                                                    \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_PROTOCOL, SEATBELT_PROTOCOL_##protocol, version                              \
    }
#define DOMAIN(name, number)                                                                                 \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_DOMAIN, number, 0                                                            \
    }
#define TYPE(name, number)                                                                                   \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_TYPE, number, 0                                                              \
    }
#define SIGNAL(name, number)                                                                                 \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_SIGNAL, number, 0                                                            \
    }
#define ATTRIBUTE(name)                                                                                      \
    {                                                                                                        \
        name, SEATBELT_CONSTANT_ATTRIBUTE, 0, 0                                                              \
    }

const struct seatbelt_constant seatbelt_constants[] = {
    VNODE("REGULAR-FILE", FILE),
    VNODE("DIRECTORY", DIRECTORY),
    VNODE("BLOCK-DEVICE", BLOCK),
    VNODE("CHARACTER-DEVICE", CHARACTER),
    VNODE("SYMLINK", LINK),
    VNODE("SOCKET", SOCKET),
    VNODE("FIFO", FIFO),
    VNODE("TTY", TERMINAL),
    TARGET("self", SELF),
    TARGET("pgrp", GROUP),
    TARGET("children", CHILDREN),
    TARGET("same-sandbox", SANDBOX),
    TARGET("others", OTHERS),
    TARGET("initproc", FIRST),
    PROTOCOL("ip", NONE, 0),
    PROTOCOL("ip4", NONE, 4),
    PROTOCOL("ip6", NONE, 6),
    PROTOCOL("tcp", TCP, 0),
    PROTOCOL("tcp4", TCP, 4),
    PROTOCOL("tcp6", TCP, 6),
    PROTOCOL("udp", UDP, 0),
    PROTOCOL("udp4", UDP, 4),
    PROTOCOL("udp6", UDP, 6),
    PROTOCOL("unix", UNIX, 0),
    PROTOCOL("unix-socket", UNIX, 0),
    DOMAIN("AF_UNIX", 1),
    DOMAIN("AF_LOCAL", 1),
    DOMAIN("AF_INET", 2),
    DOMAIN("AF_ROUTE", 17),
    DOMAIN("AF_INET6", 30),
    DOMAIN("AF_SYSTEM", 32),
    TYPE("SOCK_STREAM", 1),
    TYPE("SOCK_DGRAM", 2),
    TYPE("SOCK_RAW", 3),
    SIGNAL("SIGHUP", 1),
    SIGNAL("SIGINT", 2),
    SIGNAL("SIGQUIT", 3),
    SIGNAL("SIGABRT", 6),
    SIGNAL("SIGKILL", 9),
    SIGNAL("SIGPIPE", 13),
    SIGNAL("SIGALRM", 14),
    SIGNAL("SIGTERM", 15),
    SIGNAL("SIGSTOP", 17),
    SIGNAL("SIGTSTP", 18),
    SIGNAL("SIGCONT", 19),
    SIGNAL("SIGCHLD", 20),
    SIGNAL("SIGWINCH", 28),
    SIGNAL("SIGINFO", 29),
    SIGNAL("SIGUSR1", 30),
    SIGNAL("SIGUSR2", 31),
    ATTRIBUTE("is-plugin"),
    ATTRIBUTE("is-installer"),
    ATTRIBUTE("is-restricted"),
    ATTRIBUTE("is-initproc"),
    ATTRIBUTE("is-platform-binary"),
    ATTRIBUTE("is-sandboxed"),
    ATTRIBUTE("apple-internal"),
    ATTRIBUTE("sandbox-debug-mode"),
    {NULL, SEATBELT_CONSTANT_ATTRIBUTE, 0, 0},
};
