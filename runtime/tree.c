#include "runtime/tree.h"

#include "base/buffer.h"
#include "runtime/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTING_BYTES = 1 << 16, PATH_LONGEST = PATH_MAX - NAME_MAX - 2 };

struct listing {
    struct tree_walk *walk;
    struct buffer *pending; /* paths of directories still to be listed, each with its NUL */
    char path[PATH_MAX];    /* of the entry in hand */
    size_t directory_length;
    char *entries;
};

static unsigned char entry_type(int directory, const struct dirent64 *entry)
{
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    struct stat status;
    if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(status.st_mode);
}

static bool is_dot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* False when the walk ends: `remaining` tells why. */
static bool entry_visit(struct listing *listing, int directory, const struct dirent64 *entry)
{
    unsigned char type = entry_type(directory, entry);
    if (is_dot(entry->d_name) || type == DT_UNKNOWN)
        return true;
    if (listing->walk->remaining == 0)
        return false;
    listing->walk->remaining--;

    size_t name = strlen(entry->d_name), length = listing->directory_length + 1 + name;
    listing->path[listing->directory_length] = '/';
    memcpy(listing->path + listing->directory_length + 1, entry->d_name, name + 1);
    switch (listing->walk->visit(listing->walk->context, listing->path, length, type)) {
    case TREE_DESCEND:
        if (type == DT_DIR)
            buffer_bytes(listing->pending, listing->path, length + 1);
        return true;
    case TREE_SKIP:
        return true;
    case TREE_STOP:
        break;
    }
    return false;
}

static bool directory_list(struct listing *listing, int directory)
{
    ssize_t got;
    while ((got = getdents64(directory, listing->entries, LISTING_BYTES)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(listing->entries + at);
            if (!entry_visit(listing, directory, entry))
                return false;
            at += entry->d_reclen;
        }
    if (got < 0 && errno != ENOENT) {
        listing->path[listing->directory_length] = '\0';
        listing->walk->closed(listing->walk->context, listing->path, errno);
    }
    return true;
}

/* Takes the last pending path. */
static void pending_pop(struct listing *listing)
{
    struct buffer *pending = listing->pending;
    size_t start = pending->length - 1;
    while (start > 0 && pending->bytes[start - 1] != '\0')
        start--;
    size_t length = pending->length - 1 - start;
    memcpy(listing->path, pending->bytes + start, length + 1);
    listing->directory_length = strcmp(listing->path, "/") == 0 ? 0 : length;
    pending->length = start;
}

bool tree_visit(struct arena *arena, struct tree_walk *walk, const char *start)
{
    struct buffer pending = buffer_in(arena);
    struct listing *listing = arena_alloc(arena, sizeof *listing);
    listing->walk = walk;
    listing->pending = &pending;
    listing->entries = arena_alloc(arena, LISTING_BYTES);

    bool more = strlen(start) < PATH_MAX;
    if (more)
        buffer_bytes(&pending, start, strlen(start) + 1);
    else
        walk->closed(walk->context, start, ENAMETOOLONG);
    while (more && pending.length > 0) {
        pending_pop(listing);
        if (listing->directory_length > PATH_LONGEST) {
            walk->closed(walk->context, listing->path, ENAMETOOLONG);
            continue;
        }
        int directory = directory_open(listing->path, O_RDONLY);
        if (directory >= 0) {
            more = directory_list(listing, directory);
            close(directory);
        } else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
            walk->closed(walk->context, listing->path, errno);
        }
    }
    return walk->remaining > 0;
}
