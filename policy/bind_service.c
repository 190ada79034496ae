#include "policy/bind_service.h"

#include "base/vector.h"
#include "policy/names.h"
#include "policy/service_place.h"

#include <string.h>

enum service_use { USE_SOCKET, USE_CLOSED_SOCKET, USE_READ, USE_DEVICE, USE_VARIABLE, USE_SHARED };

struct service_entry {
    const char *service;
    enum service_use use;
    enum service_place place;
    const char *variable, *text;
};

#define SERVICE(service, use, place, variable, text) {service, USE_##use, PLACE_##place, variable, text},
static const struct service_entry linux_entries[] = {
#include "policy/services.def"
    {0},
};
static const struct service_entry macos_entries[] = {
#include "policy/services_macos.def"
    {0},
};
#undef SERVICE

/* By system; each ends with an entry without a service. */
static const struct service_entry *const entries_of[SYSTEMS] = {
    [SYSTEM_LINUX] = linux_entries, [SYSTEM_MACOS] = macos_entries};

/* One service in one of its two directions. */
struct expansion {
    const struct binder *binder;
    struct bound_policy *bound;
    const struct rule *said; /* the rule that grants or closes the service */
    bool grants;
};

const char *bound_rule_text(struct arena *arena, const struct bound_rule *rule)
{
    return rule_text(arena, rule->service != NULL ? rule->service : rule->rule);
}

const char *bound_statement_text(struct arena *arena, const struct policy *policy,
                                 const struct bound_rule *rule)
{
    return rule_statement_text(arena, policy, rule->service != NULL ? rule->service : rule->rule);
}

/* ---- rules ---- */

static struct rule *rule_for(const struct expansion *expansion, const struct service_entry *entry)
{
    struct rule *rule = arena_alloc(expansion->binder->arena, sizeof *rule);
    *rule = (struct rule){
        .layer = expansion->said->layer,
        .origin = expansion->said->origin,
        .systems = expansion->said->systems,
        .commands = expansion->said->commands,
    };
    switch (entry->use) {
    case USE_SOCKET:
    case USE_CLOSED_SOCKET:
        rule->kind = expansion->grants ? RULE_GRANT_SOCKET : RULE_DENY_SOCKET;
        break;
    case USE_READ:
    case USE_DEVICE:
        rule->kind = expansion->grants ? RULE_GRANT : RULE_DENY;
        rule->automatic = expansion->grants;
        rule->level = !expansion->grants ? LEVEL_NONE : entry->use == USE_READ ? LEVEL_READ : LEVEL_WRITE;
        break;
    case USE_VARIABLE:
    case USE_SHARED:
        rule->kind = expansion->grants ? RULE_GRANT_ENV : RULE_DENY_ENV;
        rule->name = entry->variable;
        break;
    }
    return rule;
}

static bool takes_part(const struct expansion *expansion, const struct service_entry *entry)
{
    return expansion->grants ? entry->use != USE_CLOSED_SOCKET
                             : entry->use != USE_READ && entry->use != USE_SHARED;
}

static void add_rule(const struct expansion *expansion, const struct rule *rule, struct bound_path at)
{
    VECTOR_PUSH(
        expansion->binder->arena, &expansion->bound->rules,
        (struct bound_rule){.rule = rule, .at = at, .because = "service", .service = expansion->said});
}

/* What is not there needs no door, and is no reason to open Unix sockets as a family. */
static bool is_missing(const struct binder *binder, const char *path)
{
    const struct host_view *host = binder->bindings->host;
    return path[0] == '/' && host != NULL && host->canonical != NULL &&
           host->canonical(host->context, binder->arena, path) == NULL;
}

static struct policy_path path_of(const struct service_entry *entry)
{
    static const enum root roots[] = {
        [PLACE_NOWHERE] = ROOT_SLASH, [PLACE_SLASH] = ROOT_SLASH, [PLACE_HOME] = ROOT_HOME,
        [PLACE_CONFIG] = ROOT_CONFIG, [PLACE_CACHE] = ROOT_CACHE, [PLACE_VALUE] = ROOT_ENV,
        [PLACE_ADDRESS] = ROOT_ENV,   [PLACE_RUNTIME] = ROOT_ENV, [PLACE_X11] = ROOT_ENV};
    return (struct policy_path){.root = roots[entry->place],
                                .name = entry->variable,
                                .rest = entry->text,
                                .pattern = strchr(entry->text, '*') != NULL};
}

static void add_below(const struct binder *binder, const struct root_value *value, enum root root,
                      const char *text, struct bound_paths *out)
{
    const char *symbolic = arena_format(binder->arena, "$%s", root_names[root]);
    uint32_t count = value->state == ROOT_SYMBOLIC ? 1 : value->state == ROOT_BOUND ? value->count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *base = value->state == ROOT_SYMBOLIC ? symbolic : value->paths[i];
        struct bound_path at = {.path = arena_format(binder->arena, "%s%s", base, text)};
        if (!path_is_top(base) && (out->count == 0 || strcmp(out->items[0].path, at.path) != 0))
            VECTOR_PUSH(binder->arena, out, at);
    }
}

/* What is closed is closed in the caller's home and in that of the account, which programs may both go by. Of a policy's
 * own rules, the account's is left out while only the caller's is known: text artifacts know no account. */
static void closed_paths(const struct binder *binder, const struct rule *rule, struct bound_paths *out)
{
    const struct policy_path *path = &rule->path;
    if (path->root != ROOT_SLASH) {
        const struct root_value *account = &binder->bindings->managed_roots[path->root];
        const struct root_value *caller = &binder->bindings->roots[path->root];
        if (account->state != ROOT_SYMBOLIC || caller->state == ROOT_SYMBOLIC ||
            binder_is_managed(binder, rule))
            add_below(binder, account, path->root, path->rest, out);
        add_below(binder, caller, path->root, path->rest, out);
    }
    if (out->count == 0)
        binder_paths(binder, rule, path, USE_DENY, out);
}

static void add_entry(const struct expansion *expansion, const struct service_entry *entry)
{
    const struct binder *binder = expansion->binder;
    struct rule *rule = rule_for(expansion, entry);
    struct bound_paths paths = {0};
    if (entry->place == PLACE_NOWHERE) {
        add_rule(expansion, rule, (struct bound_path){0});
        return;
    }
    rule->path = path_of(entry);
    if (entry->place >= PLACE_VALUE)
        service_paths(binder, entry->place, entry->variable, entry->text, &paths);
    else if (expansion->grants)
        binder_paths(binder, rule, &rule->path, USE_GRANT, &paths);
    else
        closed_paths(binder, rule, &paths);
    for (uint32_t i = 0; i < paths.count; i++)
        if (!expansion->grants || !is_missing(binder, paths.items[i].path))
            add_rule(expansion, rule, paths.items[i]);
}

/* A root without a value is told once: every entry of a service may lie below it. A grant goes without. */
static void add_service(const struct expansion *expansion, const char *service)
{
    struct note_list notes = note_list_in(expansion->binder->arena);
    struct binder quiet = *expansion->binder;
    struct expansion inner = *expansion;
    quiet.notes = &notes;
    inner.binder = &quiet;
    for (const struct service_entry *entry = entries_of[quiet.bindings->system]; entry->service != NULL;
         entry++)
        if (strcmp(entry->service, service) == 0 && takes_part(expansion, entry))
            add_entry(&inner, entry);
    for (uint32_t i = 0; i < notes.count; i++)
        if (notes.items[i].severity == SEVERITY_ERROR) {
            note_add(expansion->binder->notes, notes.items[i]);
            return;
        }
}

/* ---- which services ---- */

/* The rules of the service class that hold here. */
struct service_rules {
    const struct rule **items;
    uint32_t count, capacity;
};

static struct service_rules service_rules_of(const struct bound_policy *bound)
{
    struct service_rules rules = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (rule->kind == RULE_GRANT_SERVICE || rule->kind == RULE_DENY_SERVICE ||
            rule->kind == RULE_LIMIT_SERVICE)
            VECTOR_PUSH(bound->arena, &rules, rule);
    }
    return rules;
}

/* The rule of `layer` that closes `service`, or NULL. */
static const struct rule *closing_rule(const struct service_rules *rules, uint32_t layer, const char *service)
{
    const struct rule *limit = NULL;
    bool listed = false;
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct rule *rule = rules->items[i];
        if (rule->layer != layer)
            continue;
        bool named = rule->name != NULL && !rule->nothing && names_match(rule->name, service, SYSTEM_LINUX);
        if (rule->kind == RULE_DENY_SERVICE && named)
            return rule;
        if (rule->kind == RULE_LIMIT_SERVICE) {
            limit = limit == NULL || rule->nothing ? rule : limit;
            listed = listed || named;
        }
    }
    return listed ? NULL : limit;
}

static const struct rule *granting_rule(const struct binder *binder, const struct service_rules *rules,
                                        const char *service)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->items[i]->kind == RULE_GRANT_SERVICE && !binder_is_managed(binder, rules->items[i]) &&
            strcmp(rules->items[i]->name, service) == 0)
            return rules->items[i];
    return NULL;
}

static void bind_one(const struct binder *binder, struct bound_policy *bound,
                     const struct service_rules *rules, const char *service)
{
    struct expansion expansion = {.binder = binder, .bound = bound};
    bool closed = false;
    for (uint32_t layer = 0; layer < binder->policy->layer_count; layer++) {
        expansion.said = closing_rule(rules, layer, service);
        if (expansion.said == NULL)
            continue;
        add_service(&expansion, service);
        closed = true;
    }
    expansion.grants = true;
    expansion.said = granting_rule(binder, rules, service);
    if (!closed && expansion.said != NULL)
        add_service(&expansion, service);
}

void services_bind(const struct binder *binder, struct bound_policy *bound)
{
    const struct service_entry *entries = entries_of[binder->bindings->system];
    if (entries == NULL)
        return;
    struct service_rules rules = service_rules_of(bound);
    for (int i = 0; entries[i].service != NULL && rules.count > 0; i++)
        if (i == 0 || strcmp(entries[i - 1].service, entries[i].service) != 0)
            bind_one(binder, bound, &rules, entries[i].service);
}
