#include "emitters/seatbelt.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/bwrap_text.h"
#include "emitters/control_seatbelt.h"
#include "emitters/seatbelt_base.h"
#include "emitters/seatbelt_files.h"
#include "emitters/seatbelt_network.h"
#include "emitters/seatbelt_service.h"
#include "emitters/seatbelt_set.h"

#include <string.h>

/* ---- what the artifact is ---- */

static void put_label(struct buffer *out, const struct emit_request *request)
{
    bool any = false;
    buffer_format(out, "; Made by sbxc %s from a policy: %s sha256:", request->version,
                  escape_string(request->arena, request->policy->name));
    for (size_t i = 0; i < sizeof request->policy->effective_hash; i++)
        buffer_format(out, "%02x", request->policy->effective_hash[i]);
    buffer_string(out, " exceptions=");
    for (int i = 0; i < CONTROLS && request->accepted != NULL; i++)
        if (request->accepted[i] != NULL) {
            buffer_format(out, "%s%s", any ? "," : "", control_names[i]);
            any = true;
        }
    buffer_string(out, any ? "\n" : "none\n");
    for (int i = 0; i < CONTROLS && request->accepted != NULL; i++)
        if (request->accepted[i] != NULL)
            buffer_format(out, "; Accepted: %s is not held here, because %s\n", control_names[i],
                          escape_string(request->arena, request->accepted[i]->value));
}

static const char reading[] = "; How to read it: a rule allows or denies operations (file-read*, "
                              "process-exec* and so on) for whatever one of its\n"
                              "; filters matches. Of the rules on one operation the last that matches "
                              "decides; one without filters only where no\n"
                              "; other matches. (subpath X) is X and all below it, (literal X) is X alone, "
                              "(regex X) is every path that the\n"
                              "; expression matches, (require-not F) is what F does not match, and "
                              "(require-all F G) is what both match.\n"
                              ";\n";

/* ---- parameters ---- */

static const struct {
    const char *what, *value; /* `value`: how a shell says it; NULL: the root need not be there */
} root_words[ROOTS] = {
    [ROOT_WORK] = {"the working directory of the command", "$(pwd -P)"},
    [ROOT_HOME] = {"the home directory", "$(cd && pwd -P)"},
    [ROOT_TMP] = {"the user's temporary directory", "$(cd \"${TMPDIR:?}\" && pwd -P)"},
    [ROOT_CONFIG] = {"where programs keep their settings", "$(cd && pwd -P)/Library/Application Support"},
    [ROOT_CACHE] = {"where programs keep their caches", "$(cd && pwd -P)/Library/Caches"},
    [ROOT_DATA] = {"where programs keep their data", "$(cd && pwd -P)/Library/Application Support"},
    [ROOT_REPO] = {"the repository around the working directory", NULL},
    [ROOT_GITDIR] = {"its Git directory", NULL},
    [ROOT_SUBMODULES] = {"a submodule", NULL},
    [ROOT_GITDIRS] = {"the Git directory of a linked worktree or submodule", NULL},
};

static void put_example(struct buffer *out, const struct profile *profile)
{
    const char *file = profile->request->output_name;
    buffer_string(out, "; Start a command with it, and with no more variables than the policy grants:\n"
                       ";   env -i PATH=\"$PATH\" HOME=\"$HOME\" /usr/bin/sandbox-exec");
    for (int root = 0; root < ROOTS; root++) {
        if (profile->used[root] && root_words[root].value != NULL)
            buffer_format(out, " -D %s=\"%s\"", root_names[root], root_words[root].value);
        if (profile->account[root])
            buffer_format(out, " -D ACCOUNT_%s=\"%s\"", root_names[root], root_words[root].value);
    }
    buffer_format(out, " -f %s COMMAND\n", *file == '\0' ? "policy.sb" : escape_string(profile->arena, file));
}

static void put_parameters(struct buffer *out, const struct profile *profile)
{
    bool scratch = bound_scratch(profile->request->bound);
    put_example(out, profile);
    buffer_string(
        out, "; Each parameter is an absolute path without links, as `pwd -P` prints it, and without a final "
             "slash.\n");
    for (int root = 0; root < ROOTS; root++) {
        if (profile->used[root])
            buffer_format(out, "; parameter: %s %s - %s\n", root_names[root],
                          root_words[root].value != NULL ? "required" : "optional", root_words[root].what);
        if (profile->account[root])
            buffer_format(out, "; parameter: ACCOUNT_%s required - %s, by the user database\n",
                          root_names[root], root_words[root].what);
    }
    if (scratch)
        buffer_string(
            out, "; parameter: SCRATCH optional - an empty directory made for this run; TMPDIR should name "
                 "it\n");
    buffer_string(out, "; parameter: TERMINAL optional - a terminal that the command may control\n");
}

static void put_define(struct buffer *out, const char *name, bool required)
{
    if (required)
        buffer_format(out, "(define %s_PATH (resolved (param \"%s\")))\n", name, name);
    else
        buffer_format(out,
                      "(define %s_PATH (if (param \"%s\") (resolved (param \"%s\")) \"/dev/null/unset\"))\n",
                      name, name, name);
}

/* Rules on another spelling of a path match nothing, so that a deny would be none. */
static const char resolved[] =
    "\n; A parameter that is empty, not absolute, ends in a slash or leads through a link of macOS refuses "
    "the\n"
    "; profile: the rules made of it would match nothing.\n"
    "(define (begins text start)\n"
    "  (and (>= (string-length text) (string-length start))\n"
    "       (string=? (substring text 0 (string-length start)) start)))\n"
    "(define (ends-in-slash text)\n"
    "  (string=? (substring text (- (string-length text) 1) (string-length text)) \"/\"))\n"
    "(define (resolved text)\n"
    "  (and text\n"
    "       (begins text \"/\")\n"
    "       (not (ends-in-slash text))\n"
    "       (not (begins (string-append text \"/\") \"/tmp/\"))\n"
    "       (not (begins (string-append text \"/\") \"/var/\"))\n"
    "       (not (begins (string-append text \"/\") \"/etc/\"))\n"
    "       text))\n";

static void put_defines(struct buffer *out, const struct profile *profile)
{
    bool required = false;
    for (int root = 0; root < ROOTS; root++)
        required = required || profile->used[root] || profile->account[root];
    buffer_string(out, resolved);
    buffer_string(
        out, required ? "\n; The parameters. Without a required one the profile is refused; what hangs on an "
                        "optional one that is\n; missing speaks of a path that cannot be.\n"
                      : "\n; What hangs on a parameter that is missing speaks of a path that cannot be.\n");
    for (int root = 0; root < ROOTS; root++) {
        if (profile->used[root])
            put_define(out, root_names[root], root_words[root].value != NULL);
        if (profile->account[root])
            put_define(out, arena_format(profile->arena, "ACCOUNT_%s", root_names[root]), true);
    }
    if (bound_scratch(profile->request->bound))
        put_define(out, "SCRATCH", false);
    put_define(out, "TERMINAL", false);
}

/* Whether the rule opens or limits to such a root itself: that must not come out as the home directory or
 * above it (language.md 3). */
static bool may_be_wide(const struct bound_rule *bound)
{
    enum rule_kind kind = bound->rule->kind;
    enum root root = bound->rule->path.root;
    bool opens = kind == RULE_GRANT || kind == RULE_LIMIT_READ || kind == RULE_LIMIT_WRITE;
    return opens && !bound->dropped && !bound->holds_as_deny_write && bound->at.path != NULL &&
           !place_is_unknown(&bound->at) && root != ROOT_SLASH && root != ROOT_DRIVE && root != ROOT_HOME &&
           *bound->rule->path.rest == '\0';
}

/* Binding has compared what both have a value. */
static void put_wide_conditions(struct buffer *out, struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    const struct root_value *home = &bound->bindings.roots[ROOT_HOME];
    struct place caller = {"HOME", "", false};
    struct place_set wide = {0};
    if (home->state == ROOT_UNSET)
        return;
    if (home->state == ROOT_BOUND)
        caller = (struct place){NULL, home->paths[0], false};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (!may_be_wide(rule))
            continue;
        struct place place = place_of(profile, rule->rule, &rule->at);
        if (place.root != NULL || caller.root != NULL)
            VECTOR_PUSH(profile->arena, &wide, place_text(profile->arena, place));
    }
    place_set_finish(&wide);
    for (uint32_t i = 0; i < wide.count; i++) {
        buffer_string(out, "; requires: ");
        place_quote(out, place_read(profile->arena, wide.items[i]));
        buffer_string(out, " not-at-or-above ");
        place_quote(out, caller);
        buffer_byte(out, '\n');
    }
}

static void put_left_out(struct buffer *out, const char *const *left_out)
{
    for (; *left_out != NULL; left_out++)
        buffer_format(out, "; Left out: rules on $env.%s; --env %s=VALUE would bind it\n", *left_out,
                      *left_out);
}

/* ---- variables ---- */

static void put_variables(struct buffer *out, const struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    struct place_set names = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        bool plain = rule->rule->kind == RULE_GRANT_ENV && strchr(rule->rule->name, '*') == NULL;
        if (!rule->dropped && rule->rule->kind == RULE_GRANT_ENV &&
            (!plain || bound_env(bound, rule->rule->name)))
            VECTOR_PUSH(profile->arena, &names, rule->rule->name);
        if (!rule->dropped && rule->rule->kind == RULE_SET_ENV)
            buffer_format(out, "; The policy sets %s=%s\n", escape_string(profile->arena, rule->rule->name),
                          escape_string(profile->arena, rule->rule->value));
    }
    place_set_finish(&names);
    for (uint32_t i = 0, length = 0; i < names.count; i++) {
        const char *name = escape_string(profile->arena, names.items[i]);
        if (i == 0 || length + strlen(name) > 90) {
            buffer_string(out, i == 0 ? "; The policy grants the variables " : ",\n;   ");
            length = 0;
        } else {
            buffer_string(out, ", ");
        }
        buffer_string(out, name);
        length += (uint32_t)strlen(name) + 2;
    }
    buffer_string(out, names.count > 0 ? "\n" : "");
}

/* ---- the profile ---- */

static void put_scratch(struct profile *profile)
{
    if (!bound_scratch(profile->request->bound))
        return;
    profile_comment(profile, "The directory made for this run, with Unix sockets in it.");
    profile_line(profile,
                 "(allow " READ_OPERATIONS "\n  " WRITE_OPERATIONS "\n  " SOCKET_OPERATIONS
                 "\n  (subpath SCRATCH_PATH))",
                 NULL);
    profile_line(profile, "(deny file-write-unlink (literal SCRATCH_PATH))",
                 "it is the launcher's to remove");
}

static bool below_data_volume(const struct placed_grants *grants)
{
    static const char volume[] = "/System/Volumes/Data";
    for (uint32_t i = 0; i < grants->count; i++)
        if (grants->items[i].place.root == NULL &&
            strncmp(grants->items[i].place.rest, volume, sizeof volume - 1) == 0)
            return true;
    return false;
}

static void put_sections(struct profile *profile, const struct file_rules *rules)
{
    const struct bound_policy *bound = profile->request->bound;
    profile->shows_data_volume =
        below_data_volume(&rules->automatic) || below_data_volume(&rules->configured);
    profile->opens_sockets = rules->sockets.count > 0 || bound_scratch(bound) ||
                             services_open_sockets(bound) || bound_network_open(bound, NULL);
    profile_base(profile);
    profile_network(profile);
    profile_services(profile);
    profile_grants(profile, rules);
    profile_limits(profile);
    put_scratch(profile);
    profile_devices(profile);
    profile_denies(profile, rules);
    profile_pins(profile, rules);
    profile_exec_denies(profile, rules);
    profile_passage(profile, rules);
    profile_check_size(profile);
}

bool seatbelt_write(const struct emit_request *request, struct buffer *out)
{
    bool held = control_seatbelt_text(request);
    return emit_seatbelt_launch(request, out) && held;
}

bool emit_seatbelt_launch(const struct emit_request *request, struct buffer *out)
{
    struct profile profile = {.request = request, .arena = request->arena, .body = buffer_in(request->arena)};
    const char *const *left_out = NULL;
    if (!text_variables(request, &left_out))
        return false;
    struct file_rules rules = file_rules_of(&profile);
    put_sections(&profile, &rules);

    struct buffer head = buffer_in(request->arena);
    put_label(&head, request);
    buffer_string(&head, "; Edits belong in the .sbx file; this profile is then made again.\n;\n");
    buffer_string(&head, reading);
    put_parameters(&head, &profile);
    put_wide_conditions(&head, &profile);
    grants_conditions(&profile, &rules.configured, &head);
    put_variables(&head, &profile);
    put_left_out(&head, left_out);
    buffer_string(&head, "\n(version 1)\n");
    put_defines(&head, &profile);
    if (profile.failed)
        return false;
    buffer_bytes(out, head.bytes, head.length);
    buffer_bytes(out, profile.body.bytes, profile.body.length);
    return true;
}

bool emit_seatbelt(const struct emit_request *request, struct buffer *out)
{
    return control_seatbelt_text(request) && seatbelt_write(request, out);
}
