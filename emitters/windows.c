#include "emitters/windows.h"

#include "base/escape.h"
#include "emitters/bwrap_text.h"
#include "emitters/control_need.h"
#include "emitters/control_windows.h"
#include "emitters/windows_environment.h"
#include "emitters/windows_objects.h"
#include "emitters/windows_size.h"
#include "emitters/windows_write.h"
#include "emitters/windows_xml.h"

#include <string.h>

enum { LEAST_BUILD = 19041 };

struct specification {
    const struct emit_request *request;
    struct arena *arena;
    struct windows_ground ground;
    enum windows_tier tier;
    const char *const *left_out;
};

/* ---- for people ---- */

static const char *hash_text(const struct specification *spec)
{
    struct buffer text = buffer_in(spec->arena);
    for (size_t i = 0; i < sizeof spec->request->policy->effective_hash; i++)
        buffer_format(&text, "%02x", spec->request->policy->effective_hash[i]);
    return text.bytes;
}

static const char *exceptions(const struct specification *spec)
{
    struct buffer text = buffer_in(spec->arena);
    for (int i = 0; i < CONTROLS && spec->request->accepted != NULL; i++)
        if (spec->request->accepted[i] != NULL)
            buffer_format(&text, "%s%s", text.length > 0 ? "," : "", control_names[i]);
    return text.length > 0 ? text.bytes : "none";
}

static const char *const root_words[ROOTS] = {
    [ROOT_WORK] = "the working directory of the command",
    [ROOT_HOME] = "the profile of the account",
    [ROOT_TMP] = "the user's temporary directory",
    [ROOT_CONFIG] = "where programs keep their settings",
    [ROOT_CACHE] = "where programs keep their caches",
    [ROOT_DATA] = "where programs keep their data",
    [ROOT_REPO] = "the repository around the working directory, if there is one",
    [ROOT_GITDIR] = "its Git directory, if there is one",
    [ROOT_SUBMODULES] = "its submodules, if there are some",
    [ROOT_GITDIRS] = "the Git directories of its linked worktrees and submodules",
};

static bool uses_root(const char *path, const char *root)
{
    size_t length = strlen(root);
    return path[0] == '$' && strncmp(path + 1, root, length) == 0 &&
           (path[length + 1] == '\0' || path[length + 1] == '\\');
}

static bool acl_uses_root(const struct windows_acl *acl, const char *root)
{
    for (uint32_t i = 0; i < acl->objects.count; i++)
        if (uses_root(acl->objects.items[i].path, root))
            return true;
    for (uint32_t i = 0; i < acl->matches.count; i++)
        if (uses_root(acl->matches.items[i].pattern, root))
            return true;
    return false;
}

static void put_roots(struct buffer *out, const struct specification *spec, const struct windows_acl *acl)
{
    bool any = false;
    for (int root = 0; root < ROOTS; root++) {
        if (root_words[root] == NULL || !acl_uses_root(acl, root_names[root]))
            continue;
        if (!any)
            xml_comment_line(out, "Roots that sbx-launch.exe binds when it starts:");
        any = true;
        xml_comment_line(out, arena_format(spec->arena, "  $%s: %s", root_names[root], root_words[root]));
    }
}

static void put_left_out(struct buffer *out, const char *const *left_out)
{
    struct buffer line = buffer_in(out->arena);
    if (*left_out != NULL)
        xml_comment_line(out, "Left out are rules on these variables, which have no value here:");
    for (; *left_out != NULL; left_out++) {
        buffer_format(&line, "%s$env.%s", line.length > 0 ? ", " : "  ", *left_out);
        if (line.length < 90 && left_out[1] != NULL)
            continue;
        xml_comment_line(out, line.bytes);
        line.length = 0;
    }
}

static void put_comment(struct buffer *out, const struct specification *spec, const struct windows_acl *acl)
{
    const struct emit_request *request = spec->request;
    buffer_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n");
    xml_comment_line(out,
                     arena_format(spec->arena, "Made by sbxc %s from a policy: %s sha256:%s exceptions=%s",
                                  request->version, escape_string(spec->arena, request->policy->name),
                                  hash_text(spec), exceptions(spec)));
    for (int i = 0; i < CONTROLS && request->accepted != NULL; i++)
        if (request->accepted[i] != NULL)
            xml_comment_line(out, arena_format(spec->arena, "Accepted: %s is not held here, because %s",
                                               control_names[i],
                                               escape_string(spec->arena, request->accepted[i]->value)));
    xml_comment_line(out, arena_format(spec->arena, "Held by %s.", windows_tier_words[spec->tier]));
    xml_comment_line(out, "sbx-launch.exe starts a command with it.");
    put_roots(out, spec, acl);
    put_left_out(out, spec->left_out);
    xml_comment_line(out, "Edits belong in the .sbx file; this specification is then made again.");
    buffer_string(out, "-->\n");
}

/* ---- what holds ---- */

static void put_claim(struct buffer *out, const char *control, const char *strength, const char *text)
{
    buffer_format(out, "    <%s name=\"%s\"", strength != NULL ? "control" : "accepted", control);
    if (strength != NULL)
        xml_attribute(out, "strength", strength);
    buffer_byte(out, '>');
    xml_text(out, *text != '\0' ? text : "no reason given");
    buffer_format(out, "</%s>\n", strength != NULL ? "control" : "accepted");
}

static void put_guarantees(struct buffer *out, const struct specification *spec)
{
    const struct rule *const *accepted = spec->request->accepted;
    struct control_need needs[CONTROLS];
    controls_needed(spec->request->bound, needs);
    buffer_string(out, "  <guarantees>\n");
    for (int i = 0; i < CONTROLS; i++) {
        struct control_entry entry = control_windows_entry(&spec->ground, spec->tier, (enum control)i);
        if (needs[i].needed && (accepted == NULL || accepted[i] == NULL))
            put_claim(out, control_names[i], strength_names[entry.strength], entry.reason);
    }
    for (int i = 0; i < CONTROLS && accepted != NULL; i++)
        if (accepted[i] != NULL)
            put_claim(out, control_names[i], NULL, accepted[i]->value);
    for (const char *const *open = windows_tier_open(spec->tier, spec->ground.network); *open != NULL;
         open++) {
        buffer_string(out, "    <open>");
        xml_text(out, *open);
        buffer_string(out, "</open>\n");
    }
    buffer_string(out, "  </guarantees>\n");
}

/* ---- process ---- */

static void put_token(struct buffer *out, const struct specification *spec)
{
    static const struct {
        unsigned bit;
        const char *name;
    } capabilities[] = {{WINDOWS_INTERNET_CLIENT, "internetClient"},
                        {WINDOWS_INTERNET_CLIENT_SERVER, "internetClientServer"},
                        {WINDOWS_PRIVATE_NETWORK, "privateNetworkClientServer"}};
    if (spec->tier != WINDOWS_APPCONTAINER) {
        buffer_format(out, "  <token integrity=\"%s\" write-restricted=\"true\" drop-privileges=\"true\">\n",
                      spec->tier == WINDOWS_RESTRICTED_LOW ? "low" : "medium");
        buffer_string(out, "    <restrict sid=\"run\"/>\n    <restrict sid=\"logon\"/>\n  </token>\n");
        return;
    }
    unsigned wanted = windows_network_capabilities(spec->request->bound);
    buffer_string(out, "  <token integrity=\"low\" write-restricted=\"false\" drop-privileges=\"true\"/>\n");
    buffer_string(out, wanted != 0 ? "  <appcontainer>\n" : "  <appcontainer/>\n");
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if ((wanted & capabilities[i].bit) != 0)
            buffer_format(out, "    <capability name=\"%s\"/>\n", capabilities[i].name);
    buffer_string(out, wanted != 0 ? "  </appcontainer>\n" : "");
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static void put_job(struct buffer *out, const struct specification *spec)
{
    const struct bound_policy *bound = spec->request->bound;
    uint64_t processes = bound_limit(bound, RULE_LIMIT_PROCESSES),
             memory = bound_limit(bound, RULE_LIMIT_MEMORY);
    uint64_t seconds = bound_limit(bound, RULE_LIMIT_TIME);
    buffer_string(out, "  <job kill-on-close=\"true\" breakaway=\"false\"");
    if (processes != 0)
        xml_number(out, "active-processes", at_most(processes, WINDOWS_PROCESSES_MOST));
    if (memory != 0)
        xml_number(out, "memory", at_most(memory, WINDOWS_AMOUNT_MOST));
    if (seconds != 0)
        xml_number(out, "time-ms", at_most(seconds, WINDOWS_AMOUNT_MOST / 1000) * 1000);
    buffer_string(out, "/>\n  <desktop mode=\"private\"/>\n");
    buffer_string(out, bound_scratch(bound) ? "  <scratch/>\n" : "");
}

/* ---- access ---- */

static void put_label(struct buffer *out, const struct windows_label *label)
{
    if (!label->present)
        return;
    buffer_format(out, "      <label level=\"%s\" policy=\"nw%s%s\"/>\n",
                  label->level == WINDOWS_LOW ? "low" : "medium",
                  (label->policy & WINDOWS_NO_READ_UP) != 0 ? " nr" : "",
                  (label->policy & WINDOWS_NO_EXECUTE_UP) != 0 ? " nx" : "");
}

static void put_ace(struct buffer *out, const struct windows_ace *ace)
{
    if (ace->mask == 0)
        return;
    buffer_format(out, "      <ace type=\"%s\" sid=\"%s\" mask=\"0x%x\"%s/>\n", ace->deny ? "deny" : "allow",
                  ace->principal == WINDOWS_PACKAGE ? "package" : "run", (unsigned)ace->mask,
                  ace->inherit ? " inherit=\"true\"" : "");
}

static void put_object(struct buffer *out, const struct windows_object *object)
{
    static const char *const kinds[] = {
        [WINDOWS_ANY] = "any", [WINDOWS_DIRECTORY] = "dir", [WINDOWS_FILE] = "file"};
    static const char *const missing[] = {[WINDOWS_SKIP] = "skip",
                                          [WINDOWS_CREATE_DIRECTORY] = "create-dir",
                                          [WINDOWS_CREATE_FILE] = "create-file"};
    buffer_string(out, "    <object");
    xml_attribute(out, "path", object->path);
    xml_attribute(out, "kind", kinds[object->kind]);
    xml_attribute(out, "on-missing", missing[object->missing]);
    if (object->cap)
        xml_attribute(out, "cap", "true");
    if (object->automatic)
        xml_attribute(out, "automatic", "true");
    xml_attribute(out, "rule", object->rule);
    buffer_string(out, ">\n");
    put_label(out, &object->label);
    for (uint32_t i = 0; i < object->ace_count; i++)
        put_ace(out, &object->aces[i]);
    buffer_string(out, "    </object>\n");
}

static void put_match(struct buffer *out, const struct windows_match *match)
{
    buffer_string(out, "    <match");
    xml_attribute(out, "pattern", match->pattern);
    xml_attribute(out, "rule", match->rule);
    buffer_string(out, ">\n");
    for (uint32_t i = 0; i < match->except_count; i++) {
        buffer_string(out, "      <except");
        xml_attribute(out, "path", match->excepts[i]);
        buffer_string(out, "/>\n");
    }
    put_label(out, &match->label);
    put_ace(out, &match->ace);
    buffer_string(out, "    </match>\n");
}

static void put_acl(struct buffer *out, const struct windows_acl *acl)
{
    buffer_string(out, "  <acl>\n");
    for (uint32_t i = 0; i < acl->requires.count; i++) {
        buffer_string(out, "    <require");
        xml_attribute(out, "path", acl->requires.items[i].path);
        xml_attribute(out, "not-below", acl->requires.items[i].below);
        buffer_string(out, "/>\n");
    }
    for (uint32_t i = 0; i < acl->objects.count; i++)
        put_object(out, &acl->objects.items[i]);
    for (uint32_t i = 0; i < acl->matches.count; i++)
        put_match(out, &acl->matches.items[i]);
    buffer_string(out, "  </acl>\n</sbx-windows>\n");
}

/* ---- the artifact ---- */

static bool is_small_enough(const struct specification *spec, const struct windows_acl *acl, size_t length)
{
    const struct windows_spec counted = {.requires = acl->requires.items,
                                         .require_count = acl->requires.count,
                                         .objects = acl->objects.items,
                                         .object_count = acl->objects.count,
                                         .matches = acl->matches.items,
                                         .match_count = acl->matches.count};
    const char *problem = windows_size_problem(spec->arena, &counted);
    if (problem == NULL && length <= WINDOWS_XML_SIZE)
        return true;
    if (problem == NULL)
        problem = arena_format(spec->arena, "it has %zu bytes, and may have %d", length, WINDOWS_XML_SIZE);
    note_add(spec->request->notes,
             (struct note){
                 .code = SBX322_WINDOWS_TOO_LARGE,
                 .text = arena_join(spec->arena, "the specification for Windows is too large: ", problem)});
    return false;
}

static bool is_valid(const struct specification *spec, const struct buffer *out, size_t from)
{
    const char *error = NULL;
    if (windows_load(spec->arena, out->bytes + from, out->length - from, &error) != NULL)
        return true;
    note_add(spec->request->notes,
             (struct note){.code = SBX352_WINDOWS_INVALID,
                           .text = arena_format(
                               spec->arena,
                               "internal error: the specification that was made is not valid: %s", error)});
    return false;
}

bool emit_windows(const struct emit_request *request, struct buffer *out)
{
    struct specification spec = {
        .request = request, .arena = request->arena, .ground = windows_ground_of(request->bound)};
    struct control_need needs[CONTROLS];
    size_t from = out->length;
    if (!text_variables(request, &spec.left_out))
        return false;
    controls_needed(request->bound, needs);
    spec.tier = windows_tier_for(&spec.ground, needs);
    struct windows_acl acl = windows_acl_of(request, spec.tier);
    put_comment(out, &spec, &acl);
    buffer_string(out, "<sbx-windows xmlns=\"urn:sbx:windows:1\" version=\"1\"");
    xml_attribute(out, "tier", windows_tier_names[spec.tier]);
    xml_attribute(out, "policy", request->policy->name);
    xml_attribute(out, "policy-sha256", hash_text(&spec));
    xml_number(out, "min-build", LEAST_BUILD);
    buffer_string(out, ">\n");
    put_guarantees(out, &spec);
    put_token(out, &spec);
    put_job(out, &spec);
    if (!windows_write_environment(request, out))
        return false;
    put_acl(out, &acl);
    return is_small_enough(&spec, &acl, out->length - from) && is_valid(&spec, out, from);
}
