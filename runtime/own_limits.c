#include "runtime/own_limits.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const rlim_t stack_usual = 8 << 20, stack_least = 256 << 10;

const char *own_limits_take(struct own_limits *before)
{
    struct rlimit stack;

    before->mode_mask = umask(0);
    umask(before->mode_mask & (S_IRWXG | S_IRWXO));
    if (getrlimit(RLIMIT_STACK, &stack) != 0)
        return "the limit of the stack cannot be read";
    before->stack_soft = stack.rlim_cur;
    if (stack.rlim_max < stack_least)
        return "the caller's limit of the stack (ulimit -s) is below 256 KiB, which sbx-launch needs itself";
    if (stack.rlim_cur >= stack_usual)
        return NULL;
    stack.rlim_cur = stack.rlim_max < stack_usual ? stack.rlim_max : stack_usual;
    return setrlimit(RLIMIT_STACK, &stack) == 0 ? NULL : "the limit of the stack cannot be raised";
}

void own_limits_give_back(const struct own_limits *before)
{
    struct rlimit stack;

    umask(before->mode_mask);
    if (getrlimit(RLIMIT_STACK, &stack) != 0)
        return;
    stack.rlim_cur = before->stack_soft;
    setrlimit(RLIMIT_STACK, &stack);
}
