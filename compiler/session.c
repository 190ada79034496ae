#include "compiler/session.h"

#include "base/escape.h"
#include "base/vector.h"
#include "compiler/diagnostic_print.h"
#include "compiler/output.h"
#include "policy/host.h"
#include "policy/host_follow.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- messages ------------------------------------------------------------------------------------------- */

int session_complain(struct session *session, const char *text)
{
    const char *line = arena_format(session->arena, "sbxc: %s\n", text);
    output_error(line, strlen(line));
    return EXIT_WRONG;
}

bool session_color(const struct session *session)
{
    const char *when = session->options.color, *none = getenv("NO_COLOR");
    if (when != NULL && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return (none == NULL || *none == '\0') && isatty(STDERR_FILENO) != 0;
}

static void print_diagnostics(struct session *session, const struct diagnostic_list *list,
                              enum severity least)
{
    if (list->count == 0)
        return;
    struct buffer out = buffer_in(session->arena);
    const struct diagnostic_style style = {
        .color = session_color(session),
        .least = session->options.quiet ? SEVERITY_ERROR : least,
    };
    if (session->options.json)
        diagnostics_print_json(&out, &session->compilation->sources, list, &style);
    else
        diagnostics_print_text(&out, &session->compilation->sources, list, &style);
    output_error(out.bytes, out.length);
}

void session_print_diagnostics(struct session *session, const struct diagnostic_list *list)
{
    print_diagnostics(session, list, SEVERITY_NOTE);
}

uint32_t session_print_notes(struct session *session, const struct policy *policy, enum severity least)
{
    struct diagnostic_list list = diagnostic_list_in(session->arena);
    diagnostics_add_notes(&list, session->compilation, policy, &session->notes);
    print_diagnostics(session, &list, least);
    session->notes.count = 0;
    return list.errors;
}

/* --- options -------------------------------------------------------------------------------------------- */

static enum system this_system(void)
{
#if defined(__APPLE__)
    return SYSTEM_MACOS;
#elif defined(_WIN32)
    return SYSTEM_WINDOWS;
#else
    return SYSTEM_LINUX;
#endif
}

static void read_system(struct session *session)
{
    static const char *const names[SYSTEMS] = {"linux", "macos", "windows"};
    session->system = session->options.pure ? SYSTEM_LINUX : this_system();
    for (uint32_t i = 0; session->options.system != NULL && i < SYSTEMS; i++) {
        if (strcmp(session->options.system, names[i]) == 0) {
            session->system = (enum system)i;
            session->system_given = true;
        }
    }
}

/* `path` without repeated and final slashes; NULL if it is not absolute or goes up with .. */
static const char *normal_path(struct arena *arena, const char *path)
{
    struct buffer out = buffer_in(arena);
    bool drive = path[0] != '\0' && path[1] == ':' && path[2] == '/';
    if (drive) {
        buffer_byte(&out, (char)(path[0] & ~0x20));
        buffer_byte(&out, ':');
        path += 2;
    }
    if (*path != '/')
        return NULL;
    size_t start = out.length;
    while (*path != '\0') {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.')
            return NULL;
        if (length > 0 && !(length == 1 && path[0] == '.')) {
            buffer_byte(&out, '/');
            buffer_bytes(&out, path, length);
        }
        path += length;
    }
    if (out.length == start)
        buffer_byte(&out, '/');
    return out.bytes;
}

static bool is_list_root(const char *name)
{
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strcmp(root_names[root], name) == 0)
            return root_is_list(root);
    return false;
}

static enum root root_of(const char *name)
{
    enum root root = ROOT_WORK;
    while (root < ROOT_ENV && strcmp(root_names[root], name) != 0)
        root++;
    return root;
}

static const char *read_root(struct session *session, const char *text)
{
    struct arena *arena = session->arena;
    const char *equals = strchr(text, '='), *shown = escape_string(arena, text);
    if (equals == NULL)
        return arena_format(arena, "--root takes NAME=PATH, and %s is not", shown);
    struct variable root = {arena_copy(arena, text, (size_t)(equals - text)), normal_path(arena, equals + 1)};
    const char *names[ROOTS + 1] = {0};
    for (enum root each = ROOT_WORK; each < ROOT_ENV; each++)
        names[each - ROOT_WORK] = root_names[each];
    if (root_of(root.name) == ROOT_ENV) {
        const char *nearest = nearest_word(root.name, names);
        return arena_format(arena, "--root %s: there is no such root%s%s", shown,
                            nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "");
    }
    if (root.value == NULL)
        return arena_format(arena, "--root %s: the path must be absolute, without ..", shown);
    for (uint32_t i = 0; i < session->roots.count; i++)
        if (strcmp(session->roots.items[i].name, root.name) == 0 && !is_list_root(root.name))
            return arena_format(arena, "--root %s is given twice", root.name);
    VECTOR_PUSH(arena, &session->roots, root);
    return NULL;
}

static const char *read_variable(struct session *session, const char *text)
{
    struct arena *arena = session->arena;
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return arena_format(arena, "--env takes NAME=VALUE, and %s is not", escape_string(arena, text));
    struct variable variable = {arena_copy(arena, text, (size_t)(equals - text)),
                                arena_strdup(arena, equals + 1)};
    for (uint32_t i = 0; i < session->environment.count; i++) {
        if (strcmp(session->environment.items[i].name, variable.name) == 0) {
            session->environment.items[i] = variable; /* the last one holds, as in env(1) */
            return NULL;
        }
    }
    VECTOR_PUSH(arena, &session->environment, variable);
    return NULL;
}

static int compare_variables(const void *a, const void *b)
{
    return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

bool session_begin(struct session *session)
{
    const struct options *options = &session->options;
    const char *problem = NULL;
    session->notes = note_list_in(session->arena);
    read_system(session);
    for (uint32_t i = 0; i < options->roots.count && problem == NULL; i++)
        problem = read_root(session, options->roots.items[i]);
    for (uint32_t i = 0; i < options->environment.count && problem == NULL; i++)
        problem = read_variable(session, options->environment.items[i]);
    if (session->environment.count > 1)
        qsort(session->environment.items, session->environment.count, sizeof *session->environment.items,
              compare_variables);
    if (problem != NULL)
        session->exit = session_complain(session, problem);
    return problem == NULL;
}

/* --- compiling ------------------------------------------------------------------------------------------ */

struct policy *session_compile(struct session *session)
{
    const struct options *options = &session->options;
    const struct compile_input input = {
        .input = {.file = options->arguments.items[0]},
        .managed = options->managed.items,
        .managed_count = options->managed.count,
        .only_syntax = options->dump != NULL && strcmp(options->dump, "syntax") == 0,
        .may_be_bin = session->may_be_bin,
        .no_hash = session->no_hash,
    };
    session->compilation = compile(session->arena, &input);
    session_print_diagnostics(session, &session->compilation->diagnostics);
    session->exit = EXIT_WRONG;
    if (session->compilation->failure != NULL)
        session_complain(session, session->compilation->failure);
    return session->compilation->failure == NULL ? session->compilation->policy : NULL;
}

/* --- binding -------------------------------------------------------------------------------------------- */

static void given_bindings(struct session *session, enum system system, struct bindings *bindings)
{
    bindings->system = system;
    bindings->environment = session->environment.items;
    bindings->environment_count = session->environment.count;
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings->roots[root].state = ROOT_SYMBOLIC;
    for (uint32_t i = 0; i < session->roots.count; i++) {
        struct root_value *value = &bindings->roots[root_of(session->roots.items[i].name)];
        const char **paths = arena_array(session->arena, (size_t)value->count + 1, sizeof *paths);
        for (uint32_t j = 0; j < value->count; j++)
            paths[j] = value->paths[j];
        paths[value->count++] = session->roots.items[i].value;
        value->paths = paths;
        value->state = ROOT_BOUND;
    }
    memcpy(bindings->managed_roots, bindings->roots, sizeof bindings->roots);
    for (enum root root = ROOT_HOME; root <= ROOT_DATA; root++)
        if (root != ROOT_TMP)
            bindings->managed_roots[root] = (struct root_value){.state = ROOT_SYMBOLIC};
}

/* The caller's environment with what --env says in it. */
static struct variable_list environment_here(struct session *session)
{
    struct variable_list own = host_environment(session->arena), all = {0};
    const struct variable_list *given = &session->environment;
    for (uint32_t i = 0, j = 0; i < own.count || j < given->count;) {
        int order = i == own.count      ? 1
                    : j == given->count ? -1
                                        : strcmp(own.items[i].name, given->items[j].name);
        VECTOR_PUSH(session->arena, &all, order < 0 ? own.items[i] : given->items[j]);
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    return all;
}

void session_bindings(struct session *session, enum system system, bool here, struct bindings *bindings)
{
    *bindings = (struct bindings){0};
    bindings->command = session->options.command_name;
    if (!here || session->options.pure || system != this_system()) {
        given_bindings(session, system, bindings);
        return;
    }
    const char *work = NULL;
    for (uint32_t i = 0; i < session->roots.count; i++)
        if (strcmp(session->roots.items[i].name, "WORK") == 0)
            work = session->roots.items[i].value;
    struct variable_list environment = environment_here(session);
    const struct host_request request = {
        .work = work,
        .given_roots = session->roots.items,
        .given_root_count = session->roots.count,
        .environment = environment.items,
        .environment_count = environment.count,
        .uid = geteuid(),
    };
    host_bind(session->arena, &request, bindings, &session->notes);
    bindings->command = session->options.command_name;
}

static const char *realpath_in(struct arena *arena, const char *path)
{
    char resolved[PATH_MAX];
    return realpath(path, resolved) == NULL ? NULL : arena_strdup(arena, resolved);
}

/* A compiled policy and the files that it was made from, as far as they are still where it says. */
static void add_compiled(struct session *session, struct bound_policy *bound)
{
    const char *bin = realpath_in(session->arena, session->options.arguments.items[0]);
    if (bin == NULL)
        return;
    bound_add_itself(bound, bin, "the policy's own file");
    const char *directory = arena_copy(session->arena, bin, (size_t)(strrchr(bin, '/') - bin));
    for (uint32_t i = 0; i < bound->policy->source_count; i++) {
        const struct policy_source *source = &bound->policy->sources[i];
        const char *path = arena_format(session->arena, "%s/%s", directory, source->name);
        if (source->kind != SOURCE_PRESET_BUILTIN && (path = realpath_in(session->arena, path)) != NULL)
            bound_add_itself(bound, path, "the policy's own file");
    }
}

/* The files that made the policy, as the command would name them: as opened, and with links resolved. */
static void add_itself(struct session *session, struct bound_policy *bound)
{
    char directory[PATH_MAX];
    if (session->compilation->layers[0].load == NULL)
        add_compiled(session, bound);
    for (uint32_t i = 0; i < session->compilation->layer_count; i++) {
        const struct load *load = session->compilation->layers[i].load;
        for (uint32_t j = 0; load != NULL && j < load->unit_count; j++) {
            const struct unit *unit = load->units[j];
            if (unit->path == NULL)
                continue;
            const char *path = unit->path;
            if (*path != '/' && getcwd(directory, sizeof directory) != NULL)
                path = arena_format(session->arena, "%s/%s", directory, path);
            path = normal_path(session->arena, path);
            if (path != NULL && (unit->real == NULL || strcmp(path, unit->real) != 0))
                bound_add_itself(bound, path, "the policy's own file");
            if (unit->real != NULL)
                bound_add_itself(bound, unit->real, "the policy's own file");
        }
    }
}

/* Whether a rule holds only for the command that is asked about. */
static bool depends_on_command(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].rule->commands != NULL)
            return true;
    return false;
}

/* The answer is about the command as named; the launcher also looks at what that name leads to. */
static void note_command(struct session *session, const struct bound_policy *bound)
{
    const char *command = bound->bindings.command, *path = NULL;
    struct note_list unused = note_list_in(session->arena);
    if (command == NULL || bound->bindings.host == NULL || !depends_on_command(bound))
        return;
    struct variable_list variables = bound_environment(session->arena, bound, &unused);
    for (uint32_t i = 0; i < variables.count; i++)
        if (strcmp(variables.items[i].name, "PATH") == 0)
            path = variables.items[i].value;
    if (!host_command_trusted(session->arena, bound, command, path))
        note_add(
            &session->notes,
            (struct note){
                .code = SBX127_COMMAND_UNTRUSTED,
                .text = arena_format(session->arena,
                                     "the rules of `when command %s` would not hold in a launch here: PATH "
                                     "leads to no such command, or to one that it could write itself",
                                     escape_string(session->arena, command)),
            });
}

/* Where the account's home is nobody can say for it, and here it is not looked up (language.md 5). */
static void check_account_roots(struct session *session, const struct policy *policy,
                                const struct bindings *bindings)
{
    static const enum root account_roots[] = {ROOT_HOME, ROOT_CONFIG, ROOT_CACHE, ROOT_DATA};
    for (size_t i = 0; i < sizeof account_roots / sizeof *account_roots; i++) {
        enum root root = account_roots[i];
        if (bindings->managed_roots[root].state != ROOT_SYMBOLIC || bindings->roots[root].state != ROOT_BOUND)
            continue;
        for (uint32_t j = 0; j < policy->rule_count; j++) {
            const struct rule *rule = &policy->rules[j];
            if (policy->layers[rule->layer].kind != LAYER_MANAGED || !rule_uses_root(rule, root))
                continue;
            note_add(&session->notes,
                     (struct note){.code = SBX179_MANAGED_ROOT_GIVEN,
                                   .rule = rule,
                                   .text = arena_format(session->arena, "--root %s: a managed layer uses $%s",
                                                        root_names[root], root_names[root]),
                                   .help = "leave the option out; -t bwrap-sh asks for the account's home "
                                           "where it runs"});
            break;
        }
    }
}

struct bound_policy *session_bind(struct session *session, const struct policy *policy,
                                  const struct bindings *bindings, bool itself)
{
    check_account_roots(session, policy, bindings);
    struct bound_policy *bound = policy_bind(session->arena, policy, bindings, &session->notes);
    session->exit = EXIT_WRONG;
    if (session->notes.errors > 0) {
        session_print_notes(session, policy, SEVERITY_ERROR);
        return NULL;
    }
    if (itself)
        add_itself(session, bound);
    if (session->notes.errors == 0)
        host_follow(bound);
    bound_seal(bound, &session->notes);
    note_command(session, bound);
    if (session->notes.errors > 0) {
        session_print_notes(session, policy, SEVERITY_ERROR);
        return NULL;
    }
    return bound;
}
