#include "runtime/backend_bwrap.h"

#include "base/escape.h"
#include "base/measure.h"
#include "runtime/inner.h"
#include "runtime/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const system_places[] = {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", NULL};

enum { VERSION_SECONDS = 5, VERSION_BYTES = 256 };

/* Opens `path` if it is an executable regular file; `backend` then has its canonical path. */
static bool open_program(struct arena *arena, const char *path, struct backend *backend)
{
    char canonical[PATH_MAX];
    struct stat status;
    int program = realpath(path, canonical) == NULL ? -1 : open(canonical, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (program < 0)
        return false;
    if (fstat(program, &status) != 0 || !S_ISREG(status.st_mode) || access(canonical, X_OK) != 0) {
        close(program);
        return false;
    }
    backend->program = program;
    backend->path = arena_strdup(arena, canonical);
    return true;
}

static bool may_be_changed(const struct bound_policy *bound, const char *path)
{
    for (size_t length = strlen(path); length > 1; length--)
        if ((path[length] == '/' || path[length] == '\0') && bound_level(bound, path, length) == LEVEL_WRITE)
            return true;
    return false;
}

/* A directory of PATH, both as written and as resolved, must be out of the command's reach. */
static bool open_on_path(struct arena *arena, const struct bound_policy *bound, const char *search,
                         struct backend *backend)
{
    char *rest = arena_strdup(arena, search), *directory;

    while ((directory = strsep(&rest, ":")) != NULL) {
        const char *path = arena_format(arena, "%s/bwrap", directory);
        if (*directory != '/' || may_be_changed(bound, path) || !open_program(arena, path, backend))
            continue;
        if (!may_be_changed(bound, backend->path))
            return true;
        close(backend->program);
    }
    return false;
}

static struct helper version_helper(const struct backend *backend)
{
    static char *const argv[] = {(char *)"bwrap", (char *)"--version", NULL};

    return (struct helper){
        .program = backend->program, .argv = argv, .seconds = VERSION_SECONDS, .limit = VERSION_BYTES};
}

static const char *read_version(struct arena *arena, struct backend *backend, const char **error)
{
    struct helper helper = version_helper(backend);
    struct buffer output = buffer_in(arena);
    bool started = backend->asked.child > 0 || helper_start(&helper, &backend->asked, error);
    int code = started ? helper_finish(&helper, &backend->asked, &output, error) : -1;
    backend->asked.child = 0;
    const char *word;

    if (code != 0 || output.length == 0) {
        if (*error == NULL)
            *error = "failed";
        return NULL;
    }
    output.bytes[strcspn(output.bytes, "\n")] = '\0';
    word = strrchr(output.bytes, ' ');
    return escape_string(arena, word == NULL ? output.bytes : word + 1);
}

/* Options that every plan uses came with 0.5.0. A version of another form is left to speak for itself. */
static bool is_too_old(const char *version)
{
    int major, minor;

    return sscanf(version, "%d.%d", &major, &minor) == 2 && major == 0 && minor < 5;
}

void backend_seek(struct arena *arena, struct backend *backend)
{
    const char *error;

    *backend = (struct backend){.program = -1};
    for (int i = 0; system_places[i] != NULL; i++) {
        if (!open_program(arena, system_places[i], backend))
            continue;
        struct helper helper = version_helper(backend);
        if (!helper_start(&helper, &backend->asked, &error))
            backend->asked.child = 0; /* asked again, and reported, when the answer is needed */
        return;
    }
}

bool backend_find(struct arena *arena, const struct bound_policy *bound, const char *search,
                  struct backend *backend, struct note_list *notes)
{
    bool found = backend->program >= 0;

    if (!found && bound != NULL && search != NULL)
        found = open_on_path(arena, bound, search, backend);
    if (!found) {
        note_add(notes,
                 (struct note){.code = SBX412_NO_BUBBLEWRAP,
                               .text = "bubblewrap is not installed",
                               .help = "install it: apt install bubblewrap, or dnf install bubblewrap"});
        return false;
    }
    return true;
}

bool backend_check(struct arena *arena, struct backend *backend, struct note_list *notes)
{
    const char *error = NULL;

    if (backend->version == NULL)
        backend->version = read_version(arena, backend, &error);
    if (backend->version != NULL && is_too_old(backend->version)) {
        note_add(notes,
                 (struct note){.code = SBX429_OLD_BUBBLEWRAP,
                               .text = arena_format(arena, "bubblewrap %s is too old", backend->version),
                               .help = "install version 0.5.0 or a later one"});
        return false;
    }
    if (backend->version == NULL)
        note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                      .text = arena_format(arena, "%s --version %s",
                                                           escape_string(arena, backend->path), error),
                                      .help = "see whether this program is bubblewrap and runs at all"});
    return backend->version != NULL;
}

/* Both ends of everything between the launcher and the sandbox. */
struct wiring {
    int status[2], go[2], errors[2]; /* launcher's end first for status; reading end first for pipes */
    int words, filter, config, program, null;
};

static bool wiring_make(const struct backend_request *request, struct wiring *wiring)
{
    *wiring = (struct wiring){.words = -1, .filter = -1, .config = -1, .program = -1, .null = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wiring->status) != 0 ||
        pipe2(wiring->go, O_CLOEXEC) != 0 || pipe2(wiring->errors, O_CLOEXEC) != 0)
        return false;
    wiring->words = memory_file("arguments", request->words->bytes, request->words->length);
    if (request->filter != NULL)
        wiring->filter = memory_file("filter", request->filter->bytes, request->filter->length);
    wiring->program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    wiring->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    return wiring->words >= 0 && wiring->program >= 0 && wiring->null >= 0 &&
           (request->filter == NULL || wiring->filter >= 0);
}

static bool config_make(struct arena *arena, const struct backend_request *request, struct wiring *wiring)
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

static bool inherit(int descriptor)
{
    return descriptor < 0 || fcntl(descriptor, F_SETFD, 0) == 0;
}

static const char *number_word(struct arena *arena, const char *format, int number)
{
    char *word = arena_format(arena, "%d", number);

    return *format == '\0' ? word : arena_format(arena, "%s%s", format, word);
}

static char **call_make(struct arena *arena, const struct wiring *wiring)
{
    const char **argv = arena_array(arena, 10, sizeof *argv);
    int count = 0;

    argv[count++] = "bwrap";
    argv[count++] = "--args";
    argv[count++] = number_word(arena, "", wiring->words);
    if (wiring->filter >= 0) {
        argv[count++] = "--seccomp";
        argv[count++] = number_word(arena, "", wiring->filter);
    }
    argv[count++] = "--";
    argv[count++] = number_word(arena, "/proc/self/fd/", wiring->program);
    argv[count++] = INNER_STAGE_WORD;
    argv[count++] = number_word(arena, "", wiring->config);
    return (char **)argv;
}

/* In the child, between fork and exec: only async-signal-safe calls. */
SBX_NORETURN static void become_backend(const struct backend_request *request, const struct wiring *wiring,
                                        char *const *argv)
{
    char *const none[] = {NULL}, *const *environment = measure_holds(MEASURE_ENVIRONMENT) ? none : environ;
    bool ready = dup2(wiring->null, STDIN_FILENO) >= 0 && dup2(wiring->null, STDOUT_FILENO) >= 0 &&
                 dup2(wiring->errors[1], STDERR_FILENO) >= 0;

    /* An own session: what a terminal sends goes to the launcher, which forwards it. */
    if (measure_holds(MEASURE_NEW_SESSION))
        setsid();
    ready = ready && inherit(wiring->status[1]) && inherit(wiring->go[0]) && inherit(wiring->words) &&
            inherit(wiring->filter) && inherit(wiring->config) && inherit(wiring->program);
    for (int i = 0; i < 3; i++)
        ready = ready && inherit(request->streams[i]);
    for (uint32_t i = 0; i < request->mask_count; i++)
        ready = ready && inherit(request->masks[i]);
    /* bubblewrap would hand the launcher's directory on as OLDPWD. */
    if (ready && chdir("/") == 0 && inherit(request->backend->program) && signals_give_back(request->signals))
        syscall(SYS_execveat, request->backend->program, "", argv, environment, AT_EMPTY_PATH);
    _exit(EXIT_FAILURE);
}

static void close_all(const int *descriptors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

bool backend_start(struct arena *arena, struct backend_request *request, struct sandbox *sandbox,
                   struct note_list *notes)
{
    struct wiring wiring;
    pid_t child = -1;

    if (wiring_make(request, &wiring) && config_make(arena, request, &wiring)) {
        char **argv = call_make(arena, &wiring);
        child = fork();
        if (child == 0)
            become_backend(request, &wiring, argv);
    }
    if (child < 0) {
        /* The launcher gives up and exits: what was opened until here is closed with it. */
        note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                      .text = arena_format(arena, "bubblewrap could not be started: %s",
                                                           strerror(errno))});
        return false;
    }
    const int inside[] = {wiring.status[1], wiring.go[0],  wiring.errors[1], wiring.words,
                          wiring.filter,    wiring.config, wiring.program,   wiring.null};
    close_all(inside, sizeof inside / sizeof inside[0]);
    close_all(request->masks, request->mask_count);
    *sandbox = (struct sandbox){
        .process = child, .status = wiring.status[0], .go = wiring.go[1], .errors = wiring.errors[0]};
    return true;
}

/* How many of bubblewrap's words belong to the option `word`, itself included. */
static int option_length(const char *word)
{
    static const struct {
        const char *name;
        int words;
    } longer[] = {
        {"--bind", 3},        {"--ro-bind", 3}, {"--dev-bind", 3}, {"--ro-bind-data", 3}, {"--bind-data", 3},
        {"--file", 3},        {"--symlink", 3}, {"--setenv", 3},   {"--chmod", 3},        {"--bind-try", 3},
        {"--tmpfs", 2},       {"--dir", 2},     {"--proc", 2},     {"--dev", 2},          {"--perms", 2},
        {"--chdir", 2},       {"--size", 2},    {"--cap-drop", 2}, {"--remount-ro", 2},   {"--unsetenv", 2},
        {"--hostname", 2},    {"--seccomp", 2}, {"--uid", 2},      {"--gid", 2},          {"--mqueue", 2},
        {"--ro-bind-try", 3},
    };

    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++)
        if (strcmp(longer[i].name, word) == 0)
            return longer[i].words;
    return 1;
}

void backend_print(struct buffer *out, const struct backend *backend, const struct buffer *words)
{
    const char *at = words->bytes, *end = words->bytes + words->length;

    buffer_format(out, "%s --args FD --seccomp FD -- /proc/self/fd/FD %s FD\n",
                  escape_string(out->arena, backend->path), INNER_STAGE_WORD);
    while (at < end) {
        int left = option_length(at);
        buffer_string(out, "   ");
        for (; left > 0 && at < end; left--, at += strlen(at) + 1)
            buffer_format(out, " %s", escape_string(out->arena, at));
        buffer_byte(out, '\n');
    }
}
