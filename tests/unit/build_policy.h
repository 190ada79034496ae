/* build_policy.h - policies for unit tests from short lines, without the compiler.
 *
 * A line is one statement with one item in the words of the language, blanks between words, no quotes:
 * "grant write $WORK", "auto grant read $env.PATH", "deny $WORK/a except $WORK/a/b,/x", "grant host
 * a.example 443", "limit write to /w", "limit read to nothing", "set env A=b", "@windows deny C:/x",
 * "@cmd=git grant read /g". A line "managed NAME" starts a managed layer. Paths with a sign are patterns.
 */
#pragma once

#include "base/vector.h"
#include "policy/address.h"
#include "policy/bound.h"

#include <stdlib.h>
#include <string.h>

struct built {
    struct arena *arena;
    struct {
        struct rule *items;
        uint32_t count, capacity;
    } rules;
    struct {
        struct layer *items;
        uint32_t count, capacity;
    } layers;
};

static char *build_word(struct arena *arena, const char **line)
{
    while (**line == ' ')
        ++*line;
    size_t length = strcspn(*line, " ");
    char *word = arena_copy(arena, *line, length);
    *line += length;
    while (**line == ' ')
        ++*line;
    return word;
}

static bool build_take(const char **line, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*line, word, length) != 0 || ((*line)[length] != ' ' && (*line)[length] != '\0'))
        return false;
    *line += length;
    while (**line == ' ')
        ++*line;
    return true;
}

static struct policy_path build_path(struct arena *arena, const char *word)
{
    struct policy_path path = {.root = ROOT_SLASH};
    size_t length = strlen(word);
    path.directory = length > 1 && word[length - 1] == '/';
    path.rest = arena_copy(arena, word, path.directory ? length - 1 : length);
    if (word[0] == '~') {
        path.root = ROOT_HOME;
        path.rest++;
    } else if (strncmp(word, "$env.", 5) == 0) {
        size_t end = strcspn(path.rest, "/");
        path.root = ROOT_ENV;
        path.name = arena_copy(arena, path.rest + 5, end - 5);
        path.rest += end;
    } else if (word[0] == '$') {
        size_t end = strcspn(path.rest, "/");
        for (int root = ROOT_WORK; root < ROOT_ENV; root++)
            if (strlen(root_names[root]) == end - 1 && memcmp(root_names[root], word + 1, end - 1) == 0)
                path.root = (enum root)root;
        path.rest += end;
    } else if (word[0] != '/' && word[0] != '\0' && word[1] == ':') {
        path.root = ROOT_DRIVE;
        path.name = arena_copy(arena, word, 1);
        path.rest += 2;
    }
    if (strcmp(path.rest, "/") == 0)
        path.rest = "";
    for (const char *at = path.rest; *at != '\0'; at++) {
        path.pattern = path.pattern || *at == '*' || *at == '?' || *at == '[';
        at += *at == '\\';
    }
    return path;
}

static const struct path_list *build_paths(struct arena *arena, const char *word)
{
    struct {
        struct policy_path *items;
        uint32_t count, capacity;
    } paths = {0};
    for (const char *at = word; *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");
        VECTOR_PUSH(arena, &paths, build_path(arena, arena_copy(arena, at, length)));
        at += length;
    }
    struct path_list *list = arena_alloc(arena, sizeof *list);
    *list = (struct path_list){paths.items, paths.count};
    return list;
}

static void build_ports(struct arena *arena, struct network *network, const char *line)
{
    struct port_range *range = arena_alloc(arena, sizeof *range);
    bool host = network->target == NETWORK_HOST;
    *range = (struct port_range){1, 65535};
    network->protocols = PROTOCOL_BITS;
    network->ports = range;
    network->port_count = 1;
    while (*line != '\0') {
        char *word = build_word(arena, &line), *dash = strchr(word, '-');
        if (strcmp(word, "tcp") == 0 || strcmp(word, "udp") == 0) {
            network->protocols = word[0] == 't' ? PROTOCOL_BIT_TCP : PROTOCOL_BIT_UDP;
            continue;
        }
        range->low = (uint16_t)atoi(word);
        range->high = dash != NULL ? (uint16_t)atoi(dash + 1) : range->low;
        if (host)
            network->protocols = PROTOCOL_BIT_TCP;
    }
}

static const struct network *build_network(struct arena *arena, const char *line)
{
    static const char *const words[] = {"host", "address", "loopback", "lan", "internet", "any"};
    struct network *network = arena_alloc(arena, sizeof *network);
    for (int i = 0; i < 6; i++)
        if (build_take(&line, words[i])) {
            network->target = (enum network_target)i;
            break;
        }
    if (network->target == NETWORK_HOST)
        network->host = build_word(arena, &line);
    if (network->target == NETWORK_ADDRESS) {
        char *word = build_word(arena, &line), *slash = strchr(word, '/');
        if (slash != NULL)
            *slash = '\0';
        bool ip4 = strchr(word, ':') == NULL;
        if (!address_read(word, network->address))
            abort();
        network->prefix = (uint8_t)((slash != NULL ? atoi(slash + 1) : ip4 ? 32 : 128) + (ip4 ? 96 : 0));
    }
    build_ports(arena, network, line);
    return network;
}

static struct rule build_file_rule(struct built *built, const char *line, enum rule_kind kind,
                                   struct rule rule)
{
    rule.kind = kind;
    rule.path = build_path(built->arena, build_word(built->arena, &line));
    if (build_take(&line, "except"))
        rule.except = build_paths(built->arena, line);
    return rule;
}

static struct rule build_limit(struct built *built, const char *line, struct rule rule)
{
    static const char *const words[] = {"read", "write",     "socket", "network", "env", "service",
                                        "",     "processes", "files",  "memory",  "time"};
    for (int i = 0; i < 11; i++)
        if (words[i][0] != '\0' && build_take(&line, words[i])) {
            rule.kind = (enum rule_kind)(RULE_LIMIT_READ + i);
            break;
        }
    build_take(&line, "to");
    rule.nothing = build_take(&line, "nothing");
    if (rule.nothing)
        return rule;
    if (rule.kind <= RULE_LIMIT_SOCKET)
        rule.path = build_path(built->arena, line);
    else if (rule.kind == RULE_LIMIT_NETWORK)
        rule.network = build_network(built->arena, line);
    else
        rule.name = line;
    rule.amount = strtoull(line, NULL, 10);
    return rule;
}

static struct rule build_set(struct built *built, const char *line, struct rule rule)
{
    const char *sign = strchr(line, '=');
    rule.kind = RULE_SET_ENV;
    rule.name = arena_copy(built->arena, line, (size_t)(sign - line));
    rule.value = sign + 1;
    return rule;
}

static struct rule build_rule(struct built *built, const char *line)
{
    static const struct {
        const char *word;
        enum rule_kind grant;
    } names[] = {{"env", RULE_GRANT_ENV},
                 {"service", RULE_GRANT_SERVICE},
                 {"syscall", RULE_GRANT_SYSCALL},
                 {"scratch", RULE_GRANT_SCRATCH},
                 {"bypass", RULE_GRANT_BYPASS}};
    struct rule rule = {.layer = built->layers.count - 1, .systems = SYSTEM_ALL};
    rule.origin.line = built->rules.count + 1;
    if (build_take(&line, "@windows"))
        rule.systems = 1 << SYSTEM_WINDOWS;
    if (build_take(&line, "@linux"))
        rule.systems = 1 << SYSTEM_LINUX;
    if (strncmp(line, "@cmd=", 5) == 0) {
        const char **command = arena_alloc(built->arena, sizeof *command);
        struct command_set *set = arena_alloc(built->arena, sizeof *set);
        *command = build_word(built->arena, &line) + 5;
        *set = (struct command_set){command, 1};
        rule.commands = set;
    }
    rule.automatic = build_take(&line, "auto");
    if (build_take(&line, "limit"))
        return build_limit(built, line, rule);
    if (build_take(&line, "set")) {
        build_take(&line, "env");
        return build_set(built, line, rule);
    }
    if (build_take(&line, "permit")) {
        rule.kind = RULE_PERMIT_BYPASS;
        return rule;
    }
    if (build_take(&line, "expect")) {
        rule.kind = RULE_EXPECT;
        rule.allow = build_take(&line, "allow");
        build_take(&line, "deny");
        rule.path = build_path(built->arena, line);
        return rule;
    }
    bool grant = build_take(&line, "grant");
    if (!grant)
        build_take(&line, "deny");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (build_take(&line, names[i].word)) {
            rule.kind = (enum rule_kind)(names[i].grant + !grant);
            rule.name = line;
            return rule;
        }
    if (build_take(&line, "network")) {
        rule.kind = grant ? RULE_GRANT_NETWORK : RULE_DENY_NETWORK;
        rule.network = build_network(built->arena, line);
        return rule;
    }
    if (build_take(&line, "listen")) {
        rule.kind = grant ? RULE_GRANT_LISTEN : RULE_DENY_LISTEN;
        rule.network = build_network(built->arena, line);
        return rule;
    }
    if (build_take(&line, "socket"))
        return build_file_rule(built, line, grant ? RULE_GRANT_SOCKET : RULE_DENY_SOCKET, rule);
    if (build_take(&line, "exec"))
        return build_file_rule(built, line, RULE_DENY_EXEC, rule);
    bool write = build_take(&line, "write");
    rule.level = write == grant ? LEVEL_WRITE : LEVEL_READ;
    if (build_take(&line, "read"))
        rule.level = LEVEL_READ;
    else if (!grant && !write)
        rule.level = LEVEL_NONE;
    return build_file_rule(built, line, grant ? RULE_GRANT : RULE_DENY, rule);
}

/* The policy of `lines`, a NULL-terminated array. */
static const struct policy *build_policy(struct arena *arena, const char *const *lines)
{
    struct built built = {.arena = arena};
    static const struct policy_source source = {"test.sbx", SOURCE_POLICY, NULL};
    VECTOR_PUSH(arena, &built.layers, (struct layer){.kind = LAYER_POLICY, .name = "policy"});
    for (; *lines != NULL; lines++) {
        if (strncmp(*lines, "managed ", 8) == 0) {
            VECTOR_PUSH(arena, &built.layers, (struct layer){.kind = LAYER_MANAGED, .name = *lines + 8});
            continue;
        }
        struct rule rule = build_rule(&built, *lines);
        VECTOR_PUSH(arena, &built.rules, rule);
    }
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    *policy = (struct policy){
        .arena = arena,
        .name = "test",
        .layers = built.layers.items,
        .layer_count = built.layers.count,
        .sources = &source,
        .source_count = 1,
        .rules = built.rules.items,
        .rule_count = built.rules.count,
    };
    return policy;
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Bindings in which every root is bound: $WORK is /w, $HOME /home/me, and so on. */
static struct bindings build_bindings(enum system system)
{
    static const char *const paths[ROOTS] = {
        [ROOT_WORK] = "/w",
        [ROOT_HOME] = "/home/me",
        [ROOT_TMP] = "/tmp",
        [ROOT_CONFIG] = "/home/me/.config",
        [ROOT_CACHE] = "/home/me/.cache",
        [ROOT_DATA] = "/home/me/.local/share",
        [ROOT_REPO] = "/w",
        [ROOT_GITDIR] = "/w/.git",
    };
    struct bindings bindings = {.system = system, .environment_known = true};
    for (int root = ROOT_WORK; root < ROOT_ENV; root++)
        bindings.roots[root] = bindings.managed_roots[root] =
            (struct root_value){.state = ROOT_BOUND, .paths = &paths[root], .count = 1};
    return bindings;
}
