#include "base/escape.h"
#include "compiler/commands/command.h"
#include "compiler/diagnostic_print.h"
#include "compiler/dump.h"
#include "compiler/expect.h"
#include "compiler/output.h"
#include "compiler/way.h"
#include "emitters/target.h"
#include "policy/host.h"

#include <errno.h>
#include <string.h>

/* What to make, and where. */
struct job {
    struct session *session;
    const struct target *target;
    const char *output; /* "-": standard output */
    enum system system;
};

/* --- what the call means -------------------------------------------------------------------------------- */

static const char *stem(struct arena *arena, const char *file)
{
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".sbx") == 0)
        length -= 4;
    return arena_copy(arena, file, length);
}

static const char *find_target(struct job *job)
{
    const struct options *options = &job->session->options;
    struct arena *arena = job->session->arena;
    const char *file = options->arguments.items[0];
    if (options->target != NULL)
        job->target = target_named(options->target);
    else if (options->output != NULL && strcmp(options->output, "-") != 0)
        job->target = target_for_suffix(options->output);
    else
        job->target = target_named("bin");
    if (job->target == NULL && options->target != NULL)
        return arena_format(arena, "this build cannot make %s", options->target);
    if (job->target == NULL)
        return arena_format(arena, "the name %s says nothing of a target; name one with -t",
                            escape_string(arena, options->output));
    if (options->output == NULL && strcmp(file, "-") == 0)
        return "say with -o where the result goes; -o - is standard output";
    job->output = options->output != NULL
                      ? options->output
                      : arena_format(arena, "%s%s", stem(arena, file), job->target->suffix);
    if (strcmp(job->output, file) == 0 && strcmp(file, "-") != 0)
        return "the result would replace the policy itself";
    return NULL;
}

static const char *find_system(struct job *job)
{
    static const char *const names[SYSTEMS] = {"linux", "macos", "windows"};
    const struct session *session = job->session;
    int wanted = job->target->system;
    job->system = session->system_given ? session->system : SYSTEM_LINUX;
    if (wanted < 0)
        return NULL;
    if (session->system_given && (int)session->system != wanted)
        return arena_format(session->arena, "the target %s is for %s, not for %s", job->target->name,
                            names[wanted], names[session->system]);
    job->system = (enum system)wanted;
    return NULL;
}

/* The table whose controls are checked: the target's own; for `bin` that of the launcher of the system. */
static int controls_of(const struct job *job)
{
    static const enum control_target launchers[SYSTEMS] = {
        [SYSTEM_LINUX] = CONTROL_TARGET_BWRAP,
        [SYSTEM_MACOS] = CONTROL_TARGET_SEATBELT,
        [SYSTEM_WINDOWS] = CONTROL_TARGET_WINDOWS,
    };
    return strcmp(job->target->name, "bin") == 0 ? (int)launchers[job->system] : job->target->controls;
}

/* --- what must hold ------------------------------------------------------------------------------------- */

static bool expectations_hold(struct job *job, const struct policy *policy, const struct bindings *bindings,
                              const struct bound_policy *bound)
{
    struct session *session = job->session;
    struct diagnostic_list list = diagnostic_list_in(session->arena);
    expectations_check(session->compilation, policy, bindings, bound, &list);
    session_print_diagnostics(session, &list);
    session->exit = EXIT_WRONG;
    return list.errors == 0;
}

/* Proves for each system that `policy` is meant for that no layer is exceeded. The proof can fail only if
 * sbxc is wrong. */
static bool prove(struct job *job, const struct policy *policy, const struct bound_policy *bound)
{
    struct session *session = job->session;
    const char *problem = bound_prove(session->arena, bound);
    bool others = job->target->system < 0 && policy->layer_count > 1;
    for (uint32_t system = 0; problem == NULL && others && system < SYSTEMS; system++) {
        struct bindings bindings = {.system = (enum system)system};
        struct note_list notes = note_list_in(session->arena);
        if (bindings.system == job->system)
            continue;
        for (uint32_t root = 0; root < ROOTS; root++)
            bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
        struct bound_policy *other = policy_bind(session->arena, policy, &bindings, &notes);
        bound_seal(other, NULL);
        problem = bound_prove(session->arena, other);
    }
    if (problem != NULL)
        session->exit = session_complain(
            session,
            arena_format(session->arena, "internal error: the merged policy exceeds a layer: %s", problem));
    return problem == NULL;
}

static int exit_of(const struct note_list *notes)
{
    int status = EXIT_UNENFORCEABLE;
    for (uint32_t i = 0; i < notes->count; i++)
        if (notes->items[i].severity == SEVERITY_ERROR &&
            target_exit(notes->items[i].code) != EXIT_UNENFORCEABLE)
            status = EXIT_WRONG;
    return status;
}

/* --- making it ------------------------------------------------------------------------------------------ */

/* Sources are named as seen from the .bin, which the launcher reads: it keeps the command from changing them.
 * Layers' sources follow each other in the merged policy. */
static const struct policy *sources_placed(const struct job *job, const struct policy *policy)
{
    struct session *session = job->session;
    if (strcmp(job->target->name, "bin") != 0)
        return policy;
    const struct compilation *compilation = session->compilation;
    struct policy *placed = arena_alloc(session->arena, sizeof *placed);
    struct policy_source *sources = arena_array(session->arena, policy->source_count, sizeof *sources);
    uint32_t at = 0;
    *placed = *policy;
    placed->sources = sources;
    for (uint32_t i = 0; i < compilation->layer_count; i++) {
        const char *file =
            i == 0 ? session->options.arguments.items[0] : session->options.managed.items[i - 1];
        const char *way = way_between(session->arena, job->output, file);
        for (uint32_t j = 0; j < compilation->layers[i].policy->source_count; j++, at++) {
            sources[at] = policy->sources[at];
            if (sources[at].kind != SOURCE_PRESET_BUILTIN && strcmp(sources[at].name, "-") != 0)
                sources[at].name = arena_format(session->arena, "%s%s", way, sources[at].name);
        }
    }
    return placed;
}

static bool emit(struct job *job, const struct policy *policy, const struct bound_policy *bound,
                 struct buffer *out)
{
    struct session *session = job->session;
    struct control_need needs[CONTROLS] = {0};
    const struct rule *accepted[CONTROLS] = {0};
    const char *slash = strrchr(job->output, '/');
    int controls = controls_of(job);
    bool good = true;
    if (controls >= 0) {
        controls_needed(bound, needs);
        good = controls_check(bound, (enum control_target)controls, needs, accepted, &session->notes);
    }
    const struct emit_request request = {
        .arena = session->arena,
        .policy = sources_placed(job, policy),
        .bound = bound,
        .version = SBX_VERSION,
        .architecture = session->options.architecture != NULL ? session->options.architecture : "x86_64",
        .output_name = strcmp(job->output, "-") == 0 ? ""
                       : slash != NULL               ? slash + 1
                                                     : job->output,
        .accepted = controls >= 0 ? accepted : NULL,
        .notes = &session->notes,
    };
    good = good && job->target->emit(&request, out);
    session->exit = exit_of(&session->notes);
    session_print_notes(session, policy, SEVERITY_NOTE);
    return good;
}

/* --- what comes of it ----------------------------------------------------------------------------------- */

static int first_difference(struct job *job, const char *old, size_t old_length, const struct buffer *new)
{
    struct session *session = job->session;
    size_t at = 0, line = 1, start = 0;
    while (at < old_length && at < new->length &&old[at] == new->bytes[at]) {
        if (old[at++] == '\n') {
            line++;
            start = at;
        }
    }
    const char *name = escape_string(session->arena, job->output);
    size_t old_line = 0, new_line = 0;
    while (start + old_line < old_length && old[start + old_line] != '\n')
        old_line++;
    while (start + new_line < new->length &&new->bytes[start + new_line] != '\n')
        new_line++;
    if (memchr(new->bytes, '\0', new->length) != NULL)
        buffer_format(&session->out, "%s: differs from byte %zu on\n", name, at + 1);
    else
        buffer_format(&session->out, "%s:%zu: differs\n- %s\n+ %s\n", name, line,
                      escape_text(session->arena, old + start, old_line),
                      escape_text(session->arena, new->bytes + start, new_line));
    return EXIT_DIFFERENT;
}

static int check(struct job *job, const struct buffer *new)
{
    struct session *session = job->session;
    const char *error = NULL;
    size_t length = 0;
    if (strcmp(job->output, "-") == 0)
        return session_complain(session, "--check compares with a file; name it with -o");
    const char *old = file_read(session->arena, job->output, SIZE_MAX, &length, &error);
    if (old == NULL) {
        buffer_format(&session->out, "%s\n", error);
        return EXIT_DIFFERENT;
    }
    if (length == new->length && memcmp(old, new->bytes, length) == 0)
        return EXIT_DONE;
    return first_difference(job, old, length, new);
}

static int deliver(struct job *job, const struct buffer *artifact)
{
    struct session *session = job->session;
    if (session->options.check)
        return check(job, artifact);
    if (strcmp(job->output, "-") == 0) {
        session->out = *artifact;
        return EXIT_DONE;
    }
    const char *problem = output_replace(session->arena, job->output, artifact->bytes, artifact->length);
    return problem == NULL ? EXIT_DONE : session_complain(session, problem);
}

bool artifact_make(struct session *session, const struct target *target, const char *output,
                   const struct policy *policy, const struct bound_policy *bound, struct buffer *out)
{
    struct job job = {
        .session = session, .target = target, .output = output, .system = bound->bindings.system};
    return emit(&job, policy, bound, out);
}

int command_compile(struct session *session)
{
    struct job job = {.session = session};
    const char *problem = NULL;
    if (session->options.dump == NULL && (problem = find_target(&job)) == NULL)
        problem = find_system(&job);
    if (problem != NULL)
        return session_complain(session, problem);
    session->no_hash = job.target != NULL && strcmp(job.target->name, "bin") == 0;
    struct policy *policy = session_compile(session);
    if (session->options.dump != NULL)
        return dump(session, policy);
    if (policy == NULL)
        return session->exit;

    struct bindings bindings;
    session_bindings(session, job.system, false, &bindings);
    struct bound_policy *bound = session_bind(session, policy, &bindings, false);
    if (!expectations_hold(&job, policy, &bindings, bound) || bound == NULL || !prove(&job, policy, bound))
        return session->exit;
    struct buffer artifact = buffer_in(session->arena);
    return emit(&job, policy, bound, &artifact) ? deliver(&job, &artifact) : session->exit;
}
