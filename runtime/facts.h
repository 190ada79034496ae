/* facts.h - what the policy's paths are on this host: missing, links, matches of patterns, sockets.
 *
 * Facts edit the list of bound rules by language.md 7 (a grant on a missing path is dropped or holds as
 * deny write, a deny is repeated at every link's target, a grant through a link that the command could have
 * planted is dropped) and then say, for each place of the policy, what is there. Links are walked by
 * descriptor, component by component (O_PATH|O_NOFOLLOW). Nothing is created here; see placeholder.h.
 */
#pragma once

#include "emitters/plan.h"
#include "policy/bound.h"

#include <sys/types.h>

struct patience;
struct remote;
struct resolver;

struct facts {
    struct plan_place
        *places; /* for plan_input; masks of missing paths are in it as ENTRY_FILE or ENTRY_DIRECTORY */
    uint32_t place_count;
    struct plan_link *links;
    uint32_t link_count;
    const char **proc_read_only;
    uint32_t proc_read_only_count;
    /* Denied paths in a writable area that do not exist: each needs a placeholder before the launch. */
    struct missing_path {
        const char *path;
        const char *ancestor; /* the deepest existing directory above it */
        bool directory;
        const char
            *content; /* of the file, or of a .gitignore in the directory; "" is an empty one, or none */
        bool hidden;  /* a file in a Git work tree: a socket stands there, of which Git takes no notice */
        const struct rule *rule;
    } * missing;
    uint32_t missing_count;
    const char **matches; /* pattern matches found, for the lease */
    uint32_t match_count;
    const char **masked_sockets; /* host sockets in reach that were masked */
    uint32_t masked_socket_count;
    struct plan_link *relied_links; /* in what is granted, on the way to a denied path; some more than once */
    uint32_t relied_link_count;
    struct resolver *seen; /* what stands at each path that was looked at */
    bool hard_links;       /* a denied regular file has further hard links: fs.deny is then `snapshot` */
};

struct facts_request {
    bool unix_sockets;         /* AF_UNIX will be open inside: look for host sockets in reach */
    uid_t uid;                 /* of the command */
    struct patience *patience; /* how long trees may be looked through; NULL: to the end */
    struct remote *remote;     /* file systems to ask before they are looked at, or NULL */
    bool scratch;              /* hides /tmp and `temporary`, but for what is granted below them */
    const char *temporary;     /* $TMP where it is not /tmp, else NULL */
};

/* Gathers facts and edits and seals `bound` again. False with error notes (SBX4xx) if the policy cannot be
 * held here. */
bool facts_gather(struct arena *arena, struct bound_policy *bound, const struct facts_request *request,
                  struct facts *facts, struct note_list *notes);
