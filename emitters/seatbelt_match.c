#include "emitters/seatbelt_match.h"

#include "emitters/seatbelt_fold.h"

#include <string.h>

enum { DOMAIN_UNIX = 1, TYPE_STREAM = 1, TYPE_DATAGRAM = 2, NAME_FOLDED_MOST = 1024 };

static enum seatbelt_match known(bool matches)
{
    return matches ? SEATBELT_MATCH : SEATBELT_NO_MATCH;
}

static bool is_over_ip(const struct seatbelt_question *question)
{
    return question->protocol != SEATBELT_PROTOCOL_NONE && question->protocol != SEATBELT_PROTOCOL_UNIX;
}

enum seatbelt_match seatbelt_match_without_path(const struct seatbelt_question *question)
{
    return is_over_ip(question) ? SEATBELT_NO_MATCH : SEATBELT_MATCH_UNKNOWN;
}

static bool begins(const struct seatbelt_text *text, const struct seatbelt_text *with)
{
    return text->length >= with->length && memcmp(text->bytes, with->bytes, with->length) == 0;
}

static bool equals(const struct seatbelt_text *text, const struct seatbelt_text *other)
{
    return text->length == other->length && memcmp(text->bytes, other->bytes, text->length) == 0;
}

/* The path itself and all below it. */
static bool covers(const struct seatbelt_text *path, const struct seatbelt_text *top)
{
    if (!begins(path, top))
        return false;
    bool is_root = top->length == 1 && top->bytes[0] == '/';
    return is_root || path->length == top->length || path->bytes[top->length] == '/';
}

static enum seatbelt_match match_regex(const struct seatbelt_regex *regex, const struct seatbelt_text *text)
{
    if (seatbelt_regex_is_uncertain(regex))
        return SEATBELT_MATCH_UNKNOWN;
    return known(seatbelt_regex_search(regex, text->bytes, text->length));
}

static enum seatbelt_match match_path(const struct seatbelt_filter *filter,
                                      const struct seatbelt_subject *subject)
{
    bool fold = subject->question->fold_case;
    const struct seatbelt_text *path = &subject->path, *text = fold ? &filter->folded : &filter->text;
    if (path->bytes == NULL)
        return seatbelt_match_without_path(subject->question);
    if (filter->kind == SEATBELT_FILTER_REGEX)
        return match_regex(fold ? filter->folded_regex : filter->regex, path);
    if (filter->kind == SEATBELT_FILTER_LITERAL)
        return known(equals(path, text));
    return known(filter->kind == SEATBELT_FILTER_PREFIX ? begins(path, text) : covers(path, text));
}

static enum seatbelt_match match_name(const struct seatbelt_filter *filter,
                                      const struct seatbelt_question *question)
{
    if (question->name == NULL || question->name_kind == SEATBELT_NAME_NONE)
        return SEATBELT_MATCH_UNKNOWN;
    if (question->name_kind != filter->name)
        return SEATBELT_NO_MATCH;
    char folded[NAME_FOLDED_MOST];
    struct seatbelt_text name = {question->name, strlen(question->name)};
    const struct seatbelt_text *text = filter->ignores_case ? &filter->folded : &filter->text;
    if (filter->ignores_case) {
        name.length = seatbelt_fold_into(folded, sizeof folded, name.bytes, name.length, true);
        name.bytes = folded;
        if (name.length > sizeof folded)
            return SEATBELT_MATCH_UNKNOWN;
    }
    if (filter->kind == SEATBELT_FILTER_NAME_REGEX)
        return match_regex(filter->ignores_case ? filter->folded_regex : filter->regex, &name);
    return known(filter->kind == SEATBELT_FILTER_NAME ? equals(&name, text) : begins(&name, text));
}

static enum seatbelt_match match_vnode(const struct seatbelt_filter *filter,
                                       const struct seatbelt_question *question)
{
    if (is_over_ip(question))
        return SEATBELT_NO_MATCH;
    if (question->vnode == SEATBELT_VNODE_UNKNOWN)
        return SEATBELT_MATCH_UNKNOWN;
    /* A terminal is a character device too. */
    return known(filter->number == question->vnode ||
                 (filter->number == SEATBELT_VNODE_CHARACTER && question->vnode == SEATBELT_VNODE_TERMINAL));
}

/* Rows: what the filter names. Columns: what the process is. A child or a member of the group is one of the
 * others as well, but nowhere is it said whether the filter means them. */
static enum seatbelt_match match_target(const struct seatbelt_filter *filter,
                                        const struct seatbelt_question *question)
{
    enum { NO = SEATBELT_NO_MATCH, YES = SEATBELT_MATCH, OPEN = SEATBELT_MATCH_UNKNOWN };
    static const unsigned char matches[][SEATBELT_TARGET_FIRST + 1] = {
        /*                            unknown self  group children sandbox others first */
        [SEATBELT_TARGET_UNKNOWN] = {OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN},
        [SEATBELT_TARGET_SELF] = {OPEN, YES, NO, NO, NO, NO, NO},
        [SEATBELT_TARGET_GROUP] = {OPEN, YES, YES, OPEN, OPEN, OPEN, NO},
        [SEATBELT_TARGET_CHILDREN] = {OPEN, NO, OPEN, YES, OPEN, NO, NO},
        [SEATBELT_TARGET_SANDBOX] = {OPEN, YES, OPEN, YES, YES, NO, NO},
        [SEATBELT_TARGET_OTHERS] = {OPEN, NO, OPEN, OPEN, OPEN, YES, YES},
        [SEATBELT_TARGET_FIRST] = {OPEN, NO, NO, NO, NO, NO, YES},
    };
    return (enum seatbelt_match)matches[filter->number][question->target];
}

static enum seatbelt_match match_socket(uint64_t wanted, uint32_t found, bool is_known)
{
    return is_known ? known(wanted == found) : SEATBELT_MATCH_UNKNOWN;
}

static enum seatbelt_match match_domain(const struct seatbelt_filter *filter,
                                        const struct seatbelt_question *question)
{
    uint32_t domain = question->socket_domain;
    if (domain == 0 && question->protocol == SEATBELT_PROTOCOL_UNIX)
        domain = DOMAIN_UNIX;
    return match_socket(filter->number, domain, domain != 0);
}

static enum seatbelt_match match_type(const struct seatbelt_filter *filter,
                                      const struct seatbelt_question *question)
{
    uint32_t type = question->socket_type;
    if (type == 0 && question->protocol == SEATBELT_PROTOCOL_TCP)
        type = TYPE_STREAM;
    if (type == 0 && question->protocol == SEATBELT_PROTOCOL_UDP)
        type = TYPE_DATAGRAM;
    return match_socket(filter->number, type, type != 0);
}

/* Whether the socket is one of the filter's protocol and version of IP. */
static enum seatbelt_match match_protocol(const struct seatbelt_address_filter *filter,
                                          const struct seatbelt_question *question)
{
    if (question->protocol == SEATBELT_PROTOCOL_NONE)
        return SEATBELT_MATCH_UNKNOWN;
    bool over_ip = is_over_ip(question);
    if (filter->protocol == SEATBELT_PROTOCOL_NONE ? !over_ip : filter->protocol != question->protocol)
        return SEATBELT_NO_MATCH;
    if (filter->version == 0 || filter->version == question->version)
        return SEATBELT_MATCH;
    return question->version == 0 ? SEATBELT_MATCH_UNKNOWN : SEATBELT_NO_MATCH;
}

static enum seatbelt_match both(enum seatbelt_match a, enum seatbelt_match b)
{
    if (a == SEATBELT_NO_MATCH || b == SEATBELT_NO_MATCH)
        return SEATBELT_NO_MATCH;
    return a == SEATBELT_MATCH ? b : a;
}

static bool is_outbound(const struct seatbelt_question *question)
{
    return strcmp(question->operation, seatbelt_operations[SEATBELT_OPERATION_NETWORK_OUTBOUND].name) == 0;
}

static enum seatbelt_match match_address(const struct seatbelt_filter *filter,
                                         const struct seatbelt_question *question)
{
    const struct seatbelt_address_filter *wanted = &filter->address;
    enum seatbelt_match protocol = match_protocol(wanted, question);
    bool is_remote = filter->kind == SEATBELT_FILTER_REMOTE;
    if (!wanted->addressed || protocol == SEATBELT_NO_MATCH)
        return protocol;
    bool any = !wanted->loopback && wanted->any_port;
    if (any)
        return protocol;
    /* Who will connect is not known when a port is opened. */
    if (is_remote && !is_outbound(question))
        return SEATBELT_MATCH_UNKNOWN;
    const struct seatbelt_address *address = is_remote ? &question->remote : &question->local;
    bool host = !wanted->loopback || address->host != SEATBELT_HOST_OTHER;
    bool port = wanted->any_port || wanted->port == address->port;
    return both(protocol, known(host && port));
}

static enum seatbelt_match match_extension(const struct seatbelt_filter *filter,
                                           const struct seatbelt_question *question)
{
    if (filter->text.bytes == NULL)
        return known(question->extension_count > 0);
    for (uint32_t i = 0; i < question->extension_count; i++) {
        struct seatbelt_text held = {question->extensions[i], strlen(question->extensions[i])};
        if (equals(&held, &filter->text))
            return SEATBELT_MATCH;
    }
    return SEATBELT_NO_MATCH;
}

/* All of the parts (`wanted`: stops at what does not match) or any (stops at what does). */
static enum seatbelt_match match_parts(const struct seatbelt_filter *filter,
                                       const struct seatbelt_subject *subject, enum seatbelt_match stop,
                                       enum seatbelt_match end)
{
    for (uint32_t i = 0; i < filter->count; i++) {
        enum seatbelt_match match = seatbelt_match(filter->parts[i], subject);
        if (match == stop)
            return stop;
        if (match == SEATBELT_MATCH_UNKNOWN)
            end = match;
    }
    return end;
}

static enum seatbelt_match match_not(const struct seatbelt_filter *filter,
                                     const struct seatbelt_subject *subject)
{
    enum seatbelt_match match = seatbelt_match(filter->parts[0], subject);
    return match == SEATBELT_MATCH_UNKNOWN ? match : known(match == SEATBELT_NO_MATCH);
}

enum seatbelt_match seatbelt_match(const struct seatbelt_filter *filter,
                                   const struct seatbelt_subject *subject)
{
    const struct seatbelt_question *question = subject->question;
    switch (filter->kind) {
    case SEATBELT_FILTER_LITERAL:
    case SEATBELT_FILTER_SUBPATH:
    case SEATBELT_FILTER_PREFIX:
    case SEATBELT_FILTER_REGEX:
        return match_path(filter, subject);
    case SEATBELT_FILTER_NAME:
    case SEATBELT_FILTER_NAME_PREFIX:
    case SEATBELT_FILTER_NAME_REGEX:
        return match_name(filter, question);
    case SEATBELT_FILTER_VNODE:
        return match_vnode(filter, question);
    case SEATBELT_FILTER_MODE:
        return question->mode_known ? known((question->mode & filter->number) != 0) : SEATBELT_MATCH_UNKNOWN;
    case SEATBELT_FILTER_TARGET:
        return match_target(filter, question);
    case SEATBELT_FILTER_NUMBER:
        return question->number_known && !filter->number_unknown ? known(filter->number == question->number)
                                                                 : SEATBELT_MATCH_UNKNOWN;
    case SEATBELT_FILTER_SOCKET_DOMAIN:
        return match_domain(filter, question);
    case SEATBELT_FILTER_SOCKET_TYPE:
        return match_type(filter, question);
    case SEATBELT_FILTER_SOCKET_PROTOCOL:
        return match_socket(filter->number, question->socket_protocol, question->socket_protocol_known);
    case SEATBELT_FILTER_LOCAL:
    case SEATBELT_FILTER_REMOTE:
        return match_address(filter, question);
    case SEATBELT_FILTER_EXTENSION:
        return match_extension(filter, question);
    case SEATBELT_FILTER_OPAQUE:
        return SEATBELT_MATCH_UNKNOWN;
    case SEATBELT_FILTER_ALL:
        return match_parts(filter, subject, SEATBELT_NO_MATCH, SEATBELT_MATCH);
    case SEATBELT_FILTER_ANY:
        return match_parts(filter, subject, SEATBELT_MATCH, SEATBELT_NO_MATCH);
    case SEATBELT_FILTER_NOT:
        return match_not(filter, subject);
    }
    return SEATBELT_MATCH_UNKNOWN;
}

void seatbelt_consider(struct seatbelt_verdict *verdict, const struct seatbelt_entry *entry,
                       const struct seatbelt_subject *subject)
{
    uint32_t number = entry->rule + 1;
    if (number <= verdict->last)
        return;
    enum seatbelt_match match = seatbelt_match(entry->filter, subject);
    uint32_t *open = verdict->rules[entry->rule].allow ? &verdict->open_allow : &verdict->open_deny;
    if (match == SEATBELT_MATCH)
        verdict->last = number;
    else if (match == SEATBELT_MATCH_UNKNOWN && number > *open)
        *open = number;
}
