/* seccomp.h - the classic BPF program that holds the syscall baseline and what a policy adds to it (Linux).
 *
 * Numbers come from the table in emitters/syscalls.def, never from the machine, so the bytes are the same
 * everywhere.
 */
#pragma once

#include "base/buffer.h"
#include "policy/bound.h"

enum { SECCOMP_INSTRUCTIONS = 4096 /* BPF_MAXINSNS, include/uapi/linux/bpf_common.h */ };

struct seccomp_request {
    const char *architecture; /* "x86_64" or "aarch64" */
    bool unix_sockets;        /* AF_UNIX open: scratch or a socket grant */
    bool refuse_listen; /* the network is the host's and nothing may be reached from it: no bind, no listen */
    bool refuse_network; /* no network namespace: no sockets of the Internet families, and none of netlink */
    bool
        no_namespaces; /* processes, queues and memory of the host can be named: none but its own process is */
    const char *const *reopened; /* `grant syscall` names, NULL-terminated; each must be seccomp_may_reopen */
    const char *const *denied;   /* `deny syscall` names */
};

/* Fills `request` from a policy (arrays in `arena`). */
void seccomp_request_of(struct arena *arena, const struct bound_policy *bound, const char *architecture,
                        struct seccomp_request *request);

/* Appends struct sock_filter records in the byte order of the (little-endian) target. Returns the number of
 * instructions, or 0 with *error set (unknown architecture, more than SECCOMP_INSTRUCTIONS). */
uint32_t seccomp_program(struct arena *arena, const struct seccomp_request *request, struct buffer *out,
                         const char **error);

bool syscall_known(const char *name);
/* Whether the baseline denies `name` and marks it so that `grant syscall` may reopen it. */
bool syscall_may_reopen(const char *name);
/* Whether the baseline denies `name`, whatever its arguments are or with some of them. */
bool syscall_denied_by_baseline(const char *name);
/* Whether the baseline denies `name` with some arguments and lets it pass with others. */
bool syscall_checked_by_argument(const char *name);
/* NULL-terminated list of all names, sorted, for suggestions. */
const char *const *syscall_list(void);

/* The `seccomp` target. */
struct emit_request;
bool emit_seccomp(const struct emit_request *request, struct buffer *out);
