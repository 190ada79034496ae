/* What the filters of a profile name, one after the other. */
#include "emitters/seatbelt_profile.h"

struct walk {
    const struct seatbelt_rule *rule;
    seatbelt_each *each;
    void *context;
};

static void tell(const struct walk *walk, enum seatbelt_listed_kind kind,
                 const struct seatbelt_filter *filter)
{
    bool is_port = kind == SEATBELT_LISTED_PORT;
    const struct seatbelt_listed listed = {
        .kind = kind,
        .text = is_port ? NULL : filter->text.bytes,
        .name = filter->name,
        .port = filter->address.port,
        .allow = walk->rule->allow,
        .line = walk->rule->line,
    };
    walk->each(walk->context, &listed);
}

static void list_filter(const struct walk *walk, const struct seatbelt_filter *filter)
{
    switch (filter->kind) {
    case SEATBELT_FILTER_LITERAL:
        tell(walk, SEATBELT_LISTED_PATH, filter);
        break;
    case SEATBELT_FILTER_SUBPATH:
        tell(walk, SEATBELT_LISTED_TREE, filter);
        break;
    case SEATBELT_FILTER_PREFIX:
        tell(walk, SEATBELT_LISTED_PREFIX, filter);
        break;
    case SEATBELT_FILTER_REGEX:
        tell(walk, SEATBELT_LISTED_EXPRESSION, filter);
        break;
    case SEATBELT_FILTER_NAME:
        tell(walk, SEATBELT_LISTED_NAME, filter);
        break;
    case SEATBELT_FILTER_NAME_PREFIX:
        tell(walk, SEATBELT_LISTED_NAME_PREFIX, filter);
        break;
    case SEATBELT_FILTER_NAME_REGEX:
        tell(walk, SEATBELT_LISTED_NAME_EXPRESSION, filter);
        break;
    case SEATBELT_FILTER_LOCAL:
    case SEATBELT_FILTER_REMOTE:
        if (filter->address.addressed && !filter->address.any_port)
            tell(walk, SEATBELT_LISTED_PORT, filter);
        break;
    case SEATBELT_FILTER_VNODE:
    case SEATBELT_FILTER_MODE:
    case SEATBELT_FILTER_TARGET:
    case SEATBELT_FILTER_NUMBER:
    case SEATBELT_FILTER_SOCKET_DOMAIN:
    case SEATBELT_FILTER_SOCKET_TYPE:
    case SEATBELT_FILTER_SOCKET_PROTOCOL:
    case SEATBELT_FILTER_EXTENSION:
    case SEATBELT_FILTER_OPAQUE:
        break;
    case SEATBELT_FILTER_ALL:
    case SEATBELT_FILTER_ANY:
    case SEATBELT_FILTER_NOT:
        for (uint32_t i = 0; i < filter->count; i++)
            list_filter(walk, filter->parts[i]);
        break;
    }
}

void seatbelt_list(const struct seatbelt_profile *profile, seatbelt_each *each, void *context)
{
    for (uint32_t i = 0; i < profile->rules.count; i++) {
        const struct seatbelt_rule *rule = &profile->rules.items[i];
        const struct walk walk = {.rule = rule, .each = each, .context = context};
        for (uint32_t f = 0; f < rule->filters.count; f++)
            list_filter(&walk, rule->filters.items[f]);
    }
}
