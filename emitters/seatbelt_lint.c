#include "emitters/seatbelt_lint.h"

#include "base/escape.h"
#include "base/sort.h"
#include "base/vector.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_index.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { STRING_LONG = 900, RULE_LARGE = 30000, QUESTIONS_MOST = 1000000 };

/* Where rules allow one operation, sorted; the number is that of the entry. */
struct allowed {
    struct sort_item *items;
    uint32_t count;
};

struct linter {
    struct arena *arena;
    const struct seatbelt_profile *profile;
    struct seatbelt_notes notes;
    struct allowed allowed[SEATBELT_OPERATIONS];
    uint32_t questions;
};

static void note(struct linter *linter, enum seatbelt_finding finding, const struct seatbelt_rule *rule,
                 const char *text)
{
    VECTOR_PUSH(linter->arena, &linter->notes, (struct seatbelt_note){finding, rule->line, text});
}

static const char *shown(const struct linter *linter, const struct seatbelt_text *text)
{
    return escape_text(linter->arena, text->bytes, text->length);
}

/* --- paths that the kernel never spells so --- */

static bool is_component(const char *bytes, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(bytes, word, length) == 0;
}

/* Where the first component leads if it is a symbolic link of macOS, else NULL; `itself`: also if nothing
 * follows it. */
static const char *link_of(const char *bytes, size_t length, bool itself)
{
    static const struct {
        const char *name, *before;
    } links[] = {
        {"tmp", "/private"}, {"var", "/private"}, {"etc", "/private"}, {"home", "/System/Volumes/Data"}};
    const char *slash = memchr(bytes, '/', length);
    size_t first = slash != NULL ? (size_t)(slash - bytes) : length;
    for (size_t i = 0; (slash != NULL || itself) && i < sizeof links / sizeof *links; i++)
        if (is_component(bytes, first, links[i].name))
            return links[i].before;
    return NULL;
}

/* Whether the rule's answer holds where the link leads too: then both spellings are there, as they may well
 * be. */
static bool holds_beyond(const struct linter *linter, const struct seatbelt_rule *rule, const char *before,
                         const struct seatbelt_text *path)
{
    const struct seatbelt_question question = {
        .operation = seatbelt_operations[rule->operations.items[0]].name,
        .path =
            arena_format(linter->arena, "%s%s", before, arena_copy(linter->arena, path->bytes, path->length)),
    };
    enum seatbelt_answer answer = seatbelt_decide(linter->profile, &question, NULL);
    return answer == (rule->allow ? SEATBELT_ALLOW : SEATBELT_DENY);
}

static const char *dead_component(const struct seatbelt_text *path)
{
    for (size_t begin = 1, at = 1; at <= path->length; at++) {
        if (at < path->length && path->bytes[at] != '/')
            continue;
        if (at < path->length && at == begin)
            return "has an empty component";
        if (is_component(path->bytes + begin, at - begin, ".") ||
            is_component(path->bytes + begin, at - begin, ".."))
            return "has a component . or ..";
        begin = at + 1;
    }
    return NULL;
}

/* Where a filter's path goes through a link of macOS: what to write before it; else NULL. A literal may name
 * a link itself, which has to be looked at on the way through it. */
static const char *link_within(const struct seatbelt_filter *filter)
{
    const struct seatbelt_text *path = &filter->text;
    const char *root = filter->kind == SEATBELT_FILTER_REGEX ? "^/" : "/";
    size_t length = strlen(root);
    if (path->length < length || memcmp(path->bytes, root, length) != 0)
        return NULL;
    return link_of(path->bytes + length, path->length - length, filter->kind == SEATBELT_FILTER_SUBPATH);
}

/* Why no path of the kernel's is matched, or NULL. */
static const char *dead_reason(const struct linter *linter, const struct seatbelt_rule *rule,
                               const struct seatbelt_filter *filter)
{
    const struct seatbelt_text *path = &filter->text;
    const char *before = link_within(filter);
    bool is_regex = filter->kind == SEATBELT_FILTER_REGEX;
    if (before != NULL && (is_regex || !holds_beyond(linter, rule, before, path)))
        return arena_format(linter->arena, "goes through a symbolic link of macOS: write %s before it",
                            before);
    if (is_regex || before != NULL)
        return NULL;
    if (path->bytes[0] != '/')
        return "does not begin with /";
    if (filter->kind != SEATBELT_FILTER_PREFIX && path->length > 1 && path->bytes[path->length - 1] == '/')
        return "ends in /";
    return dead_component(path);
}

/* --- names that can be written in several ways --- */

/* `text` with its characters composed, or if it is so already decomposed; NULL if there is but one way. */
static const char *other_spelling(struct arena *arena, const struct seatbelt_text *text)
{
    const utf8proc_option_t options[] = {UTF8PROC_STABLE | UTF8PROC_COMPOSE,
                                         UTF8PROC_STABLE | UTF8PROC_DECOMPOSE};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        utf8proc_uint8_t *mapped = NULL;
        utf8proc_ssize_t length = utf8proc_map((const utf8proc_uint8_t *)text->bytes,
                                               (utf8proc_ssize_t)text->length, &mapped, options[i]);
        const char *copy = length > 0 ? arena_copy(arena, (const char *)mapped, (size_t)length) : NULL;
        free(mapped);
        if (copy != NULL && ((size_t)length != text->length || memcmp(copy, text->bytes, text->length) != 0))
            return copy;
    }
    return NULL;
}

static bool is_plain_path(const struct seatbelt_filter *filter)
{
    return filter->kind == SEATBELT_FILTER_LITERAL || filter->kind == SEATBELT_FILTER_SUBPATH;
}

static void check_spelling(struct linter *linter, const struct seatbelt_rule *rule,
                           const struct seatbelt_filter *filter)
{
    const char *other = other_spelling(linter->arena, &filter->text);
    if (rule->allow || other == NULL)
        return;
    struct seatbelt_question question = {.operation = seatbelt_operations[rule->operations.items[0]].name,
                                         .path = other};
    if (seatbelt_decide(linter->profile, &question, NULL) != SEATBELT_DENY)
        note(linter, SEATBELT_FINDING_SPELLING, rule,
             arena_format(linter->arena, "%s can be written in another way in Unicode, which is not denied",
                          shown(linter, &filter->text)));
}

/* --- each filter --- */

static void check_filter(struct linter *linter, const struct seatbelt_rule *rule,
                         const struct seatbelt_filter *filter)
{
    bool is_path = filter->kind <= SEATBELT_FILTER_REGEX;
    const char *reason = is_path ? dead_reason(linter, rule, filter) : NULL;
    if (reason != NULL)
        note(linter, SEATBELT_FINDING_DEAD_PATH, rule,
             arena_format(linter->arena, "%s %s %s", filter->word, shown(linter, &filter->text), reason));
    if (filter->regex != NULL && seatbelt_regex_is_uncertain(filter->regex))
        note(linter, SEATBELT_FINDING_EXPRESSION, rule,
             arena_format(linter->arena, "nobody can tell what %s matches", shown(linter, &filter->text)));
    if (filter->text.length > STRING_LONG)
        note(linter, SEATBELT_FINDING_LONG_STRING, rule,
             arena_format(linter->arena,
                          "a string has %zu bytes; with more than 1024 macOS refuses the profile",
                          filter->text.length));
    if (is_plain_path(filter))
        check_spelling(linter, rule, filter);
    for (uint32_t i = 0; i < filter->count; i++)
        check_filter(linter, rule, filter->parts[i]);
}

static bool names(const struct seatbelt_rule *rule, enum seatbelt_operation operation)
{
    for (uint32_t i = 0; i < rule->operations.count; i++)
        if (rule->operations.items[i] == operation)
            return true;
    return false;
}

static void check_rule(struct linter *linter, const struct seatbelt_rule *rule)
{
    size_t bytes = 0;
    bool outbound = rule->allow && (names(rule, SEATBELT_OPERATION_NETWORK_OUTBOUND) ||
                                    names(rule, SEATBELT_OPERATION_NETWORK));
    for (uint32_t i = 0; i < rule->filters.count; i++) {
        const struct seatbelt_filter *filter = rule->filters.items[i];
        bytes += filter->bytes;
        check_filter(linter, rule, filter);
        if (outbound && filter->kind == SEATBELT_FILTER_LOCAL && filter->address.addressed)
            note(linter, SEATBELT_FINDING_OPEN_EGRESS, rule,
                 "local on network-outbound is the process's own end: every peer is allowed");
    }
    if (bytes > RULE_LARGE)
        note(linter, SEATBELT_FINDING_LARGE_RULE, rule,
             arena_format(linter->arena,
                          "the rule has %zu bytes of paths; with more than 65535 macOS refuses it", bytes));
    if (rule->unsandboxed)
        note(linter, SEATBELT_FINDING_UNSANDBOXED, rule, "what is run by this rule has no sandbox at all");
}

/* --- a deny of an operation, and what is allowed of those below it --- */

static bool is_below(enum seatbelt_operation operation, enum seatbelt_operation above)
{
    for (;;) {
        enum seatbelt_operation parent = seatbelt_operations[operation].parent;
        if (parent == SEATBELT_NO_PARENT || parent == operation)
            return false;
        if (parent == above)
            return true;
        operation = parent;
    }
}

static void gather_allowed(struct linter *linter, enum seatbelt_operation operation)
{
    const struct seatbelt_entries *entries = &linter->profile->behaviours[operation].entries;
    struct allowed *allowed = &linter->allowed[operation];
    allowed->items = arena_array(linter->arena, (size_t)entries->count + 1, sizeof *allowed->items);
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct seatbelt_entry *entry = &entries->items[i];
        if (!linter->profile->rules.items[entry->rule].allow)
            continue;
        struct seatbelt_text guard = seatbelt_guard(linter->arena, entry->filter);
        allowed->items[allowed->count++] =
            (struct sort_item){.bytes = guard.bytes, .length = (uint32_t)guard.length, .number = i};
    }
    sort_bytes(linter->arena, allowed->items, allowed->count);
}

/* The rule that opens `path` for `operation` although `deny` was meant to close it; NULL: none does. A later
 * rule with a filter may well be meant as an exception. */
static const struct seatbelt_rule *opened_by(struct linter *linter, enum seatbelt_operation operation,
                                             const struct seatbelt_rule *deny, const char *path)
{
    const struct seatbelt_rule *rule;
    struct seatbelt_question question = {.operation = seatbelt_operations[operation].name, .path = path};
    linter->questions++;
    if (seatbelt_decide_rule(linter->profile, &question, &rule) == SEATBELT_DENY || rule == NULL)
        return NULL;
    bool is_meant = rule->filters.count > 0 && rule > deny;
    return rule->allow && names(rule, operation) && !is_meant ? rule : NULL;
}

/* The rule that may open something for `operation` where `deny` does not know what its filter is about: an
 * earlier one is enough, as nobody can tell whether two such filters overlap. */
static const struct seatbelt_rule *
opened_maybe(const struct linter *linter, enum seatbelt_operation operation, const struct seatbelt_rule *deny,
             const struct seatbelt_filter *filter, const struct sort_item *item)
{
    const struct seatbelt_entry *entry = &linter->profile->behaviours[operation].entries.items[item->number];
    const struct seatbelt_rule *rule = &linter->profile->rules.items[entry->rule];
    bool is_alike =
        entry->filter->sorts == 0 || filter->sorts == 0 || (entry->filter->sorts & filter->sorts) != 0;
    return is_alike && rule < deny ? rule : NULL;
}

/* The first item that is not before `top`. */
static uint32_t first_from(const struct allowed *allowed, const struct seatbelt_text *top)
{
    uint32_t low = 0, high = allowed->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct sort_item *item = &allowed->items[middle];
        int order = memcmp(item->bytes, top->bytes, item->length < top->length ? item->length : top->length);
        if (order < 0 || (order == 0 && item->length < top->length))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool begins(const struct sort_item *item, const struct seatbelt_text *top)
{
    return item->length >= top->length && memcmp(item->bytes, top->bytes, top->length) == 0;
}

static bool is_inside(const struct sort_item *item, const struct seatbelt_text *top)
{
    return item->length == top->length || top->length <= 1 || item->bytes[top->length] == '/';
}

static bool is_plain_item(const struct linter *linter, enum seatbelt_operation operation,
                          const struct sort_item *item)
{
    return is_plain_path(linter->profile->behaviours[operation].entries.items[item->number].filter);
}

/* What is allowed at `top` or below. */
static const struct seatbelt_rule *opened_below(struct linter *linter, enum seatbelt_operation operation,
                                                const struct seatbelt_rule *deny,
                                                const struct seatbelt_filter *filter,
                                                const struct seatbelt_text *top)
{
    const struct allowed *allowed = &linter->allowed[operation];
    const struct seatbelt_rule *rule = NULL;
    for (uint32_t i = first_from(allowed, top); rule == NULL && i < allowed->count; i++) {
        const struct sort_item *item = &allowed->items[i];
        if (!begins(item, top) || ++linter->questions > QUESTIONS_MOST)
            break;
        if (!is_inside(item, top))
            continue;
        rule = is_plain_item(linter, operation, item) ? opened_by(linter, operation, deny, item->bytes)
                                                      : opened_maybe(linter, operation, deny, filter, item);
    }
    return rule;
}

/* What composed filters that stand exactly at `place` allow. */
static const struct seatbelt_rule *opened_at(struct linter *linter, enum seatbelt_operation operation,
                                             const struct seatbelt_rule *deny,
                                             const struct seatbelt_filter *filter,
                                             const struct seatbelt_text *place)
{
    const struct allowed *allowed = &linter->allowed[operation];
    const struct seatbelt_rule *rule = NULL;
    for (uint32_t i = first_from(allowed, place); rule == NULL && i < allowed->count; i++) {
        const struct sort_item *item = &allowed->items[i];
        if (!begins(item, place) || item->length != place->length || ++linter->questions > QUESTIONS_MOST)
            break;
        if (!is_plain_item(linter, operation, item))
            rule = opened_maybe(linter, operation, deny, filter, item);
    }
    return rule;
}

/* What a rule on `operation` opens of what one filter of `deny` was meant to close. */
static const struct seatbelt_rule *opened_within(struct linter *linter, enum seatbelt_operation operation,
                                                 const struct seatbelt_rule *deny,
                                                 const struct seatbelt_filter *filter)
{
    struct seatbelt_text guard = seatbelt_guard(linter->arena, filter);
    const char *path = arena_copy(linter->arena, guard.bytes, guard.length);
    const struct seatbelt_rule *rule = guard.length > 0 ? opened_by(linter, operation, deny, path) : NULL;
    /* Of a path itself the profile can be asked; that says nothing of what lies below, or of composed
     * filters. */
    if (rule != NULL || filter->kind == SEATBELT_FILTER_LITERAL)
        return rule;
    rule = opened_below(linter, operation, deny, filter, &guard);
    for (size_t i = 0; rule == NULL && i < guard.length; i++) {
        struct seatbelt_text above = {guard.bytes, i};
        if (i <= 1 || guard.bytes[i] == '/')
            rule = opened_at(linter, operation, deny, filter, &above);
    }
    return rule;
}

/* A rule without filter that allows `operation` opens all of it, wherever it stands. */
static const struct seatbelt_rule *opened_wholly(const struct linter *linter,
                                                 enum seatbelt_operation operation)
{
    uint32_t unfiltered = linter->profile->behaviours[operation].unfiltered;
    const struct seatbelt_rule *rule = unfiltered > 0 ? &linter->profile->rules.items[unfiltered - 1] : NULL;
    return rule != NULL && rule->allow ? rule : NULL;
}

static void check_below(struct linter *linter, const struct seatbelt_rule *deny,
                        enum seatbelt_operation above, enum seatbelt_operation operation)
{
    const struct seatbelt_rule *rule = NULL;
    for (uint32_t i = 0; i < deny->filters.count && rule == NULL; i++) {
        if (linter->questions > QUESTIONS_MOST)
            return;
        rule = opened_within(linter, operation, deny, deny->filters.items[i]);
        if (rule == NULL && !is_plain_path(deny->filters.items[i]))
            rule = opened_wholly(linter, operation);
    }
    if (rule != NULL)
        note(linter, SEATBELT_FINDING_CUT_NOTHING, deny,
             arena_format(linter->arena, "%s stays allowed by line %u: the deny of %s must name it",
                          seatbelt_operations[operation].name, rule->line, seatbelt_operations[above].name));
}

static void check_cut(struct linter *linter, const struct seatbelt_rule *deny)
{
    const struct seatbelt_behaviour *behaviours = linter->profile->behaviours;
    for (uint32_t i = 0; i < deny->operations.count; i++)
        for (uint32_t o = 0; o < SEATBELT_OPERATIONS; o++) {
            enum seatbelt_operation operation = (enum seatbelt_operation)o;
            bool has_rules = behaviours[o].entries.count > 0 || behaviours[o].unfiltered > 0;
            if (has_rules && is_below(operation, deny->operations.items[i]) && !names(deny, operation))
                check_below(linter, deny, deny->operations.items[i], operation);
        }
}

struct seatbelt_notes seatbelt_lint(struct arena *arena, const struct seatbelt_profile *profile)
{
    struct linter *linter = arena_alloc(arena, sizeof *linter);
    *linter = (struct linter){.arena = arena, .profile = profile};
    for (uint32_t o = 0; o < SEATBELT_OPERATIONS; o++)
        gather_allowed(linter, (enum seatbelt_operation)o);
    for (uint32_t i = 0; i < profile->rules.count; i++) {
        const struct seatbelt_rule *rule = &profile->rules.items[i];
        /* Rules without a line are the system's own. */
        if (rule->line > 0)
            check_rule(linter, rule);
        if (!rule->allow && rule->filters.count > 0)
            check_cut(linter, rule);
    }
    if (linter->questions > QUESTIONS_MOST)
        note(linter, SEATBELT_FINDING_CUT_NOTHING, &profile->rules.items[profile->rules.count - 1],
             "the profile has too many rules below each other: not all were compared");
    return linter->notes;
}
