#include "emitters/json_rule.h"

#include "emitters/json_parts.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

/* What each kind of rule does, and to which class. */
static const struct {
    const char *effect, *class;
} kinds[RULE_KINDS] = {
    [RULE_GRANT] = {"grant", "path"},
    [RULE_DENY] = {"deny", "path"},
    [RULE_DENY_EXEC] = {"deny", "exec"},
    [RULE_GRANT_SOCKET] = {"grant", "socket"},
    [RULE_DENY_SOCKET] = {"deny", "socket"},
    [RULE_GRANT_NETWORK] = {"grant", "network"},
    [RULE_DENY_NETWORK] = {"deny", "network"},
    [RULE_GRANT_LISTEN] = {"grant", "listen"},
    [RULE_DENY_LISTEN] = {"deny", "listen"},
    [RULE_GRANT_ENV] = {"grant", "env"},
    [RULE_DENY_ENV] = {"deny", "env"},
    [RULE_SET_ENV] = {"set", "env"},
    [RULE_GRANT_SERVICE] = {"grant", "service"},
    [RULE_DENY_SERVICE] = {"deny", "service"},
    [RULE_GRANT_SYSCALL] = {"grant", "syscall"},
    [RULE_DENY_SYSCALL] = {"deny", "syscall"},
    [RULE_GRANT_SCRATCH] = {"grant", "scratch"},
    [RULE_DENY_SCRATCH] = {"deny", "scratch"},
    [RULE_GRANT_BYPASS] = {"grant", "bypass"},
    [RULE_DENY_BYPASS] = {"deny", "bypass"},
    [RULE_LIMIT_READ] = {"limit", "path"},
    [RULE_LIMIT_WRITE] = {"limit", "path"},
    [RULE_LIMIT_SOCKET] = {"limit", "socket"},
    [RULE_LIMIT_NETWORK] = {"limit", "network"},
    [RULE_LIMIT_ENV] = {"limit", "env"},
    [RULE_LIMIT_SERVICE] = {"limit", "service"},
    [RULE_PERMIT_BYPASS] = {"permit", "bypass"},
    [RULE_LIMIT_PROCESSES] = {"limit", "processes"},
    [RULE_LIMIT_FILES] = {"limit", "files"},
    [RULE_LIMIT_MEMORY] = {"limit", "memory"},
    [RULE_LIMIT_TIME] = {"limit", "time"},
};

/* The level that a grant gives, a deny caps at, or a limit speaks of. */
static enum level level_of(const struct bound_rule *bound)
{
    if (bound->rule->kind == RULE_LIMIT_READ || bound->holds_as_deny_write)
        return LEVEL_READ;
    return bound->rule->kind == RULE_LIMIT_WRITE ? LEVEL_WRITE : bound->rule->level;
}

static bool put_except(struct buffer *out, const struct bound_rule *bound)
{
    bool raw = false;
    buffer_string(out, ",\"except\":[");
    for (uint32_t i = 0; i < bound->except_count; i++) {
        buffer_format(out, "%s{\"%s\":", i == 0 ? "" : ",", bound->except[i].pattern ? "pattern" : "path");
        raw = json_path(out, bound->except[i].path) || raw;
        buffer_byte(out, '}');
    }
    buffer_byte(out, ']');
    return raw;
}

static void put_place(struct buffer *out, const struct bound_rule *bound)
{
    buffer_format(out, ",\"%s\":", bound->at.pattern ? "pattern" : "path");
    bool raw = json_path(out, bound->at.path);
    if (bound->directory)
        buffer_string(out, ",\"directory\":true");
    if (bound->except_count > 0)
        raw = put_except(out, bound) || raw;
    if (raw)
        buffer_string(out, ",\"raw\":true");
}

static void put_address(struct buffer *out, const struct network *network)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN] = "";
    bool four = memcmp(network->address, mapped, sizeof mapped) == 0 && network->prefix >= 96;
    if (four)
        inet_ntop(AF_INET, network->address + 12, text, sizeof text);
    else
        inet_ntop(AF_INET6, network->address, text, sizeof text);
    buffer_format(out, ",\"address\":\"%s/%d\"", text, network->prefix - (four ? 96 : 0));
}

static void put_network(struct buffer *out, const struct network *network)
{
    static const char *const targets[] = {
        [NETWORK_HOST] = "host", [NETWORK_ADDRESS] = "address",   [NETWORK_LOOPBACK] = "loopback",
        [NETWORK_LAN] = "lan",   [NETWORK_INTERNET] = "internet", [NETWORK_ANY] = "any",
    };
    buffer_format(out, ",\"target\":\"%s\"", targets[network->target]);
    if (network->target == NETWORK_HOST) {
        buffer_string(out, ",\"host\":");
        json_text(out, network->host);
    }
    if (network->target == NETWORK_ADDRESS)
        put_address(out, network);
    buffer_string(out, ",\"ports\":[");
    for (uint32_t i = 0; i < network->port_count; i++)
        buffer_format(out, "%s[%u,%u]", i == 0 ? "" : ",", network->ports[i].low, network->ports[i].high);
    buffer_format(out, "],\"protocols\":[%s%s%s]",
                  (network->protocols & PROTOCOL_BIT_TCP) != 0 ? "\"tcp\"" : "",
                  network->protocols == PROTOCOL_BITS ? "," : "",
                  (network->protocols & PROTOCOL_BIT_UDP) != 0 ? "\"udp\"" : "");
}

static void put_subject(struct buffer *out, const struct bound_rule *bound)
{
    const struct rule *rule = bound->rule;
    if (rule->nothing)
        buffer_string(out, ",\"nothing\":true");
    if (strcmp(kinds[rule->kind].class, "path") == 0)
        buffer_format(out, ",\"level\":\"%s\"", json_levels[level_of(bound)]);
    if (rule->automatic)
        buffer_string(out, ",\"auto\":true");
    if (bound->at.path != NULL)
        put_place(out, bound);
    if (rule->network != NULL)
        put_network(out, rule->network);
    if (rule->name != NULL) {
        buffer_string(out, ",\"name\":");
        json_text(out, rule->name);
    }
    if (rule->value != NULL) {
        buffer_string(out, ",\"value\":");
        json_text(out, rule->value);
    }
    if (rule->amount != 0)
        buffer_format(out, ",\"amount\":%" PRIu64, rule->amount);
}

bool json_rule(struct buffer *out, const struct policy *policy, const struct bound_rule *bound)
{
    const struct rule *rule = bound->rule;
    if (kinds[rule->kind].effect == NULL || bound->dropped || bound->itself || bound->because != NULL)
        return false;
    buffer_format(out, "{\"effect\":\"%s\",\"class\":\"%s\"",
                  bound->holds_as_deny_write ? "deny" : kinds[rule->kind].effect, kinds[rule->kind].class);
    put_subject(out, bound);
    buffer_format(out, ",\"layer\":%u,\"text\":", rule->layer);
    json_text(out, rule_text(out->arena, rule));
    json_origin(out, policy, rule);
    buffer_byte(out, '}');
    return true;
}
