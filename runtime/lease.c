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

static void time_text(char *text, size_t size)
{
    struct timespec now;
    struct tm parts;
    char whole[24];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, size, "%s.%03dZ", whole, (int)(now.tv_nsec / 1000000) % 1000);
}

void lease_begin(struct lease *lease)
{
    unsigned char bytes[16] = {0};

    if (getentropy(bytes, sizeof bytes) != 0)
        memcpy(bytes, &(struct timespec){.tv_sec = time(NULL), .tv_nsec = getpid()}, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(lease->id + 2 * i, 3, "%02x", bytes[i]);
    time_text(lease->started, sizeof lease->started);
    lease->ended[0] = '\0';
}

void lease_end(struct lease *lease, int status, pid_t unterminated)
{
    lease->status = status;
    lease->unterminated = unterminated;
    time_text(lease->ended, sizeof lease->ended);
}

void lease_event(struct arena *arena, struct lease *lease, const char *kind, const char *argument)
{
    struct lease_event event = {.kind = kind, .argument = argument};

    if (lease->events.count > EVENTS_KEPT)
        return;
    if (lease->events.count == EVENTS_KEPT) {
        event.kind = "events.full";
        event.argument = "later events are left out";
    }
    time_text(event.at, sizeof event.at);
    VECTOR_PUSH(arena, &lease->events, event);
}

static void add_string(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, ",\"%s\":", name);
    escape_json(out, value, strlen(value));
}

/* Of a text that was escaped already: it holds no control character, and its backslashes are not doubled again. */
static void add_escaped(struct buffer *out, const char *name, const char *text)
{
    buffer_format(out, ",\"%s\":\"", name);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, *at);
    }
    buffer_byte(out, '"');
}

static void add_hash(struct buffer *out, const char *name, const uint8_t hash[32])
{
    buffer_format(out, ",\"%s\":\"sha256:", name);
    for (int i = 0; i < 32; i++)
        buffer_format(out, "%02x", hash[i]);
    buffer_byte(out, '"');
}

static void add_origin(struct buffer *out, const struct policy *policy, const struct rule *rule)
{
    if (rule == NULL || rule->origin.source >= policy->source_count) {
        buffer_string(out, ",\"file\":null,\"line\":null");
        return;
    }
    add_string(out, "file", policy->sources[rule->origin.source].name);
    buffer_format(out, ",\"line\":%u", rule->origin.line);
}

static void add_controls(struct buffer *out, const struct lease *lease)
{
    buffer_string(out, ",\"enforcedControls\":[");
    for (uint32_t i = 0; i < lease->controls.count; i++) {
        const struct lease_control *control = &lease->controls.items[i];
        buffer_format(out, "%s{\"control\":\"%s\",\"how\":\"%s\"", i == 0 ? "" : ",",
                      control_names[control->control], strength_names[control->how]);
        add_string(out, "evidence", control->evidence);
        buffer_byte(out, '}');
    }
    buffer_string(out, "],\"acceptedExceptions\":[");
    const char *comma = "";
    for (int i = 0; i < CONTROLS && lease->accepted != NULL; i++) {
        if (lease->accepted[i] == NULL)
            continue;
        buffer_format(out, "%s{\"control\":\"%s\"", comma, control_names[i]);
        add_string(out, "target", lease->accepted[i]->target);
        add_string(out, "because", lease->accepted[i]->value);
        add_origin(out, lease->policy, lease->accepted[i]);
        buffer_byte(out, '}');
        comma = ",";
    }
    buffer_byte(out, ']');
}

static void add_layers(struct buffer *out, const struct policy *policy)
{
    buffer_string(out, ",\"layers\":[");
    for (uint32_t i = 0; i < policy->layer_count; i++) {
        buffer_string(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        escape_json(out, policy->layers[i].name, strlen(policy->layers[i].name));
        buffer_format(out, ",\"kind\":\"%s\"",
                      policy->layers[i].kind == LAYER_MANAGED ? "managed" : "policy");
        add_hash(out, "hash", policy->layers[i].hash);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_notes(struct buffer *out, const struct lease *lease)
{
    buffer_string(out, ",\"notes\":[");
    for (uint32_t i = 0; i < lease->notes->count; i++) {
        const struct note *note = &lease->notes->items[i];
        buffer_format(out, "%s{\"code\":\"SBX%03u\"", i == 0 ? "" : ",", (unsigned)note->code);
        add_escaped(out, "text", note->text);
        add_origin(out, lease->policy, note->rule);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_events(struct buffer *out, const struct lease_event_list *events)
{
    buffer_string(out, ",\"events\":[");
    for (uint32_t i = 0; i < events->count; i++) {
        buffer_format(out, "%s{\"at\":\"%s\"", i == 0 ? "" : ",", events->items[i].at);
        add_string(out, "kind", events->items[i].kind);
        add_string(out, "arg", events->items[i].argument);
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
}

static void add_end(struct buffer *out, const struct lease *lease)
{
    buffer_format(out, ",\"pid\":%ld,\"startedAt\":\"%s\",\"expiresAt\":null", (long)getpid(),
                  lease->started);
    if (lease->ended[0] == '\0') {
        buffer_string(out, ",\"endedAt\":null,\"exit\":null");
    } else if (WIFSIGNALED(lease->status)) {
        buffer_format(out, ",\"endedAt\":\"%s\",\"exit\":{\"signal\":%d}", lease->ended,
                      WTERMSIG(lease->status));
    } else {
        buffer_format(out, ",\"endedAt\":\"%s\",\"exit\":{\"code\":%d}", lease->ended,
                      WEXITSTATUS(lease->status));
    }
    if (lease->unterminated == 0)
        buffer_string(out, ",\"unterminated\":[]");
    else
        buffer_format(out, ",\"unterminated\":[%ld]", (long)lease->unterminated);
    add_events(out, &lease->events);
    buffer_string(out, "}\n");
}

static struct buffer lease_text(struct arena *arena, const struct lease *lease)
{
    struct buffer out = buffer_in(arena);
    struct utsname system = {0};

    uname(&system);
    buffer_format(&out, "{\"leaseId\":\"%s\"", lease->id);
    add_string(&out, "policy", lease->policy->name);
    add_hash(&out, "requestedPolicyHash", lease->policy->requested_hash);
    add_hash(&out, "effectivePolicyHash", lease->policy->effective_hash);
    add_string(&out, "backend", lease->backend);
    add_string(&out, "backendVersion", lease->backend_version);
    add_string(&out, "kernel", system.release);
    add_controls(&out, lease);
    add_layers(&out, lease->policy);
    add_notes(&out, lease);
    add_end(&out, lease);
    return out;
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
