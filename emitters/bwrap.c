#include "emitters/bwrap.h"

#include "base/measure.h"

#include <string.h>

static void put(struct buffer *words, const char *word)
{
    buffer_bytes(words, word, strlen(word) + 1);
}

static void put_held(struct buffer *words, enum measure measure, const char *option)
{
    if (measure_holds(measure))
        put(words, option);
}

static void put_two(struct buffer *words, const char *option, const char *value)
{
    put(words, option);
    put(words, value);
}

static void put_three(struct buffer *words, const char *option, const char *first, const char *second)
{
    put_two(words, option, first);
    put(words, second);
}

static void put_number(struct buffer *words, const char *option, int number)
{
    put(words, option);
    buffer_format(words, "%d", number);
    buffer_byte(words, '\0');
}

/* The mode of the next operation alone. */
static void put_mode(struct buffer *words, uint32_t mode)
{
    put(words, "--perms");
    buffer_format(words, "%04o", mode);
    buffer_byte(words, '\0');
}

static void put_bind(struct buffer *words, const struct plan_operation *operation, const char *option,
                     const char *optional)
{
    put_three(words, operation->optional ? optional : option,
              operation->source != NULL ? operation->source : operation->path, operation->path);
}

static void put_operation(struct buffer *words, const struct plan_operation *operation, int mask_fd)
{
    switch (operation->kind) {
    case PLAN_BIND_READ:
        put_bind(words, operation, "--ro-bind", "--ro-bind-try");
        break;
    case PLAN_BIND_WRITE:
        put_bind(words, operation, "--bind", "--bind-try");
        break;
    case PLAN_BIND_DEVICE:
        put_bind(words, operation, "--dev-bind", "--dev-bind-try");
        break;
    case PLAN_MASK_FILE:
        put_mode(words, operation->mode);
        put_number(words, "--ro-bind-data", mask_fd);
        put(words, operation->path);
        break;
    case PLAN_MASK_DIRECTORY:
    case PLAN_SCRATCH:
        put_mode(words, operation->mode);
        put_two(words, "--tmpfs", operation->path);
        break;
    case PLAN_DIRECTORY:
        put_mode(words, operation->mode);
        put_two(words, "--dir", operation->path);
        break;
    case PLAN_LINK:
        put_three(words, "--symlink", operation->source, operation->path);
        break;
    case PLAN_DEV:
        put_two(words, "--dev", operation->path);
        break;
    case PLAN_PROC:
        put_two(words, "--proc", operation->path);
        break;
    case PLAN_SEAL:
        put_two(words, "--remount-ro", operation->path);
        break;
    }
}

static void put_isolation(struct buffer *words, const struct bwrap_request *request)
{
    /* The user namespace is asked for by name because bubblewrap makes none for uid 0 by itself. */
    put_held(words, MEASURE_OWN_USERS, "--unshare-user");
    put_held(words, MEASURE_OWN_PROCESSES, "--unshare-pid");
    put_held(words, MEASURE_OWN_IPC, "--unshare-ipc");
    put_held(words, MEASURE_OWN_NAMES, "--unshare-uts");
    put_held(words, MEASURE_OWN_CGROUP, "--unshare-cgroup");
    if (!request->share_network)
        put_held(words, MEASURE_OWN_NETWORK, "--unshare-net");
    put_two(words, measure_holds(MEASURE_CAPABILITIES) ? "--cap-drop" : "--cap-add", "ALL");
    /* Killed between cloning and handing over the user map, bubblewrap would leave its child waiting for
     * ever. A process 1 that watches its launcher itself needs no such signal. */
    if (!request->pid_one)
        put(words, "--die-with-parent");
    if (request->new_session)
        put_held(words, MEASURE_NEW_SESSION, "--new-session");
    if (request->pid_one)
        put_held(words, MEASURE_OWN_PROCESSES, "--as-pid-1");
    if (request->seccomp_fd >= 0)
        put_number(words, "--seccomp", request->seccomp_fd);
}

uint32_t bwrap_arguments(struct buffer *words, const struct bwrap_request *request)
{
    uint32_t masks = 0;
    put_isolation(words, request);
    put_held(words, MEASURE_ENVIRONMENT, "--clearenv");
    for (uint32_t i = 0; i < request->environment_count; i++)
        put_three(words, "--setenv", request->environment[i].name, request->environment[i].value);
    for (uint32_t i = 0; i < request->plan->count; i++) {
        const struct plan_operation *operation = &request->plan->items[i];
        put_operation(words, operation, request->first_mask_fd + (int)masks);
        if (operation->kind == PLAN_MASK_FILE)
            masks++;
    }
    if (request->chdir != NULL)
        put_two(words, "--chdir", request->chdir);
    return masks;
}

uint32_t bwrap_word_count(const struct buffer *words)
{
    uint32_t count = 0;
    for (size_t i = 0; i < words->length; i++)
        count += words->bytes[i] == '\0';
    return count;
}
