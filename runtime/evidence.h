/* evidence.h - what the inner stage measures about its own sandbox before the command starts, and says to the
 * launcher. */
#pragma once

#include "runtime/inner_config.h"

enum { EVIDENCE_TEXT = 256 };

struct evidence {
    int64_t process_id, session_id; /* as seen inside */
    uint32_t seccomp_mode, no_new_privileges;
    uint64_t capabilities; /* inheritable, permitted, effective, bounding and ambient sets together */
    uint32_t mounts;       /* entries of the mount table */
    uint32_t mounts_found, mounts_expected;
    uint32_t mounts_same;     /* expected by device and inode, and the same */
    uint32_t mounts_writable; /* entries that are not read-only */
    uint32_t landlock_abi;    /* 0: none */
    struct landlock_result landlock;
    /* Tried without namespaces: opening /, making a socket of the Internet families, naming the launcher to kill. */
    bool root_closed, internet_closed, launcher_closed;
    uint32_t dumpable;
    uint32_t variables; /* of the environment */
    uint64_t files_soft, files_hard;
    uint64_t processes;    /* what RLIMIT_NPROC leaves, if it was seen to count this sandbox alone; else 0 */
    uint64_t time_seconds; /* to which process 1's clock was set; 0: it was not */
    uint64_t namespaces[NAMESPACES]; /* inode numbers */
    char interfaces[EVIDENCE_TEXT];  /* names, parted by blanks */
    char user_map[EVIDENCE_TEXT];    /* first line of uid_map, blanks squeezed */
    char directory[EVIDENCE_TEXT];
    char problem[2 * EVIDENCE_TEXT]; /* the first thing that is not as the configuration wants it, or "" */
};

/* Inode numbers of this process's namespaces, 0 for one that the kernel does not have. */
void namespaces_measure(uint64_t inodes[NAMESPACES]);

/* Measures; needs /proc of the sandbox. `arena` is used for the mount table. */
void evidence_measure(struct arena *arena, const struct inner_config *config,
                      const struct landlock_result *landlock, struct evidence *evidence);

/* What inner stage and launcher say to each other on the status socket, one message a packet. */
enum status_kind {
    STATUS_EVIDENCE,    /* inner: measured, waits for the go byte */
    STATUS_STARTED,     /* inner: the command was executed */
    STATUS_NOT_STARTED, /* inner: it could not be; number is errno */
    STATUS_ENDED,       /* inner: number is the wait status of the command */
    STATUS_SIGNALLED,   /* inner: a signal was handed on */
    STATUS_TERMINAL,    /* inner: with the master of the terminal that it made */
    STATUS_STOPPED,     /* inner: the command, in a terminal, was stopped by signal number */
    STATUS_TIME_OVER,   /* inner: the command's time is over, and all were asked to end */
    STATUS_SIGNAL,      /* launcher: number is a signal for the command */
    STATUS_SIGNAL_GROUP /* launcher: one that came from the terminal, for the command's process group */
};

struct status_message {
    enum status_kind kind;
    int number;
    struct evidence evidence; /* of STATUS_EVIDENCE */
};
