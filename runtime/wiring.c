#include "runtime/wiring.h"

#include "runtime/process.h"

#include <fcntl.h>
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
