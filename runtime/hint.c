#include "runtime/hint.h"

#include "base/buffer.h"
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
