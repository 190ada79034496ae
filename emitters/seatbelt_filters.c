#include "emitters/seatbelt_filters.h"

#include "base/vector.h"
#include "emitters/seatbelt_builtins.h"
#include "emitters/seatbelt_fold.h"

#include <string.h>

typedef const struct seatbelt_value expression;

/* Filters can be composed by name again and again: without bounds one text of a kilobyte would never be
 * judged. */
enum { FILTER_DEPTH_MOST = 100, FILTER_SIZE_MOST = 20000, LIST_DEPTH_MOST = 50 };

static const uint32_t sorts_of_names[] = {
    [SEATBELT_NAME_NONE] = 0,
    [SEATBELT_NAME_GLOBAL] = SEATBELT_SORT_MACH,
    [SEATBELT_NAME_LOCAL] = SEATBELT_SORT_MACH,
    [SEATBELT_NAME_XPC_SERVICE] = SEATBELT_SORT_MACH,
    [SEATBELT_NAME_IPC_POSIX] = SEATBELT_SORT_IPC,
    [SEATBELT_NAME_SYSCTL] = SEATBELT_SORT_SYSCTL,
    [SEATBELT_NAME_XATTR] = SEATBELT_SORT_XATTR,
    [SEATBELT_NAME_CONTROL] = SEATBELT_SORT_CONTROL,
    [SEATBELT_NAME_IOKIT_CLASS] = SEATBELT_SORT_IOKIT,
    [SEATBELT_NAME_IOKIT_CONNECTION] = SEATBELT_SORT_IOKIT,
    [SEATBELT_NAME_IOKIT_PROPERTY] = SEATBELT_SORT_IOKIT_PROPERTY,
    [SEATBELT_NAME_PREFERENCE_DOMAIN] = SEATBELT_SORT_PREFERENCE,
    [SEATBELT_NAME_RIGHT] = SEATBELT_SORT_RIGHT,
    [SEATBELT_NAME_NOTIFICATION] = SEATBELT_SORT_NOTIFICATION,
    [SEATBELT_NAME_NVRAM] = SEATBELT_SORT_NVRAM,
    [SEATBELT_NAME_APPLEEVENT] = SEATBELT_SORT_APPLEEVENT,
    [SEATBELT_NAME_KEXT] = SEATBELT_SORT_KEXT,
    [SEATBELT_NAME_EXTENSION_CLASS] = SEATBELT_SORT_EXTENSION_CLASS,
    [SEATBELT_NAME_INFO_TYPE] = SEATBELT_SORT_INFO,
    [SEATBELT_NAME_BOOT_ARGUMENT] = SEATBELT_SORT_BOOT_ARGUMENT,
};

const struct seatbelt_filter *seatbelt_filter(struct seatbelt_machine *machine,
                                              const struct seatbelt_filter *filled)
{
    struct seatbelt_filter *filter = arena_alloc(machine->arena, sizeof *filter);
    *filter = *filled;
    filter->size = 1;
    return filter;
}

const struct seatbelt_filter *seatbelt_compose(struct seatbelt_machine *machine, expression *at,
                                               enum seatbelt_filter_kind kind,
                                               const struct seatbelt_filter_list *parts)
{
    if (parts->count == 1 && kind != SEATBELT_FILTER_NOT)
        return parts->items[0];
    struct seatbelt_filter *filter = arena_alloc(machine->arena, sizeof *filter);
    const struct seatbelt_filter **copy = arena_array(machine->arena, (size_t)parts->count + 1, sizeof *copy);
    *filter = (struct seatbelt_filter){.kind = kind, .size = 1, .parts = copy, .count = parts->count};
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct seatbelt_filter *part = copy[i] = parts->items[i];
        filter->sorts |= part->sorts;
        filter->size += part->size;
        filter->bytes += part->bytes;
        filter->depth = part->depth + 1 > filter->depth ? part->depth + 1 : filter->depth;
        const char *error = filter->size > FILTER_SIZE_MOST     ? "the filter is too large"
                            : filter->depth > FILTER_DEPTH_MOST ? "the filter is nested too deeply"
                                                                : NULL;
        if (error != NULL) {
            (void)seatbelt_fail(machine, at, "%s", error);
            return NULL;
        }
    }
    return filter;
}

static bool collect(struct seatbelt_machine *machine, expression *at, expression *value,
                    struct seatbelt_filter_list *filters, uint32_t depth)
{
    if (value->kind == SEATBELT_VALUE_FILTER) {
        VECTOR_PUSH(machine->arena, filters, value->as.filter);
        return true;
    }
    bool is_list = value->kind == SEATBELT_VALUE_NIL || value->kind == SEATBELT_VALUE_PAIR;
    if (!is_list || depth > LIST_DEPTH_MOST)
        return seatbelt_fail(machine, at, "expected a filter, got %s", seatbelt_type(value)) != NULL;
    for (; value->kind == SEATBELT_VALUE_PAIR; value = value->as.pair.tail)
        if (!seatbelt_step(machine, at) || !collect(machine, at, value->as.pair.head, filters, depth + 1))
            return false;
    return true;
}

bool seatbelt_collect_filters(struct seatbelt_machine *machine, expression *at, expression *value,
                              struct seatbelt_filter_list *filters)
{
    return collect(machine, at, value, filters, 0);
}

/* The filter that matches where one of several does, as a value. */
static expression *any_of(struct seatbelt_machine *machine, expression *at,
                          const struct seatbelt_filter_list *filters)
{
    const struct seatbelt_filter *filter = seatbelt_compose(machine, at, SEATBELT_FILTER_ANY, filters);
    return filter == NULL ? NULL : seatbelt_filter_value(machine, filter, at);
}

static bool add(struct seatbelt_machine *machine, struct seatbelt_filter_list *filters,
                const struct seatbelt_filter *filled)
{
    VECTOR_PUSH(machine->arena, filters, seatbelt_filter(machine, filled));
    return true;
}

static bool compile_expressions(struct seatbelt_machine *machine, expression *at,
                                struct seatbelt_filter *filter)
{
    const char *error = NULL;
    size_t length;
    const char *folded =
        seatbelt_fold_beyond_ascii(machine->arena, filter->text.bytes, filter->text.length, &length);
    filter->regex =
        seatbelt_regex_compile(machine->arena, filter->text.bytes, filter->text.length, false, &error);
    filter->folded_regex = seatbelt_regex_compile(machine->arena, folded, length, true, &error);
    if (filter->regex != NULL && filter->folded_regex != NULL)
        return true;
    return seatbelt_fail(machine, at, "%s", error) != NULL;
}

/* A filter of one string: `filled` says all but the text. */
static bool add_text(struct seatbelt_machine *machine, expression *at, struct seatbelt_filter_list *filters,
                     const struct seatbelt_filter *filled, const struct seatbelt_text *text)
{
    struct seatbelt_filter filter = *filled;
    filter.text = *text;
    if (text->length == 0)
        return seatbelt_fail(machine, at, "%s: the string is empty", filter.word) != NULL;
    bool is_regex = filter.kind == SEATBELT_FILTER_REGEX || filter.kind == SEATBELT_FILTER_NAME_REGEX;
    if (is_regex && !compile_expressions(machine, at, &filter))
        return false;
    if (filter.name == SEATBELT_NAME_NONE)
        filter.bytes = text->length;
    if (!is_regex)
        filter.folded.bytes = seatbelt_fold(machine->arena, text->bytes, text->length, &filter.folded.length);
    return add(machine, filters, &filter);
}

/* (literal "/a" "/b"), (global-name-prefix "com.apple.") ...: choice is the kind, detail the name's. */
static expression *make_text(struct seatbelt_machine *machine, expression *at,
                             const struct seatbelt_arguments *arguments)
{
    const enum seatbelt_name name = (enum seatbelt_name)arguments->self->detail;
    const struct seatbelt_filter filled = {
        .kind = (enum seatbelt_filter_kind)arguments->self->choice,
        .sorts = name == SEATBELT_NAME_NONE ? (uint32_t)SEATBELT_SORT_PATH : sorts_of_names[name],
        .word = arguments->self->name,
        .name = name,
        .ignores_case = name == SEATBELT_NAME_NVRAM || name == SEATBELT_NAME_APPLEEVENT ||
                        name == SEATBELT_NAME_BOOT_ARGUMENT,
    };
    struct seatbelt_filter_list filters = {0};
    for (uint32_t i = 0; i < arguments->count; i++) {
        if (arguments->items[i]->kind != SEATBELT_VALUE_STRING)
            return seatbelt_fail(machine, at, "invalid data type of %s filter; expected pattern, got %s",
                                 name == SEATBELT_NAME_NONE ? "path" : filled.word,
                                 seatbelt_type(arguments->items[i]));
        if (!add_text(machine, at, &filters, &filled, &arguments->items[i]->as.string))
            return NULL;
    }
    return any_of(machine, at, &filters);
}

/* (path-ancestors "/a/b/c"): /, /a and /a/b. */
static expression *make_ancestors(struct seatbelt_machine *machine, expression *at,
                                  const struct seatbelt_arguments *arguments)
{
    const struct seatbelt_filter filled = {
        .kind = SEATBELT_FILTER_LITERAL, .sorts = SEATBELT_SORT_PATH, .word = arguments->self->name};
    struct seatbelt_filter_list filters = {0};
    if (arguments->items[0]->kind != SEATBELT_VALUE_STRING)
        return seatbelt_fail(machine, at, "invalid data type of path filter; expected pattern, got %s",
                             seatbelt_type(arguments->items[0]));
    const struct seatbelt_text *path = &arguments->items[0]->as.string;
    if (path->length == 0 || path->bytes[0] != '/')
        return seatbelt_fail(machine, at, "path must start with a /");
    if (!add_text(machine, at, &filters, &filled, &(struct seatbelt_text){"/", 1}))
        return NULL;
    for (size_t i = 1; i < path->length; i++) {
        if (!seatbelt_step(machine, at))
            return NULL;
        if (path->bytes[i] != '/')
            continue;
        struct seatbelt_text ancestor = {arena_copy(machine->arena, path->bytes, i), i};
        if (!add_text(machine, at, &filters, &filled, &ancestor))
            return NULL;
    }
    return any_of(machine, at, &filters);
}

/* Filters that take a number or a constant: choice is the kind, detail the sort. */
static bool takes_constant(const struct seatbelt_builtin *self, enum seatbelt_constant_kind kind)
{
    switch ((enum seatbelt_filter_kind)self->choice) {
    case SEATBELT_FILTER_VNODE:
        return kind == SEATBELT_CONSTANT_VNODE;
    case SEATBELT_FILTER_TARGET:
        return kind == SEATBELT_CONSTANT_TARGET;
    case SEATBELT_FILTER_SOCKET_DOMAIN:
        return kind == SEATBELT_CONSTANT_DOMAIN;
    case SEATBELT_FILTER_SOCKET_TYPE:
        return kind == SEATBELT_CONSTANT_TYPE;
    case SEATBELT_FILTER_NUMBER:
        return (kind == SEATBELT_CONSTANT_SIGNAL && self->detail == SEATBELT_SORT_SIGNAL) ||
               (kind == SEATBELT_CONSTANT_SYSCALL && self->detail == SEATBELT_SORT_SYSCALL);
    case SEATBELT_FILTER_MODE:
    case SEATBELT_FILTER_SOCKET_PROTOCOL:
    case SEATBELT_FILTER_LITERAL:
    case SEATBELT_FILTER_SUBPATH:
    case SEATBELT_FILTER_PREFIX:
    case SEATBELT_FILTER_REGEX:
    case SEATBELT_FILTER_NAME:
    case SEATBELT_FILTER_NAME_PREFIX:
    case SEATBELT_FILTER_NAME_REGEX:
    case SEATBELT_FILTER_LOCAL:
    case SEATBELT_FILTER_REMOTE:
    case SEATBELT_FILTER_EXTENSION:
    case SEATBELT_FILTER_OPAQUE:
    case SEATBELT_FILTER_ALL:
    case SEATBELT_FILTER_ANY:
    case SEATBELT_FILTER_NOT:
        break;
    }
    return false;
}

static bool takes_number(const struct seatbelt_builtin *self)
{
    return self->choice != SEATBELT_FILTER_VNODE && self->choice != SEATBELT_FILTER_TARGET;
}

static expression *make_number(struct seatbelt_machine *machine, expression *at,
                               const struct seatbelt_arguments *arguments)
{
    const struct seatbelt_builtin *self = arguments->self;
    struct seatbelt_filter_list filters = {0};
    for (uint32_t i = 0; i < arguments->count; i++) {
        expression *value = arguments->items[i];
        struct seatbelt_filter filter = {
            .kind = (enum seatbelt_filter_kind)self->choice, .sorts = self->detail, .word = self->name};
        if (value->kind == SEATBELT_VALUE_NUMBER && value->as.number >= 0 && takes_number(self))
            filter.number = (uint64_t)value->as.number;
        else if (value->kind == SEATBELT_VALUE_CONSTANT && takes_constant(self, value->as.constant->kind)) {
            filter.number = value->as.constant->number;
            filter.number_unknown = value->as.constant->kind == SEATBELT_CONSTANT_SYSCALL;
        } else
            return seatbelt_fail(machine, at, "%s: argument %u does not fit", self->name, i + 1);
        add(machine, &filters, &filter);
    }
    return any_of(machine, at, &filters);
}

static expression *make_terminal(struct seatbelt_machine *machine, expression *at,
                                 const struct seatbelt_arguments *arguments)
{
    const struct seatbelt_filter filter = {.kind = SEATBELT_FILTER_VNODE,
                                           .sorts = SEATBELT_SORT_FILE,
                                           .word = arguments->self->name,
                                           .number = SEATBELT_VNODE_TERMINAL};
    return seatbelt_filter_value(machine, seatbelt_filter(machine, &filter), at);
}

/* (extension "class" ...); without a class: any extension. */
static expression *make_extension(struct seatbelt_machine *machine, expression *at,
                                  const struct seatbelt_arguments *arguments)
{
    struct seatbelt_filter filter = {.kind = SEATBELT_FILTER_EXTENSION, .word = arguments->self->name};
    struct seatbelt_filter_list filters = {0};
    for (uint32_t i = 0; i < arguments->count; i++) {
        if (arguments->items[i]->kind != SEATBELT_VALUE_STRING)
            return seatbelt_fail(machine, at, "%s expects string argument", filter.word);
        filter.text = arguments->items[i]->as.string;
        add(machine, &filters, &filter);
    }
    if (arguments->count == 0)
        add(machine, &filters, &filter);
    return any_of(machine, at, &filters);
}

/* What looks at the process's identity or at a device: detail is the sort. */
static expression *make_opaque(struct seatbelt_machine *machine, expression *at,
                               const struct seatbelt_arguments *arguments)
{
    const struct seatbelt_filter filter = {
        .kind = SEATBELT_FILTER_OPAQUE, .sorts = arguments->self->detail, .word = arguments->self->name};
    return seatbelt_filter_value(machine, seatbelt_filter(machine, &filter), at);
}

/* require-all, require-any, require-not. */
static expression *make_composed(struct seatbelt_machine *machine, expression *at,
                                 const struct seatbelt_arguments *arguments)
{
    struct seatbelt_filter_list filters = {0};
    for (uint32_t i = 0; i < arguments->count; i++)
        if (!seatbelt_collect_filters(machine, at, arguments->items[i], &filters))
            return NULL;
    if (filters.count == 0)
        return seatbelt_fail(machine, at, "%s: expected a filter", arguments->self->name);
    enum seatbelt_filter_kind kind = (enum seatbelt_filter_kind)arguments->self->choice;
    if (kind == SEATBELT_FILTER_NOT && filters.count > 1)
        return seatbelt_fail(machine, at, "%s: takes one filter", arguments->self->name);
    const struct seatbelt_filter *filter = seatbelt_compose(machine, at, kind, &filters);
    return filter == NULL ? NULL : seatbelt_filter_value(machine, filter, at);
}

#define MANY .least = 1, .most = SEATBELT_ANY_NUMBER
#define PATH(word, kind)                                                                                     \
    {                                                                                                        \
        .name = word, .primitive = make_text, MANY, .choice = SEATBELT_FILTER_##kind                         \
    }
#define NAMED(word, kind, of)                                                                                \
    {                                                                                                        \
        .name = word, .primitive = make_text, MANY, .choice = SEATBELT_FILTER_##kind,                        \
        .detail = SEATBELT_NAME_##of                                                                         \
    }
#define NAME(word, of)                                                                                       \
    NAMED(word, NAME, of), NAMED(word "-prefix", NAME_PREFIX, of), NAMED(word "-regex", NAME_REGEX, of)
#define NUMBER(word, kind, sort)                                                                             \
    {                                                                                                        \
        .name = word, .primitive = make_number, MANY, .choice = SEATBELT_FILTER_##kind,                      \
        .detail = SEATBELT_SORT_##sort                                                                       \
    }
#define OPAQUE(word, sort)                                                                                   \
    {                                                                                                        \
        .name = word, .primitive = make_opaque, MANY, .detail = (sort)                                       \
    }
#define COMPOSED(word, kind)                                                                                 \
    {                                                                                                        \
        .name = word, .primitive = make_composed, MANY, .choice = SEATBELT_FILTER_##kind                     \
    }
#define ADDRESS(word, kind)                                                                                  \
    {                                                                                                        \
        .name = word, .primitive = seatbelt_make_address, MANY, .choice = SEATBELT_FILTER_##kind             \
    }
#define EXTENSION(word)                                                                                      \
    {                                                                                                        \
        .name = word, .primitive = make_extension, .most = SEATBELT_ANY_NUMBER                               \
    }

const struct seatbelt_builtin seatbelt_filter_primitives[] = {
    PATH("literal", LITERAL),
    PATH("path", LITERAL),
    PATH("path-literal", LITERAL),
    PATH("subpath", SUBPATH),
    PATH("prefix", PREFIX),
    PATH("path-prefix", PREFIX),
    PATH("regex", REGEX),
    PATH("path-regex", REGEX),
    {.name = "path-ancestors", .primitive = make_ancestors, .least = 1, .most = 1},
    NAME("global-name", GLOBAL),
    NAME("local-name", LOCAL),
    NAME("xpc-service-name", XPC_SERVICE),
    NAME("ipc-posix-name", IPC_POSIX),
    NAME("sysctl-name", SYSCTL),
    NAME("xattr", XATTR),
    NAME("control-name", CONTROL),
    NAME("iokit-registry-entry-class", IOKIT_CLASS),
    NAME("iokit-user-client-class", IOKIT_CLASS),
    NAME("iokit-connection", IOKIT_CONNECTION),
    NAME("iokit-property", IOKIT_PROPERTY),
    NAME("preference-domain", PREFERENCE_DOMAIN),
    NAME("right-name", RIGHT),
    NAME("notification-name", NOTIFICATION),
    NAME("nvram-variable", NVRAM),
    NAME("appleevent-destination", APPLEEVENT),
    NAME("kext-bundle-id", KEXT),
    NAME("extension-class", EXTENSION_CLASS),
    NAME("info-type", INFO_TYPE),
    NAME("boot-arg", BOOT_ARGUMENT),
    NUMBER("vnode-type", VNODE, FILE),
    NUMBER("file-mode", MODE, FILE),
    NUMBER("target", TARGET, TARGET),
    NUMBER("signal-number", NUMBER, SIGNAL),
    NUMBER("ioctl-command", NUMBER, IOCTL),
    NUMBER("fsctl-command", NUMBER, FSCTL),
    NUMBER("syscall-number", NUMBER, SYSCALL),
    NUMBER("machtrap-number", NUMBER, SYSCALL),
    NUMBER("kernel-mig-routine", NUMBER, SYSCALL),
    NUMBER("socket-domain", SOCKET_DOMAIN, SOCKET),
    NUMBER("socket-type", SOCKET_TYPE, SOCKET),
    NUMBER("socket-protocol", SOCKET_PROTOCOL, SOCKET),
    {.name = "tty", .primitive = make_terminal},
    ADDRESS("local", LOCAL),
    ADDRESS("from", LOCAL),
    ADDRESS("remote", REMOTE),
    ADDRESS("to", REMOTE),
    EXTENSION("extension"),
    EXTENSION("granted-extensions"),
    EXTENSION("mach-extension"),
    OPAQUE("process-attribute", 0),
    OPAQUE("system-attribute", 0),
    OPAQUE("require-entitlement", 0),
    OPAQUE("signing-identifier", 0),
    OPAQUE("mount-relative-literal", SEATBELT_SORT_PATH),
    OPAQUE("mount-relative-path", SEATBELT_SORT_PATH),
    OPAQUE("mount-relative-regex", SEATBELT_SORT_PATH),
    OPAQUE("device-major", SEATBELT_SORT_DEVICE),
    OPAQUE("device-minor", SEATBELT_SORT_DEVICE),
    OPAQUE("device-conforms-to", SEATBELT_SORT_DEVICE),
    OPAQUE("semaphore-owner", SEATBELT_SORT_SEMAPHORE),
    COMPOSED("require-all", ALL),
    COMPOSED("require-any", ANY),
    COMPOSED("require-not", NOT),
    {.name = NULL},
};
