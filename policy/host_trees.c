#include "policy/host.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/host_look.h"
#include "policy/host_path.h"

#include <string.h>

/* What git itself takes of a pointer file; a longer one is no pointer to it. */
enum { POINTER_MOST = 1 << 20 };

void git_unknown(struct arena *arena, struct git_trees *trees, const char *path, const char *why)
{
    if (trees->unknown == NULL)
        trees->unknown = arena_format(arena, "cannot be known: %s: %s", escape_string(arena, path), why);
}

/* `path` without ".", ".." and double slashes, by its text alone. */
static const char *path_cleaned(struct arena *arena, const char *path)
{
    /* Of a drive, which never ends in a slash here, the letter and the colon. */
    size_t drive = host_top(path) == 3 ? 2 : 0;
    char *clean = arena_alloc(arena, strlen(path) + 2), *start = clean + drive, *end = start;
    memcpy(clean, path, drive);
    path += drive;
    while (*(path += strspn(path, "/")) != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0) {
            while (end > start && *--end != '/')
                continue;
        } else if (length != 1 || *path != '.') {
            *end++ = '/';
            memcpy(end, path, length);
            end += length;
        }
        path += length;
    }
    if (end == start)
        *end++ = '/';
    *end = '\0';
    return clean;
}

/* The text of the file `path` as git takes it: up to a NUL, without line ends at its end. Empty if there is
 * none. NULL, with the cause in `trees`, if it cannot be read. */
static const char *pointer_text(struct arena *arena, const char *path, struct git_trees *trees)
{
    size_t length = 0;
    const char *error = NULL;
    if (look_behind(arena, path).kind == LOOK_MISSING)
        return "";
    char *text = file_read(arena, path, POINTER_MOST, &length, &error);
    if (text == NULL) {
        git_unknown(arena, trees, path, error);
        return NULL;
    }
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    text[length] = '\0';
    return text;
}

/* What `text`, written in `directory`, names, even if it is missing. A way through links that the text leaves
 * again cannot be held, and one that cannot be looked at is not known: then NULL. */
static const char *pointer_target(struct arena *arena, const char *directory, const char *text,
                                  struct git_trees *trees)
{
    text = host_slashes(arena, text);
    const char *path = host_top(text) > 0 ? text : host_join(arena, directory, text);
    const char *clean = path_cleaned(arena, path), *found = host_canonical(arena, path);
    if (found != NULL && (strcmp(found, clean) == 0 || strstr(text, "..") == NULL))
        return clean;
    git_unknown(arena, trees, path, "where a .git leads cannot be followed");
    return NULL;
}

/* Adds the Git directory and the common one that it names. */
static void gitdir_add(struct arena *arena, const char *top, const char *gitdir, struct git_trees *trees)
{
    struct git_tree tree = {.top = top, .gitdir = gitdir};
    const char *common = pointer_text(arena, host_join(arena, gitdir, "commondir"), trees);
    if (common != NULL && *common != '\0')
        tree.common = pointer_target(arena, gitdir, common, trees);
    VECTOR_PUSH(arena, trees, tree);
}

static void pointer_add(struct arena *arena, const char *top, const char *git, struct git_trees *trees)
{
    static const char title[] = "gitdir: ";
    const char *text = pointer_text(arena, git, trees), *gitdir = NULL;
    if (text != NULL && strncmp(text, title, strlen(title)) == 0 && text[strlen(title)] != '\0')
        gitdir = pointer_target(arena, top, text + strlen(title), trees);
    if (gitdir != NULL)
        gitdir_add(arena, top, gitdir, trees);
    else
        VECTOR_PUSH(arena, trees, (struct git_tree){.top = top});
}

void git_tree_add(struct arena *arena, const char *top, struct git_trees *trees)
{
    const char *git = host_join(arena, top, ".git"), *unknown = trees->unknown;
    struct look about = look_at(arena, git);
    if (about.kind == LOOK_UNKNOWN)
        git_unknown(arena, trees, git, about.problem);
    if (about.kind == LOOK_MISSING || about.kind == LOOK_UNKNOWN)
        return;
    bool foreign = about.owner != LOOK_SYSTEM && about.owner != look_user();
    /* Git follows a link here; what it leads to can change, so that whoever holds the denies judges it. */
    enum look_kind behind = look_behind(arena, git).kind;
    if (behind == LOOK_FILE)
        pointer_add(arena, top, git, trees);
    else if (behind == LOOK_OTHER)
        VECTOR_PUSH(arena, trees, (struct git_tree){.top = top});
    else
        gitdir_add(arena, top, git, trees);
    /* Another user must not be able to stop every launch below a directory that all share. */
    if (foreign)
        trees->unknown = unknown;
    trees->items[trees->count - 1].foreign = foreign;
}

void git_trees_find(struct arena *arena, const char *work, struct git_trees *trees)
{
    *trees = (struct git_trees){0};
    for (const char *top = work; top != NULL; top = host_parent(arena, top))
        git_tree_add(arena, top, trees);
}
