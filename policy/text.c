#include "policy/policy.h"

#include "base/escape.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const char *const root_names[ROOTS] = {
    [ROOT_SLASH] = "",
    [ROOT_DRIVE] = "",
    [ROOT_WORK] = "WORK",
    [ROOT_HOME] = "HOME",
    [ROOT_TMP] = "TMP",
    [ROOT_CONFIG] = "CONFIG",
    [ROOT_CACHE] = "CACHE",
    [ROOT_DATA] = "DATA",
    [ROOT_REPO] = "REPO",
    [ROOT_GITDIR] = "GITDIR",
    [ROOT_SUBMODULES] = "SUBMODULES",
    [ROOT_GITDIRS] = "GITDIRS",
    [ROOT_ENV] = "env",
};

bool root_of_repository(enum root root)
{
    return root == ROOT_REPO || root_is_list(root);
}

bool root_is_list(enum root root)
{
    return root == ROOT_GITDIR || root_is_found(root);
}

bool root_is_found(enum root root)
{
    return root == ROOT_SUBMODULES || root == ROOT_GITDIRS;
}

bool rule_uses_root(const struct rule *rule, enum root root)
{
    bool uses = rule->path.root == root;
    for (uint32_t i = 0; rule->except != NULL && i < rule->except->count; i++)
        uses = uses || rule->except->items[i].root == root;
    return uses;
}

bool policy_has_commands(const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].commands != NULL)
            return true;
    return false;
}

const char *const operation_names[OPERATIONS] = {
    [OPERATION_READ] = "read",       [OPERATION_WRITE] = "write",     [OPERATION_EXEC] = "exec",
    [OPERATION_CONNECT] = "connect", [OPERATION_LISTEN] = "listen",   [OPERATION_SOCKET] = "socket",
    [OPERATION_ENV] = "env",         [OPERATION_SERVICE] = "service",
};

/* What each kind begins with; RULE_GRANT, RULE_DENY and RULE_EXPECT say more before their argument. */
static const char *const openings[RULE_KINDS] = {
    [RULE_GRANT] = "grant ",
    [RULE_DENY] = "deny ",
    [RULE_DENY_EXEC] = "deny exec ",
    [RULE_GRANT_SOCKET] = "grant socket ",
    [RULE_DENY_SOCKET] = "deny socket ",
    [RULE_GRANT_NETWORK] = "grant network ",
    [RULE_DENY_NETWORK] = "deny network ",
    [RULE_GRANT_LISTEN] = "grant listen ",
    [RULE_DENY_LISTEN] = "deny listen ",
    [RULE_GRANT_ENV] = "grant env ",
    [RULE_DENY_ENV] = "deny env ",
    [RULE_SET_ENV] = "set env ",
    [RULE_GRANT_SERVICE] = "grant service ",
    [RULE_DENY_SERVICE] = "deny service ",
    [RULE_GRANT_SYSCALL] = "grant syscall ",
    [RULE_DENY_SYSCALL] = "deny syscall ",
    [RULE_GRANT_SCRATCH] = "grant scratch",
    [RULE_DENY_SCRATCH] = "deny scratch",
    [RULE_GRANT_BYPASS] = "grant bypass",
    [RULE_DENY_BYPASS] = "deny bypass",
    [RULE_LIMIT_READ] = "limit read to ",
    [RULE_LIMIT_WRITE] = "limit write to ",
    [RULE_LIMIT_SOCKET] = "limit socket to ",
    [RULE_LIMIT_NETWORK] = "limit network to ",
    [RULE_LIMIT_ENV] = "limit env to ",
    [RULE_LIMIT_SERVICE] = "limit service to ",
    [RULE_PERMIT_BYPASS] = "permit bypass",
    [RULE_LIMIT_PROCESSES] = "limit processes to ",
    [RULE_LIMIT_FILES] = "limit files to ",
    [RULE_LIMIT_MEMORY] = "limit memory to ",
    [RULE_LIMIT_TIME] = "limit time to ",
    [RULE_ACCEPT] = "accept ",
    [RULE_EXPECT] = "expect ",
};

/* Words that mean something where an argument may stand; a quoted word never does. */
static const char *const keywords[] = {"nothing", "host",    "address", "loopback", "lan",    "internet",
                                       "any",     "port",    "tcp",     "udp",      "except", "to",
                                       "on",      "because", "=",       "{",        "}",      NULL};

static bool is_keyword(const char *word)
{
    for (const char *const *keyword = keywords; *keyword != NULL; keyword++)
        if (strcmp(word, *keyword) == 0)
            return true;
    return false;
}

/* Appends the character at `at` so that it stands for itself: what a terminal must not get as \xHH, bytes of
 * `signs` behind a backslash. Returns its length. */
static size_t put_character(struct buffer *out, const char *at, size_t left, const char *signs)
{
    bool plain = *at >= ' ' && *at <= '~';
    if (plain) {
        if (strchr(signs, *at) != NULL)
            buffer_byte(out, '\\');
        buffer_byte(out, *at);
        return 1;
    }
    size_t valid = utf8_character(at, left), size = valid == 0 ? 1 : valid;
    buffer_string(out, escape_text(out->arena, at, size));
    return size;
}

static void put_literal(struct buffer *out, const char *text, const char *signs)
{
    for (size_t left = strlen(text); left > 0;) {
        size_t size = put_character(out, text, left, signs);
        text += size;
        left -= size;
    }
}

/* Canonical pattern text: signs stay signs, escaped bytes stay escaped. */
static void put_pattern(struct buffer *out, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        bool escaped = *text == '\\' && (unsigned char)text[1] < 0x80 && ispunct((unsigned char)text[1]);
        size_t size = 2;
        if (escaped)
            buffer_bytes(out, text, size);
        else
            size = put_character(out, text, left, "\\\"$");
        text += size;
        left -= size;
    }
}

static bool needs_quotes(const char *text)
{
    return *text == '\0' || strpbrk(text, " ,#{}") != NULL;
}

static void put_path(struct buffer *out, const struct policy_path *path)
{
    const char *quote = needs_quotes(path->rest) && *path->rest != '\0' ? "\"" : "";
    buffer_string(out, quote);
    if (path->root == ROOT_DRIVE)
        buffer_format(out, "%s:", path->name);
    else if (path->root == ROOT_HOME)
        buffer_byte(out, '~');
    else if (path->root == ROOT_ENV)
        buffer_format(out, "$env.%s", path->name);
    else if (path->root != ROOT_SLASH)
        buffer_format(out, "$%s", root_names[path->root]);

    if (path->pattern)
        put_pattern(out, path->rest);
    else
        put_literal(out, path->rest, "\\\"$*?[");
    bool bare_root = *path->rest == '\0' && (path->root == ROOT_SLASH || path->root == ROOT_DRIVE);
    if (path->directory || bare_root)
        buffer_byte(out, '/');
    buffer_string(out, quote);
}

static void put_string(struct buffer *out, const char *text)
{
    buffer_byte(out, '"');
    put_literal(out, text, "\\\"");
    buffer_byte(out, '"');
}

/* A name, environment pattern, host or `expect` argument. */
static void put_word(struct buffer *out, const char *word)
{
    if (needs_quotes(word) || is_keyword(word))
        put_string(out, word);
    else
        put_literal(out, word, "\\\"");
}

static void put_except(struct buffer *out, const struct path_list *except)
{
    for (uint32_t i = 0; except != NULL && i < except->count; i++) {
        buffer_string(out, i == 0 ? " except " : ", ");
        put_path(out, &except->items[i]);
    }
}

static void put_address(struct buffer *out, const struct network *network)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const uint8_t *at = network->address;
    if (memcmp(at, mapped, sizeof mapped) == 0 && network->prefix >= 96) {
        buffer_format(out, "%d.%d.%d.%d", at[12], at[13], at[14], at[15]);
        if (network->prefix < 128)
            buffer_format(out, "/%d", network->prefix - 96);
        return;
    }
    /* RFC 5952 by hand, as the C library's form differs between systems: the longest run of zero groups is
     * "::". */
    unsigned groups[8], run_start = 8, run_length = 1;
    for (unsigned i = 0; i < 8; i++)
        groups[i] = (unsigned)at[2 * i] << 8 | at[2 * i + 1];
    for (unsigned i = 0; i < 8; i++) {
        unsigned length = 0;
        while (i + length < 8 && groups[i + length] == 0)
            length++;
        if (length > run_length) {
            run_start = i;
            run_length = length;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i == run_start) {
            buffer_string(out, "::");
            i += run_length - 1;
        } else {
            buffer_format(out, i > 0 && i != run_start + run_length ? ":%x" : "%x", groups[i]);
        }
    }
    if (network->prefix < 128)
        buffer_format(out, "/%d", network->prefix);
}

static void put_ports(struct buffer *out, const struct network *network)
{
    buffer_string(out, " port ");
    for (uint32_t i = 0; i < network->port_count; i++) {
        const struct port_range *range = &network->ports[i];
        buffer_string(out, i > 0 ? ", " : "");
        if (range->low == 1 && range->high == UINT16_MAX)
            buffer_string(out, "any");
        else if (range->low == range->high)
            buffer_format(out, "%d", range->low);
        else
            buffer_format(out, "%d-%d", range->low, range->high);
    }
}

static bool ports_are_web(const struct network *network)
{
    const struct port_range *ports = network->ports;
    return network->port_count == 2 && ports[0].low == 80 && ports[0].high == 80 && ports[1].low == 443 &&
           ports[1].high == 443;
}

static bool ports_are_all(const struct network *network)
{
    return network->port_count == 1 && network->ports[0].low == 1 && network->ports[0].high == UINT16_MAX;
}

static void put_target(struct buffer *out, const struct network *network)
{
    static const char *const targets[] = {
        [NETWORK_HOST] = "host ", [NETWORK_ADDRESS] = "address ",  [NETWORK_LOOPBACK] = "loopback",
        [NETWORK_LAN] = "lan",    [NETWORK_INTERNET] = "internet", [NETWORK_ANY] = "any",
    };
    buffer_string(out, targets[network->target]);
    if (network->target == NETWORK_HOST)
        put_word(out, network->host);
    if (network->target == NETWORK_ADDRESS)
        put_address(out, network);
}

/* Ports and protocol, which belong to every target of a statement. */
static void put_reach(struct buffer *out, const struct rule *rule)
{
    const struct network *network = rule->network;
    /* What a statement leaves out means web ports and tcp for a granted host, everything elsewhere. */
    bool granted_host = rule->kind == RULE_GRANT_NETWORK && network->target == NETWORK_HOST;
    if (granted_host ? !ports_are_web(network) : !ports_are_all(network))
        put_ports(out, network);
    if (network->protocols == PROTOCOL_BIT_UDP)
        buffer_string(out, " udp");
    else if (network->protocols == PROTOCOL_BIT_TCP && !granted_host)
        buffer_string(out, " tcp");
}

struct unit {
    uint64_t size;
    const char *name;
};

static void put_amount(struct buffer *out, uint64_t amount, const struct unit *units)
{
    while (amount % units->size != 0)
        units++;
    buffer_format(out, "%" PRIu64 "%s", amount / units->size, units->name);
}

static void put_expect(struct buffer *out, const struct rule *rule)
{
    buffer_format(out, "%s %s ", rule->allow ? "allow" : "deny", operation_names[rule->operation]);
    if (rule->name != NULL)
        put_word(out, rule->name);
    else
        put_path(out, &rule->path);
}

static void put_accept(struct buffer *out, const struct rule *rule)
{
    put_word(out, rule->name);
    if (rule->target != NULL)
        buffer_format(out, " on %s", rule->target);
    buffer_string(out, " because ");
    put_string(out, rule->value);
}

static void put_argument(struct buffer *out, const struct rule *rule)
{
    static const struct unit counts[] = {{1, ""}};
    static const struct unit sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, ""}};
    static const struct unit times[] = {{3600, "h"}, {60, "m"}, {1, "s"}};

    switch (rule->kind) {
    case RULE_GRANT:
        buffer_string(out, rule->level == LEVEL_WRITE ? "write " : "read ");
        put_path(out, &rule->path);
        break;
    case RULE_DENY:
        buffer_string(out, rule->level == LEVEL_READ ? "write " : "");
        put_path(out, &rule->path);
        put_except(out, rule->except);
        break;
    case RULE_DENY_EXEC:
        put_path(out, &rule->path);
        put_except(out, rule->except);
        break;
    case RULE_GRANT_SOCKET:
    case RULE_DENY_SOCKET:
    case RULE_LIMIT_READ:
    case RULE_LIMIT_WRITE:
    case RULE_LIMIT_SOCKET:
        put_path(out, &rule->path);
        break;
    case RULE_GRANT_NETWORK:
    case RULE_DENY_NETWORK:
    case RULE_GRANT_LISTEN:
    case RULE_DENY_LISTEN:
    case RULE_LIMIT_NETWORK:
        put_target(out, rule->network);
        put_reach(out, rule);
        break;
    case RULE_SET_ENV:
        put_word(out, rule->name);
        buffer_string(out, " = ");
        put_string(out, rule->value);
        break;
    case RULE_GRANT_ENV:
    case RULE_DENY_ENV:
    case RULE_GRANT_SERVICE:
    case RULE_DENY_SERVICE:
    case RULE_GRANT_SYSCALL:
    case RULE_DENY_SYSCALL:
    case RULE_LIMIT_ENV:
    case RULE_LIMIT_SERVICE:
        put_word(out, rule->name);
        break;
    case RULE_LIMIT_PROCESSES:
    case RULE_LIMIT_FILES:
        put_amount(out, rule->amount, counts);
        break;
    case RULE_LIMIT_MEMORY:
        put_amount(out, rule->amount, sizes);
        break;
    case RULE_LIMIT_TIME:
        put_amount(out, rule->amount, times);
        break;
    case RULE_ACCEPT:
        put_accept(out, rule);
        break;
    case RULE_EXPECT:
        put_expect(out, rule);
        break;
    case RULE_GRANT_SCRATCH:
    case RULE_DENY_SCRATCH:
    case RULE_GRANT_BYPASS:
    case RULE_DENY_BYPASS:
    case RULE_PERMIT_BYPASS:
    case RULE_KINDS:
        break;
    }
}

const char *rule_text(struct arena *arena, const struct rule *rule)
{
    struct buffer out = buffer_in(arena);
    buffer_string(&out, rule->automatic ? "auto " : "");
    buffer_string(&out, openings[rule->kind]);
    if (rule->nothing)
        buffer_string(&out, "nothing");
    else
        put_argument(&out, rule);
    return out.bytes;
}

const char *word_text(struct arena *arena, const char *word)
{
    struct buffer out = buffer_in(arena);
    put_word(&out, word);
    return out.bytes;
}

static bool is_after(const struct origin *a, const struct origin *b)
{
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

/* The rules of a limit's statement: from its marker to the next marker of the same kind. */
struct extent {
    const struct rule *marker, *next;
};

static bool is_beside(const struct rule *marker, const struct rule *rule)
{
    return rule->kind == marker->kind && rule->layer == marker->layer &&
           rule->origin.source == marker->origin.source && is_after(&rule->origin, &marker->origin);
}

static struct extent extent_of(const struct policy *policy, const struct rule *marker)
{
    struct extent extent = {marker, NULL};
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule->nothing && is_beside(marker, rule) &&
            (extent.next == NULL || is_after(&extent.next->origin, &rule->origin)))
            extent.next = rule;
    }
    return extent;
}

static bool is_item_of(const struct extent *extent, const struct rule *rule)
{
    return !rule->nothing && is_beside(extent->marker, rule) &&
           (extent->next == NULL || is_after(&extent->next->origin, &rule->origin));
}

bool rule_is_marker(const struct policy *policy, const struct rule *rule)
{
    if (!rule->nothing)
        return false;
    struct extent extent = extent_of(policy, rule);
    for (uint32_t i = 0; i < policy->rule_count; i++)
        if (is_item_of(&extent, &policy->rules[i]))
            return true;
    return false;
}

enum { ITEMS_SHOWN = 16 };

const char *rule_statement_text(struct arena *arena, const struct policy *policy, const struct rule *rule)
{
    if (!rule_is_marker(policy, rule))
        return rule_text(arena, rule);
    struct buffer out = buffer_in(arena);
    struct extent extent = extent_of(policy, rule);
    const struct rule *last = NULL;
    uint32_t items = 0;
    buffer_string(&out, openings[rule->kind]);
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *item = &policy->rules[i];
        if (!is_item_of(&extent, item) || items++ >= ITEMS_SHOWN)
            continue;
        buffer_string(&out, items > 1 ? ", " : "");
        if (item->kind == RULE_LIMIT_NETWORK)
            put_target(&out, item->network);
        else
            put_argument(&out, item);
        last = item;
    }
    if (items > ITEMS_SHOWN)
        buffer_format(&out, ", and %u more", items - ITEMS_SHOWN);
    if (last != NULL && last->kind == RULE_LIMIT_NETWORK)
        put_reach(&out, last);
    return out.bytes;
}

const char *path_text(struct arena *arena, const struct policy_path *path)
{
    struct buffer out = buffer_in(arena);
    put_path(&out, path);
    return out.bytes;
}

const char *rule_layer_name(const struct policy *policy, const struct rule *rule)
{
    const struct layer *layer = &policy->layers[rule->layer];
    return layer->kind == LAYER_POLICY ? "policy" : layer->name;
}
