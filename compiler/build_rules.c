#include "compiler/build.h"

/* One rule for each path of each word, all like `rule`. */
static void add_path_rules(struct builder *builder, struct rule rule, const struct word_list *words,
                           unsigned uses)
{
    for (uint32_t i = 0; i < words->count; i++) {
        const struct word *word = &words->items[i];
        builder->paths.count = 0;
        build_path(builder, word, uses, &builder->paths);
        rule.origin = origin_at(builder, word->span);
        for (uint32_t j = 0; j < builder->paths.count; j++) {
            rule.path = builder->paths.items[j];
            rule_add(builder, rule);
        }
    }
}

void build_path_rule(struct builder *builder, const struct statement *statement)
{
    bool grant = statement->verb == VERB_GRANT, write = statement->aspect == ASPECT_WRITE;
    bool exec = statement->aspect == ASPECT_EXEC;
    struct rule rule = rule_here(builder, grant ? RULE_GRANT : exec ? RULE_DENY_EXEC : RULE_DENY);
    rule.automatic = statement->automatic;
    if (grant)
        rule.level = write ? LEVEL_WRITE : LEVEL_READ;
    else
        rule.level = write ? LEVEL_READ : LEVEL_NONE;
    rule.except = build_path_list(builder, &statement->except, PATH_PATTERNS);
    add_path_rules(builder, rule, &statement->words, grant ? PATH_GRANT : PATH_PATTERNS | PATH_DENY);
}

void build_socket(struct builder *builder, const struct statement *statement)
{
    bool grant = statement->verb == VERB_GRANT;
    struct rule rule = rule_here(builder, grant ? RULE_GRANT_SOCKET : RULE_DENY_SOCKET);
    add_path_rules(builder, rule, &statement->words, grant ? PATH_GRANT : PATH_PATTERNS | PATH_DENY);
}

void build_limit_paths(struct builder *builder, const struct statement *statement)
{
    enum rule_kind kind = statement->aspect == ASPECT_READ    ? RULE_LIMIT_READ
                          : statement->aspect == ASPECT_WRITE ? RULE_LIMIT_WRITE
                                                              : RULE_LIMIT_SOCKET;
    struct rule rule = rule_here(builder, kind);
    rule.nothing = true;
    rule_add_at(builder, rule, statement->span);
    rule.nothing = false;
    add_path_rules(builder, rule, &statement->words, 0);
}

void build_switch(struct builder *builder, const struct statement *statement)
{
    bool grant = statement->verb == VERB_GRANT;
    enum rule_kind kind = RULE_PERMIT_BYPASS;
    if (statement->kind == STATEMENT_SCRATCH)
        kind = grant ? RULE_GRANT_SCRATCH : RULE_DENY_SCRATCH;
    else if (statement->kind == STATEMENT_BYPASS)
        kind = grant ? RULE_GRANT_BYPASS : RULE_DENY_BYPASS;
    rule_add_at(builder, rule_here(builder, kind), statement->span);
}
