/* seatbelt_read.h - reads a Seatbelt profile (SBPL, the sandbox language of macOS) and answers what it
 * allows.
 *
 * The reader shares nothing with what writes profiles or decides policies, so that it can prove both. It
 * evaluates the profile's Scheme as sandbox-exec does, within bounds, and refuses what it does not know. A
 * profile lives in the arena that it was read into and keeps working memory there: use it in one thread at a
 * time.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seatbelt_profile;

/* What -D NAME=VALUE of sandbox-exec gives: (param "NAME"). */
struct seatbelt_parameter {
    const char *name, *value;
};

/* Why a profile is refused. `text` is what macOS says where that is known; line and column count from 1. */
struct seatbelt_error {
    const char *text;
    uint32_t line, column;
};

/* The text of what (import "NAME") names, and its length; NULL if there is no such file. The text must live
 * as long as the profile. */
typedef const char *seatbelt_import(void *context, const char *name, size_t *length);

/* Reads `text`, `length` bytes, which need no NUL. Returns NULL, with `error` filled, if macOS would refuse
 * the profile or this reader cannot tell what it means. Without `resolve` every import is refused. */
struct seatbelt_profile *seatbelt_read(struct arena *arena, const char *text, size_t length,
                                       const struct seatbelt_parameter *parameters, uint32_t count,
                                       seatbelt_import *resolve, void *context, struct seatbelt_error *error);

enum seatbelt_answer { SEATBELT_DENY, SEATBELT_ALLOW, SEATBELT_UNKNOWN };

enum seatbelt_vnode {
    SEATBELT_VNODE_UNKNOWN,
    SEATBELT_VNODE_FILE,
    SEATBELT_VNODE_DIRECTORY,
    SEATBELT_VNODE_BLOCK,
    SEATBELT_VNODE_CHARACTER,
    SEATBELT_VNODE_LINK,
    SEATBELT_VNODE_SOCKET,
    SEATBELT_VNODE_FIFO,
    SEATBELT_VNODE_TERMINAL,
};

enum seatbelt_protocol {
    SEATBELT_PROTOCOL_NONE, /* no network operation, or the protocol is not known */
    SEATBELT_PROTOCOL_TCP,
    SEATBELT_PROTOCOL_UDP,
    SEATBELT_PROTOCOL_OTHER, /* another one over IP, such as ICMP */
    SEATBELT_PROTOCOL_UNIX,
};

/* The hosts that a profile can tell apart. A socket that is not bound has the unspecified address. */
enum seatbelt_host {
    SEATBELT_HOST_UNSPECIFIED, /* 0.0.0.0 */
    SEATBELT_HOST_LOOPBACK,    /* 127.0.0.1 and ::1, no other */
    SEATBELT_HOST_OTHER,
};

struct seatbelt_address {
    enum seatbelt_host host;
    uint16_t port;
};

/* What `name` of a question is the name of. */
enum seatbelt_name {
    SEATBELT_NAME_NONE,
    SEATBELT_NAME_GLOBAL, /* a Mach service */
    SEATBELT_NAME_LOCAL,
    SEATBELT_NAME_XPC_SERVICE,
    SEATBELT_NAME_IPC_POSIX,
    SEATBELT_NAME_SYSCTL,
    SEATBELT_NAME_XATTR,
    SEATBELT_NAME_CONTROL,
    SEATBELT_NAME_IOKIT_CLASS,
    SEATBELT_NAME_IOKIT_CONNECTION,
    SEATBELT_NAME_IOKIT_PROPERTY,
    SEATBELT_NAME_PREFERENCE_DOMAIN,
    SEATBELT_NAME_RIGHT,
    SEATBELT_NAME_NOTIFICATION,
    SEATBELT_NAME_NVRAM,
    SEATBELT_NAME_APPLEEVENT,
    SEATBELT_NAME_KEXT,
    SEATBELT_NAME_EXTENSION_CLASS,
    SEATBELT_NAME_INFO_TYPE,
    SEATBELT_NAME_BOOT_ARGUMENT,
};

enum seatbelt_target {
    SEATBELT_TARGET_UNKNOWN,
    SEATBELT_TARGET_SELF,
    SEATBELT_TARGET_GROUP,    /* pgrp */
    SEATBELT_TARGET_CHILDREN, /* children */
    SEATBELT_TARGET_SANDBOX,  /* same-sandbox: another process under this very profile */
    SEATBELT_TARGET_OTHERS,   /* a process outside */
    SEATBELT_TARGET_FIRST,    /* initproc */
};

/* One thing that a process asks of the kernel. What is left zero is not known, and a filter that looks at it
 * makes the answer unknown where it matters; only `extensions` are known to be what they are. */
struct seatbelt_question {
    const char *operation; /* "file-read-data", "network-outbound" ... */
    const char *path;      /* as the kernel resolved it; of a Unix socket too */
    enum seatbelt_vnode vnode;
    bool fold_case; /* compare paths as a volume that ignores case does */
    bool mode_known;
    uint32_t mode; /* the permission bits of the file */

    enum seatbelt_protocol protocol;
    uint32_t version; /* 4 or 6 of IP, 0 if not known */
    struct seatbelt_address local, remote;
    uint32_t socket_domain, socket_type; /* numbers of macOS: AF_UNIX is 1, AF_INET6 30, AF_SYSTEM 32 */
    bool socket_protocol_known;
    uint32_t socket_protocol;

    enum seatbelt_name name_kind;
    const char *name;
    enum seatbelt_target target;
    bool number_known;
    uint64_t number; /* of the signal, of the ioctl, fsctl or system call */

    const char *const *extensions; /* classes of the sandbox extensions that the process holds */
    uint32_t extension_count;
};

/* What the profile answers. `line` (NULL is allowed) is that of the rule that decided, or of the rule that
 * cannot be judged; 0 where none did and a built-in default holds. A rule from an imported text has the line
 * of its import. SEATBELT_UNKNOWN: a filter needs what the question does not say, or macOS has no such
 * operation. */
enum seatbelt_answer seatbelt_decide(const struct seatbelt_profile *profile,
                                     const struct seatbelt_question *question, uint32_t *line);

/* What one filter of a profile names, so that a caller can ask about it and its surroundings. */
enum seatbelt_listed_kind {
    SEATBELT_LISTED_PATH, /* this path: literal */
    SEATBELT_LISTED_TREE, /* it and all below: subpath */
    SEATBELT_LISTED_PREFIX,
    SEATBELT_LISTED_EXPRESSION, /* of paths; `text` is the expression */
    SEATBELT_LISTED_NAME,       /* `name` says of what */
    SEATBELT_LISTED_NAME_PREFIX,
    SEATBELT_LISTED_NAME_EXPRESSION,
    SEATBELT_LISTED_PORT,
};

struct seatbelt_listed {
    enum seatbelt_listed_kind kind;
    const char *text; /* NULL of a port */
    enum seatbelt_name name;
    uint16_t port;
    bool allow;    /* what its rule does */
    uint32_t line; /* of the rule; 0: a rule of the system's own */
};

typedef void seatbelt_each(void *context, const struct seatbelt_listed *listed);

/* Calls `each` for whatever the filters name, composed ones too, in the order of the rules. The texts live as
 * long as the profile. */
void seatbelt_list(const struct seatbelt_profile *profile, seatbelt_each *each, void *context);
