#include "compiler/build.h"

#include "compiler/build_address.h"
#include "emitters/control.h"

#include <string.h>

static enum operation operation_of(const struct word *word)
{
    uint32_t operation = 0;
    while (operation + 1 < OPERATIONS && strcmp(operation_names[operation], word->bytes) != 0)
        operation++;
    return (enum operation)operation;
}

static void expect_paths(struct builder *builder, struct rule rule, const struct word *word)
{
    struct path_vector *paths = &builder->paths;
    paths->count = 0;
    build_path(builder, word, PATH_DENY, paths);
    for (uint32_t i = 0; i < paths->count; i++) {
        rule.path = paths->items[i];
        rule_add(builder, rule);
    }
}

/* What is wrong with an argument that is no path, or NULL; fills in `rule`. */
static const char *read_argument(struct builder *builder, struct rule *rule, const struct word *word)
{
    rule->name = word->bytes;
    if (rule->operation == OPERATION_CONNECT || rule->operation == OPERATION_LISTEN) {
        struct network *network = arena_alloc(builder->arena, sizeof *network);
        rule->network = network;
        const char *problem = endpoint_parse(builder->arena, word->bytes, network);
        if (problem == NULL && rule->operation == OPERATION_LISTEN && network->target == NETWORK_HOST)
            return "write ADDRESS:PORT, as in 127.0.0.1:8080";
        return problem;
    }
    if (rule->operation == OPERATION_ENV)
        return word->length > 0 && strpbrk(word->bytes, "=*") == NULL ? NULL : "write one name of a variable";
    for (uint32_t i = 0; service_names[i] != NULL; i++)
        if (strcmp(service_names[i], word->bytes) == 0)
            return NULL;
    return "there is no such service";
}

static void expect_other(struct builder *builder, struct rule rule, const struct word *word)
{
    if (!word_is_text(builder, word))
        return;
    const char *problem = read_argument(builder, &rule, word);
    if (problem != NULL)
        build_error(builder, SBX147_EXPECT_ARGUMENT, word->span, problem, NULL);
    else
        rule_add(builder, rule);
}

void build_expect(struct builder *builder, const struct statement *statement)
{
    struct rule rule = rule_here(builder, RULE_EXPECT);
    rule.allow = statement->verb == VERB_GRANT;
    rule.operation = operation_of(&statement->parts->subject);
    bool path = rule.operation == OPERATION_READ || rule.operation == OPERATION_WRITE ||
                rule.operation == OPERATION_EXEC || rule.operation == OPERATION_SOCKET;
    for (uint32_t i = 0; i < statement->words.count; i++) {
        const struct word *word = &statement->words.items[i];
        rule.origin = origin_at(builder, word->span);
        if (path)
            expect_paths(builder, rule, word);
        else
            expect_other(builder, rule, word);
    }
}
