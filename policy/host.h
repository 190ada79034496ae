/* host.h - what binding needs to know of this machine: roots, the account, the repository, where a command is
 * found.
 *
 * No name service (a static program has none): the account's home comes from /etc/passwd, else from
 * `getent passwd UID` run with an empty environment. On Windows these functions are those of runtime/windows
 * (machine.c, look.c, command.c); repositories are found here on every system.
 */
#pragma once

#include "policy/bound.h"

struct host_request {
    const char *work;                   /* the command's working directory, or NULL: the current one */
    const struct variable *given_roots; /* --root NAME=PATH, name without '$'; GITDIR may repeat */
    uint32_t given_root_count;
    const struct variable *environment;
    uint32_t environment_count;
    uint32_t uid; /* who calls, and for whom roots must be owned */
};

/* Fills `bindings` for this machine (system, roots of policy and of managed layers, environment, host view).
 * Every root is canonical. What could not be found is unset with a note; a --root that does not exist or is
 * not absolute is an error note. `command` stays as the caller set it. */
void host_bind(struct arena *arena, const struct host_request *request, struct bindings *bindings,
               struct note_list *notes);

/* The canonical form of an absolute path whose end may be missing: its deepest existing ancestor is resolved.
 * NULL if a missing part goes upward ("..") or the path cannot be looked at. */
const char *host_canonical(struct arena *arena, const char *path);

/* The account's home directory from the user database, or NULL. */
const char *account_home(struct arena *arena, uint32_t uid);

/* Finds $REPO and $GITDIR for the canonical directory `work` by language.md 3. Either may come back with
 * count 0. */
void repository_find(struct arena *arena, const char *work, uint32_t uid, struct root_value *repo,
                     struct root_value *gitdir, struct note_list *notes);

/* A working tree by what lies at its .git, whoever owns it: what may not be done to a repository holds for
 * each that Git could take for one. */
struct git_tree {
    const char *top;
    const char *gitdir; /* NULL: .git is nothing that Git takes */
    const char *common; /* the common Git directory that `gitdir` names, or NULL */
    bool foreign; /* .git belongs to neither the caller nor root: Git refuses it unless told otherwise */
};

struct git_trees {
    struct git_tree *items;
    uint32_t count, capacity;
    const char *unknown; /* why not everything could be seen, or NULL */
};

/* Finds the working trees at and above the canonical directory `work`, the nearest first. */
void git_trees_find(struct arena *arena, const char *work, struct git_trees *trees);

/* Adds the working tree `top` if it has a .git. */
void git_tree_add(struct arena *arena, const char *top, struct git_trees *trees);

/* Takes down the first reason why not everything is known. */
void git_unknown(struct arena *arena, struct git_trees *trees, const char *path, const char *why);

/* Finds $SUBMODULES, which may only be denied: for each submodule that the index of one of `trees` names,
 * and for each that the index of such a submodule names, its `.git`, or, where that does not exist yet, its
 * directory in the working tree. A submodule behind a symbolic link is none to Git and is left out.
 * Repositories without submodules give an empty list, no repository an unset root. An index that cannot be
 * read or understood makes the root's `unknown`. */
void submodules_find(struct arena *arena, const struct git_trees *trees, struct root_value *submodules);

/* Finds $GITDIRS, which may only be denied: the Git directories inside those of `trees`, of linked
 * worktrees (below worktrees/) and of submodules (below modules/, at any depth), in byte order. None gives
 * an empty list, no repository an unset root. More directories than can be looked through are an error
 * note. */
void gitdirs_find(struct arena *arena, const struct git_trees *trees, struct root_value *gitdirs,
                  struct note_list *notes);

/* Whether `when command` rules for `command` hold (language.md 6): `command` has no slash, and the search in
 * `path` (a PATH value, or NULL) finds it where `bound`, made as if they held, lets the command write
 * nothing: the file, each link on the way, its target. */
bool host_command_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                          const char *path);

/* The environment of this process as a list, names in byte order. */
struct variable_list host_environment(struct arena *arena);

/* Reads a whole regular file, or standard input for "-", of at most `limit` bytes: NUL-terminated, length in
 * *length. NULL on failure with *error set ("cannot open x: ..."). Follows no special files: a directory,
 * device or FIFO is refused. */
char *file_read(struct arena *arena, const char *path, size_t limit, size_t *length, const char **error);
