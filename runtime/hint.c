#include "runtime/hint.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "policy/host.h"
#include "runtime/link.h"

#include <string.h>
#include <unistd.h>

static bool is_hidden(const struct bound_policy *bound, const char *path, const char *temporary)
{
    bool below = path_covers("/tmp", path) || (temporary != NULL && path_covers(temporary, path));
    return below && bound_level(bound, path, strlen(path)) == LEVEL_NONE && access(path, F_OK) == 0;
}

void hint_hidden(struct arena *arena, const struct bound_policy *bound, char *const *command,
                 const char *temporary, struct note_list *notes)
{
    struct buffer paths = buffer_in(arena);
    for (char *const *argument = command; argument != NULL && *argument != NULL; argument++) {
        const char *path = **argument == '/' ? host_canonical(arena, *argument) : NULL;
        if (path == NULL || strcmp(path, "/tmp") == 0 || !is_hidden(bound, path, temporary))
            continue;
        const struct policy_path shown = {.root = ROOT_SLASH, .rest = path};
        buffer_format(&paths, "%s%s", paths.length > 0 ? ", " : "", path_text(arena, &shown));
    }
    if (paths.length > 0)
        note_add(notes, (struct note){.code = SBX430_HIDDEN_BY_SCRATCH,
                                      .text = arena_format(notes->arena,
                                                           "scratch hides %s from the command; to show it: "
                                                           "grant read %s",
                                                           paths.bytes, paths.bytes)});
}

/* A grant that holds for this command alone. Of those the first names the place that the tool itself keeps. */
static bool is_of_command(const struct bound_rule *at)
{
    return at->rule->kind == RULE_GRANT && at->rule->level == LEVEL_WRITE && at->rule->commands != NULL &&
           at->at.path != NULL;
}

void hint_cache(struct arena *arena, const struct bound_policy *bound, struct note_list *notes)
{
    const char *command = bound->bindings.command, *missing = NULL;
    for (uint32_t i = 0; command != NULL && i < bound->rules.count; i++) {
        const struct bound_rule *at = &bound->rules.items[i];
        if (!is_of_command(at))
            continue;
        bool named = at->rule->path.root != ROOT_ENV && strstr(at->rule->path.rest, command) != NULL;
        if (missing == NULL && !(named && at->dropped && access(at->at.path, F_OK) != 0))
            return;
        if (!at->dropped && (named || at->rule->path.root == ROOT_ENV))
            return;
        if (missing == NULL)
            missing = at->at.path;
    }
    if (missing == NULL || bound_level(bound, missing, strlen(missing)) == LEVEL_WRITE)
        return;
    const char *shown = escape_string(arena, missing);
    note_add(notes, (struct note){.code = SBX433_CACHE_MISSING,
                                  .text = arena_format(notes->arena,
                                                       "%s cannot write its cache, since %s does not exist; "
                                                       "to make it, outside: mkdir -p %s",
                                                       command, shown, shown)});
}
