#include "emitters/windows_spec.h"
#include "policy/host.h"
#include "policy/host_path.h"
#include "runtime/windows/open.h"
#include "runtime/windows/program.h"

#include <string.h>

/* What policy/host.h says of commands, for Windows. */

/* `path` in the spelling of `grant` as far as that goes: levels are decided by bytes, an access control
 * list knows no case. */
static const char *spelled_as(struct arena *arena, const char *grant, const char *path)
{
    const char *rest = path;
    for (const char *at = grant; *at != '\0'; at += strcspn(at, "/")) {
        at += *at == '/';
        rest += *rest == '/';
        rest += strcspn(rest, "/");
    }
    return arena_join(arena, grant, rest);
}

/* Whether the command can write neither the file `path` nor the directory that holds it. */
static bool is_out_of_reach(struct arena *arena, const struct bound_policy *bound, const char *path)
{
    const char *native = windows_path_from_model(arena, path);
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->rule->kind != RULE_GRANT || rule->dropped || rule->at.path == NULL ||
            !windows_path_covers(windows_path_from_model(arena, rule->at.path), native))
            continue;
        const char *spelled = spelled_as(arena, rule->at.path, path), *holder = host_parent(arena, spelled);
        if (bound_level(bound, spelled, strlen(spelled)) == LEVEL_WRITE ||
            bound_level(bound, holder, strlen(holder)) == LEVEL_WRITE)
            return false;
    }
    return true;
}

/* A file that is found through a link is not trusted, whoever placed the link. */
bool host_command_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                          const char *path)
{
    if (command == NULL || command[0] == '\0' || strpbrk(command, "\\/:") != NULL || path == NULL)
        return false;
    const char *native = program_find(arena, command, "C:\\", path);
    const char *file = native == NULL ? NULL : open_absolute(arena, native);
    const char *place = file == NULL ? NULL : host_resolve(arena, file);
    return place != NULL &&
           windows_path_equal(windows_path_from_model(arena, place), windows_path_from_model(arena, file)) &&
           is_out_of_reach(arena, bound, place);
}
