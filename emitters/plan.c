#include "emitters/plan.h"

#include "base/escape.h"
#include "base/measure.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_CLOSED = 0, MODE_PASSAGE = 0111, MODE_EMPTY = 0444, MODE_DIRECTORY = 0755, MODE_SCRATCH = 01777 };

/* What has to be seen at a path: a place, a link, or one of the sandbox's own mounts. */
enum want_kind { WANT_PLACE, WANT_LINK, WANT_SCRATCH, WANT_DEV, WANT_PROC };

struct want {
    enum want_kind kind;
    const char *path, *target;
    struct plan_place place;
};

/* The mount in which the walk stands. */
enum mount_kind {
    MOUNT_EMPTY, /* base, scratch, /dev: nothing is there but what the plan makes */
    MOUNT_MASK,  /* the same, closed */
    MOUNT_HOST,  /* the host's files at `level` */
    MOUNT_PROC
};

struct mount {
    enum mount_kind kind;
    const char *top;
    enum level level;   /* what the mount gives below its top */
    const char *before; /* the path for which directories were made or pinned last; NULL: none yet */
    uint32_t operation; /* of MOUNT_MASK: the index of its operation */
    bool seal;
};

struct builder {
    struct arena *arena;
    struct plan plan;
    struct {
        struct mount *items;
        uint32_t count, capacity;
    } mounts;
};

int plan_path_compare(const char *a, const char *b)
{
    for (; *a == *b && *a != '\0'; a++)
        b++;
    if (*a == '\0' || *b == '\0')
        return (*a != '\0') - (*b != '\0');
    if (*a == '/' || *b == '/')
        return (*b == '/') - (*a == '/');
    return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_wants(const void *a, const void *b)
{
    const struct want *first = a, *second = b;
    int order = plan_path_compare(first->path, second->path);
    /* The sandbox's own mounts come before a place of the same path, which is then left out. */
    return order != 0 ? order : (second->kind != WANT_PLACE) - (first->kind != WANT_PLACE);
}

/* Whether `path` is `top` or lies below it. */
static bool covers(const char *top, const char *path)
{
    size_t length = strlen(top);
    if (length == 1)
        return true; /* the root */
    return strncmp(top, path, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static struct mount *innermost(struct builder *builder)
{
    return &builder->mounts.items[builder->mounts.count - 1];
}

static void operate(struct builder *builder, struct plan_operation operation)
{
    VECTOR_PUSH(builder->arena, &builder->plan, operation);
}

static void enter(struct builder *builder, struct mount mount)
{
    VECTOR_PUSH(builder->arena, &builder->mounts, mount);
}

static void leave(struct builder *builder)
{
    const struct mount *mount = innermost(builder);
    if (mount->seal && measure_holds(MEASURE_SEALS))
        operate(builder, (struct plan_operation){.kind = PLAN_SEAL, .path = mount->top});
    builder->mounts.count--;
}

static void skip(struct builder *builder, const char *path, const char *reason)
{
    VECTOR_PUSH(builder->arena, &builder->plan.skipped, (struct plan_skipped){path, reason});
}

/* Whether the directory that is the first `length` bytes of `path` is also one above `before`. */
static bool shared_with(const char *before, const char *path, size_t length)
{
    return before != NULL && strncmp(before, path, length) == 0 && before[length] == '/';
}

/* Does `operation` for each directory strictly between the innermost mount's top and `path` for which it was
 * not yet done. Paths come in order, so that is known from the path before. */
static void for_directories_above(struct builder *builder, const char *path, struct plan_operation operation)
{
    struct mount *mount = innermost(builder);
    size_t top = strlen(mount->top);
    if (path[top] == '\0')
        return;
    for (size_t end = top == 1 ? 1 : top + 1; path[end] != '\0'; end++)
        if (path[end] == '/' && !shared_with(mount->before, path, end)) {
            operation.path = arena_copy(builder->arena, path, end);
            operate(builder, operation);
        }
    mount->before = path;
}

/* Makes the innermost mount ready for something of its own to be put at `path`. */
static void prepare(struct builder *builder, const char *path, bool optional)
{
    const struct mount *mount = innermost(builder);
    switch (mount->kind) {
    case MOUNT_MASK: {
        /* Something below is shown, so the mask is a directory that can be passed through. */
        struct plan_operation *mask = &builder->plan.items[mount->operation];
        mask->kind = PLAN_MASK_DIRECTORY;
        mask->mode = MODE_PASSAGE;
        innermost(builder)->seal = true;
        for_directories_above(builder, path,
                              (struct plan_operation){.kind = PLAN_DIRECTORY, .mode = MODE_PASSAGE});
        break;
    }
    case MOUNT_EMPTY:
        for_directories_above(builder, path,
                              (struct plan_operation){.kind = measure_holds(MEASURE_CLOSED_ROOT)
                                                                  ? PLAN_DIRECTORY
                                                                  : PLAN_BIND_READ,
                                                      .mode = MODE_DIRECTORY});
        break;
    case MOUNT_HOST:
        /* A directory above it that the command may rename would take the mount along and leave its path
         * free. A mount point cannot be renamed. */
        if (mount->level == LEVEL_WRITE && measure_holds(MEASURE_PINS))
            for_directories_above(builder, path,
                                  (struct plan_operation){.kind = PLAN_BIND_WRITE, .optional = optional});
        break;
    case MOUNT_PROC:
        break;
    }
}

static enum plan_kind bind_kind(const struct plan_place *place, enum level level)
{
    if (level == LEVEL_READ && measure_holds(MEASURE_READ_ONLY))
        return PLAN_BIND_READ;
    if (!measure_holds(MEASURE_NO_DEVICES))
        return PLAN_BIND_DEVICE;
    return covers("/dev", place->path) && place->kind != ENTRY_FILE && !place->socket ? PLAN_BIND_DEVICE
                                                                                      : PLAN_BIND_WRITE;
}

static void show(struct builder *builder, const struct plan_place *place, enum level level)
{
    bool optional = place->kind == ENTRY_UNKNOWN;
    prepare(builder, place->path, optional);
    operate(builder, (struct plan_operation){
                         .kind = bind_kind(place, level), .path = place->path, .optional = optional});
    enter(builder, (struct mount){.kind = MOUNT_HOST, .top = place->path, .level = level});
}

static void mask(struct builder *builder, const struct plan_place *place)
{
    bool directory = place->kind == ENTRY_DIRECTORY || (place->kind == ENTRY_UNKNOWN && place->directory);
    prepare(builder, place->path, place->kind == ENTRY_UNKNOWN);
    enum plan_kind kind = directory ? PLAN_MASK_DIRECTORY : PLAN_MASK_FILE;
    operate(builder, (struct plan_operation){.kind = kind,
                                             .path = place->path,
                                             .mode = place->level == LEVEL_NONE ? MODE_CLOSED : MODE_EMPTY});
    enter(builder, (struct mount){.kind = MOUNT_MASK,
                                  .top = place->path,
                                  .operation = builder->plan.count - 1,
                                  .seal = directory});
}

/* What the sandbox has of its own, whatever the policy grants; NULL elsewhere. */
static const char *own_instead(const struct plan_place *place)
{
    if (place->level == LEVEL_NONE && !place->socket)
        return NULL;
    if (strcmp(place->path, "/") == 0)
        return "the root starts empty; grant what is needed in it";
    if (covers("/proc", place->path))
        return "the sandbox has its own /proc; the host's would show every process";
    if (strcmp(place->path, "/dev") == 0)
        return "the sandbox has its own /dev; grant single devices below it";
    if (covers("/dev/pts", place->path) || strcmp(place->path, "/dev/ptmx") == 0 ||
        strcmp(place->path, "/dev/tty") == 0)
        return "the sandbox has its own terminals; the host's would reach other sessions";
    return NULL;
}

/* A device that is always there, from the host and usable. */
static bool always_there(const char *path)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(devices[i], path) == 0)
            return true;
    return false;
}

static void want_place(struct builder *builder, const struct plan_place *place)
{
    const struct mount *mount = innermost(builder);
    const char *reason = own_instead(place);
    bool socket = place->socket && place->kind != ENTRY_DIRECTORY;
    enum level wanted = socket ? LEVEL_WRITE : place->level;
    enum level given = mount->kind == MOUNT_PROC ? LEVEL_READ : mount->level;
    if (reason != NULL) {
        skip(builder, place->path, reason);
        return;
    }
    if (place->kind == ENTRY_MISSING || wanted == given || always_there(place->path))
        return;
    if (wanted != LEVEL_NONE && place->kind != ENTRY_EMPTY)
        show(builder, place, wanted);
    else if (measure_holds(MEASURE_MASKS))
        mask(builder, place);
}

static void want_proc(struct builder *builder, const struct plan_input *input)
{
    bool own = measure_holds(MEASURE_OWN_PROC) && measure_holds(MEASURE_OWN_PROCESSES);
    operate(builder, (struct plan_operation){.kind = own ? PLAN_PROC : PLAN_BIND_WRITE, .path = "/proc"});
    enter(builder, (struct mount){.kind = MOUNT_PROC, .top = "/proc"});
    for (uint32_t i = 0; i < input->proc_read_only_count && measure_holds(MEASURE_PROC_COVERS); i++)
        operate(builder, (struct plan_operation){
                             .kind = PLAN_BIND_READ,
                             .path = arena_format(builder->arena, "/proc/%s", input->proc_read_only[i]),
                             .optional = true,
                         });
}

static void carry_out(struct builder *builder, const struct want *want, const struct plan_input *input)
{
    while (!covers(innermost(builder)->top, want->path))
        leave(builder);
    switch (want->kind) {
    case WANT_PLACE:
        want_place(builder, &want->place);
        break;
    case WANT_LINK:
        if (innermost(builder)->kind == MOUNT_HOST || innermost(builder)->kind == MOUNT_PROC)
            break;
        prepare(builder, want->path, false);
        operate(builder,
                (struct plan_operation){.kind = PLAN_LINK, .path = want->path, .source = want->target});
        break;
    case WANT_SCRATCH:
        operate(builder,
                (struct plan_operation){.kind = PLAN_SCRATCH, .path = want->path, .mode = MODE_SCRATCH});
        enter(builder, (struct mount){.kind = MOUNT_EMPTY, .top = want->path});
        break;
    case WANT_DEV:
        operate(builder, (struct plan_operation){
                             .kind = measure_holds(MEASURE_OWN_DEVICES) ? PLAN_DEV : PLAN_BIND_DEVICE,
                             .path = want->path});
        enter(builder, (struct mount){.kind = MOUNT_EMPTY, .top = want->path, .seal = true});
        break;
    case WANT_PROC:
        want_proc(builder, input);
        break;
    }
}

/* Whether scratch takes the place of what the policy says at `path`: it hides the temporary directories
 * themselves. */
static bool hidden_by_scratch(const struct plan_input *input, const char *path)
{
    return input->scratch &&
           (strcmp(path, "/tmp") == 0 || (input->temporary != NULL && strcmp(path, input->temporary) == 0));
}

struct plan plan_make(struct arena *arena, const struct plan_input *input)
{
    struct builder builder = {.arena = arena};
    struct want *wants =
        arena_array(arena, (size_t)input->place_count + input->link_count + 5, sizeof *wants);
    uint32_t count = 0;

    wants[count++] = (struct want){.kind = WANT_DEV, .path = "/dev"};
    wants[count++] = (struct want){.kind = WANT_SCRATCH, .path = "/dev/shm"};
    wants[count++] = (struct want){.kind = WANT_PROC, .path = "/proc"};
    if (input->scratch)
        wants[count++] = (struct want){.kind = WANT_SCRATCH, .path = "/tmp"};
    if (input->scratch && input->temporary != NULL)
        wants[count++] = (struct want){
            .path = input->temporary,
            .place = {.path = input->temporary, .level = LEVEL_NONE, .kind = ENTRY_DIRECTORY},
        };
    for (uint32_t i = 0; i < input->place_count; i++)
        if (!hidden_by_scratch(input, input->places[i].path))
            wants[count++] = (struct want){.path = input->places[i].path, .place = input->places[i]};
    for (uint32_t i = 0; i < input->link_count; i++)
        wants[count++] =
            (struct want){.kind = WANT_LINK, .path = input->links[i].path, .target = input->links[i].target};
    qsort(wants, count, sizeof *wants, compare_wants);

    enter(&builder, (struct mount){.kind = MOUNT_EMPTY, .top = "/", .seal = true});
    for (uint32_t i = 0; i < count; i++)
        carry_out(&builder, &wants[i], input);
    while (builder.mounts.count > 0)
        leave(&builder);
    return builder.plan;
}

void plan_print(struct buffer *buffer, const struct plan *plan)
{
    static const char *const words[] = {
        [PLAN_BIND_READ] = "show read-only",
        [PLAN_BIND_WRITE] = "show writable",
        [PLAN_MASK_DIRECTORY] = "hide directory",
        [PLAN_MASK_FILE] = "hide file",
        [PLAN_SCRATCH] = "scratch",
        [PLAN_DIRECTORY] = "directory",
        [PLAN_LINK] = "link",
        [PLAN_DEV] = "own devices",
        [PLAN_PROC] = "own processes",
        [PLAN_SEAL] = "seal",
        [PLAN_BIND_DEVICE] = "show device",
    };
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_operation *operation = &plan->items[i];
        buffer_format(buffer, "%-15s %s", words[operation->kind],
                      escape_string(buffer->arena, operation->path));
        if (operation->source != NULL)
            buffer_format(buffer, " -> %s", escape_string(buffer->arena, operation->source));
        if (operation->optional)
            buffer_string(buffer, " (if it exists)");
        buffer_byte(buffer, '\n');
    }
    for (uint32_t i = 0; i < plan->skipped.count; i++)
        buffer_format(buffer, "%-15s %s (%s)\n", "not shown",
                      escape_string(buffer->arena, plan->skipped.items[i].path),
                      plan->skipped.items[i].reason);
}
