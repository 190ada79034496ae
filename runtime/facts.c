#include "runtime/facts.h"

#include "base/measure.h"
#include "runtime/gather.h"

#include "base/vector.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries of /proc that a command of `uid` could write without any capability: as owner, whose mode bits
 * are no bar, or as anyone. These are there whatever their bits say today. */
static bool proc_is_writable(const char *name, const struct stat *status, uid_t uid)
{
    static const char *const always[] = {"sys", "sysrq-trigger", "pressure", "irq", "bus",
                                         "fs",  "acpi",          "scsi"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(name, always[i]) == 0)
            return true;
    return status->st_uid == uid || (status->st_mode & S_IWOTH) != 0;
}

static int name_order(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void proc_find(struct gather *gather)
{
    struct path_vector names = {0};
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    if (directory == NULL) {
        note_add(gather->notes, (struct note){.code = SBX467_NO_PROC, .text = "/proc cannot be listed"});
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        struct stat status;
        if (isdigit((unsigned char)entry->d_name[0]) || entry->d_name[0] == '.' ||
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISLNK(status.st_mode) || !proc_is_writable(entry->d_name, &status, gather->request->uid))
            continue;
        VECTOR_PUSH(gather->arena, &names, arena_strdup(gather->arena, entry->d_name));
    }
    closedir(directory);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, name_order);
    gather->facts->proc_read_only = names.items;
    gather->facts->proc_read_only_count = names.count;
}

bool facts_gather(struct arena *arena, struct bound_policy *bound, const struct facts_request *request,
                  struct facts *facts, struct note_list *notes)
{
    *facts = (struct facts){0};
    uint32_t errors = notes->errors;
    struct gather gather = {
        .arena = arena,
        .bound = bound,
        .request = request,
        .facts = facts,
        .notes = notes,
        .resolver = resolver_create(arena),
        .entries_left = GATHER_ENTRIES_MOST,
    };
    resolver_ask(gather.resolver, request->remote);
    gather_follow(&gather);
    gather_matches(&gather);
    gather_exceptions(&gather);
    gather_denials(&gather);
    gather_places(&gather);
    if (request->unix_sockets && measure_holds(MEASURE_SOCKET_MASKS))
        gather_sockets(&gather);
    proc_find(&gather);

    facts->seen = gather.resolver;
    facts->places = gather.places.items;
    facts->place_count = gather.places.count;
    facts->matches = gather.matches.items;
    facts->match_count = gather.matches.count;
    return notes->errors == errors;
}
