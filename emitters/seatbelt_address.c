/* Filters on the two ends of a socket. */
#include "base/vector.h"
#include "emitters/seatbelt_filters.h"

#include <string.h>

typedef const struct seatbelt_value expression;

enum { PORT_MOST = 65535 };

static bool is_text(const char *bytes, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(bytes, word, length) == 0;
}

static const char *parse_port(struct seatbelt_address_filter *address, const char *bytes, size_t length)
{
    static const char invalid[] = "invalid port in network address";
    uint32_t port = 0;
    address->any_port = is_text(bytes, length, "*");
    if (address->any_port)
        return NULL;
    if (length == 0)
        return invalid;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return invalid;
        port = port * 10 + (uint32_t)(bytes[i] - '0');
        if (port > PORT_MOST)
            return invalid;
    }
    address->port = (uint16_t)port;
    return NULL;
}

/* HOST:PORT; NULL or what macOS says about it. */
static const char *parse_address(struct seatbelt_address_filter *address, const struct seatbelt_text *text)
{
    size_t host = text->length;
    while (host > 0 && text->bytes[host - 1] != ':')
        host--;
    if (host == 0)
        return "port missing in network address";
    address->addressed = true;
    address->loopback = is_text(text->bytes, host - 1, "localhost");
    if (!address->loopback && !is_text(text->bytes, host - 1, "*"))
        return "host must be * or localhost in network address";
    return parse_port(address, text->bytes + host, text->length - host);
}

/* Behind ip, tcp or udp: addresses, any one of which will do. */
static const struct seatbelt_filter *make_ip(struct seatbelt_machine *machine, expression *at,
                                             const struct seatbelt_arguments *arguments,
                                             struct seatbelt_filter *filter)
{
    struct seatbelt_filter_list filters = {0};
    if (arguments->count == 1)
        return seatbelt_filter(machine, filter);
    for (uint32_t i = 1; i < arguments->count; i++) {
        if (arguments->items[i]->kind != SEATBELT_VALUE_STRING) {
            (void)seatbelt_fail(machine, at, "%s expects string argument", filter->word);
            return NULL;
        }
        const char *error = parse_address(&filter->address, &arguments->items[i]->as.string);
        if (error != NULL) {
            (void)seatbelt_fail(machine, at, "%s", error);
            return NULL;
        }
        VECTOR_PUSH(machine->arena, &filters, seatbelt_filter(machine, filter));
    }
    return seatbelt_compose(machine, at, SEATBELT_FILTER_ANY, &filters);
}

/* Behind unix: filters on the socket's path, any one of which will do. */
static const struct seatbelt_filter *make_unix(struct seatbelt_machine *machine, expression *at,
                                               const struct seatbelt_arguments *arguments,
                                               const struct seatbelt_filter *filter)
{
    struct seatbelt_filter_list paths = {0}, both = {0};
    VECTOR_PUSH(machine->arena, &both, seatbelt_filter(machine, filter));
    for (uint32_t i = 1; i < arguments->count; i++)
        if (!seatbelt_collect_filters(machine, at, arguments->items[i], &paths))
            return NULL;
    if (paths.count == 0)
        return both.items[0];
    const struct seatbelt_filter *path = seatbelt_compose(machine, at, SEATBELT_FILTER_ANY, &paths);
    if (path == NULL)
        return NULL;
    VECTOR_PUSH(machine->arena, &both, path);
    return seatbelt_compose(machine, at, SEATBELT_FILTER_ALL, &both);
}

expression *seatbelt_make_address(struct seatbelt_machine *machine, expression *at,
                                  const struct seatbelt_arguments *arguments)
{
    expression *protocol = arguments->items[0];
    if (protocol->kind != SEATBELT_VALUE_CONSTANT ||
        protocol->as.constant->kind != SEATBELT_CONSTANT_PROTOCOL)
        return seatbelt_fail(machine, at, "%s expects a protocol", arguments->self->name);
    struct seatbelt_filter filter = {
        .kind = (enum seatbelt_filter_kind)arguments->self->choice,
        .sorts = SEATBELT_SORT_ADDRESS,
        .word = arguments->self->choice == SEATBELT_FILTER_LOCAL ? "local" : "remote",
        .address = {.protocol = (enum seatbelt_protocol)protocol->as.constant->number,
                    .version = protocol->as.constant->version},
    };
    const struct seatbelt_filter *made = filter.address.protocol == SEATBELT_PROTOCOL_UNIX
                                             ? make_unix(machine, at, arguments, &filter)
                                             : make_ip(machine, at, arguments, &filter);
    return made == NULL ? NULL : seatbelt_filter_value(machine, made, at);
}
