/* seatbelt_pins.c - directories that stay where they are, and those that can be passed (seatbelt_files.h). */
#include "emitters/seatbelt_files.h"
#include "emitters/seatbelt_set.h"

#include "base/vector.h"
#include "policy/pattern.h"

#include <string.h>

/* ---- pins ---- */

/* Below the fixed start of a pattern each of its components up to a ** can be named, and be moved away. */
static void pin_signs(struct profile *profile, struct placed_grants *patterns,
                      const struct placed_grant *deny)
{
    const char *text = deny->place.rest;
    size_t start = pattern_fixed_prefix(text);
    for (size_t at = start; text[at] == '/';) {
        size_t length = 1 + strcspn(text + at + 1, "/");
        if (text[at + length] == '\0' || (length == 3 && strncmp(text + at, "/**", 3) == 0))
            return;
        at += length;
        struct placed_grant pin = *deny;
        pin.place.rest = arena_copy(profile->arena, text, at);
        VECTOR_PUSH(profile->arena, patterns, pin);
    }
}

static void pin_above(struct profile *profile, struct place_set *set, struct place place)
{
    struct place names[PLACE_SPELLINGS];
    if (place.pattern) {
        size_t fixed = pattern_fixed_prefix(place.rest);
        const char *plain = pattern_plain(profile->arena, place.rest, fixed);
        /* The fixed start itself lies above every match, so something is put below it. */
        place = (struct place){place.root, arena_join(profile->arena, plain, "/x"), false};
    }
    uint32_t count = place_spellings(profile, place, true, names);
    for (uint32_t i = 0; i < count; i++)
        place_set_above(profile->arena, set, names[i]);
}

static void put_pattern_pins(struct profile *profile, const struct placed_grants *patterns)
{
    profile_rule_begin(profile, "deny file-write-unlink file-write-create");
    for (uint32_t i = 0; i < patterns->count; i++) {
        struct place names[PLACE_SPELLINGS];
        uint32_t count = place_spellings(profile, patterns->items[i].place, true, names);
        for (uint32_t name = 0; name < count; name++) {
            struct buffer filter = buffer_in(profile->arena);
            place_regex(&filter, names[name], true, true);
            profile_filter(profile, &filter, patterns->items[i].bound->rule,
                           profile_remark(profile, patterns->items[i].bound));
        }
    }
    profile_rule_end(profile);
}

/* The directory that holds `path`, or NULL where that is not known. */
static bool parent_is_writable(const struct bound_policy *bound, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash != path && bound_level(bound, path, (size_t)(slash - path)) == LEVEL_WRITE;
}

/* Whether a writable area begins here: its own directory is an entry of one that is not writable. */
static bool is_top(const struct profile *profile, const struct bound_path *path)
{
    const struct bound_policy *bound = profile->request->bound;
    return !path->pattern && !place_is_unknown(path) &&
           bound_level(bound, path->path, strlen(path->path)) == LEVEL_WRITE &&
           !parent_is_writable(bound, path->path);
}

static void put_top(struct profile *profile, const struct bound_rule *bound, const struct bound_path *path)
{
    struct place names[PLACE_SPELLINGS];
    if (!is_top(profile, path))
        return;
    uint32_t count = place_spellings(profile, place_of(profile, bound->rule, path), true, names);
    for (uint32_t i = 0; i < count; i++) {
        struct buffer filter = buffer_in(profile->arena);
        buffer_string(&filter, "(require-all ");
        place_filter(&filter, "literal", names[i]);
        buffer_string(&filter, " (vnode-type DIRECTORY))");
        profile_filter(profile, &filter, bound->rule, profile_remark(profile, bound));
    }
}

static void put_tops(struct profile *profile)
{
    const struct bound_policy *bound = profile->request->bound;
    profile_comment(profile,
                    "The directory where a writable area begins is an entry of one that is not writable.");
    profile_rule_begin(profile, "deny file-write-unlink");
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->dropped || rule->at.path == NULL)
            continue;
        if (rule->rule->kind == RULE_GRANT && rule->rule->level == LEVEL_WRITE && !rule->holds_as_deny_write)
            put_top(profile, rule, &rule->at);
        if (rule->rule->kind == RULE_LIMIT_WRITE)
            put_top(profile, rule, &rule->at);
        for (uint32_t j = 0; j < rule->except_count; j++)
            put_top(profile, rule, &rule->except[j]);
    }
    profile_rule_end(profile);
}

/* Places that a deny leaves and another rule lowers, as a pattern may: they are known by name, and held like
 * a deny. */
static void pin_lowered(struct profile *profile, struct place_set *set)
{
    const struct bound_policy *bound = profile->request->bound;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        for (uint32_t j = 0; j < rule->except_count && !rule->dropped; j++) {
            const struct bound_path *path = &rule->except[j];
            if (!path->pattern && !place_is_unknown(path) &&
                bound_level(bound, path->path, strlen(path->path)) < LEVEL_WRITE)
                pin_above(profile, set, place_of(profile, rule->rule, path));
        }
    }
}

static bool opens_writing(const struct file_rules *rules)
{
    for (uint32_t i = 0; i < rules->automatic.count; i++)
        if (rules->automatic.items[i].bound->rule->level == LEVEL_WRITE)
            return true;
    for (uint32_t i = 0; i < rules->configured.count; i++)
        if (rules->configured.items[i].bound->rule->level == LEVEL_WRITE)
            return true;
    return false;
}

void profile_pins(struct profile *profile, const struct file_rules *rules)
{
    struct place_set set = {0};
    struct placed_grants patterns = {0};
    if (!opens_writing(rules))
        return;
    for (uint32_t i = 0; i < rules->denies.count; i++) {
        const struct placed_grant *deny = &rules->denies.items[i];
        pin_above(profile, &set, deny->place);
        if (deny->place.pattern)
            pin_signs(profile, &patterns, deny);
    }
    for (uint32_t i = 0; i < rules->configured.count; i++)
        if (rules->configured.items[i].bound->rule->level < LEVEL_WRITE)
            pin_above(profile, &set, rules->configured.items[i].place);
    pin_lowered(profile, &set);
    place_set_finish(&set);
    if (set.count > 0) {
        profile_comment(
            profile,
            "Directories above what is denied or only readable cannot be moved, removed or put in place:\n"
            "what lies in them would get another path, of which no rule speaks.");
        profile_rule_begin(profile, "deny file-write-unlink file-write-create");
        place_set_write(profile, &set, true);
        profile_rule_end(profile);
        put_pattern_pins(profile, &patterns);
    }
    put_tops(profile);
}

/* ---- passage ---- */

static void pass_above(struct profile *profile, struct place_set *set, const struct placed_grants *grants)
{
    struct place names[PLACE_SPELLINGS];
    for (uint32_t i = 0; i < grants->count; i++) {
        uint32_t count = place_spellings(profile, grants->items[i].place, false, names);
        for (uint32_t name = 0; name < count; name++)
            place_set_above(profile->arena, set, names[name]);
    }
}

static void pass_above_exceptions(struct profile *profile, struct place_set *set,
                                  const struct placed_grants *denies)
{
    for (uint32_t i = 0; i < denies->count; i++) {
        const struct bound_rule *bound = denies->items[i].bound;
        for (uint32_t j = 0; j < bound->except_count; j++)
            if (!bound->except[j].pattern && !place_is_unknown(&bound->except[j]))
                place_set_above(profile->arena, set, place_of(profile, bound->rule, &bound->except[j]));
    }
}

void profile_passage(struct profile *profile, const struct file_rules *rules)
{
    struct place_set set = {0};
    pass_above(profile, &set, &rules->automatic);
    pass_above(profile, &set, &rules->configured);
    pass_above(profile, &set, &rules->sockets);
    pass_above_exceptions(profile, &set, &rules->denies);
    if (bound_scratch(profile->request->bound))
        place_set_above(profile->arena, &set, (struct place){"SCRATCH", "", false});
    place_set_finish(&set);
    profile_comment(profile,
                    "Directories on the way to what is open can be looked up, not listed. The root can be\n"
                    "listed: no program starts without. /etc, /tmp and /var are links into /private.");
    profile_line(profile, "(allow file-read-data (literal \"/\"))", NULL);
    profile_rule_begin(profile, "allow file-read-metadata file-test-existence");
    struct buffer always = buffer_in(profile->arena);
    buffer_string(&always, "(literal \"/\" \"/etc\" \"/tmp\" \"/var\" \"/private\")");
    profile_filter(profile, &always, NULL, NULL);
    place_set_write(profile, &set, false);
    profile_rule_end(profile);
}
