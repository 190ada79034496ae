#include "runtime/backend_bwrap.h"

#include "base/escape.h"
#include "base/measure.h"
#include "emitters/bwrap.h"
#include "runtime/bwrap_ground.h"
#include "runtime/inner.h"
#include "runtime/process.h"
#include "runtime/wiring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const system_places[] = {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", NULL};

enum {
    VERSION_SECONDS = 5,
    VERSION_BYTES = 256,
    FIRST_MASK = 64,      /* masked files use this descriptor and the following ones */
    OWN_DESCRIPTORS = 64, /* besides those */
    CALL_WORDS = 8        /* of the call itself, at most */
};

struct backend {
    int program;                 /* descriptor of the executable, close-on-exec; -1: not found */
    const char *path;            /* canonical */
    struct helper_process asked; /* for its version; no child: not yet */
    struct buffer words;         /* for --args, each ended by NUL */
    uint32_t mask_count;
    int *masks; /* consecutive descriptors on /dev/null that the words name */
    const struct bwrap_ground *ground;
};

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

static void seek(struct arena *arena, struct engine_use *use)
{
    struct backend *backend = arena_alloc(arena, sizeof *backend);
    const char *error;

    use->own = backend;
    backend->program = -1;
    for (int i = 0; system_places[i] != NULL; i++) {
        if (!open_program(arena, system_places[i], backend))
            continue;
        struct helper helper = version_helper(backend);
        if (!helper_start(&helper, &backend->asked, &error))
            backend->asked.child = 0; /* asked again, and reported, when the answer is needed */
        return;
    }
}

static bool find(struct arena *arena, struct engine_use *use, const struct bound_policy *bound,
                 const char *search, struct note_list *notes)
{
    struct backend *backend = use->own;
    bool found = backend->program >= 0;

    if (!found && bound != NULL && search != NULL)
        found = open_on_path(arena, bound, search, backend);
    if (!found) {
        note_add(notes, (struct note){
                            .code = SBX412_NO_BUBBLEWRAP,
                            .text = use->instead == NULL
                                        ? "bubblewrap is not installed"
                                        : arena_format(arena,
                                                       "bubblewrap is not installed, and the native engine "
                                                       "cannot be used here: %s",
                                                       use->instead),
                            .help = "install it: apt install bubblewrap, or dnf install bubblewrap"});
        return false;
    }
    return true;
}

static bool check(struct arena *arena, struct engine_use *use, struct note_list *notes)
{
    struct backend *backend = use->own;
    const char *error = NULL;

    if (use->version == NULL)
        use->version = read_version(arena, backend, &error);
    if (use->version != NULL && is_too_old(use->version)) {
        note_add(notes, (struct note){.code = SBX429_OLD_BUBBLEWRAP,
                                      .text = arena_format(arena, "bubblewrap %s is too old", use->version),
                                      .help = "install version 0.5.0 or a later one"});
        return false;
    }
    if (use->version == NULL)
        note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                      .text = arena_format(arena, "%s --version %s",
                                                           escape_string(arena, backend->path), error),
                                      .help = "see whether this program is bubblewrap and runs at all"});
    return use->version != NULL;
}

static bool too_many(struct note_list *notes, const char *text, const char *help)
{
    note_add(notes, (struct note){.code = SBX421_TOO_MANY_OPERATIONS, .text = text, .help = help});
    return false;
}

static bool prepare(struct arena *arena, struct engine_use *use, const struct sandbox_request *request,
                    struct note_list *notes)
{
    struct backend *backend = use->own;
    struct bwrap_request words = {.plan = request->plan,
                                  .environment = request->environment,
                                  .environment_count = request->environment_count,
                                  .share_network = request->share_network,
                                  .pid_one = true,
                                  .new_session = true,
                                  .seccomp_fd = -1,
                                  .first_mask_fd = FIRST_MASK};

    backend->words = buffer_in(arena);
    backend->mask_count = bwrap_arguments(&backend->words, &words);
    return bwrap_word_count(&backend->words) + CALL_WORDS <= BWRAP_WORDS ||
           too_many(notes, "the policy needs more mounts than bubblewrap takes",
                    "use the native engine, deny whole directories instead of single files, or use fewer "
                    "patterns");
}

/* The consecutive descriptors that the words name, each for one masked file. */
static bool reserve(struct arena *arena, struct engine_use *use, struct note_list *notes)
{
    struct backend *backend = use->own;
    struct rlimit files;
    rlim_t wanted = FIRST_MASK + backend->mask_count + OWN_DESCRIPTORS;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < wanted) {
        files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    backend->masks = arena_array(arena, (size_t)backend->mask_count + 1, sizeof *backend->masks);
    for (uint32_t i = 0; i < backend->mask_count; i++) {
        backend->masks[i] = fcntl(null, F_DUPFD_CLOEXEC, FIRST_MASK + (int)i);
        if (backend->masks[i] != FIRST_MASK + (int)i)
            return too_many(notes, "there are not enough descriptors for all masked files",
                            "raise the limit: ulimit -n");
    }
    close(null);
    return true;
}

static const char *number_word(struct arena *arena, const char *format, int number)
{
    char *word = arena_format(arena, "%d", number);

    return *format == '\0' ? word : arena_format(arena, "%s%s", format, word);
}

static char **call_make(struct arena *arena, const struct wiring *wiring, int words, int filter)
{
    const char **argv = arena_array(arena, CALL_WORDS + 2, sizeof *argv);
    int count = 0;

    argv[count++] = "bwrap";
    argv[count++] = "--args";
    argv[count++] = number_word(arena, "", words);
    if (filter >= 0) {
        argv[count++] = "--seccomp";
        argv[count++] = number_word(arena, "", filter);
    }
    argv[count++] = "--";
    argv[count++] = number_word(arena, "/proc/self/fd/", wiring->program);
    argv[count++] = INNER_STAGE_WORD;
    argv[count++] = number_word(arena, "", wiring->config);
    return (char **)argv;
}

/* In the child, between fork and exec: only async-signal-safe calls. */
SBX_NORETURN static void become_backend(const struct backend *backend, const struct sandbox_request *request,
                                        const struct wiring *wiring, const int *files, char *const *argv)
{
    char *const none[] = {NULL}, *const *environment = measure_holds(MEASURE_ENVIRONMENT) ? none : environ;
    bool ready = wiring_keep_inner(wiring, request);

    /* An own session: what a terminal sends goes to the launcher, which forwards it. */
    if (measure_holds(MEASURE_NEW_SESSION))
        setsid();
    ready = ready && descriptor_inherit(files[0]) && descriptor_inherit(files[1]);
    for (uint32_t i = 0; i < backend->mask_count; i++)
        ready = ready && descriptor_inherit(backend->masks[i]);
    /* bubblewrap would hand the launcher's directory on as OLDPWD. */
    if (ready && chdir("/") == 0 && descriptor_inherit(backend->program) &&
        signals_give_back(request->signals) && ground_enter(backend->ground))
        syscall(SYS_execveat, backend->program, "", argv, environment, AT_EMPTY_PATH);
    _exit(EXIT_FAILURE);
}

static void close_all(const int *descriptors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

static bool start(struct arena *arena, struct engine_use *use, struct sandbox_request *request,
                  struct sandbox *sandbox, struct note_list *notes)
{
    struct backend *backend = use->own;
    struct wiring wiring;
    int files[] = {memory_file("arguments", backend->words.bytes, backend->words.length), -1};
    pid_t child = -1;

    if (request->filter != NULL)
        files[1] = memory_file("filter", request->filter->bytes, request->filter->length);
    if (files[0] >= 0 && (request->filter == NULL || files[1] >= 0) && wiring_make(arena, request, &wiring)) {
        char **argv = call_make(arena, &wiring, files[0], files[1]);
        backend->ground = ground_prepare(arena, request->plan);
        child = fork();
        if (child == 0)
            become_backend(backend, request, &wiring, files, argv);
    }
    if (child < 0) {
        /* The launcher gives up and exits: what was opened until here is closed with it. */
        note_add(notes, (struct note){.code = SBX414_BACKEND_FAILED,
                                      .text = arena_format(arena, "bubblewrap could not be started: %s",
                                                           strerror(errno)),
                                      .help = wiring_remedy(errno)});
        return false;
    }
    close_all(files, sizeof files / sizeof files[0]);
    close_all(backend->masks, backend->mask_count);
    wiring_keep_outer(&wiring, sandbox);
    sandbox->process = child;
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

static void print(struct buffer *out, const struct engine_use *use, const struct sandbox_request *request)
{
    const struct backend *backend = use->own;
    const char *at = backend->words.bytes, *end = at + backend->words.length;

    buffer_format(out, "# call (%u system call filter instructions, starts in %s)\n",
                  (unsigned)(request->filter->length / 8),
                  escape_string(out->arena, request->inner->directory));
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

const struct engine engine_bwrap = {
    .name = "bwrap",
    .title = "bubblewrap",
    .seek = seek,
    .find = find,
    .prepare = prepare,
    .reserve = reserve,
    .start = start,
    .check = check,
    .print = print,
};
