#include "policy/file_check.h"

#include "base/escape.h"
#include "policy/pattern.h"

#include <stdio.h>
#include <string.h>

enum { TITLE_LONGEST = 64, HOST_LONGEST = 253 + 2, PATH_LONGEST = 4096 };

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Whether `string` is not empty and holds only letters, digits and bytes of `others`. */
static bool consists_of(const char *string, const char *others)
{
    for (const char *at = string; *at != '\0'; at++)
        if (!is_letter(*at) && !is_digit(*at) && strchr(others, *at) == NULL)
            return false;
    return *string != '\0';
}

static bool is_text(const char *string)
{
    size_t length = strlen(string);
    if (!utf8_valid(string, length))
        return false;
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0'; at++)
        if (*at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0))
            return false;
    return true;
}

static bool is_title(const char *string)
{
    return consists_of(string, "._ -") && (is_letter(*string) || is_digit(*string)) &&
           strlen(string) <= TITLE_LONGEST;
}

static bool is_name(const char *string)
{
    return consists_of(string, "_") && !is_digit(*string);
}

static bool is_host(const char *string)
{
    const char *labels = string;
    if (*string == '*')
        labels = string[1] == '.' ? string + 2 : string + 1;
    if (labels > string && *labels == '\0')
        return string[1] == '\0';
    for (const char *at = labels; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            return false;
    size_t length = strlen(labels);
    return consists_of(labels, "-_.") && length <= HOST_LONGEST && *labels != '.' &&
           labels[length - 1] != '.' && strstr(labels, "..") == NULL;
}

/* "" or "/a/b": no empty component, no "." or "..", no '/' at the end. */
static bool is_rest(const char *string)
{
    const char *at = string;
    if (strlen(string) > PATH_LONGEST)
        return false;
    while (*at == '/') {
        size_t length = strcspn(++at, "/");
        if (length == 0 || (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += length;
    }
    return *at == '\0';
}

/* Whether `string` is the rest of a pattern that begins with `start`. */
static bool is_pattern(const char *string, const char *start)
{
    enum { START_LONGEST = 8 };
    char text[START_LONGEST + PATH_LONGEST + 1];
    size_t at;
    if (*string == '\0' || !is_rest(string))
        return false;
    for (const char *escape = string; (escape = strchr(escape, '\\')) != NULL; escape += 2)
        if (escape[1] <= ' ' || escape[1] > '~' || is_letter(escape[1]) || is_digit(escape[1]))
            return false;
    snprintf(text, sizeof text, "%s%s", start, string);
    return pattern_check(text, &at) == NULL;
}

bool string_has_form(const char *string, enum string_form form)
{
    switch (form) {
    case FORM_TITLE:
        return is_title(string);
    case FORM_TEXT:
        return is_text(string);
    case FORM_FILE:
        return *string != '\0' && strlen(string) <= PATH_LONGEST;
    case FORM_WORD:
        return consists_of(string, "._-");
    case FORM_NAME:
        return is_name(string);
    case FORM_VARIABLES:
        return *string != '\0' && is_text(string) && strchr(string, '=') == NULL;
    case FORM_ARGUMENT:
        return *string != '\0' && is_text(string);
    case FORM_COMMAND:
        return *string != '\0' && is_text(string) && strchr(string, '/') == NULL;
    case FORM_HOST:
        return is_host(string);
    case FORM_DRIVE:
        return *string >= 'A' && *string <= 'Z' && string[1] == '\0';
    case FORM_REST:
        return is_rest(string);
    case FORM_PATTERN:
        return is_pattern(string, "$WORK");
    case FORM_FIXED_PATTERN:
        return is_pattern(string, "");
    }
    return false;
}

static const char *network_problem(const struct rule *rule)
{
    const struct network *network = rule->network;
    static const uint8_t none[16] = {0};
    bool listens = rule->kind == RULE_GRANT_LISTEN || rule->kind == RULE_DENY_LISTEN;
    if (network->protocols == 0 || network->protocols > PROTOCOL_BITS)
        return "a network rule without a protocol";
    if (network->port_count == 0)
        return "a network rule without a port";
    if ((network->host != NULL) != (network->target == NETWORK_HOST))
        return "a host where none belongs, or none where one does";
    if (network->target != NETWORK_ADDRESS &&
        (network->prefix != 0 || memcmp(network->address, none, sizeof none) != 0))
        return "an address where none belongs";
    if (listens && network->target != NETWORK_LOOPBACK && network->target != NETWORK_ANY)
        return "a listen rule for something other than loopback or any";
    if (network->prefix > 128)
        return "a network prefix of more than 128 bits";
    for (unsigned bit = network->prefix; bit < 128; bit++)
        if (network->address[bit / 8] & 0x80 >> bit % 8)
            return "a network address with host bits set";
    bool wide = network->host != NULL && network->host[0] == '*' &&
                (network->host[1] == '\0' || strchr(network->host + 2, '.') == NULL);
    if (wide && rule->kind != RULE_DENY_NETWORK)
        return "a host pattern too wide for a grant or limit";
    return NULL;
}

static const char *level_problem(const struct rule *rule)
{
    if (rule->kind == RULE_GRANT && rule->level == LEVEL_NONE)
        return "a grant of nothing";
    if (rule->kind == RULE_DENY && rule->level == LEVEL_WRITE)
        return "a deny of nothing";
    return NULL;
}

static const char *path_problem(const struct rule *rule)
{
    bool denies = rule->kind == RULE_DENY || rule->kind == RULE_DENY_EXEC || rule->kind == RULE_DENY_SOCKET;
    bool grants = rule->kind == RULE_GRANT || rule->kind == RULE_GRANT_SOCKET;
    const struct policy_path *path = &rule->path;
    if (path->pattern && !denies)
        return "a pattern outside a deny";
    if (grants && *path->rest == '\0' && (path->root == ROOT_SLASH || path->root == ROOT_DRIVE))
        return "a grant of everything";
    if (root_is_found(path->root) && !denies && rule->kind != RULE_EXPECT)
        return "$SUBMODULES or $GITDIRS outside a deny";
    return NULL;
}

static const char *amount_problem(const struct rule *rule)
{
    if (rule->amount == 0)
        return "a limit of zero";
    if (rule->kind == RULE_LIMIT_MEMORY && rule->amount % 1024 != 0)
        return "a memory limit that is not a number of KiB";
    return NULL;
}

/* By kind: whether it may stand in a policy, in a managed layer; and what its record may say. */
static const struct {
    bool policy, managed, automatic, nothing, allow;
} permitted[RULE_KINDS] = {
    [RULE_GRANT] = {.policy = true, .automatic = true},
    [RULE_DENY] = {.policy = true, .managed = true},
    [RULE_DENY_EXEC] = {.policy = true, .managed = true},
    [RULE_GRANT_SOCKET] = {.policy = true},
    [RULE_DENY_SOCKET] = {.policy = true, .managed = true},
    [RULE_GRANT_NETWORK] = {.policy = true},
    [RULE_DENY_NETWORK] = {.policy = true, .managed = true},
    [RULE_GRANT_LISTEN] = {.policy = true},
    [RULE_DENY_LISTEN] = {.policy = true, .managed = true},
    [RULE_GRANT_ENV] = {.policy = true},
    [RULE_DENY_ENV] = {.policy = true, .managed = true},
    [RULE_SET_ENV] = {.policy = true},
    [RULE_GRANT_SERVICE] = {.policy = true},
    [RULE_DENY_SERVICE] = {.policy = true, .managed = true},
    [RULE_GRANT_SYSCALL] = {.policy = true},
    [RULE_DENY_SYSCALL] = {.policy = true, .managed = true},
    [RULE_GRANT_SCRATCH] = {.policy = true},
    [RULE_DENY_SCRATCH] = {.policy = true, .managed = true},
    [RULE_GRANT_BYPASS] = {.policy = true},
    [RULE_DENY_BYPASS] = {.policy = true, .managed = true},
    [RULE_LIMIT_READ] = {.managed = true, .nothing = true},
    [RULE_LIMIT_WRITE] = {.managed = true, .nothing = true},
    [RULE_LIMIT_SOCKET] = {.managed = true, .nothing = true},
    [RULE_LIMIT_NETWORK] = {.managed = true, .nothing = true},
    [RULE_LIMIT_ENV] = {.managed = true, .nothing = true},
    [RULE_LIMIT_SERVICE] = {.managed = true, .nothing = true},
    [RULE_PERMIT_BYPASS] = {.managed = true},
    [RULE_LIMIT_PROCESSES] = {.policy = true, .managed = true},
    [RULE_LIMIT_FILES] = {.policy = true, .managed = true},
    [RULE_LIMIT_MEMORY] = {.policy = true, .managed = true},
    [RULE_LIMIT_TIME] = {.policy = true, .managed = true},
    [RULE_ACCEPT] = {.policy = true},
    [RULE_EXPECT] = {.policy = true, .managed = true, .allow = true},
};

static bool uses_environment(const struct rule *rule)
{
    if (rule->path.root == ROOT_ENV)
        return true;
    for (uint32_t i = 0; rule->except != NULL && i < rule->except->count; i++)
        if (rule->except->items[i].root == ROOT_ENV)
            return true;
    return false;
}

static const char *managed_problem(const struct rule *rule)
{
    if (uses_environment(rule))
        return "a variable in a managed layer";
    if (rule->commands != NULL && rule->kind != RULE_EXPECT && rule->kind != RULE_PERMIT_BYPASS)
        return "a managed rule for some commands only";
    return NULL;
}

const char *rule_problem(const struct rule *rule, enum layer_kind kind)
{
    const char *problem = NULL;
    if (kind == LAYER_MANAGED ? !permitted[rule->kind].managed : !permitted[rule->kind].policy)
        return kind == LAYER_MANAGED ? "a managed layer that grants, sets or accepts"
                                     : "a policy that limits as only a managed layer may";
    if ((rule->automatic && !permitted[rule->kind].automatic) ||
        (rule->nothing && !permitted[rule->kind].nothing) || (rule->allow && !permitted[rule->kind].allow))
        return "a flag that its kind of rule does not have";
    if (kind == LAYER_MANAGED)
        problem = managed_problem(rule);
    if (problem == NULL && !rule->nothing && rule->path.rest != NULL)
        problem = path_problem(rule);
    if (problem == NULL && rule->network != NULL)
        problem = network_problem(rule);
    if (problem == NULL)
        problem = level_problem(rule);
    if (problem == NULL && rule->kind >= RULE_LIMIT_PROCESSES && rule->kind <= RULE_LIMIT_TIME)
        problem = amount_problem(rule);
    return problem;
}
