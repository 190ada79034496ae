#include "emitters/windows_size.h"

#include <inttypes.h>

static const char *count_problem(struct arena *arena, const char *what, uint64_t count, unsigned most)
{
    return count > most ? arena_format(arena, "it has %" PRIu64 " %s, and may have %u", count, what, most)
                        : NULL;
}

static const char *depth_problem(struct arena *arena, const char *path, uint32_t line)
{
    unsigned names = 1;
    for (const char *at = path; *at != '\0'; at++)
        names += *at == '\\';
    const char *problem = count_problem(arena, "names in one path", names, WINDOWS_NAMES_MOST);
    return problem != NULL && line != 0 ? arena_format(arena, "line %u: %s", (unsigned)line, problem)
                                        : problem;
}

static const char *match_problem(struct arena *arena, const struct windows_match *match, uint64_t *excepts)
{
    const char *problem = depth_problem(arena, match->pattern, match->line);
    *excepts += match->except_count;
    for (uint32_t i = 0; i < match->except_count && problem == NULL; i++)
        problem = depth_problem(arena, match->excepts[i], match->line);
    return problem;
}

const char *windows_size_problem(struct arena *arena, const struct windows_spec *spec)
{
    uint64_t excepts = 0;
    const char *problem = count_problem(arena, "objects", spec->object_count, WINDOWS_OBJECTS_MOST);
    if (problem == NULL)
        problem = count_problem(arena, "matches", spec->match_count, WINDOWS_MATCHES_MOST);
    if (problem == NULL)
        problem = count_problem(arena, "conditions", spec->require_count, WINDOWS_REQUIRES_MOST);
    for (uint32_t i = 0; i < spec->object_count && problem == NULL; i++)
        problem = depth_problem(arena, spec->objects[i].path, spec->objects[i].line);
    for (uint32_t i = 0; i < spec->match_count && problem == NULL; i++)
        problem = match_problem(arena, &spec->matches[i], &excepts);
    return problem != NULL ? problem
                           : count_problem(arena, "exceptions of matches", excepts, WINDOWS_EXCEPTS_MOST);
}
