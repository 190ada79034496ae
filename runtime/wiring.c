#include "runtime/wiring.h"

#include "base/measure.h"
#include "base/vector.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static bool config_make(struct arena *arena, const struct sandbox_request *request, struct wiring *wiring)
{
    struct buffer bytes = buffer_in(arena);
    struct inner_config *inner = request->inner;

    inner->status = wiring->status[1];
    inner->go = wiring->go[0];
    for (int i = 0; i < 3; i++)
        inner->streams[i] = request->streams[i];
    inner_config_write(&bytes, inner);
    wiring->config = memory_file("stage", bytes.bytes, bytes.length);
    return wiring->config >= 0;
}

bool wiring_make(struct arena *arena, const struct sandbox_request *request, struct wiring *wiring)
{
    *wiring = (struct wiring){.config = -1, .program = -1, .null = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wiring->status) != 0 ||
        pipe2(wiring->go, O_CLOEXEC) != 0 || pipe2(wiring->errors, O_CLOEXEC) != 0)
        return false;
    wiring->program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    wiring->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return wiring->program >= 0 && wiring->null >= 0 && config_make(arena, request, wiring);
}

const char *wiring_remedy(int error)
{
    return error == EFBIG ? "raise the limit of file sizes (ulimit -f); the launcher needs some kilobytes"
                          : NULL;
}

void wiring_keep_outer(const struct wiring *wiring, struct sandbox *sandbox)
{
    const int inside[] = {wiring->status[1], wiring->go[0],   wiring->errors[1],
                          wiring->config,    wiring->program, wiring->null};

    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        close(inside[i]);
    sandbox->status = wiring->status[0];
    sandbox->go = wiring->go[1];
    sandbox->errors = wiring->errors[0];
    sandbox->mounts = -1;
}

bool descriptor_inherit(int descriptor)
{
    return descriptor < 0 || fcntl(descriptor, F_SETFD, 0) == 0;
}

bool wiring_keep_inner(const struct wiring *wiring, const struct sandbox_request *request)
{
    bool ready = dup2(wiring->null, STDIN_FILENO) >= 0 && dup2(wiring->null, STDOUT_FILENO) >= 0 &&
                 dup2(wiring->errors[1], STDERR_FILENO) >= 0 && descriptor_inherit(wiring->status[1]) &&
                 descriptor_inherit(wiring->go[0]) && descriptor_inherit(wiring->config) &&
                 descriptor_inherit(wiring->program);

    for (int i = 0; i < 3; i++)
        ready = ready && descriptor_inherit(request->streams[i]);
    return ready;
}

static int descriptor_order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void wiring_close_outer(const struct wiring *wiring, const struct sandbox_request *request)
{
    int kept[] = {wiring->status[1],   wiring->go[0],       wiring->config,     wiring->program,
                  request->streams[0], request->streams[1], request->streams[2]};
    const size_t count = sizeof kept / sizeof kept[0];

    qsort(kept, count, sizeof kept[0], descriptor_order);
    if (measure_holds(MEASURE_DESCRIPTORS))
        descriptors_close(STDERR_FILENO + 1, kept, count);
}

char **wiring_environment(struct arena *arena, const struct sandbox_request *request)
{
    struct {
        char **items;
        uint32_t count, capacity;
    } environment = {0};

    for (uint32_t i = 0; i < request->environment_count; i++)
        VECTOR_PUSH(
            arena, &environment,
            arena_format(arena, "%s=%s", request->environment[i].name, request->environment[i].value));
    for (char **variable = environ; !measure_holds(MEASURE_ENVIRONMENT) && *variable != NULL; variable++)
        VECTOR_PUSH(arena, &environment, *variable);
    VECTOR_PUSH(arena, &environment, NULL);
    return environment.items;
}
