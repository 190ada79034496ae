#include "emitters/questions.h"

#include "base/escape.h"
#include "base/intern.h"
#include "base/vector.h"
#include "emitters/control.h"
#include "policy/pattern.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

static const struct {
    enum rule_kind kind;
    const char *fact;
} amounts[] = {
    {RULE_LIMIT_PROCESSES, "limit processes"},
    {RULE_LIMIT_FILES, "limit files"},
    {RULE_LIMIT_MEMORY, "limit memory"},
    {RULE_LIMIT_TIME, "limit time"},
};
enum { AMOUNTS = sizeof amounts / sizeof *amounts };

/* --- what a policy lists -------------------------------------------------------------------------------- */

void queries_add_variable(struct query_set *set, const char *pattern)
{
    struct arena *arena = queries_arena(set);
    struct buffer none = buffer_in(arena), some = buffer_in(arena);
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '*') {
            buffer_string(&some, "RUN");
        } else {
            buffer_byte(&none, *at);
            buffer_byte(&some, *at);
        }
    }
    const char *matches[] = {none.length > 0 ? none.bytes : "A", some.length > 0 ? some.bytes : "A"};
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        queries_add_name(set, QUERY_ENV, matches[i]);
        queries_add_name(set, QUERY_ENV, arena_format(arena, "%sX", matches[i]));
        queries_add_name(set, QUERY_ENV, arena_format(arena, "X%s", matches[i]));
        queries_add_name(set, QUERY_ENV, arena_copy(arena, matches[i], strlen(matches[i]) - 1));
    }
}

static void add_network(struct query_set *set, const struct network *network)
{
    uint16_t port = network->port_count > 0 ? network->ports[0].low : 443;
    /* All ports: the first one says what a port in the middle does. */
    if (network->port_count == 1 && network->ports[0].low == 1 && network->ports[0].high == UINT16_MAX)
        port = 443;
    if (network->target == NETWORK_HOST)
        queries_add_host(set, network->host, port);
    if (network->target == NETWORK_ADDRESS)
        queries_add_block(set, network->address, network->prefix, port);
    for (uint32_t i = 0; i < network->port_count; i++)
        queries_add_ports(set, network->ports[i]);
}

static void add_bound_path(struct query_set *set, const struct bound_path *path)
{
    if (path->pattern)
        queries_add_pattern(set, path->path);
    else
        queries_add_path(set, path->path);
}

static void add_rule(struct query_set *set, const struct bound_rule *bound)
{
    const struct rule *rule = bound->rule;
    if (bound->dropped || rule->kind == RULE_EXPECT || rule->kind == RULE_ACCEPT)
        return;
    if (bound->at.path != NULL) {
        add_bound_path(set, &bound->at);
        for (uint32_t i = 0; i < bound->except_count; i++) {
            add_bound_path(set, &bound->except[i]);
            if (bound->at.pattern && !bound->except[i].pattern)
                queries_add_excepted(set, bound->at.path, bound->except[i].path);
        }
    }
    if (rule->network != NULL)
        add_network(set, rule->network);
    if (rule->kind == RULE_GRANT_ENV || rule->kind == RULE_DENY_ENV || rule->kind == RULE_SET_ENV ||
        (rule->kind == RULE_LIMIT_ENV && rule->name != NULL))
        queries_add_variable(set, rule->name);
    if (rule->kind == RULE_SET_ENV)
        queries_add_name(set, QUERY_FACT, arena_format(queries_arena(set), "set env %s", rule->name));
}

void queries_add_policy(struct query_set *set, const struct bound_policy *bound)
{
    struct arena *arena = queries_arena(set);
    struct region_list regions = bound_regions(arena, bound, NULL, 0);
    for (uint32_t i = 0; i < bound->rules.count; i++)
        add_rule(set, &bound->rules.items[i]);
    for (uint32_t i = 0; i < regions.count; i++)
        queries_add_name(set, QUERY_LISTED, regions.items[i].path);
    queries_add_ports(set, (struct port_range){443, 443});
    for (uint32_t i = 0; service_names[i] != NULL; i++)
        queries_add_name(set, QUERY_SERVICE, service_names[i]);
    queries_add_name(set, QUERY_FACT, "scratch");
    queries_add_name(set, QUERY_FACT, "bypass");
    for (size_t i = 0; i < AMOUNTS; i++)
        queries_add_name(set, QUERY_FACT, amounts[i].fact);
}

/* --- which paths may not be moved ----------------------------------------------------------------------- */

struct policy_answers {
    struct arena *arena;
    const struct bound_policy *bound;
    struct intern_pool *pinned; /* paths */
    struct {
        const struct pattern **items; /* of denies */
        uint32_t count, capacity;
    } patterns;
    struct variable_list sets;
};

/* The length of the directory that holds `path`, or 0 if none does. */
static size_t holder(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 1 ? length - 1 : length;
}

static enum level level_around(const struct bound_policy *bound, const char *path, size_t length)
{
    size_t above = holder(path, length);
    return above > 0 && above < length ? bound_level(bound, path, above) : LEVEL_NONE;
}

/* Pins what is at `path`, if it is lower than what holds it, and each directory above inside a writable
 * area. */
static void pin_upwards(struct policy_answers *answers, const char *path)
{
    for (size_t length = strlen(path); level_around(answers->bound, path, length) == LEVEL_WRITE;
         length = holder(path, length)) {
        if (intern_find(answers->pinned, path, length) != NULL)
            return;
        intern(answers->pinned, path, length);
    }
}

static void find_pins(struct policy_answers *answers)
{
    const struct bound_policy *bound = answers->bound;
    struct region_list regions = bound_regions(answers->arena, bound, NULL, 0);
    for (uint32_t i = 0; i < regions.count; i++) {
        const char *path = regions.items[i].path;
        const struct bound_rule *why = regions.items[i].why;
        /* Above what a pattern denies only its fixed start is known to have to stay; see below. */
        if ((why == NULL || !why->at.pattern) &&
            regions.items[i].level < level_around(bound, path, strlen(path)))
            pin_upwards(answers, path);
    }
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->dropped || rule->rule->kind != RULE_DENY || !rule->at.pattern)
            continue;
        VECTOR_PUSH(answers->arena, &answers->patterns,
                    pattern_compile(answers->arena, rule->at.path, bound->bindings.system != SYSTEM_LINUX));
        pin_upwards(answers,
                    pattern_plain(answers->arena, rule->at.path, pattern_fixed_prefix(rule->at.path)));
    }
}

struct policy_answers *policy_answers_create(struct arena *arena, const struct bound_policy *bound)
{
    struct policy_answers *answers = arena_alloc(arena, sizeof *answers);
    struct bound_policy alone = *bound;
    struct note_list ignored = note_list_in(arena);
    answers->arena = arena;
    answers->bound = bound;
    answers->pinned = intern_create(arena, 0);
    find_pins(answers);
    /* Without the caller's variables, only what the policy sets is left. */
    alone.bindings.environment_count = 0;
    answers->sets = bound_environment(arena, &alone, &ignored);
    return answers;
}

/* --- what a policy answers ------------------------------------------------------------------------------ */

static const char *const level_words[] = {"none", "read", "write"};

static const char *allowed(bool allows)
{
    return allows ? "allow" : "deny";
}

/* Where a match of a pattern may lie below, what may be moved depends on what is there. */
static const char *rename_answer(const struct policy_answers *answers, const char *path, size_t length)
{
    if (bound_level(answers->bound, path, length) != LEVEL_WRITE ||
        level_around(answers->bound, path, length) != LEVEL_WRITE)
        return "deny";
    if (intern_find(answers->pinned, path, length) != NULL)
        return "deny";
    for (uint32_t i = 0; i < answers->patterns.count; i++)
        if (pattern_may_match_below(answers->patterns.items[i], path, length))
            return NULL;
    return "allow";
}

static const char *fact_answer(const struct policy_answers *answers, const char *fact)
{
    const struct bound_policy *bound = answers->bound;
    if (strcmp(fact, "scratch") == 0)
        return allowed(bound_scratch(bound));
    if (strcmp(fact, "bypass") == 0)
        return allowed(bound_bypass(bound));
    for (size_t i = 0; i < AMOUNTS; i++) {
        uint64_t amount = bound_limit(bound, amounts[i].kind);
        if (strcmp(fact, amounts[i].fact) == 0)
            return amount == 0 ? "none" : arena_format(answers->arena, "%" PRIu64, amount);
    }
    if (strncmp(fact, "set env ", 8) != 0)
        return NULL;
    for (uint32_t i = 0; i < answers->sets.count; i++)
        if (strcmp(answers->sets.items[i].name, fact + 8) == 0)
            return arena_format(answers->arena, "\"%s\"", answers->sets.items[i].value);
    return "not set";
}

static const char *policy_word(const struct policy_answers *answers, const struct query *query)
{
    const struct bound_policy *bound = answers->bound;
    switch (query->kind) {
    case QUERY_READ:
        return allowed(bound_level(bound, query->name, query->length) >= LEVEL_READ);
    case QUERY_WRITE:
        return allowed(bound_level(bound, query->name, query->length) == LEVEL_WRITE);
    case QUERY_EXEC:
        return allowed(bound_exec(bound, query->name, query->length));
    case QUERY_SOCKET:
        return allowed(bound_socket(bound, query->name, query->length));
    case QUERY_RENAME:
        return rename_answer(answers, query->name, query->length);
    case QUERY_LISTED:
        return level_words[bound_level(bound, query->name, query->length)];
    case QUERY_CONNECT: {
        static const char *const verdicts[] = {"deny", "allow", "depends"};
        return verdicts[bound_connect(bound, query->endpoint)];
    }
    case QUERY_LISTEN:
        return allowed(bound_listen(bound, query->endpoint));
    case QUERY_ENV:
        return allowed(bound_env(bound, query->name));
    case QUERY_SERVICE:
        return allowed(bound_service(bound, query->name));
    case QUERY_FACT:
        return fact_answer(answers, query->name);
    case QUERY_SYSCALL:
    case QUERY_KINDS:
        break;
    }
    return NULL;
}

struct reply policy_answer(const struct policy_answers *answers, const struct query *query)
{
    return (struct reply){.text = policy_word(answers, query)};
}

bool reply_agrees(const struct reply *a, const struct reply *b)
{
    return a->text == NULL || b->text == NULL || a->text == b->text || strcmp(a->text, b->text) == 0;
}

/* --- in words ------------------------------------------------------------------------------------------- */

static const char *endpoint_text(struct arena *arena, const struct endpoint *endpoint)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const char *protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? "/udp" : "";
    char text[INET6_ADDRSTRLEN] = "";
    if (endpoint->name != NULL)
        return arena_format(arena, "%s:%u%s", endpoint->name, endpoint->port, protocol);
    if (memcmp(endpoint->address, mapped, sizeof mapped) == 0) {
        inet_ntop(AF_INET, endpoint->address + 12, text, sizeof text);
        return arena_format(arena, "%s:%u%s", text, endpoint->port, protocol);
    }
    inet_ntop(AF_INET6, endpoint->address, text, sizeof text);
    return arena_format(arena, "[%s]:%u%s", text, endpoint->port, protocol);
}

static const char *call_text(struct arena *arena, const struct query *query)
{
    struct buffer out = buffer_in(arena);
    buffer_format(&out, "syscall %s", query->name);
    for (uint32_t i = 0; query->arguments != NULL && i < QUERY_ARGUMENTS; i++)
        buffer_format(&out, "%s0x%" PRIx64, i == 0 ? "(" : ", ", query->arguments[i]);
    if (query->arguments != NULL)
        buffer_byte(&out, ')');
    return out.bytes;
}

const char *query_text(struct arena *arena, const struct query *query)
{
    static const char *const words[QUERY_KINDS] = {"read",   "write",   "exec",    "socket",
                                                   "rename", "region",  "connect", "listen",
                                                   "env",    "service", "syscall", ""};
    const char *name = escape_text(arena, query->name, query->length);
    if (query->kind == QUERY_SYSCALL)
        return call_text(arena, query);
    if (query->endpoint != NULL)
        return arena_format(arena, "%s %s", words[query->kind], endpoint_text(arena, query->endpoint));
    return query->kind == QUERY_FACT ? name : arena_format(arena, "%s %s", words[query->kind], name);
}
