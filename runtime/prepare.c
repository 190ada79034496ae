#include "runtime/prepare.h"

#include "base/escape.h"
#include "base/measure.h"
#include "policy/file.h"
#include "policy/host.h"
#include "runtime/own_files.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLICY_BYTES = 256 << 20, COMPILE_SECONDS = 60 };

static bool refuse(struct note_list *notes, enum code code, const char *text, const char *help)
{
    note_add(notes, (struct note){.code = code, .text = text, .help = help});
    return false;
}

static const char *canonical(struct arena *arena, const char *path)
{
    char resolved[PATH_MAX];

    return realpath(path, resolved) == NULL ? NULL : arena_strdup(arena, resolved);
}

static const char *canonical_directory(struct arena *arena, const char *path)
{
    const char *found = canonical(arena, path);
    struct stat status;

    return found != NULL && stat(found, &status) == 0 && S_ISDIR(status.st_mode) ? found : NULL;
}

static const char *directory_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

bool prepare_directory(struct arena *arena, const struct options *options, struct prepared *prepared,
                       struct note_list *notes)
{
    const char *work = ".", *start = NULL;

    for (uint32_t i = 0; i < options->roots.count; i++)
        if (strcmp(options->roots.items[i].name, "WORK") == 0)
            work = options->roots.items[i].value;
    prepared->work = canonical_directory(arena, work);
    if (prepared->work == NULL)
        return refuse(
            notes, SBX409_DIRECTORY_MISSING,
            arena_format(arena, "the working directory %s is no directory", escape_string(arena, work)),
            "start in a directory that exists, or name one with --root WORK=PATH");
    prepared->directory = prepared->work;
    if (options->chdir == NULL)
        return true;
    start = options->chdir[0] == '/' ? options->chdir
                                     : arena_format(arena, "%s/%s", prepared->work, options->chdir);
    prepared->directory = canonical_directory(arena, start);
    if (prepared->directory == NULL)
        return refuse(notes, SBX409_DIRECTORY_MISSING,
                      arena_format(arena, "--chdir %s is no directory", escape_string(arena, start)), NULL);
    return true;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);

    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

/* The program `name` in the directory of this one, or NULL. */
static const char *sibling(struct arena *arena, const char *name)
{
    const char *self = own_program(arena);

    return self == NULL || self[0] != '/' ? NULL
                                          : arena_format(arena, "%s/%s", directory_of(arena, self), name);
}

/* The compiler's output for a .sbx file; its errors go straight to the caller. */
static char *compile(struct arena *arena, const char *path, size_t *length, struct note_list *notes)
{
    const char *compiler = sibling(arena, "sbxc"), *error = NULL;
    struct buffer output = buffer_in(arena);
    char *const argv[] = {(char *)"sbxc", (char *)"compile", (char *)path, (char *)"-t",
                          (char *)"bin",  (char *)"-o",      (char *)"-",  NULL};
    struct helper helper = {.argv = argv,
                            .directory = directory_of(arena, path),
                            .keep_errors = true,
                            .seconds = COMPILE_SECONDS,
                            .limit = POLICY_BYTES};

    helper.path = compiler;
    helper.program = compiler == NULL ? -1 : open(compiler, O_RDONLY | O_CLOEXEC);
    if (helper.program < 0) {
        refuse(notes, SBX403_COMPILER, "the compiler sbxc is not beside sbx-launch",
               "compile the policy first: sbxc POLICY.sbx -o policy.bin");
        return NULL;
    }
    int code = helper_run(&helper, &output, &error);
    close(helper.program);
    if (code != 0) {
        refuse(notes, SBX403_COMPILER,
               arena_format(arena, "%s was not compiled%s%s", escape_string(arena, path),
                            error == NULL ? "" : ": sbxc: ", error == NULL ? "" : error),
               NULL);
        return NULL;
    }
    *length = output.length;
    return output.bytes;
}

static struct policy *policy_load(struct arena *arena, const char *path, struct note_list *notes)
{
    size_t length = 0;
    const char *error = NULL;
    bool source = has_suffix(path, ".sbx");
    char *bytes =
        source ? compile(arena, path, &length, notes) : file_read(arena, path, POLICY_BYTES, &length, &error);
    struct policy *policy = NULL;

    if (bytes == NULL && source)
        return NULL;
    if (bytes == NULL) {
        refuse(notes, SBX401_POLICY_UNREADABLE, escape_string(arena, error), NULL);
        return NULL;
    }
    policy = policy_read(arena, bytes, length, &error);
    if (policy == NULL)
        refuse(notes, SBX402_POLICY_DAMAGED,
               arena_format(arena, "%s: %s", escape_string(arena, path), escape_string(arena, error)),
               "compile it again: sbxc POLICY.sbx -o policy.bin");
    if (policy != NULL && policy->layers[0].kind != LAYER_POLICY) {
        refuse(
            notes, SBX402_POLICY_DAMAGED,
            arena_format(arena, "%s is a managed policy, which grants nothing", escape_string(arena, path)),
            "put it into a directory given by --managed");
        return NULL;
    }
    return policy;
}

bool prepare_policy(struct arena *arena, const struct options *options, struct prepared *prepared,
                    struct note_list *notes)
{
    const struct policy *own;
    bool good = true;

    prepared->policy_path = canonical(arena, options->policy);
    if (prepared->policy_path == NULL)
        return refuse(notes, SBX401_POLICY_UNREADABLE,
                      arena_format(arena, "%s: %s", escape_string(arena, options->policy), strerror(errno)),
                      NULL);
    own = policy_load(arena, prepared->policy_path, notes);
    good = managed_system(arena, &prepared->managed, notes) && own != NULL;
    for (uint32_t i = 0; i < options->managed.count && good; i++)
        good = managed_directory(arena, options->managed.items[i], geteuid(), &prepared->managed, notes);
    if (!good)
        return false;
    uint32_t count = measure_holds(MEASURE_MANAGED) ? prepared->managed.count : 0;
    const struct policy **layers = arena_array(arena, (size_t)count + 1, sizeof *layers);
    for (uint32_t i = 0; i < count; i++)
        layers[i] = prepared->managed.items[i].policy;
    prepared->own = own;
    prepared->policy = policy_merge(arena, own, layers, count);
    return true;
}

static const char *variable_value(const struct variable_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return list->items[i].value;
    return NULL;
}

/* Where records go by default: below the XDG state directory, or nowhere if $HOME is not the caller's own. */
static const char *state_directory(struct arena *arena, const struct prepared *prepared)
{
    const char *given = variable_value(&prepared->environment, "XDG_STATE_HOME");
    const struct root_value *home = &prepared->bindings.roots[ROOT_HOME];

    if (given != NULL && given[0] == '/') {
        const char *found = canonical_directory(arena, given);
        return found == NULL ? NULL : arena_format(arena, "%s/sbx", found);
    }
    if (home->state != ROOT_BOUND || home->refused != NULL)
        return NULL;
    return arena_format(arena, "%s/.local/state/sbx", home->paths[0]);
}

static struct bound_policy *bind(struct arena *arena, struct prepared *prepared, const char *command,
                                 struct note_list *notes)
{
    prepared->bindings.command = command;
    struct bound_policy *bound = policy_bind(arena, prepared->policy, &prepared->bindings, notes);
    own_files_cap(prepared, bound);
    bound_seal(bound, notes);
    return bound;
}

/* Whether each directory of PATH answers: what is behind one that does not is not known. */
static bool search_answers(struct arena *arena, struct remote *remote, const char *search)
{
    char *rest = arena_strdup(arena, search == NULL ? "" : search), *directory;

    while ((directory = strsep(&rest, ":")) != NULL)
        if (directory[0] == '/' && remote_ask(remote, directory) != 0)
            return false;
    return true;
}

/* Judged on the policy as if the rules held: they must not vouch for a file that they make writable. */
static const char *trusted_command(struct arena *arena, struct prepared *prepared, const char *command,
                                   struct note_list *notes)
{
    struct note_list unheard = note_list_in(arena);

    if (strchr(command, '/') != NULL || !policy_has_commands(prepared->policy))
        return NULL;
    struct bound_policy *trial = bind(arena, prepared, command, &unheard);
    struct variable_list environment = bound_environment(arena, trial, &unheard);
    const char *search = variable_value(&environment, "PATH");
    if (search_answers(arena, prepared->remote, search) &&
        host_command_trusted(arena, trial, command, search))
        return command;
    note_add(notes,
             (struct note){.code = SBX427_COMMAND_NOT_TRUSTED,
                           .text = arena_format(arena,
                                                "rules for the command %s do not hold: it is not found, or "
                                                "found where the command can write",
                                                escape_string(arena, command))});
    return NULL;
}

/* The host as binding sees it: what does not answer is not there. */
struct asking_view {
    struct remote *remote;
    const struct host_view *host;
};

static const char *asking_canonical(void *context, struct arena *arena, const char *path)
{
    const struct asking_view *view = context;
    return remote_ask(view->remote, path) != 0 ? NULL
                                               : view->host->canonical(view->host->context, arena, path);
}

static bool asking_is_directory(void *context, const char *path)
{
    const struct asking_view *view = context;
    return remote_ask(view->remote, path) == 0 && view->host->is_directory(view->host->context, path);
}

static const struct host_view *ask_first(struct arena *arena, struct remote *remote,
                                         const struct host_view *host)
{
    struct asking_view *asking = arena_alloc(arena, sizeof *asking);
    struct host_view *view = arena_alloc(arena, sizeof *view);

    *asking = (struct asking_view){remote, host};
    *view = (struct host_view){
        .context = asking, .canonical = asking_canonical, .is_directory = asking_is_directory};
    return remote == NULL ? host : view;
}

bool prepare_bound(struct arena *arena, const struct options *options, struct prepared *prepared,
                   struct note_list *notes)
{
    if (!managed_roots_are_free(arena, prepared->policy, options->roots.items, options->roots.count, notes))
        return false;
    prepared->environment = host_environment(arena);
    struct host_request request = {.work = prepared->work,
                                   .given_roots = options->roots.items,
                                   .given_root_count = options->roots.count,
                                   .environment = prepared->environment.items,
                                   .environment_count = prepared->environment.count,
                                   .uid = geteuid()};
    host_bind(arena, &request, &prepared->bindings, notes);
    prepared->bindings.host = ask_first(arena, prepared->remote, prepared->bindings.host);
    if (notes->errors > 0)
        return false;
    prepared->state = state_directory(arena, prepared);
    own_files_find(arena, options, prepared, notes);
    prepared->bound =
        bind(arena, prepared, trusted_command(arena, prepared, options->command[0], notes), notes);
    if (notes->errors > 0)
        return false;
    const char *wrong = bound_prove(arena, prepared->bound);
    return wrong == NULL || refuse(notes, SBX418_MERGE_WRONG, wrong, NULL);
}
