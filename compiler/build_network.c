#include "compiler/build.h"

#include "base/escape.h"
#include "base/vector.h"
#include "compiler/build_address.h"
#include "compiler/punycode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_HIGHEST = 65535, HOST_LONGEST = 253, LABEL_LONGEST = 63 };

/* --- ports ---------------------------------------------------------------------------------------------- */

static const struct port_range all_ports[] = {{1, PORT_HIGHEST}};
static const struct port_range web_ports[] = {{80, 80}, {443, 443}};

struct port_vector {
    struct port_range *items;
    uint32_t count, capacity;
};

/* The port number at `*text`, moved behind it. The grammar has seen that it is one. */
static uint16_t parse_port(const char **text)
{
    uint32_t port = 0;
    for (; isdigit((unsigned char)**text); ++*text)
        port = port * 10 + (uint32_t)(**text - '0');
    return (uint16_t)port;
}

static struct port_range parse_range(const struct word *word)
{
    const char *text = word->bytes;
    if (strcmp(text, "any") == 0)
        return all_ports[0];
    struct port_range range = {.low = parse_port(&text)};
    range.high = range.low;
    if (*text == '-') {
        text++;
        range.high = parse_port(&text);
    }
    return range;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct port_range *first = a, *second = b;
    return first->low != second->low ? (first->low < second->low ? -1 : 1)
                                     : (int)first->high - (int)second->high;
}

/* Sorts the ranges and joins those that touch. */
static void merge_ranges(struct port_vector *ranges)
{
    uint32_t kept = 0;
    qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_ranges);
    for (uint32_t i = 1; i < ranges->count; i++) {
        struct port_range *last = &ranges->items[kept], next = ranges->items[i];
        if ((uint32_t)next.low > (uint32_t)last->high + 1)
            ranges->items[++kept] = next;
        else if (next.high > last->high)
            last->high = next.high;
    }
    ranges->count = kept + 1;
}

/* The ports of a statement, sorted and disjoint; none where it says nothing of ports. */
static struct port_vector read_ports(struct builder *builder, const struct word_list *words)
{
    struct port_vector ports = {0};
    for (uint32_t i = 0; i < words->count; i++)
        VECTOR_PUSH(builder->arena, &ports, parse_range(&words->items[i]));
    if (ports.count > 0)
        merge_ranges(&ports);
    return ports;
}

/* Fills in ports and protocols; what a granted host leaves out is the web, elsewhere it is everything. */
static void set_ports(struct network *network, const struct port_vector *ports, enum protocol protocol,
                      bool granted_host)
{
    network->ports = ports->items;
    network->port_count = ports->count;
    if (ports->count == 0) {
        network->ports = granted_host ? web_ports : all_ports;
        network->port_count = granted_host ? 2 : 1;
    }
    network->protocols = PROTOCOL_BITS;
    if (protocol == PROTOCOL_TCP || (protocol == PROTOCOL_UNSAID && granted_host))
        network->protocols = PROTOCOL_BIT_TCP;
    else if (protocol == PROTOCOL_UDP)
        network->protocols = PROTOCOL_BIT_UDP;
}

/* --- hosts ---------------------------------------------------------------------------------------------- */

static bool host_error(struct builder *builder, const struct word *word, const char *text, const char *help)
{
    build_error(builder, SBX136_HOST, word->span, text, help);
    return false;
}

/* Forms that are a mistake rather than a name: each gets its own hint. */
static bool host_is_no_mistake(struct builder *builder, const struct word *word)
{
    struct arena *arena = builder->arena;
    const char *text = word->bytes, *colon = strrchr(text, ':'), *scheme = strstr(text, "://");
    for (uint32_t i = 0; i < word->length; i++) {
        if ((unsigned char)text[i] < 0x80)
            continue;
        const char *ascii = host_to_ascii(arena, text, word->length);
        return host_error(builder, word, "a host name is written in ASCII",
                          ascii != NULL ? arena_format(arena, "write %s", ascii) : NULL);
    }
    if (address_is_literal(arena, text))
        return host_error(
            builder, word, "an address is no host name",
            arena_format(arena, "name it as what it is: address %s", address_plain(arena, text)));
    if (scheme != NULL)
        return host_error(builder, word, "a URL is no host name",
                          arena_format(arena, "write %.*s", (int)strcspn(scheme + 3, "/:"), scheme + 3));
    if (colon == NULL || !isdigit((unsigned char)colon[1]))
        return true;
    const char *name = arena_copy(arena, text, (size_t)(colon - text));
    bool address = address_is_literal(arena, name);
    if (text[0] == '[' ? address : strchr(text, ':') == colon)
        return host_error(builder, word, "the port stands behind the word port",
                          arena_format(arena, "write %s %s port %s", address ? "address" : "host",
                                       address ? address_plain(arena, name) : name, colon + 1));
    return true;
}

/* Whether `host` (lower case, no final dot) has only labels of 1 to 63 letters, digits, - and _; `*` may be
 * the first. */
static bool labels_are_good(const char *host)
{
    size_t length = strlen(host);
    if (length == 0 || length > HOST_LONGEST)
        return false;
    if (strcmp(host, "*") == 0)
        return true;
    if (host[0] == '*' && host[1] == '.')
        host += 2;
    for (;;) {
        size_t label = strcspn(host, ".");
        if (label == 0 || label > LABEL_LONGEST)
            return false;
        for (size_t i = 0; i < label; i++)
            if (!islower((unsigned char)host[i]) && !isdigit((unsigned char)host[i]) && host[i] != '-' &&
                host[i] != '_')
                return false;
        if (host[label] == '\0')
            return true;
        host += label + 1;
    }
}

/* The host pattern in canonical form, or NULL with the mistake reported. `open`: it opens something (a grant,
 * a limit's list), so it may not be as wide as a deny. */
static const char *read_host(struct builder *builder, const struct word *word, bool open)
{
    if (!word_is_text(builder, word) || !host_is_no_mistake(builder, word))
        return NULL;
    char *host = arena_copy(builder->arena, word->bytes, word->length);
    for (char *at = host; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    if (word->length > 1 && host[word->length - 1] == '.')
        host[word->length - 1] = '\0';
    bool escaped = false;
    for (uint32_t i = 0; i < word->length; i++)
        escaped = escaped || (word->bytes[i] == '*' && !word_sign(word, i, '*'));

    const char *star = strchr(host, '*');
    if (star != NULL && (star != host || escaped || (host[1] != '.' && host[1] != '\0'))) {
        host_error(builder, word, "* stands only for the whole first label of a host name",
                   "write *.example.com for every name below example.com");
        return NULL;
    }
    if (!labels_are_good(host)) {
        host_error(builder, word, "this is no host name",
                   "write a name such as example.com or *.example.com");
        return NULL;
    }
    if (open && star != NULL && (host[1] == '\0' || strchr(host + 2, '.') == NULL)) {
        host_error(
            builder, word, "this pattern covers too much to open it",
            "write at least two labels behind the *, as in *.example.com; for every name write internet");
        return NULL;
    }
    return intern_string(builder->pool, host);
}

/* --- rules ---------------------------------------------------------------------------------------------- */

static enum network_target network_target_of(enum target_kind kind)
{
    static const enum network_target targets[] = {
        [TARGET_HOST] = NETWORK_HOST,         [TARGET_ADDRESS] = NETWORK_ADDRESS,
        [TARGET_LOOPBACK] = NETWORK_LOOPBACK, [TARGET_LAN] = NETWORK_LAN,
        [TARGET_INTERNET] = NETWORK_INTERNET, [TARGET_ANY] = NETWORK_ANY,
    };
    return targets[kind];
}

static bool read_address(struct builder *builder, const struct word *word, struct network *network)
{
    const char *help = NULL;
    if (!word_is_text(builder, word))
        return false;
    const char *problem = address_parse(builder->arena, word->bytes, network, &help);
    if (problem != NULL)
        build_error(builder, SBX138_ADDRESS, word->span, problem, help);
    return problem == NULL;
}

static void add_target(struct builder *builder, enum rule_kind kind, const struct target_syntax *target,
                       const struct port_vector *ports, enum protocol protocol)
{
    struct network *network = arena_alloc(builder->arena, sizeof *network);
    network->target = network_target_of(target->kind);
    if (target->kind == TARGET_HOST) {
        network->host = read_host(builder, &target->word, kind != RULE_DENY_NETWORK);
        if (network->host == NULL)
            return;
    }
    if (target->kind == TARGET_ADDRESS && !read_address(builder, &target->word, network))
        return;
    set_ports(network, ports, protocol, kind == RULE_GRANT_NETWORK && target->kind == TARGET_HOST);
    struct rule rule = rule_here(builder, kind);
    rule.network = network;
    rule_add_at(builder, rule, target->span);
}

static void add_targets(struct builder *builder, enum rule_kind kind, const struct statement *statement)
{
    const struct port_vector ports = read_ports(builder, &statement->parts->ports);
    for (uint32_t i = 0; i < statement->parts->targets.count; i++)
        add_target(builder, kind, &statement->parts->targets.items[i], &ports, statement->protocol);
}

void build_network(struct builder *builder, const struct statement *statement)
{
    add_targets(builder, statement->verb == VERB_GRANT ? RULE_GRANT_NETWORK : RULE_DENY_NETWORK, statement);
}

void build_limit_network(struct builder *builder, const struct statement *statement)
{
    struct rule rule = rule_here(builder, RULE_LIMIT_NETWORK);
    rule.nothing = true;
    rule_add_at(builder, rule, statement->span);
    add_targets(builder, RULE_LIMIT_NETWORK, statement);
}

void build_listen(struct builder *builder, const struct statement *statement)
{
    const struct port_vector ports = read_ports(builder, &statement->parts->ports);
    struct network *network = arena_alloc(builder->arena, sizeof *network);
    bool loopback = strcmp(statement->parts->subject.bytes, "loopback") == 0;
    network->target = loopback ? NETWORK_LOOPBACK : NETWORK_ANY;
    set_ports(network, &ports, statement->protocol, false);
    struct rule rule =
        rule_here(builder, statement->verb == VERB_GRANT ? RULE_GRANT_LISTEN : RULE_DENY_LISTEN);
    rule.network = network;
    rule_add_at(builder, rule, statement->parts->subject.span);
}
