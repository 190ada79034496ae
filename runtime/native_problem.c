#include "runtime/native_problem.h"

#include "base/escape.h"

#include <errno.h>
#include <string.h>

bool native_fail(struct native_problem *problem, const char *doing, const char *path)
{
    const char *reason = strerror(errno);

    if (problem->text == NULL)
        problem->text = arena_format(problem->arena, "cannot %s%s%s: %s", doing, path == NULL ? "" : " ",
                                     path == NULL ? "" : escape_string(problem->arena, path), reason);
    return false;
}

bool native_replaced(struct native_problem *problem, const char *path)
{
    if (problem->text == NULL) {
        problem->text = arena_format(problem->arena, "%s was replaced while the sandbox was made",
                                     escape_string(problem->arena, path));
        problem->replaced = true;
    }
    return false;
}
