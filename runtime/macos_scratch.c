#include "runtime/macos_scratch.h"

#include "runtime/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "scratch-";

const char *scratch_place(struct arena *arena, const char *temporary, const char *id)
{
    return arena_format(arena, "%s/sbx-%s", temporary, id);
}

/* Whether nobody else holds the record that `descriptor` is open on; it is held from then on. */
static bool lock_take(int descriptor)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_SETLK, &whole) == 0;
}

/* The place that a record names, if it can be that of its own number. */
static const char *record_place(struct arena *arena, int record, const char *id)
{
    char place[PATH_MAX];
    ssize_t length = read(record, place, sizeof place - 1);

    if (length <= 0 || place[0] != '/' || memchr(place, '\0', (size_t)length) != NULL)
        return NULL;
    place[length] = '\0';
    const char *name = strrchr(place, '/') + 1;
    return strcmp(name, arena_format(arena, "sbx-%s", id)) == 0 ? arena_strdup(arena, place) : NULL;
}

static void leftover_remove(struct arena *arena, const char *path, const char *id)
{
    int record = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    if (record < 0)
        return;
    if (lock_take(record)) {
        struct landlock_scratch left = {.path = record_place(arena, record, id)};
        if (left.path != NULL && landlock_scratch_find(&left))
            landlock_scratch_remove(&left);
        unlink(path);
    }
    close(record);
}

void scratch_recover(struct arena *arena, const char *state)
{
    DIR *stream = opendir(state);
    const struct dirent *entry;

    while (stream != NULL && (entry = readdir(stream)) != NULL)
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
            leftover_remove(arena, arena_format(arena, "%s/%s", state, entry->d_name),
                            arena_strdup(arena, entry->d_name + sizeof prefix - 1));
    if (stream != NULL)
        closedir(stream);
}

/* Under its name it is seen only once it is locked. */
static bool record_make(struct arena *arena, struct macos_scratch *scratch, const char *state, const char *id)
{
    const char *fresh = arena_format(arena, "%s/.%s%s", state, prefix, id), *place = scratch->files.path;
    const char *record = arena_format(arena, "%s/%s%s", state, prefix, id);

    scratch->lock = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (scratch->lock < 0)
        return false;
    if (lock_take(scratch->lock) && write(scratch->lock, place, strlen(place)) == (ssize_t)strlen(place) &&
        rename(fresh, record) == 0) {
        scratch->record = record;
        return true;
    }
    unlink(fresh);
    close(scratch->lock);
    scratch->lock = -1;
    return false;
}

bool scratch_make(struct arena *arena, struct macos_scratch *scratch, const char *state, const char *id)
{
    struct stat status;

    int directory = state_open(arena, state);
    if (directory >= 0) {
        close(directory);
        record_make(arena, scratch, state, id);
    }
    return landlock_scratch_make(&scratch->files, &status);
}

void scratch_remove(struct macos_scratch *scratch)
{
    landlock_scratch_remove(&scratch->files);
    if (scratch->record == NULL)
        return;
    unlink(scratch->record);
    close(scratch->lock);
    scratch->record = NULL;
}
