#include "policy/host.h"

#include "base/escape.h"
#include "policy/host_look.h"
#include "policy/host_path.h"

#include <string.h>

/* Whoever may write in the working directory can put anything at .git, so nothing here follows a link or
 * waits for a FIFO, and what a file says counts only if the place that it names agrees. */

enum { POINTER_LARGEST = 4096 + 16 };

struct finder {
    struct arena *arena;
    uint32_t uid;
    struct note_list *notes;
};

static bool owner_counts(const struct finder *finder, const struct look *about)
{
    return about->owner == finder->uid || about->owner == LOOK_SYSTEM;
}

/* Whether `directory` holds a .git that counts, by the owner rules; what it is goes to *kind, LOOK_MISSING
 * if there is none. */
static bool holds_git(const struct finder *finder, const char *directory, enum look_kind *kind)
{
    struct look holder, git;
    *kind = LOOK_MISSING;
    if (!look_into(finder->arena, directory, ".git", &holder, &git))
        return false;
    *kind = git.kind;
    return owner_counts(finder, &holder) && holder.owner == git.owner && !holder.open &&
           (git.kind == LOOK_DIRECTORY || git.kind == LOOK_FILE);
}

/* The one line of a small regular file at `path`, without its line end, or NULL. */
static const char *pointer_read(const struct finder *finder, const char *path)
{
    struct look about;
    size_t length = 0;
    char *text = look_text(finder->arena, path, POINTER_LARGEST, &length, &about);
    if (text == NULL || length == 0 || !owner_counts(finder, &about))
        return NULL;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    text[length] = '\0';
    return memchr(text, '\0', length) != NULL || memchr(text, '\n', length) != NULL ? NULL : text;
}

/* `path` as written in a file that lies in `directory`. */
static const char *absolute(struct arena *arena, const char *directory, const char *path)
{
    path = host_slashes(arena, path);
    return host_top(path) > 0 ? path : host_join(arena, directory, path);
}

static bool is_directory(const struct finder *finder, const char *path)
{
    struct look about = look_at(finder->arena, path);
    return about.kind == LOOK_DIRECTORY && owner_counts(finder, &about) && !about.open;
}

/* A planted worktree must not make an ordinary directory, such as the home, pass for a repository. */
static bool is_common(const struct finder *finder, const char *path)
{
    enum look_kind head = look_at(finder->arena, host_join(finder->arena, path, "HEAD")).kind;
    return is_directory(finder, path) && is_directory(finder, host_join(finder->arena, path, "objects")) &&
           is_directory(finder, host_join(finder->arena, path, "refs")) && head != LOOK_MISSING &&
           head != LOOK_UNKNOWN;
}

/* Whether `target`/gitdir names the .git of `repository`. */
static bool points_back(const struct finder *finder, const char *target, const char *repository)
{
    const char *back = pointer_read(finder, host_join(finder->arena, target, "gitdir"));
    if (back == NULL)
        return false;
    back = absolute(finder->arena, target, back);
    const char *slash = strrchr(back, '/');
    if (strcmp(slash, "/.git") != 0)
        return false;
    const char *holder = host_resolve(finder->arena, host_parent(finder->arena, back));
    return holder != NULL && strcmp(holder, repository) == 0;
}

/* COMMON if `target` is COMMON/worktrees/NAME and belongs to `repository`, else NULL. */
static const char *worktree_common(const struct finder *finder, const char *target, const char *repository)
{
    const char *worktrees = host_parent(finder->arena, target);
    const char *common = worktrees == NULL ? NULL : host_parent(finder->arena, worktrees);
    if (common == NULL || strcmp(strrchr(worktrees, '/'), "/worktrees") != 0)
        return NULL;
    const char *upward = pointer_read(finder, host_join(finder->arena, target, "commondir"));
    if (upward == NULL || strcmp(upward, "../..") != 0 || !points_back(finder, target, repository))
        return NULL;
    return is_common(finder, common) ? common : NULL;
}

/* Whether `target` lies in .git/modules of a repository above `repository`. */
static bool is_submodule(const struct finder *finder, const char *target, const char *repository)
{
    for (const char *above = host_parent(finder->arena, repository); above != NULL;
         above = host_parent(finder->arena, above)) {
        enum look_kind kind;
        if (!holds_git(finder, above, &kind) || kind != LOOK_DIRECTORY)
            continue;
        const char *modules = host_join(finder->arena, above, ".git/modules/");
        if (strncmp(target, modules, strlen(modules)) == 0)
            return true;
    }
    return false;
}

static void bind_paths(struct arena *arena, struct root_value *value, const char *first, const char *second)
{
    const char **paths = arena_array(arena, 2, sizeof *paths);
    paths[0] = first;
    paths[1] = second;
    *value = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = second == NULL ? 1 : 2};
}

/* Binds `gitdir` by the .git file of `repository`. Returns NULL, or why it does not count. */
static const char *pointer_follow(const struct finder *finder, const char *repository,
                                  struct root_value *gitdir)
{
    static const char title[] = "gitdir: ";
    const char *line = pointer_read(finder, host_join(finder->arena, repository, ".git"));
    if (line == NULL || strncmp(line, title, strlen(title)) != 0)
        return "it does not name a Git directory";
    const char *target =
        host_resolve(finder->arena, absolute(finder->arena, repository, line + strlen(title)));
    if (target == NULL || !is_directory(finder, target))
        return "what it names is no directory of yours that others cannot write";
    const char *common = worktree_common(finder, target, repository);
    if (common == NULL && !is_submodule(finder, target, repository))
        return "what it names is neither a worktree that names it back nor a submodule of a repository above";
    bind_paths(finder->arena, gitdir, target, common);
    return NULL;
}

static void note_unset(const struct finder *finder, const char *repository, const char *cause)
{
    const char *git = escape_string(finder->arena, host_join(finder->arena, repository, ".git"));
    note_add(finder->notes,
             (struct note){
                 .code = SBX177_GITDIR_UNSET,
                 .text = arena_format(finder->arena, "%s does not make a repository: %s", git, cause),
             });
}

void repository_find(struct arena *arena, const char *work, uint32_t uid, struct root_value *repo,
                     struct root_value *gitdir, struct note_list *notes)
{
    struct finder finder = {.arena = arena, .uid = uid, .notes = notes};
    enum look_kind kind = LOOK_MISSING;
    *repo = *gitdir = (struct root_value){.state = ROOT_UNSET};
    for (; work != NULL && !holds_git(&finder, work, &kind); work = host_parent(arena, work))
        if (kind != LOOK_MISSING)
            note_unset(&finder, work, "it is a link, or it or its directory is not yours alone to write");
    if (work == NULL)
        return;
    bind_paths(arena, repo, work, NULL);
    if (kind == LOOK_DIRECTORY) {
        bind_paths(arena, gitdir, host_join(arena, work, ".git"), NULL);
        return;
    }
    const char *cause = pointer_follow(&finder, work, gitdir);
    if (cause != NULL)
        note_unset(&finder, work, cause);
}
