#include "emitters/seatbelt_files.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/seatbelt_pattern.h"

#include <string.h>

/* ---- gathering ---- */

static void add(struct profile *profile, struct placed_grants *list, const struct bound_rule *bound)
{
    struct place place = place_of(profile, bound->rule, &bound->at);
    VECTOR_PUSH(profile->arena, list, (struct placed_grant){bound, place, NULL});
}

static struct placed_grants *list_for(struct file_rules *rules, const struct bound_rule *bound)
{
    if (bound->holds_as_deny_write)
        return &rules->denies;
    switch ((int)bound->rule->kind) {
    case RULE_GRANT:
        return bound->rule->automatic ? &rules->automatic : &rules->configured;
    case RULE_DENY:
        return &rules->denies;
    case RULE_DENY_EXEC:
        return &rules->exec_denies;
    case RULE_GRANT_SOCKET:
        return &rules->sockets;
    case RULE_DENY_SOCKET:
        return &rules->socket_denies;
    default:
        return NULL;
    }
}

struct file_rules file_rules_of(struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    struct file_rules rules = {0};
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        struct placed_grants *list = list_for(&rules, rule);
        if (list != NULL && !rule->dropped && rule->at.path != NULL && !place_is_unknown(&rule->at))
            add(profile, list, rule);
    }
    grants_sort(profile, &rules.configured);
    return rules;
}

/* ---- grants ---- */

/* All that lies on the data volume is also below /System, and no grant of the system means that. */
static bool holds_data_volume(struct place place)
{
    return place.root == NULL &&
           (strcmp(place.rest, "/System") == 0 || strcmp(place.rest, "/System/Volumes") == 0);
}

static void put_grant(struct profile *profile, const struct placed_grant *grant)
{
    struct buffer filter = buffer_in(profile->arena);
    if (holds_data_volume(grant->place))
        buffer_string(&filter, "(require-all ");
    place_opens(profile, &filter, grant->place);
    if (holds_data_volume(grant->place))
        buffer_string(&filter, " (require-not (subpath \"/System/Volumes/Data\")))");
    profile_filter(profile, &filter, grant->bound->rule, profile_remark(profile, grant->bound));
}

static void put_grants(struct profile *profile, const struct placed_grants *grants, uint32_t from,
                       uint32_t to, const char *operations, enum level least)
{
    profile_rule_begin(profile, operations);
    for (uint32_t i = from; i < to; i++)
        if (grants->items[i].bound->rule->level >= least)
            put_grant(profile, &grants->items[i]);
    profile_rule_end(profile);
}

/* Grants of one level that follow each other do the same whatever their order, so they share a rule. */
static void put_configured(struct profile *profile, const struct placed_grants *grants)
{
    for (uint32_t i = 0, end; i < grants->count; i = end) {
        enum level level = grants->items[i].bound->rule->level;
        for (end = i; end < grants->count && grants->items[end].bound->rule->level == level;)
            end++;
        put_grants(profile, grants, i, end,
                   level == LEVEL_WRITE ? "allow " READ_OPERATIONS "\n  " WRITE_OPERATIONS
                                        : "allow " READ_OPERATIONS,
                   LEVEL_READ);
        if (level < LEVEL_WRITE)
            put_grants(profile, grants, i, end, "deny " WRITE_OPERATIONS, LEVEL_READ);
    }
}

void profile_grants(struct profile *profile, const struct file_rules *rules)
{
    if (rules->automatic.count > 0) {
        profile_comment(profile, "Automatic grants: each opens what it names, whatever their order.");
        put_grants(profile, &rules->automatic, 0, rules->automatic.count, "allow " READ_OPERATIONS,
                   LEVEL_READ);
        put_grants(profile, &rules->automatic, 0, rules->automatic.count, "allow " WRITE_OPERATIONS,
                   LEVEL_WRITE);
    }
    if (rules->configured.count > 0) {
        profile_comment(profile,
                        "Grants of the policy, the deeper path after the one that holds it: the last that "
                        "matches decides.");
        put_configured(profile, &rules->configured);
    }
    if (rules->sockets.count > 0) {
        profile_comment(profile,
                        "Unix sockets. The rules above do not open one, whatever they say of its file.");
        put_grants(profile, &rules->sockets, 0, rules->sockets.count, "allow " SOCKET_OPERATIONS, LEVEL_NONE);
    }
}

/* ---- managed limits ---- */

static bool is_listed(const struct bound_rule *bound, uint32_t layer, enum rule_kind kind)
{
    return !bound->dropped && bound->rule->kind == kind && bound->rule->layer == layer;
}

static bool has_limit(const struct bound_policy *bound, uint32_t layer, enum rule_kind kind)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].rule->kind == kind && bound->rules.items[i].rule->layer == layer)
            return true;
    return false;
}

static void put_outside(struct profile *profile, struct buffer *filter, uint32_t layer, enum rule_kind kind)
{
    const struct bound_policy *bound = profile->request->bound;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        struct place names[PLACE_SPELLINGS];
        if (!is_listed(rule, layer, kind) || rule->rule->nothing || place_is_unknown(&rule->at))
            continue;
        uint32_t count = place_spellings(profile, place_of(profile, rule->rule, &rule->at), false, names);
        for (uint32_t name = 0; name < count; name++) {
            buffer_string(filter, "\n    (require-not ");
            place_filter(filter, "subpath", names[name]);
            buffer_byte(filter, ')');
        }
    }
}

/* Closes everything that neither list of the layer names. */
static void put_limit(struct profile *profile, uint32_t layer, enum rule_kind kind, enum rule_kind other,
                      const char *operations, const char *remark)
{
    struct buffer filter = buffer_in(profile->arena);
    if (!has_limit(profile->request->bound, layer, kind))
        return;
    buffer_string(&filter, "(require-all (subpath \"/\")");
    put_outside(profile, &filter, layer, kind);
    if (other != kind)
        put_outside(profile, &filter, layer, other);
    buffer_byte(&filter, ')');
    profile_rule_begin(profile, operations);
    profile_filter(profile, &filter, NULL, remark);
    profile_rule_end(profile);
}

void profile_limits(struct profile *profile)
{
    const struct policy *policy = profile->request->policy;
    const struct bound_policy *bound = profile->request->bound;
    bool sockets = profile->opens_sockets;
    for (uint32_t layer = 0; layer < policy->layer_count; layer++) {
        if (!has_limit(bound, layer, RULE_LIMIT_READ) && !has_limit(bound, layer, RULE_LIMIT_WRITE) &&
            !has_limit(bound, layer, RULE_LIMIT_SOCKET))
            continue;
        profile_comment(profile, arena_format(profile->arena,
                                              "What the managed layer \"%s\" limits is closed outside "
                                              "its lists.",
                                              escape_string(profile->arena, policy->layers[layer].name)));
        put_limit(profile, layer, RULE_LIMIT_READ, RULE_LIMIT_WRITE,
                  "deny " READ_OPERATIONS "\n  " WRITE_OPERATIONS, "limit read to");
        put_limit(profile, layer, RULE_LIMIT_WRITE, RULE_LIMIT_WRITE,
                  sockets ? "deny " WRITE_OPERATIONS "\n  " SOCKET_OPERATIONS : "deny " WRITE_OPERATIONS,
                  "limit write to");
        if (sockets)
            put_limit(profile, layer, RULE_LIMIT_SOCKET, RULE_LIMIT_SOCKET, "deny " SOCKET_OPERATIONS,
                      "limit socket to");
    }
}

/* ---- denies ---- */

static void note_narrowed(struct profile *profile, const struct bound_rule *bound)
{
    note_add(profile->request->notes,
             (struct note){.code = SBX312_EXCEPTION_NARROWED,
                           .rule = bound->rule,
                           .text = "on macOS ? and [!...] in this exception match one ASCII character alone; "
                                   "names with others stay denied",
                           .help = "write * where other characters stand in the names that are meant"});
}

static void put_exceptions(struct profile *profile, struct buffer *filter, const struct bound_rule *bound)
{
    bool narrowed = false;
    for (uint32_t i = 0; i < bound->except_count; i++) {
        struct place names[PLACE_SPELLINGS];
        if (place_is_unknown(&bound->except[i]))
            continue;
        struct place place = place_of(profile, bound->rule, &bound->except[i]);
        narrowed = narrowed || (place.pattern && pattern_is_narrowed(place.rest));
        uint32_t count = place_spellings(profile, place, false, names);
        for (uint32_t name = 0; name < count; name++) {
            buffer_string(filter, " (require-not ");
            if (place.pattern)
                place_regex(filter, names[name], false, false);
            else
                place_filter(filter, "subpath", names[name]);
            buffer_byte(filter, ')');
        }
    }
    if (narrowed)
        note_narrowed(profile, bound);
}

static void put_deny(struct profile *profile, const struct placed_grant *deny)
{
    const struct bound_rule *bound = deny->bound;
    struct buffer filter = buffer_in(profile->arena);
    if (bound->except_count > 0)
        buffer_string(&filter, "(require-all (require-any ");
    place_closes(profile, &filter, deny->place);
    if (bound->except_count > 0) {
        buffer_byte(&filter, ')');
        put_exceptions(profile, &filter, bound);
        buffer_byte(&filter, ')');
    }
    profile_filter(profile, &filter, bound->rule, profile_remark(profile, bound));
}

static enum level cap_of(const struct bound_rule *bound)
{
    return bound->holds_as_deny_write ? LEVEL_READ : bound->rule->level;
}

static void put_denies(struct profile *profile, const struct placed_grants *denies, enum level cap,
                       const char *operations)
{
    profile_rule_begin(profile, operations);
    for (uint32_t i = 0; i < denies->count; i++)
        if (cap == LEVEL_WRITE || cap_of(denies->items[i].bound) == cap)
            put_deny(profile, &denies->items[i]);
    profile_rule_end(profile);
}

void profile_denies(struct profile *profile, const struct file_rules *rules)
{
    bool sockets = profile->opens_sockets;
    if (rules->denies.count > 0) {
        profile_comment(
            profile,
            "Denies. They come after every grant, and name each single operation beside its wildcard: a\n"
            "deny of the wildcard alone would lose to a grant of the operation.");
        put_denies(profile, &rules->denies, LEVEL_NONE,
                   sockets ? "deny " READ_OPERATIONS "\n  " WRITE_OPERATIONS "\n  " SOCKET_OPERATIONS
                           : "deny " READ_OPERATIONS "\n  " WRITE_OPERATIONS);
        put_denies(profile, &rules->denies, LEVEL_READ,
                   sockets ? "deny " WRITE_OPERATIONS "\n  " SOCKET_OPERATIONS : "deny " WRITE_OPERATIONS);
    }
    if (sockets && rules->socket_denies.count > 0) {
        profile_comment(profile, "Unix sockets that stay closed.");
        put_denies(profile, &rules->socket_denies, LEVEL_WRITE, "deny " SOCKET_OPERATIONS);
    }
}

void profile_exec_denies(struct profile *profile, const struct file_rules *rules)
{
    if (rules->exec_denies.count == 0)
        return;
    profile_comment(profile, "Programs that cannot be started by their path.");
    put_denies(profile, &rules->exec_denies, LEVEL_WRITE, "deny process-exec*");
}
