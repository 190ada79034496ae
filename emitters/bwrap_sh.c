#include "emitters/bwrap_sh.h"

#include "base/escape.h"
#include "emitters/bwrap_text.h"
#include "emitters/control_bwrap.h"
#include "emitters/control_need.h"

#include <inttypes.h>
#include <string.h>

/* ---- words of the shell ---- */

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static void put_quoted_bytes(struct buffer *out, const char *bytes)
{
    for (; *bytes != '\0'; bytes++) {
        if (strchr("\"\\$`", *bytes) != NULL)
            buffer_byte(out, '\\');
        buffer_byte(out, *bytes);
    }
}

/* A value in double quotes. */
static void put_value(struct buffer *out, const char *value)
{
    buffer_byte(out, '"');
    put_quoted_bytes(out, value);
    buffer_byte(out, '"');
}

/* The script's variable for the root on which `path` hangs. */
static const char *variable_name(struct arena *arena, const struct rule *rule, const char *path)
{
    const char *root = arena_copy(arena, path + 1, strcspn(path + 1, "/"));
    return arena_format(arena, "%s_%s", of_account(rule, root) ? "ACCOUNT" : "SBX", root);
}

/* A bound path in double quotes: a root without a value is a variable of the script. */
static void put_path(struct buffer *out, const struct rule *rule, const char *path)
{
    buffer_byte(out, '"');
    if (path[0] == '$') {
        buffer_format(out, "$%s", variable_name(out->arena, rule, path));
        path += 1 + strcspn(path + 1, "/");
    }
    put_quoted_bytes(out, path);
    buffer_byte(out, '"');
}

/* ---- roots ---- */

static const char *const root_defaults[ROOTS] = {
    [ROOT_WORK] = "$PWD",
    [ROOT_HOME] = "${HOME:-}",
    [ROOT_TMP] = "${TMPDIR:-/tmp}",
    [ROOT_CONFIG] = "${XDG_CONFIG_HOME:-${HOME:-}/.config}",
    [ROOT_CACHE] = "${XDG_CACHE_HOME:-${HOME:-}/.cache}",
    [ROOT_DATA] = "${XDG_DATA_HOME:-${HOME:-}/.local/share}",
};

/* Such a root must not come out as the home directory or above it where a rule opens all of it
 * (language.md 3). */
static bool may_be_wide(const struct bound_rule *bound)
{
    enum root root = bound->rule->path.root;
    bool whole = bound->at.path[0] == '$' && strchr(bound->at.path, '/') == NULL;
    return whole && root != ROOT_HOME && root < ROOT_ENV;
}

static bool limit_may_be_wide(const struct bound_rule *bound)
{
    enum rule_kind kind = bound->rule->kind;
    return (kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE) && !bound->rule->nothing &&
           may_be_wide(bound);
}

struct used_roots {
    bool own[ROOTS], account[ROOTS];
    bool account_home, account_roots; /* whether the account's home matters; whether rules hang on it */
};

static void use_root(const struct rule *rule, const char *path, struct used_roots *used)
{
    if (path[0] != '$' || path_of_variable(path))
        return;
    for (int root = 0; root < ROOTS; root++) {
        size_t length = strlen(root_names[root]);
        if (length == 0 || strncmp(path + 1, root_names[root], length) != 0 ||
            (path[1 + length] != '/' && path[1 + length] != '\0'))
            continue;
        if (of_account(rule, root_names[root]))
            used->account[root] = used->account_roots = used->account_home = true;
        else
            used->own[root] = true;
    }
}

static struct used_roots roots_used(const struct emit_request *request)
{
    struct used_roots used = {0};
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        if (bound->dropped || bound->at.path == NULL || bound->rule->kind == RULE_EXPECT ||
            text_needs_not(request, bound))
            continue;
        use_root(bound->rule, bound->at.path, &used);
        used.account_home = used.account_home || limit_may_be_wide(bound);
        for (uint32_t j = 0; j < bound->except_count; j++)
            use_root(bound->rule, bound->except[j].path, &used);
    }
    if (bound_scratch(request->bound) && request->bound->bindings.roots[ROOT_TMP].state == ROOT_SYMBOLIC)
        used.own[ROOT_TMP] = true;
    return used;
}

static void put_own_root(struct buffer *out, enum root root)
{
    const char *name = root_names[root];
    /* A root that need not exist: without a value its rules speak of a path that cannot be. */
    const char *without = root_defaults[root] != NULL ? root_defaults[root] : "/dev/null/unset";
    buffer_format(out, "root SBX_%s \"${SBX_%s:-%s}\"\n", name, name, without);
    if (root == ROOT_HOME)
        buffer_string(out, "homes=$homes$SBX_HOME$newline\n"
                           "[ -n \"$(find \"$SBX_HOME\" -prune -user \"$(id -u)\")\" ] || refuse "
                           "\"$SBX_HOME is not yours\"\n");
}

static const char *const account_places[ROOTS] = {
    [ROOT_HOME] = "", [ROOT_CONFIG] = "/.config", [ROOT_CACHE] = "/.cache", [ROOT_DATA] = "/.local/share"};

/* An account that the user database does not know has no home that a root could be too wide for. */
static void put_account(struct buffer *out, bool required)
{
    buffer_string(out, "account=$(getent passwd \"$(id -u)\" | cut -d: -f6)\n");
    if (required)
        buffer_string(out,
                      "[ -n \"$account\" ] || refuse \"the user database has no home directory of yours\"\n"
                      "root account \"$account\"\n");
    else
        buffer_string(out, "[ -z \"$account\" ] || root account \"$account\"\n");
    buffer_string(out, "homes=$homes$account$newline\n");
}

static void put_roots(struct buffer *out, const struct used_roots *used)
{
    if (used->account_home)
        put_account(out, used->account_roots);
    for (int root = 0; root < ROOTS; root++) {
        if (used->own[root])
            put_own_root(out, (enum root)root);
        if (used->account[root])
            buffer_format(out, "root ACCOUNT_%s \"$account%s\"\n", root_names[root], account_places[root]);
    }
}

/* ---- rules ---- */

static const char *const level_words[] = {
    [LEVEL_NONE] = "none", [LEVEL_READ] = "read", [LEVEL_WRITE] = "write"};

static void put_wide_check(struct buffer *out, const struct bound_rule *bound)
{
    buffer_string(out, "! wide ");
    put_path(out, bound->rule, bound->at.path);
    buffer_string(out, " || refuse \"");
    buffer_format(out, "$%s is too wide\"\n", variable_name(out->arena, bound->rule, bound->at.path));
}

static void put_grant(struct buffer *out, const struct bound_rule *bound)
{
    const struct rule *rule = bound->rule;
    if (may_be_wide(bound) && rule->automatic) {
        buffer_string(out, "wide ");
        put_path(out, rule, bound->at.path);
        buffer_string(out, " || ");
    } else if (may_be_wide(bound)) {
        put_wide_check(out, bound);
    }
    buffer_format(out, "%s %s ", rule->automatic ? "auto" : "grant", level_words[rule->level]);
    put_path(out, rule, bound->at.path);
    buffer_byte(out, '\n');
}

static void put_deny(struct buffer *out, const struct bound_rule *bound)
{
    buffer_format(out, "deny %s ",
                  level_words[bound->rule->kind == RULE_GRANT ? LEVEL_READ : bound->rule->level]);
    put_path(out, bound->rule, bound->at.path);
    for (uint32_t i = 0; i < bound->except_count; i++) {
        /* An exception that cannot be found here is not made. */
        if (bound->except[i].pattern || path_of_variable(bound->except[i].path))
            continue;
        buffer_byte(out, ' ');
        put_path(out, bound->rule, bound->except[i].path);
    }
    buffer_byte(out, '\n');
}

static void put_line(struct buffer *out, const char *word, const struct bound_rule *bound)
{
    buffer_format(out, "%s ", word);
    put_path(out, bound->rule, bound->at.path);
    buffer_byte(out, '\n');
}

static void put_limit(struct buffer *out, const char *word, const struct bound_rule *bound)
{
    if (limit_may_be_wide(bound))
        put_wide_check(out, bound);
    if (bound->rule->nothing)
        buffer_format(out, "limits %s\n", word);
    else
        put_line(out, strcmp(word, "read") == 0 ? "limit_read" : "limit_write", bound);
}

static bool is_shown(const struct emit_request *request, const struct bound_rule *bound)
{
    return text_opens_unix_sockets(request->bound) &&
           bound_socket(request->bound, bound->at.path, strlen(bound->at.path));
}

static void put_rule(struct buffer *out, const struct emit_request *request, const struct bound_rule *bound)
{
    bool path = bound->at.path != NULL;
    if (bound->dropped || text_needs_not(request, bound) ||
        (path && (bound->at.pattern || path_of_variable(bound->at.path))))
        return;
    switch (bound->rule->kind) {
    case RULE_GRANT:
        if (bound->holds_as_deny_write)
            put_deny(out, bound);
        else
            put_grant(out, bound);
        break;
    case RULE_DENY:
        put_deny(out, bound);
        break;
    case RULE_GRANT_SOCKET:
        if (is_shown(request, bound))
            put_line(out, "socket", bound);
        break;
    case RULE_DENY_SOCKET:
        put_line(out, "deny_socket", bound);
        break;
    case RULE_LIMIT_READ:
        put_limit(out, "read", bound);
        break;
    case RULE_LIMIT_WRITE:
        put_limit(out, "write", bound);
        break;
    /* Not about files, or not about this target. */
    case RULE_DENY_EXEC:
    case RULE_GRANT_NETWORK:
    case RULE_DENY_NETWORK:
    case RULE_GRANT_LISTEN:
    case RULE_DENY_LISTEN:
    case RULE_GRANT_ENV:
    case RULE_DENY_ENV:
    case RULE_SET_ENV:
    case RULE_GRANT_SERVICE:
    case RULE_DENY_SERVICE:
    case RULE_GRANT_SYSCALL:
    case RULE_DENY_SYSCALL:
    case RULE_GRANT_SCRATCH:
    case RULE_DENY_SCRATCH:
    case RULE_GRANT_BYPASS:
    case RULE_DENY_BYPASS:
    case RULE_LIMIT_SOCKET:
    case RULE_LIMIT_NETWORK:
    case RULE_LIMIT_ENV:
    case RULE_LIMIT_SERVICE:
    case RULE_PERMIT_BYPASS:
    case RULE_LIMIT_PROCESSES:
    case RULE_LIMIT_FILES:
    case RULE_LIMIT_MEMORY:
    case RULE_LIMIT_TIME:
    case RULE_ACCEPT:
    case RULE_EXPECT:
    case RULE_KINDS:
        break;
    }
}

static void put_layers(struct buffer *out, const struct emit_request *request)
{
    const struct policy *policy = request->policy;
    for (uint32_t layer = 0; layer < policy->layer_count; layer++) {
        if (layer > 0)
            buffer_format(out, "\n# managed layer: %s\nlayer\n",
                          escape_string(request->arena, policy->layers[layer].name));
        for (uint32_t i = 0; i < request->bound->rules.count; i++)
            if (request->bound->rules.items[i].rule->layer == layer)
                put_rule(out, request, &request->bound->rules.items[i]);
    }
}

/* ---- the script ---- */

static bool in_environment(const struct text_artifact *artifact, const char *name)
{
    for (uint32_t i = 0; i < artifact->environment.count; i++)
        if (strcmp(artifact->environment.items[i].name, name) == 0)
            return true;
    return false;
}

static bool granted_before(const struct bound_policy *bound, uint32_t rule)
{
    for (uint32_t i = 0; i < rule; i++)
        if (!bound->rules.items[i].dropped && bound->rules.items[i].rule->kind == RULE_GRANT_ENV &&
            strcmp(bound->rules.items[i].rule->name, bound->rules.items[rule].rule->name) == 0)
            return true;
    return false;
}

/* Grants of variables take their values from --env alone. */
static void put_variables_left_out(struct buffer *out, const struct emit_request *request,
                                   const struct text_artifact *artifact)
{
    const char *before = "# Left out: without --env NAME=VALUE these granted variables do not pass in:";
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        if (bound->dropped || bound->rule->kind != RULE_GRANT_ENV || granted_before(request->bound, i))
            continue;
        const char *name = bound->rule->name;
        bool closed = strchr(name, '*') == NULL && !bound_env(request->bound, name);
        if (closed || in_environment(artifact, name))
            continue;
        buffer_format(out, "%s %s", before, escape_string(request->arena, name));
        before = ",";
    }
    if (before[0] == ',')
        buffer_byte(out, '\n');
}

static void put_header(struct buffer *out, const struct emit_request *request,
                       const struct text_artifact *artifact, const struct used_roots *used)
{
    buffer_format(out, "#!/bin/sh\n# Made by sbxc %s from a policy: %s\n", request->version,
                  text_artifact_label(request, artifact));
    buffer_string(
        out,
        "# Edits belong in the .sbx file; this script is then made again.\n#\n"
        "# Runs \"$@\" in bubblewrap. Beside it lies its seccomp program, of the same name with .bpf.\n");
    for (int root = 0; root < ROOTS; root++)
        if (used->own[root])
            buffer_format(out, "# SBX_%s: $%s; without it %s\n", root_names[root], root_names[root],
                          root_defaults[root] != NULL ? root_defaults[root]
                                                      : "what speaks of it is left out");
    for (int i = 0; i < CONTROLS; i++)
        if (artifact->accepted[i] != NULL)
            buffer_format(out, "# Accepted: %s is not held here, because %s\n", control_names[i],
                          escape_string(request->arena, artifact->accepted[i]->value));
    for (const char *const *name = artifact->left_out; *name != NULL; name++)
        buffer_format(out, "# Left out: rules on $env.%s; --env %s=VALUE would bind it\n", *name, *name);
    put_variables_left_out(out, request, artifact);
    if (bound_scratch(request->bound) && !text_opens_unix_sockets(request->bound))
        buffer_string(out,
                      "# Scratch comes without Unix sockets: accept socket.path on bwrap would open them.\n");
}

static void put_settings(struct buffer *out, const struct emit_request *request)
{
    const struct root_value *temporary = &request->bound->bindings.roots[ROOT_TMP];
    if (bound_scratch(request->bound)) {
        buffer_string(out, "scratch=yes\n");
        if (temporary->state == ROOT_BOUND && temporary->count > 0) {
            buffer_string(out, "SBX_TMP=");
            put_value(out, temporary->paths[0]);
            buffer_byte(out, '\n');
        }
    }
    if (network_is_shared(request->bound))
        buffer_string(out, "network=open\n");
}

/* Where the command starts: in $WORK if it may be there. */
static void put_start(struct buffer *out, const struct emit_request *request, const struct used_roots *used)
{
    const struct root_value *work = &request->bound->bindings.roots[ROOT_WORK];
    uint64_t files = bound_limit(request->bound, RULE_LIMIT_FILES);
    if (work->state == ROOT_BOUND && work->count > 0) {
        buffer_string(out, "start=");
        put_value(out, work->paths[0]);
        buffer_byte(out, '\n');
    } else if (used->own[ROOT_WORK]) {
        buffer_string(out, "start=$SBX_WORK\n");
    }
    if (files != 0)
        buffer_format(out, "files=%" PRIu64 "\n", files);
}

static void put_environment(struct buffer *out, const struct text_artifact *artifact)
{
    for (uint32_t i = 0; i < artifact->environment.count; i++) {
        buffer_format(out, "set -- \"$@\" --setenv %s ", artifact->environment.items[i].name);
        put_value(out, artifact->environment.items[i].value);
        buffer_byte(out, '\n');
    }
}

/* Paths are kept one a line. */
static bool check_paths(const struct emit_request *request)
{
    bool writable = true;
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        bool bad = bound->at.path != NULL && has_control(bound->at.path);
        for (uint32_t j = 0; j < bound->except_count; j++)
            bad = bad || has_control(bound->except[j].path);
        if (bound->dropped || !bad || bound->rule->kind == RULE_EXPECT)
            continue;
        writable = false;
        note_add(request->notes,
                 (struct note){
                     .code = SBX305_PATH_UNWRITABLE,
                     .rule = bound->rule,
                     .text = arena_format(request->arena, "a shell script cannot hold the path of \"%s\"",
                                          rule_text(request->arena, bound->rule)),
                     .help = "use -t bwrap with --root, or start the command with sbx-launch",
                 });
    }
    return writable;
}

bool emit_bwrap_sh(const struct emit_request *request, struct buffer *out)
{
    struct text_artifact artifact;
    bool paths = check_paths(request);
    if (!text_artifact_prepare(request, "bwrap-sh", true, &artifact) || !paths)
        return false;

    struct used_roots used = roots_used(request);
    put_header(out, request, &artifact, &used);
    buffer_string(out, bwrap_sh_rules);
    buffer_string(out, "\n# The policy.\n");
    put_roots(out, &used);
    put_settings(out, request);
    put_start(out, request, &used);
    put_layers(out, request);
    buffer_byte(out, '\n');
    buffer_string(out, bwrap_sh_mounts);
    put_environment(out, &artifact);
    buffer_string(out, bwrap_sh_start);
    return true;
}
