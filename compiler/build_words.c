#include "compiler/build.h"

#include "base/escape.h"
#include "emitters/control.h"
#include "emitters/seccomp.h"

#include <ctype.h>
#include <string.h>

static const char *shown(struct builder *builder, const struct word *word)
{
    return escape_text(builder->arena, word->bytes, word->length);
}

static const char *suggestion(struct builder *builder, const char *nearest, const char *otherwise)
{
    return nearest != NULL ? arena_format(builder->arena, "write %s", nearest) : otherwise;
}

static const char *joined(struct builder *builder, const char *const *names)
{
    struct buffer list = buffer_in(builder->arena);
    for (uint32_t i = 0; names[i] != NULL; i++)
        buffer_format(&list, "%s%s", i == 0 ? "" : ", ", names[i]);
    return list.bytes;
}

static void add_name(struct builder *builder, enum rule_kind kind, const struct word *word)
{
    struct rule rule = rule_here(builder, kind);
    rule.name = word->bytes;
    rule_add_at(builder, rule, word->span);
}

/* --- environment ---------------------------------------------------------------------------------------- */

static bool is_env_pattern(struct builder *builder, const struct word *word)
{
    if (!word_is_text(builder, word))
        return false;
    bool blank = word->length == 0;
    for (uint32_t i = 0; i < word->length; i++)
        blank = blank || word->bytes[i] == '=';
    if (blank) {
        build_error(builder, SBX140_ENV_PATTERN, word->span, "this cannot be the name of a variable",
                    "write a name or a pattern such as NODE_*");
        return false;
    }
    if (word_sign(word, 0, '$')) {
        build_error(builder, SBX140_ENV_PATTERN, word->span, "the name of a variable is written without $",
                    arena_format(builder->arena, "write %s", shown(builder, word) + 1));
        return false;
    }
    for (uint32_t i = 0; i < word->length; i++) {
        bool other = word_sign(word, i, '?') || word_sign(word, i, '[');
        if (!other && (word->bytes[i] != '*' || word_sign(word, i, '*')))
            continue;
        build_error(builder, SBX140_ENV_PATTERN, word_part(builder, word, i, i + 1),
                    "in names of variables * is the only sign, and it is never part of a name",
                    "write each name, or * for any run of characters");
        return false;
    }
    return true;
}

void build_env(struct builder *builder, const struct statement *statement)
{
    enum rule_kind kind = statement->verb == VERB_GRANT ? RULE_GRANT_ENV : RULE_DENY_ENV;
    for (uint32_t i = 0; i < statement->words.count; i++)
        if (is_env_pattern(builder, &statement->words.items[i]))
            add_name(builder, kind, &statement->words.items[i]);
}

void build_set_env(struct builder *builder, const struct statement *statement)
{
    if (!word_is_text(builder, &statement->parts->value))
        return;
    struct rule rule = rule_here(builder, RULE_SET_ENV);
    rule.name = statement->parts->subject.bytes;
    rule.value = statement->parts->value.bytes;
    rule_add_at(builder, rule, statement->parts->subject.span);
}

/* --- services and system calls -------------------------------------------------------------------------- */

static bool is_service(struct builder *builder, const struct word *word)
{
    for (uint32_t i = 0; service_names[i] != NULL; i++)
        if (strcmp(service_names[i], word->bytes) == 0)
            return true;
    build_error(builder, SBX141_SERVICE, word->span,
                arena_format(builder->arena, "there is no service %s", shown(builder, word)),
                suggestion(builder, nearest_word(word->bytes, service_names),
                           arena_format(builder->arena, "services: %s", joined(builder, service_names))));
    return false;
}

void build_service(struct builder *builder, const struct statement *statement)
{
    enum rule_kind kind = statement->verb == VERB_GRANT ? RULE_GRANT_SERVICE : RULE_DENY_SERVICE;
    for (uint32_t i = 0; i < statement->words.count; i++)
        if (is_service(builder, &statement->words.items[i]))
            add_name(builder, kind, &statement->words.items[i]);
}

static bool is_syscall(struct builder *builder, const struct word *word, bool grant)
{
    if (!syscall_known(word->bytes)) {
        build_error(builder, SBX142_SYSCALL, word->span,
                    arena_format(builder->arena, "there is no system call %s", shown(builder, word)),
                    suggestion(builder, nearest_word(word->bytes, syscall_list()),
                               "write the name as in the manual pages of section 2"));
        return false;
    }
    if (grant && !syscall_may_reopen(word->bytes)) {
        bool denied = syscall_denied_by_baseline(word->bytes);
        build_error(builder, SBX142_SYSCALL, word->span,
                    arena_format(builder->arena,
                                 denied ? "%s stays closed: it would open the way out of the sandbox"
                                        : "%s is open already: the baseline does not deny it",
                                 word->bytes),
                    "leave it out");
        return false;
    }
    return true;
}

void build_syscall(struct builder *builder, const struct statement *statement)
{
    bool grant = statement->verb == VERB_GRANT;
    for (uint32_t i = 0; i < statement->words.count; i++)
        if (is_syscall(builder, &statement->words.items[i], grant))
            add_name(builder, grant ? RULE_GRANT_SYSCALL : RULE_DENY_SYSCALL, &statement->words.items[i]);
}

/* --- managed limits of names ---------------------------------------------------------------------------- */

static bool name_matches(const char *pattern, const char *name)
{
    for (; *pattern != '*'; pattern++, name++)
        if (*pattern != *name || *name == '\0')
            return *pattern == *name;
    for (;; name++) {
        if (name_matches(pattern + 1, name))
            return true;
        if (*name == '\0')
            return false;
    }
}

/* A pattern of services stands for those that it matches, one rule each. */
static void add_services(struct builder *builder, const struct word *word)
{
    bool found = false;
    if (strchr(word->bytes, '*') == NULL || strlen(word->bytes) > 32) {
        if (is_service(builder, word))
            add_name(builder, RULE_LIMIT_SERVICE, word);
        return;
    }
    for (uint32_t i = 0; service_names[i] != NULL; i++) {
        if (!name_matches(word->bytes, service_names[i]))
            continue;
        struct rule rule = rule_here(builder, RULE_LIMIT_SERVICE);
        rule.name = service_names[i];
        rule_add_at(builder, rule, word->span);
        found = true;
    }
    if (!found)
        is_service(builder, word);
}

void build_limit_names(struct builder *builder, const struct statement *statement)
{
    bool env = statement->aspect == ASPECT_ENV;
    struct rule rule = rule_here(builder, env ? RULE_LIMIT_ENV : RULE_LIMIT_SERVICE);
    rule.nothing = true;
    rule_add_at(builder, rule, statement->span);
    for (uint32_t i = 0; i < statement->words.count; i++) {
        const struct word *word = &statement->words.items[i];
        if (!is_env_pattern(builder, word))
            continue;
        if (env)
            add_name(builder, RULE_LIMIT_ENV, word);
        else
            add_services(builder, word);
    }
}

/* --- amounts -------------------------------------------------------------------------------------------- */

struct unit_of_measure {
    const char *name;
    uint64_t factor;
};

static const struct unit_of_measure units[] = {
    {"", 1},  {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
    {"s", 1}, {"m", 60},        {"h", 3600},      {NULL, 0},
};

/* The amount that `text` says; the grammar has seen that it is one and that it fits. */
static uint64_t amount_of(const char *text)
{
    uint64_t amount = 0;
    for (; isdigit((unsigned char)*text); text++)
        amount = amount * 10 + (uint64_t)(*text - '0');
    const struct unit_of_measure *unit = units;
    while (unit->name != NULL && strcmp(unit->name, text) != 0)
        unit++;
    return unit->name != NULL ? amount * unit->factor : 0;
}

void build_amount(struct builder *builder, const struct statement *statement)
{
    enum rule_kind kind = statement->aspect == ASPECT_PROCESSES ? RULE_LIMIT_PROCESSES
                          : statement->aspect == ASPECT_FILES   ? RULE_LIMIT_FILES
                          : statement->aspect == ASPECT_MEMORY  ? RULE_LIMIT_MEMORY
                                                                : RULE_LIMIT_TIME;
    struct rule rule = rule_here(builder, kind);
    rule.amount = amount_of(statement->parts->subject.bytes);
    rule_add_at(builder, rule, statement->span);
}

/* --- accept --------------------------------------------------------------------------------------------- */

static bool is_one_of(struct builder *builder, const struct word *word, const char *const *names,
                      uint32_t count, const char *what)
{
    const char **list = arena_array(builder->arena, (size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], word->bytes) == 0)
            return true;
        list[i] = names[i];
    }
    build_error(builder, SBX145_ACCEPT, word->span,
                arena_format(builder->arena, "there is no %s %s", what, shown(builder, word)),
                suggestion(builder, nearest_word(word->bytes, list),
                           arena_format(builder->arena, "known: %s", joined(builder, list))));
    return false;
}

static bool is_finding(struct builder *builder, const struct word *word)
{
    if (word->bytes[3] == '2') /* SBX2xx */
        return true;
    build_error(builder, SBX145_ACCEPT, word->span,
                arena_format(builder->arena, "%s is no finding that can be accepted", shown(builder, word)),
                "accept takes the code of a finding, SBX2xx, or CONTROL on TARGET");
    return false;
}

void build_accept(struct builder *builder, const struct statement *statement)
{
    const struct word *reason = &statement->parts->value;
    bool control = statement->kind == STATEMENT_ACCEPT_CONTROL;
    bool known = control ? is_one_of(builder, &statement->parts->subject, control_names, CONTROLS, "control")
                         : is_finding(builder, &statement->parts->subject);
    if (control &&
        !is_one_of(builder, &statement->parts->second, control_target_names, CONTROL_TARGETS, "target"))
        known = false;
    if (!word_is_text(builder, reason))
        return;
    if (reason->length == 0)
        build_error(builder, SBX145_ACCEPT, reason->span, "an exception needs a reason",
                    "say why it is acceptable: whoever reads the artifact will ask");
    /* A finding is silenced where it is made; the policy itself does not change. */
    if (!known || !control)
        return;
    struct rule rule = rule_here(builder, RULE_ACCEPT);
    rule.name = statement->parts->subject.bytes;
    rule.target = statement->parts->second.bytes;
    rule.value = reason->bytes;
    rule_add_at(builder, rule, statement->span);
}
