#include "runtime/landlock_engine.h"

#include "base/escape.h"
#include "emitters/control_landlock.h"
#include "runtime/inner.h"
#include "runtime/landlock_rules.h"
#include "runtime/launch_steps.h"
#include "runtime/native_confine.h"
#include "runtime/probe.h"
#include "runtime/process.h"
#include "runtime/report.h"
#include "runtime/wiring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *landlock_engine_missing(void)
{
    uint32_t abi = landlock_abi();

    if (abi == 0)
        return errno == EOPNOTSUPP ? "Landlock is switched off (the kernel's boot option lsm=)"
                                   : "this kernel has no Landlock";
    return abi < LANDLOCK_ABI_TRUNCATE ? "this kernel's Landlock cannot refuse truncate(2): Linux 6.2 can"
                                       : NULL;
}

static bool find(struct arena *arena, struct engine_use *use, const struct bound_policy *bound,
                 const char *search, struct note_list *notes)
{
    const char *missing = landlock_engine_missing();

    (void)bound, (void)search;
    use->version = arena_format(arena, "ABI %u", landlock_abi());
    if (missing != NULL)
        note_add(notes, (struct note){
                            .code = SBX420_ENGINE,
                            .text = missing,
                            .help = "use a kernel with Landlock, or a machine that lets namespaces be made"});
    return missing == NULL;
}

/* The child, a copy of the launcher until it executes the inner stage. */
SBX_NORETURN static void become_stage(struct arena *arena, const struct sandbox_request *request,
                                      const struct wiring *wiring)
{
    struct native_problem problem = {.arena = arena};
    char *const argv[] = {(char *)"sbx-launch", (char *)INNER_STAGE_WORD,
                          arena_format(arena, "%d", wiring->config), NULL};

    arena_on_exhausted(arena, NULL);
    char **environment = wiring_environment(arena, request);
    /* An own session: what a terminal sends goes to the launcher, which forwards it. */
    if (!wiring_keep_inner(wiring, request) || setsid() < 0)
        _exit(EXIT_FAILURE);
    wiring_close_outer(wiring, request);
    if (native_confine(&problem, request->filter, true) && signals_give_back(request->signals))
        syscall(SYS_execveat, wiring->program, "", argv, environment, AT_EMPTY_PATH);
    native_fail(&problem, "execute the inner stage", NULL);
    write_all(STDERR_FILENO, problem.text, strlen(problem.text));
    _exit(EXIT_FAILURE);
}

static bool start(struct arena *arena, struct engine_use *use, struct sandbox_request *request,
                  struct sandbox *sandbox, struct note_list *notes)
{
    struct wiring wiring;

    (void)use;
    pid_t child = wiring_make(arena, request, &wiring) ? fork() : -1;
    if (child == 0)
        become_stage(arena, request, &wiring);
    if (child < 0) {
        note_add(notes,
                 (struct note){.code = SBX414_BACKEND_FAILED,
                               .text = arena_format(arena, "the command's process could not be started: %s",
                                                    strerror(errno)),
                               .help = wiring_remedy(errno)});
        return false;
    }
    wiring_keep_outer(&wiring, sandbox);
    sandbox->process = child;
    return true;
}

static void print(struct buffer *out, const struct engine_use *use, const struct sandbox_request *request)
{
    static const char *const words[] = {"read", "write"};

    (void)use;
    buffer_format(out, "# Landlock alone (%u system call filter instructions, starts in %s)\n",
                  (unsigned)(request->filter->length / 8),
                  escape_string(out->arena, request->inner->directory));
    for (uint32_t i = 0; i < request->inner->rule_count; i++) {
        const struct landlock_rule *rule = &request->inner->rules[i];
        buffer_format(out, "open for %-6s %s\n", words[(rule->rights & RIGHT_WRITE_FILE) != 0],
                      escape_string(out->arena, rule->path));
    }
    buffer_string(
        out, "no namespaces; give up every capability and new privileges, load the filter, execute the inner "
             "stage\n");
}

const struct engine engine_landlock = {
    .name = "landlock",
    .title = "the engine without namespaces",
    .find = find,
    .start = start,
    .print = print,
};
