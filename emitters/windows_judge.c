#include "emitters/windows_judge.h"

#include "base/escape.h"
#include "policy/address.h"
#include "policy/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- connections ---------------------------------------------------------------------------------------- */

struct verdicts judge_differ(const char *wanted, const char *found)
{
    if (strcmp(wanted, found) == 0)
        return (struct verdicts){0};
    return (struct verdicts){{.text = wanted}, {.text = found}};
}

/* What the capabilities do with an address: those for servers open both directions, and none knows ports. */
static const char *connects(const struct judge *judge, const struct endpoint *endpoint, bool listens)
{
    unsigned capabilities = judge->spec->capabilities;
    unsigned internet =
        listens ? WINDOWS_INTERNET_CLIENT_SERVER : WINDOWS_INTERNET_CLIENT | WINDOWS_INTERNET_CLIENT_SERVER;
    if (judge->spec->tier != WINDOWS_APPCONTAINER)
        return "allow";
    if (capabilities == 0)
        return "deny";
    if (!endpoint->has_address)
        return NULL;
    switch (address_class(endpoint->address)) {
    case ADDRESS_LOOPBACK:
        return "deny";
    case ADDRESS_LAN:
        return (capabilities & WINDOWS_PRIVATE_NETWORK) != 0 ? "allow" : "deny";
    case ADDRESS_INTERNET:
        return (capabilities & internet) != 0 ? "allow" : "deny";
    case ADDRESS_OTHER:
        break;
    }
    return NULL;
}

/* A listener on any address is reached by whoever a capability for servers lets in. */
static const char *listens(const struct judge *judge, const struct endpoint *endpoint)
{
    unsigned servers = WINDOWS_INTERNET_CLIENT_SERVER | WINDOWS_PRIVATE_NETWORK;
    static const uint8_t none[16] = {0}, none_of_four[16] = {[10] = 0xff, [11] = 0xff};
    bool any = memcmp(endpoint->address, none, 16) == 0 || memcmp(endpoint->address, none_of_four, 16) == 0;
    if (judge->spec->tier == WINDOWS_APPCONTAINER && any)
        return (judge->spec->capabilities & servers) != 0 ? "allow" : "deny";
    return connects(judge, endpoint, true);
}

/* What no tier can hold stays closed, which an accepted exception may say; that this machine's loopback does is said
 * when the policy is compiled. */
static bool may_stay_closed(const struct judge *judge, const struct endpoint *endpoint)
{
    return judge_accepts(judge, CONTROL_NET_HOST) || judge_accepts(judge, CONTROL_NET_ADDRESS) ||
           judge_accepts(judge, CONTROL_NET_LOOPBACK) || judge_accepts(judge, CONTROL_LISTEN) ||
           (endpoint->has_address && address_class(endpoint->address) == ADDRESS_LOOPBACK);
}

/* Who reaches the local network is reached from there. */
static bool may_be_open(const struct judge *judge, const struct query *query)
{
    return judge_accepts(judge, CONTROL_NET_CLOSED) ||
           (query->kind == QUERY_LISTEN && judge_accepts(judge, CONTROL_LISTEN));
}

struct verdicts judge_connection(const struct judge *judge, const struct query *query)
{
    struct reply wanted = policy_answer(judge->answers, query);
    const char *found = query->kind == QUERY_LISTEN ? listens(judge, query->endpoint)
                                                    : connects(judge, query->endpoint, false);
    if (wanted.text == NULL || found == NULL || strcmp(wanted.text, "depends") == 0)
        return (struct verdicts){0};
    bool opens = strcmp(found, "allow") == 0;
    if (opens ? may_be_open(judge, query) : may_stay_closed(judge, query->endpoint))
        return (struct verdicts){0};
    return judge_differ(wanted.text, found);
}

/* --- variables ------------------------------------------------------------------------------------------ */

static bool covers(const struct windows_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names_match(names->items[i].name, name, SYSTEM_WINDOWS))
            return true;
    return false;
}

static const struct windows_variable *set_of(const struct judge *judge, const char *name)
{
    const struct windows_names *set = &judge->spec->environment.set;
    for (uint32_t i = 0; i < set->count; i++)
        if (names_equal(set->items[i].name, name, SYSTEM_WINDOWS))
            return &set->items[i];
    return NULL;
}

static bool passes(const struct judge *judge, const char *name)
{
    const struct windows_environment *environment = &judge->spec->environment;
    if (set_of(judge, name) != NULL)
        return true;
    for (uint32_t i = 0; i < environment->limit_count; i++)
        if (!covers(&environment->limits[i], name))
            return false;
    return covers(&environment->keep, name) && !covers(&environment->drop, name);
}

struct verdicts judge_variable(const struct judge *judge, const struct query *query)
{
    struct reply wanted = policy_answer(judge->answers, query);
    return judge_differ(wanted.text, passes(judge, query->name) ? "allow" : "deny");
}

/* --- words and amounts ---------------------------------------------------------------------------------- */

static const char carried_out[] = "the specification can be carried out";

static const char *amount(const struct judge *judge, uint64_t value)
{
    return value == 0 ? "none" : arena_format(judge->arena, "%" PRIu64, value);
}

static const char *time_of(const struct judge *judge)
{
    uint64_t time = judge->spec->time;
    return time % 1000 == 0 ? amount(judge, time / 1000)
                            : arena_format(judge->arena, "%" PRIu64 " milliseconds", time);
}

/* What a specification says of an amount that is too large for it. */
static const char *at_most(const struct judge *judge, const char *fact, const char *wanted)
{
    uint64_t most = strcmp(fact, "limit processes") == 0 ? WINDOWS_PROCESSES_MOST
                    : strcmp(fact, "limit memory") == 0  ? WINDOWS_AMOUNT_MOST
                    : strcmp(fact, "limit time") == 0    ? WINDOWS_AMOUNT_MOST / 1000
                                                         : UINT64_MAX;
    return strtoull(wanted, NULL, 10) > most ? amount(judge, most) : wanted;
}

static const char *found_fact(const struct judge *judge, const char *fact)
{
    static const char set[] = "set env ";
    if (strcmp(fact, "scratch") == 0)
        return judge->spec->scratch ? "allow" : "deny";
    if (strcmp(fact, "limit processes") == 0)
        return amount(judge, judge->spec->processes);
    if (strcmp(fact, "limit memory") == 0)
        return amount(judge, judge->spec->memory);
    if (strcmp(fact, "limit time") == 0)
        return time_of(judge);
    if (strncmp(fact, set, sizeof set - 1) != 0)
        return NULL;
    const struct windows_variable *variable = set_of(judge, fact + sizeof set - 1);
    return variable != NULL ? arena_format(judge->arena, "\"%s\"", variable->value) : "not set";
}

/* --- conditions on roots, and exceptions ---------------------------------------------------------------- */

static const char conditions[] = "conditions on how roots lie in each other";
static const char exception[] = "exception ";

/* Whether the two begin with different roots, of which one may come to lie in the other. */
static bool may_nest(const char *a, const char *b)
{
    size_t length = a[0] == '$' ? strcspn(a, "\\") : 0, other = b[0] == '$' ? strcspn(b, "\\") : 0;
    return length != other || strncmp(a, b, length) != 0;
}

static bool is_required(const struct judge *judge, const char *path, const char *below)
{
    bool required = !may_nest(path, below);
    for (uint32_t i = 0; i < judge->spec->require_count && !required; i++)
        required = windows_path_equal(judge->spec->requires[i].path, path) &&
                   windows_path_equal(judge->spec->requires[i].below, below);
    return required;
}

static bool has_entry(const struct windows_object *object, bool deny)
{
    for (uint32_t i = 0; i < object->ace_count; i++)
        if (object->aces[i].deny == deny && object->aces[i].inherit)
            return true;
    return false;
}

static const char *lacking(const struct judge *judge, const char *path, const char *below)
{
    return arena_format(judge->arena, "nothing keeps %s out of %s", escape_string(judge->arena, path),
                        escape_string(judge->arena, below));
}

/* An automatic grant of writing counts for nothing inside what a configured one opens for reading. */
static const char *lacking_for_grant(const struct judge *judge, const struct windows_object *object)
{
    for (uint32_t i = 0; object->automatic && i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        const char *path =
            rule->at.path != NULL ? windows_path_from_model(judge->arena, rule->at.path) : NULL;
        if (!rule->dropped && rule->rule->kind == RULE_GRANT && !rule->rule->automatic &&
            rule->rule->level == LEVEL_READ && path != NULL && windows_path_problem(path) == NULL &&
            object->aces[object->ace_count - 1].mask == WINDOWS_ALLOW_WRITE &&
            !is_required(judge, object->path, path))
            return lacking(judge, object->path, path);
    }
    return NULL;
}

/* A label does not hold what is closed inside a place of low integrity, nor such a place inside what is closed. */
static const char *lacking_for_label(const struct judge *judge, const struct windows_object *object)
{
    bool low = object->label.present && object->label.level == WINDOWS_LOW;
    if (judge->spec->tier != WINDOWS_RESTRICTED_LOW || low || !has_entry(object, true))
        return NULL;
    for (uint32_t i = 0; i < judge->spec->object_count; i++) {
        const struct windows_object *other = &judge->spec->objects[i];
        if (!other->label.present || other->label.level != WINDOWS_LOW)
            continue;
        if (!is_required(judge, object->path, other->path))
            return lacking(judge, object->path, other->path);
        if (object->cap && !is_required(judge, other->path, object->path))
            return lacking(judge, other->path, object->path);
    }
    return NULL;
}

static bool is_closed_at(const struct judge *judge, const char *path, uint32_t denies)
{
    for (uint32_t i = 0; i < judge->spec->object_count; i++) {
        const struct windows_object *object = &judge->spec->objects[i];
        for (uint32_t j = 0; object->cap && j < object->ace_count; j++)
            if (object->aces[j].deny && object->aces[j].inherit && (denies & ~object->aces[j].mask) == 0 &&
                windows_path_equal(object->path, path))
                return true;
    }
    return false;
}

/* Where a root turns out to lie in another, a deny below it has to be said to hold there. */
static const char *lacking_deny(const struct judge *judge, const struct bound_rule *rule)
{
    const char *path = rule->at.path != NULL ? windows_path_from_model(judge->arena, rule->at.path) : NULL;
    uint32_t denies = rule->rule->level == LEVEL_NONE ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE;
    if (judge->spec->tier != WINDOWS_APPCONTAINER || rule->dropped || rule->itself ||
        rule->rule->kind != RULE_DENY || rule->at.pattern || rule->except_count > 0 || path == NULL ||
        windows_path_problem(path) != NULL || windows_path_is_of_system(path) ||
        is_closed_at(judge, path, denies))
        return NULL;
    for (uint32_t i = 0; i < judge->spec->object_count; i++) {
        const struct windows_object *other = &judge->spec->objects[i];
        if (has_entry(other, false) && !is_required(judge, path, other->path))
            return arena_format(judge->arena, "nothing closes %s in %s", escape_string(judge->arena, path),
                                escape_string(judge->arena, other->path));
    }
    return NULL;
}

static const char *found_conditions(const struct judge *judge)
{
    const char *problem = NULL;
    for (uint32_t i = 0; i < judge->spec->object_count && problem == NULL; i++) {
        problem = lacking_for_label(judge, &judge->spec->objects[i]);
        if (problem == NULL && has_entry(&judge->spec->objects[i], false))
            problem = lacking_for_grant(judge, &judge->spec->objects[i]);
    }
    for (uint32_t i = 0; i < judge->bound->rules.count && problem == NULL; i++)
        problem = lacking_deny(judge, &judge->bound->rules.items[i]);
    return problem != NULL ? problem : "complete";
}

static struct verdicts judge_exception(const struct judge *judge, const char *control)
{
    const char *wanted = "not accepted", *found = "not accepted";
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct rule *rule = judge->bound->rules.items[i].rule;
        if (rule->kind == RULE_ACCEPT && strcmp(rule->target, "windows") == 0 &&
            strcmp(rule->name, control) == 0)
            wanted = rule->value;
    }
    for (uint32_t i = 0; i < judge->spec->accepted_count; i++)
        if (strcmp(judge->spec->accepted[i].control, control) == 0)
            found = judge->spec->accepted[i].text;
    return judge_differ(wanted, found);
}

struct verdicts judge_fact(const struct judge *judge, const struct query *query)
{
    struct verdicts stated;
    if (judge_claim(judge, query->name, &stated) || judge_closed(judge, query->name, &stated))
        return stated;
    if (strcmp(query->name, conditions) == 0)
        return judge_differ("complete", found_conditions(judge));
    if (strncmp(query->name, exception, sizeof exception - 1) == 0)
        return judge_exception(judge, query->name + sizeof exception - 1);
    if (strcmp(query->name, carried_out) == 0)
        return judge_differ("yes", *judge->problem == NULL ? "yes" : *judge->problem);
    struct reply wanted = policy_answer(judge->answers, query);
    const char *found = found_fact(judge, query->name);
    return wanted.text != NULL && found != NULL
               ? judge_differ(at_most(judge, query->name, wanted.text), found)
               : (struct verdicts){0};
}

/* The pattern with `filling` for each star. */
static const char *filled(struct arena *arena, const char *pattern, const char *filling)
{
    struct buffer out = buffer_in(arena);
    for (; *pattern != '\0'; pattern++)
        if (*pattern == '*')
            buffer_string(&out, filling);
        else
            buffer_byte(&out, *pattern);
    return out.length > 0 ? out.bytes : "A";
}

/* Names that what is kept covers and what is dropped or limited covers too. */
static void ask_together(const struct judge *judge, struct query_set *set, const char *taken)
{
    const struct windows_names *keep = &judge->spec->environment.keep;
    for (uint32_t i = 0; i < keep->count; i++)
        if (strchr(keep->items[i].name, '*') != NULL)
            queries_add_name(set, QUERY_ENV,
                             filled(judge->arena, keep->items[i].name, filled(judge->arena, taken, "RUN")));
}

static void ask_taken(const struct judge *judge, struct query_set *set)
{
    const struct windows_names *drop = &judge->spec->environment.drop;
    for (uint32_t i = 0; i < drop->count; i++)
        ask_together(judge, set, drop->items[i].name);
    for (uint32_t i = 0; i < judge->bound->rules.count; i++) {
        const struct bound_rule *rule = &judge->bound->rules.items[i];
        if (!rule->dropped && rule->rule->kind == RULE_DENY_ENV)
            ask_together(judge, set, rule->rule->name);
    }
}

/* An exception that the policy needs has to stand in the specification: what a launch records comes from there. */
static void ask_accepted(const struct judge *judge, struct query_set *set)
{
    for (int i = 0; i < CONTROLS; i++)
        if (judge->accepted[i] != NULL)
            queries_add_name(set, QUERY_FACT, arena_join(judge->arena, exception, control_names[i]));
}

void judge_list_names(const struct judge *judge, struct query_set *set)
{
    const struct windows_environment *environment = &judge->spec->environment;
    const struct windows_names *const lists[] = {&environment->keep, &environment->drop, &environment->set};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (uint32_t j = 0; j < lists[i]->count; j++)
            queries_add_variable(set, lists[i]->items[j].name);
    for (uint32_t i = 0; i < environment->limit_count; i++)
        for (uint32_t j = 0; j < environment->limits[i].count; j++)
            queries_add_variable(set, environment->limits[i].items[j].name);
    for (uint32_t i = 0; i < environment->set.count; i++)
        queries_add_name(set, QUERY_FACT,
                         arena_format(judge->arena, "set env %s", environment->set.items[i].name));
    ask_taken(judge, set);
    for (uint32_t i = 0; i < judge->spec->accepted_count; i++)
        queries_add_name(set, QUERY_FACT,
                         arena_join(judge->arena, exception, judge->spec->accepted[i].control));
    ask_accepted(judge, set);
    judge_list_claims(judge, set);
    judge_list_closed(judge, set);
    queries_add_name(set, QUERY_FACT, conditions);
    queries_add_name(set, QUERY_FACT, carried_out);
}
