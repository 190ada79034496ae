#include "compiler/build.h"

/* What a statement does, as far as it matters for who may say it. */
enum effect {
    EFFECT_NONE,
    EFFECT_OPENS,
    EFFECT_SETS,
    EFFECT_ACCEPTS,
    EFFECT_DENIES,
    EFFECT_LIMITS,
    EFFECT_AMOUNT
};

static enum effect effect_of(const struct statement *statement)
{
    switch (statement->kind) {
    case STATEMENT_PATH:
    case STATEMENT_SOCKET:
    case STATEMENT_NETWORK:
    case STATEMENT_LISTEN:
    case STATEMENT_ENV:
    case STATEMENT_SERVICE:
    case STATEMENT_SYSCALL:
    case STATEMENT_SCRATCH:
    case STATEMENT_BYPASS:
        return statement->verb == VERB_DENY ? EFFECT_DENIES : EFFECT_OPENS;
    case STATEMENT_SET_ENV:
        return EFFECT_SETS;
    case STATEMENT_LIMIT_PATHS:
    case STATEMENT_LIMIT_NETWORK:
    case STATEMENT_LIMIT_NAMES:
    case STATEMENT_PERMIT_BYPASS:
        return EFFECT_LIMITS;
    case STATEMENT_LIMIT_AMOUNT:
        return EFFECT_AMOUNT;
    case STATEMENT_ACCEPT_CONTROL:
    case STATEMENT_ACCEPT_CODE:
        return EFFECT_ACCEPTS;
    case STATEMENT_USE:
    case STATEMENT_LET:
    case STATEMENT_EXPECT:
    case STATEMENT_WHEN:
        break;
    }
    return EFFECT_NONE;
}

static bool is_preset(const struct builder *builder)
{
    return builder->unit->syntax->kind == FILE_PRESET;
}

/* In a preset it is the business of whoever uses it (see check_contents in build_use.c); the first one is
 * remembered. */
static bool remember(const struct statement **first, const struct statement *statement)
{
    if (*first == NULL)
        *first = statement;
    return true;
}

static bool opens_in_managed(struct builder *builder, const struct statement *statement)
{
    bool sets = statement->kind == STATEMENT_SET_ENV;
    const char *help = "a managed file narrows what policies grant: write deny or limit";
    if (statement->kind == STATEMENT_BYPASS)
        help = "write `permit bypass` to leave the choice to the policy";
    else if (sets)
        help = "write `deny env` or `limit env` to keep a variable out";
    build_error(builder, SBX129_MANAGED_OPENS, statement->keyword,
                sets ? "a managed file cannot set a variable" : "a managed file cannot grant", help);
    return false;
}

static bool allowed_to_accept(struct builder *builder, const struct statement *statement)
{
    if (is_preset(builder))
        build_error(builder, SBX135_ACCEPT_PLACE, statement->keyword, "a preset cannot accept",
                    "let the policy that uses it accept the exception");
    else if (builder->managed)
        build_error(builder, SBX129_MANAGED_OPENS, statement->keyword, "a managed file cannot accept",
                    "let the policy accept the exception");
    else
        return true;
    return false;
}

static bool allowed_in_managed(struct builder *builder, const struct statement *statement, enum effect effect)
{
    if (effect == EFFECT_OPENS || effect == EFFECT_SETS)
        return is_preset(builder) ? remember(&builder->here->grants, statement)
                                  : opens_in_managed(builder, statement);
    if (builder->commands == NULL || effect == EFFECT_NONE)
        return true;
    build_error(builder, SBX134_MANAGED_COMMAND, statement->keyword,
                "what a managed file denies or limits cannot depend on the command",
                "move it out of the block: it then holds for every command");
    return false;
}

bool build_allowed(struct builder *builder, const struct statement *statement)
{
    enum effect effect = effect_of(statement);
    if (effect == EFFECT_ACCEPTS)
        return allowed_to_accept(builder, statement);
    if (builder->managed)
        return allowed_in_managed(builder, statement, effect);
    if (effect == EFFECT_LIMITS && is_preset(builder))
        return remember(&builder->here->limits, statement);
    if (effect == EFFECT_LIMITS) {
        build_error(builder, SBX131_MANAGED_ONLY, statement->keyword, "this stands only in managed files",
                    "write deny for what this policy must not reach, or name the file `managed`");
        return false;
    }
    return true;
}
