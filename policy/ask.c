#include "policy/ask.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "policy/address.h"

#include <ctype.h>
#include <string.h>

/* ---- connections ---- */

static bool read_port(const char *text, uint16_t *port)
{
    unsigned value = 0;
    if (text[0] < '1' || text[0] > '9')
        return false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || at - text > 4)
            return false;
        value = value * 10 + (unsigned)(*at - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

static const char *check_host(const char *name)
{
    size_t label = 0;
    for (const char *at = name; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte >= 0x80)
            return "a name that is not ASCII must be given in its punycode form (xn--...)";
        if (byte == '.' && label == 0)
            return "a host name cannot have an empty part";
        if (byte != '.' && byte != '-' && byte != '_' && !isalnum(byte))
            return "a host name holds letters, digits, - and . only";
        label = byte == '.' ? 0 : label + 1;
    }
    return strlen(name) > 254 ? "a host name has at most 253 characters" : NULL;
}

/* The host part of an endpoint: an address or a name, in lower case without the final dot. */
static bool read_host(struct arena *arena, const char *text, struct endpoint *endpoint, const char **error)
{
    size_t length = strlen(text);
    char *name = arena_copy(arena, text, length > 1 && text[length - 1] == '.' ? length - 1 : length);
    if (address_read(name, endpoint->address)) {
        endpoint->has_address = true;
        return true;
    }
    *error = check_host(name);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    endpoint->name = name;
    return *error == NULL;
}

static bool cut_protocol(char *text, struct endpoint *endpoint)
{
    char *slash = strchr(text, '/');
    endpoint->protocol = PROTOCOL_BIT_TCP;
    if (slash == NULL)
        return true;
    if (strcmp(slash, "/udp") != 0)
        return false;
    endpoint->protocol = PROTOCOL_BIT_UDP;
    *slash = '\0';
    return true;
}

bool ask_endpoint(struct arena *arena, const char *argument, size_t length, struct endpoint *endpoint,
                  const char **error)
{
    char *text = arena_copy(arena, argument, length), *host = text;
    *endpoint = (struct endpoint){0};
    *error =
        "write HOST:PORT, ADDRESS:PORT or [IPv6]:PORT, with /udp at the end for UDP; TCP is meant without";
    if (strlen(text) != length || !cut_protocol(text, endpoint))
        return false;
    char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text)
        return false;
    if (!read_port(colon + 1, &endpoint->port)) {
        *error = "a port is a number from 1 to 65535";
        return false;
    }
    *colon = '\0';
    bool brackets = host[0] == '[' && colon[-1] == ']';
    if (brackets) {
        colon[-1] = '\0';
        host++;
    }
    if (brackets != (strchr(host, ':') != NULL)) {
        *error = "an IPv6 address stands in brackets: [::1]:80";
        return false;
    }
    if (brackets && !address_read(host, endpoint->address)) {
        *error = "this is no IPv6 address";
        return false;
    }
    endpoint->has_address = brackets;
    if (host[0] == '\0')
        return false;
    *error = NULL;
    return brackets || read_host(arena, host, endpoint, error);
}

/* ---- names ---- */

const char *ask_name_fault(const char *name, size_t length)
{
    if (length == 0 || strlen(name) != length || strpbrk(name, "=*") != NULL)
        return "a name cannot be empty or hold =, * or a zero byte";
    for (size_t size; *name != '\0'; name += size) {
        size = utf8_character(name, strlen(name));
        bool control = (unsigned char)*name < 0x20 || *name == 0x7F ||
                       (size == 2 && (unsigned char)name[0] == 0xC2 && (unsigned char)name[1] < 0xA0);
        if (size == 0 || control)
            return "a name holds valid UTF-8 without control characters";
    }
    return NULL;
}

/* ---- paths ---- */

/* Reads the root at the start of `text`; returns how many bytes it takes, or 0 with *error set. */
static size_t read_root(struct arena *arena, const char *text, struct policy_path *path, const char **error)
{
    size_t length = strcspn(text, "/");
    bool drive = isalpha((unsigned char)text[0]) && text[1] == ':' && length == 2;
    if (text[0] == '/' || drive) {
        path->root = drive ? ROOT_DRIVE : ROOT_SLASH;
        path->name = drive ? arena_format(arena, "%c", toupper((unsigned char)text[0])) : NULL;
        return drive ? 2 : SIZE_MAX;
    }
    if (strncmp(text, "$env.", 5) == 0 && length > 5) {
        path->root = ROOT_ENV;
        path->name = arena_copy(arena, text + 5, length - 5);
        return length;
    }
    for (int root = ROOT_WORK; root < ROOT_ENV; root++)
        if (text[0] == '$' && strlen(root_names[root]) == length - 1 &&
            memcmp(root_names[root], text + 1, length - 1) == 0) {
            path->root = (enum root)root;
            return length;
        }
    if (text[0] == '~' && length == 1) {
        path->root = ROOT_HOME;
        return 1;
    }
    *error = text[0] == '~' ? "only ~ itself stands for a home directory"
             : text[0] == '$'
                 ? "this is no root"
                 : arena_format(arena, "a relative path; write $WORK/%s", escape_string(arena, text));
    return 0;
}

/* "" or "/a/b" of what follows the root; NULL with *error set if it holds "..". */
static const char *normalised_rest(struct arena *arena, const char *text, const char **error)
{
    struct buffer rest = buffer_in(arena);
    buffer_string(&rest, "");
    while (*text != '\0') {
        size_t length = strcspn(text, "/");
        if (length == 2 && memcmp(text, "..", 2) == 0) {
            *error = "a path cannot hold ..";
            return NULL;
        }
        if (length > 1 || (length == 1 && text[0] != '.')) {
            buffer_byte(&rest, '/');
            buffer_bytes(&rest, text, length);
        }
        text += length + (text[length] == '/');
    }
    return rest.bytes;
}

static char *argument_text(struct arena *arena, const char *argument, size_t length, enum system system)
{
    char *text = arena_copy(arena, argument, length);
    bool drive = isalpha((unsigned char)text[0]) && text[1] == ':';
    for (char *at = text; system == SYSTEM_WINDOWS && drive && *at != '\0'; at++)
        *at = *at == '\\' ? '/' : *at;
    return text;
}

bool ask_paths(struct arena *arena, const struct bound_policy *bound, const char *argument, size_t length,
               struct bound_paths *paths, const char **error)
{
    char *text = argument_text(arena, argument, length, bound->bindings.system);
    struct note_list notes = note_list_in(arena);
    struct policy_path path = {0};
    struct rule asked = {.kind = RULE_EXPECT};
    struct root_error errors[ROOTS] = {0};
    const struct binder binder = {arena, bound->policy, &bound->bindings, &notes, errors};

    *error = "a path cannot hold a zero byte";
    if (strlen(text) != length)
        return false;
    size_t start = read_root(arena, text, &path, error);
    if (start == 0)
        return false;
    path.rest = normalised_rest(arena, start == SIZE_MAX ? text : text + start, error);
    if (path.rest == NULL)
        return false;
    asked.path = path;
    binder_paths(&binder, &asked, &path, USE_EXPECT, paths);
    *error = NULL;
    if (paths->count == 0 && (path.root == ROOT_SLASH || path.root == ROOT_DRIVE))
        *error = arena_format(arena, "%s is no path of this operating system", escape_string(arena, text));
    else if (paths->count == 0)
        *error = arena_format(arena, "%s has no value here", escape_string(arena, text));
    return paths->count > 0;
}

/* The rest of `path` below a bound root, or NULL. */
static const char *rest_below(const struct root_value *value, const char *name, const char *path)
{
    const char *base = value->state == ROOT_BOUND && value->count > 0 ? value->paths[0] : name;
    if (value->state == ROOT_UNSET || path_is_top(base) || !path_is_above(base, path))
        return NULL;
    return path + strlen(base);
}

const char *ask_path_text(struct arena *arena, const struct bound_policy *bound, const char *path)
{
    bool drive = path[0] != '/' && path[0] != '$';
    struct policy_path shown = {
        .root = drive ? ROOT_DRIVE : ROOT_SLASH,
        .name = drive ? arena_copy(arena, path, 1) : NULL,
        .rest = drive ? path + 2 : path,
    };
    if (path_is_top(path))
        return path;
    if (strncmp(path, "$env.", 5) == 0) {
        size_t end = strcspn(path, "/");
        shown = (struct policy_path){
            .root = ROOT_ENV, .name = arena_copy(arena, path + 5, end - 5), .rest = path + end};
        return path_text(arena, &shown);
    }
    for (int root = ROOT_WORK; root < ROOT_ENV; root++) {
        const char *name = arena_format(arena, "$%s", root_names[root]);
        /* A root that Git has a say in is named where nothing else stands for the place. */
        if (root > ROOT_DATA && path[0] != '$')
            continue;
        const char *rest = rest_below(&bound->bindings.roots[root], name, path);
        if (rest != NULL && strlen(rest) < strlen(shown.rest))
            shown = (struct policy_path){.root = (enum root)root, .rest = rest};
    }
    return path_text(arena, &shown);
}
