#include "runtime/lease.h"

#include "base/escape.h"
#include "base/vector.h"
#include "runtime/report.h"
#include "runtime/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS_KEPT = 500 };

void lease_now(char text[LEASE_TIME])
{
    struct timespec now;
    struct tm parts;
    char whole[24];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, LEASE_TIME, "%s.%03dZ", whole, (int)(now.tv_nsec / 1000000) % 1000);
}

void lease_begin(struct lease *lease)
{
    unsigned char bytes[16] = {0};
    struct utsname system = {0};

    if (getentropy(bytes, sizeof bytes) != 0)
        memcpy(bytes, &(struct timespec){.tv_sec = time(NULL), .tv_nsec = getpid()}, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(lease->id + 2 * i, 3, "%02x", bytes[i]);
    lease_now(lease->started);
    lease->ended[0] = '\0';
    uname(&system);
    snprintf(lease->kernel, sizeof lease->kernel, "%s", system.release);
}

void lease_end(struct lease *lease, int status, pid_t unterminated)
{
    lease->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    lease->exit_code = WIFSIGNALED(status) ? 0 : (uint32_t)WEXITSTATUS(status);
    lease->unterminated = unterminated;
    lease_now(lease->ended);
}

bool lease_place_file(struct arena *arena, const char *file, struct lease_place *place,
                      struct note_list *notes)
{
    const char *slash = strrchr(file, '/');
    const char *directory = slash == NULL   ? "."
                            : slash == file ? "/"
                                            : arena_copy(arena, file, (size_t)(slash - file));
    char canonical[PATH_MAX];
    struct stat status;

    *place = (struct lease_place){.directory = -1, .descriptor = -1};
    place->name = slash == NULL ? file : slash + 1;
    if (*place->name != '\0' && strcmp(place->name, ".") != 0 && strcmp(place->name, "..") != 0 &&
        realpath(directory, canonical) != NULL)
        place->directory = open(canonical, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (place->directory < 0) {
        note_add(notes, (struct note){
                            .code = SBX411_LEASE_UNWRITABLE,
                            .text = arena_format(arena, "the lease %s cannot be written: no such directory",
                                                 escape_string(arena, file)),
                            .help = "make the directory, or name a file elsewhere"});
        return false;
    }
    place->path = arena_format(arena, "%s/%s", strcmp(canonical, "/") == 0 ? "" : canonical, place->name);
    /* The record is renamed over it: of a device, a pipe or a directory nothing would be left. */
    if (fstatat(place->directory, place->name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
        return true;
    note_add(notes, (struct note){.code = SBX411_LEASE_UNWRITABLE,
                                  .text = arena_format(arena, "the lease %s would replace what is no file",
                                                       escape_string(arena, file)),
                                  .help = "open it and give its descriptor: --lease fd:N"});
    return false;
}

bool lease_place_state(struct arena *arena, const char *state, const struct lease *lease,
                       struct lease_place *place)
{
    *place = (struct lease_place){.directory = state_open(arena, state), .descriptor = -1, .keep_few = true};
    if (place->directory < 0 || faccessat(place->directory, ".", W_OK, AT_EACCESS) != 0)
        return false;
    place->name = arena_format(arena, "%s-%s.json", lease->started, lease->id);
    place->path = arena_format(arena, "%s/%s", state, place->name);
    return true;
}

static bool is_record(const char *name)
{
    size_t length = strlen(name);

    return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static int name_order(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names begin with the time, so the oldest come first. */
static void remove_old(struct arena *arena, const struct lease_place *place)
{
    struct {
        const char **items;
        uint32_t count, capacity;
    } records = {0};
    int listed = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = listed < 0 ? NULL : fdopendir(listed);
    const struct dirent *entry;

    if (stream == NULL) {
        if (listed >= 0)
            close(listed);
        return;
    }
    while ((entry = readdir(stream)) != NULL)
        if (is_record(entry->d_name))
            VECTOR_PUSH(arena, &records, arena_strdup(arena, entry->d_name));
    closedir(stream);
    if (records.count <= RECORDS_KEPT)
        return;
    qsort(records.items, records.count, sizeof *records.items, name_order);
    for (uint32_t i = 0; i < records.count - RECORDS_KEPT; i++)
        unlinkat(place->directory, records.items[i], 0);
}

static bool write_file(struct arena *arena, const struct lease *lease, const struct lease_place *place,
                       const struct buffer *text)
{
    const char *temporary = arena_format(arena, ".%s.new", lease->id);
    int descriptor =
        openat(place->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = descriptor >= 0 && write_all(descriptor, text->bytes, text->length);

    if (descriptor >= 0)
        written = close(descriptor) == 0 && written;
    if (written && renameat(place->directory, temporary, place->directory, place->name) == 0)
        return true;
    int error = errno;
    if (descriptor >= 0)
        unlinkat(place->directory, temporary, 0);
    errno = error;
    return false;
}

static bool write_descriptor(int descriptor, const struct buffer *text)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode) && (ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0))
        return false;
    return write_all(descriptor, text->bytes, text->length);
}

bool lease_write(struct arena *arena, const struct lease *lease, const struct lease_place *place,
                 struct note_list *notes)
{
    struct buffer text = lease_text(arena, lease);
    bool written = true;

    if (place->descriptor >= 0)
        written = write_descriptor(place->descriptor, &text);
    else if (place->directory >= 0)
        written = write_file(arena, lease, place, &text);
    if (!written)
        note_add(
            notes,
            (struct note){.code = SBX411_LEASE_UNWRITABLE,
                          .text = arena_format(
                              arena, "the lease%s%s cannot be written: %s", place->path == NULL ? "" : " ",
                              place->path == NULL ? "" : escape_string(arena, place->path), strerror(errno)),
                          .help = "name another place with --lease"});
    if (written && place->keep_few && lease->ended[0] != '\0')
        remove_old(arena, place);
    return written;
}
