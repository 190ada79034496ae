/* inner_config.h - what the launcher hands to its inner stage (inner.h), written to a sealed memory file. */
#pragma once

#include "base/buffer.h"
#include "runtime/landlock.h"
#include "runtime/own_limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    NAMESPACE_USER,
    NAMESPACE_PROCESS,
    NAMESPACE_IPC,
    NAMESPACE_UTS,
    NAMESPACE_CGROUP,
    NAMESPACE_NETWORK,
    NAMESPACES
};

/* A mount that the plan makes and that the inner stage looks for in its mount table. */
enum mount_expectation {
    MOUNT_READ_ONLY, /* and every mount below that no other expectation covers */
    MOUNT_WRITABLE,  /* it may be */
    MOUNT_DEVICES    /* itself read-only; devices, pts and shm below it may be written */
};

struct expected_mount {
    const char *path;
    enum mount_expectation expectation;
    const char *type;   /* the file system that it must be ("proc", "tmpfs"), or NULL */
    bool optional;      /* it need not be there */
    const char *source; /* the host's path whose file is bound there, or NULL; not handed on */
    bool known;         /* then exactly this file must be mounted */
    dev_t device;
    ino_t inode;
};

struct inner_config {
    int status, go, streams[3]; /* descriptors, as numbered inside */
    const char *directory;      /* working directory */
    bool directory_known;       /* then it must be this device and inode */
    dev_t device;
    ino_t inode;
    /* The launcher's namespaces, by inode number: expect others; 0: expect nothing of this one. */
    uint64_t host_namespaces[NAMESPACES];
    bool working_variable;           /* PWD is set to the directory; else it is unset */
    bool terminal[3];                /* which of the command's streams are its own terminal; [0]: with keys */
    uint64_t files_soft, files_hard; /* RLIMIT_NOFILE of the command */
    uint64_t processes;              /* how many beside process 1; 0: any number */
    uint64_t time_seconds;           /* how long the command may run; 0: for ever */
    const struct expected_mount *mounts;
    uint32_t mount_count;
    const struct landlock_rule *rules; /* what Landlock leaves open (landlock_rules.h) */
    uint32_t rule_count;
    struct own_limits before; /* what the command gets back */
    /* No namespaces: processes and mounts are the host's, and the rules are all that closes files. */
    bool landlock_alone;
    const char *no_rules;   /* why there are none, or NULL; not handed on */
    char *const *arguments; /* of the command, NULL-terminated; none: measure only */
};

void inner_config_write(struct buffer *out, const struct inner_config *config);

/* False if the bytes are not what inner_config_write made. Strings point into `bytes`. */
bool inner_config_read(struct arena *arena, char *bytes, size_t length, struct inner_config *config);
