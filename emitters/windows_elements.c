#include "emitters/windows_elements.h"

#include "base/vector.h"
#include "emitters/windows_objects.h"

#include <stdlib.h>
#include <string.h>

struct name_list {
    struct windows_variable *items;
    uint32_t count, capacity;
};

struct claim_list {
    struct windows_claim *items;
    uint32_t count, capacity;
};

struct text_list {
    const char **items;
    uint32_t count, capacity;
};

/* What a token is made of; each tier has one form. */
struct token {
    enum windows_level integrity;
    bool write_restricted, run, logon, container;
};

struct windows_elements {
    struct arena *arena;
    struct windows_spec *spec;
    const char *tier;
    struct token token;
    uint32_t token_line;
    struct claim_list claims, accepted;
    struct text_list open, excepts;
    struct name_list keep, drop, set, limit;
    bool in_limit, in_match;
    struct buffer text;
    struct {
        struct windows_names *items;
        uint32_t count, capacity;
    } limits;
    struct windows_acl acl; /* as it stands in the document */
};

struct windows_elements *windows_elements_create(struct arena *arena)
{
    struct windows_elements *elements = arena_alloc(arena, sizeof *elements);
    elements->arena = arena;
    elements->spec = arena_alloc(arena, sizeof *elements->spec);
    elements->tier = "";
    return elements;
}

/* ---- attributes ---- */

/* The value of an attribute; "" if it is not there. */
static const char *value_of(const struct windows_element *element, const char *name)
{
    for (uint32_t i = 0; i < element->attribute_count; i++)
        if (strcmp(element->attributes[i].name, name) == 0)
            return element->attributes[i].value;
    return "";
}

static bool value_is(const struct windows_element *element, const char *name, const char *value)
{
    return strcmp(value_of(element, name), value) == 0;
}

static uint64_t amount_of(const struct windows_element *element, const char *name)
{
    return strtoull(value_of(element, name), NULL, 10);
}

static uint8_t digit(char byte)
{
    return (uint8_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
}

/* ---- elements ---- */

static void start_root(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_spec *spec = elements->spec;
    const char *hash = value_of(element, "policy-sha256");
    elements->tier = value_of(element, "tier");
    spec->policy_name = value_of(element, "policy");
    for (size_t i = 0; i < sizeof spec->policy_hash && strlen(hash) == 2 * sizeof spec->policy_hash; i++)
        spec->policy_hash[i] = (uint8_t)(digit(hash[2 * i]) << 4 | digit(hash[2 * i + 1]));
}

static void start_control(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_claim claim = {value_of(element, "name"), value_of(element, "strength"), ""};
    VECTOR_PUSH(elements->arena, &elements->claims, claim);
    elements->text = buffer_in(elements->arena);
}

static void start_accepted(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_claim claim = {value_of(element, "name"), NULL, ""};
    VECTOR_PUSH(elements->arena, &elements->accepted, claim);
    elements->text = buffer_in(elements->arena);
}

static void start_open(struct windows_elements *elements, const struct windows_element *element)
{
    (void)element;
    VECTOR_PUSH(elements->arena, &elements->open, "");
    elements->text = buffer_in(elements->arena);
}

static void start_token(struct windows_elements *elements, const struct windows_element *element)
{
    elements->token.integrity = value_is(element, "integrity", "low") ? WINDOWS_LOW : WINDOWS_MEDIUM;
    elements->token.write_restricted = value_is(element, "write-restricted", "true");
    elements->token_line = element->line;
}

static void start_restrict(struct windows_elements *elements, const struct windows_element *element)
{
    *(value_is(element, "sid", "run") ? &elements->token.run : &elements->token.logon) = true;
}

static void start_appcontainer(struct windows_elements *elements, const struct windows_element *element)
{
    (void)element;
    elements->token.container = true;
}

static void start_capability(struct windows_elements *elements, const struct windows_element *element)
{
    static const struct {
        const char *name;
        unsigned capability;
    } names[] = {
        {"internetClient", WINDOWS_INTERNET_CLIENT},
        {"internetClientServer", WINDOWS_INTERNET_CLIENT_SERVER},
        {"privateNetworkClientServer", WINDOWS_PRIVATE_NETWORK},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (value_is(element, "name", names[i].name))
            elements->spec->capabilities |= names[i].capability;
}

static void start_job(struct windows_elements *elements, const struct windows_element *element)
{
    elements->spec->processes = amount_of(element, "active-processes");
    elements->spec->memory = amount_of(element, "memory");
    elements->spec->time = amount_of(element, "time-ms");
}

static void start_scratch(struct windows_elements *elements, const struct windows_element *element)
{
    (void)element;
    elements->spec->scratch = true;
}

static void add_name(struct windows_elements *elements, struct name_list *list,
                     const struct windows_element *element)
{
    struct windows_variable variable = {value_of(element, "name"), NULL};
    VECTOR_PUSH(elements->arena, list, variable);
}

static void start_keep(struct windows_elements *elements, const struct windows_element *element)
{
    add_name(elements, elements->in_limit ? &elements->limit : &elements->keep, element);
}

static void start_drop(struct windows_elements *elements, const struct windows_element *element)
{
    add_name(elements, &elements->drop, element);
}

static void start_limit(struct windows_elements *elements, const struct windows_element *element)
{
    (void)element;
    elements->in_limit = true;
    elements->limit = (struct name_list){0};
}

static void start_set(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_variable variable = {value_of(element, "name"), value_of(element, "value")};
    VECTOR_PUSH(elements->arena, &elements->set, variable);
}

static void start_require(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_require require = {value_of(element, "path"), value_of(element, "not-below"),
                                      element->line};
    VECTOR_PUSH(elements->arena, &elements->acl.requires, require);
}

static void start_object(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_object object = {
        .path = value_of(element, "path"),
        .kind = value_is(element, "kind", "file")  ? WINDOWS_FILE
                : value_is(element, "kind", "dir") ? WINDOWS_DIRECTORY
                                                   : WINDOWS_ANY,
        .missing = value_is(element, "on-missing", "create-dir")    ? WINDOWS_CREATE_DIRECTORY
                   : value_is(element, "on-missing", "create-file") ? WINDOWS_CREATE_FILE
                                                                    : WINDOWS_SKIP,
        .cap = value_is(element, "cap", "true"),
        .automatic = value_is(element, "automatic", "true"),
        .rule = value_of(element, "rule"),
        .line = element->line,
    };
    VECTOR_PUSH(elements->arena, &elements->acl.objects, object);
    elements->in_match = false;
}

static void start_match(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_match match = {
        .pattern = value_of(element, "pattern"), .rule = value_of(element, "rule"), .line = element->line};
    VECTOR_PUSH(elements->arena, &elements->acl.matches, match);
    elements->in_match = true;
    elements->excepts = (struct text_list){0};
}

static void start_except(struct windows_elements *elements, const struct windows_element *element)
{
    VECTOR_PUSH(elements->arena, &elements->excepts, value_of(element, "path"));
}

static void start_label(struct windows_elements *elements, const struct windows_element *element)
{
    const char *policy = value_of(element, "policy");
    struct windows_label label = {
        .present = true,
        .level = value_is(element, "level", "low") ? WINDOWS_LOW : WINDOWS_MEDIUM,
        .policy = WINDOWS_NO_WRITE_UP | (strstr(policy, "nr") != NULL ? WINDOWS_NO_READ_UP : 0u) |
                  (strstr(policy, "nx") != NULL ? WINDOWS_NO_EXECUTE_UP : 0u),
    };
    if (elements->in_match)
        elements->acl.matches.items[elements->acl.matches.count - 1].label = label;
    else if (elements->acl.objects.count > 0)
        elements->acl.objects.items[elements->acl.objects.count - 1].label = label;
}

static void start_ace(struct windows_elements *elements, const struct windows_element *element)
{
    struct windows_ace ace = {
        .deny = value_is(element, "type", "deny"),
        .inherit = value_is(element, "inherit", "true"),
        .principal = value_is(element, "sid", "run") ? WINDOWS_RUN : WINDOWS_PACKAGE,
        .mask = (uint32_t)strtoul(value_of(element, "mask"), NULL, 16),
    };
    if (elements->in_match) {
        elements->acl.matches.items[elements->acl.matches.count - 1].ace = ace;
        return;
    }
    struct windows_object *object = elements->acl.objects.count > 0
                                        ? &elements->acl.objects.items[elements->acl.objects.count - 1]
                                        : NULL;
    if (object != NULL && object->ace_count < sizeof object->aces / sizeof *object->aces)
        object->aces[object->ace_count++] = ace;
}

/* Those without an entry say nothing by themselves. */
static const struct {
    const char *name;
    void (*start)(struct windows_elements *elements, const struct windows_element *element);
} starts[] = {
    {"ace", start_ace},
    {"object", start_object},
    {"label", start_label},
    {"except", start_except},
    {"match", start_match},
    {"keep", start_keep},
    {"drop", start_drop},
    {"set", start_set},
    {"limit", start_limit},
    {"require", start_require},
    {"control", start_control},
    {"accepted", start_accepted},
    {"open", start_open},
    {"sbx-windows", start_root},
    {"token", start_token},
    {"restrict", start_restrict},
    {"appcontainer", start_appcontainer},
    {"capability", start_capability},
    {"job", start_job},
    {"scratch", start_scratch},
};

void windows_elements_start(struct windows_elements *elements, const struct windows_element *element)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(starts[i].name, element->name) == 0) {
            starts[i].start(elements, element);
            return;
        }
}

void windows_elements_text(struct windows_elements *elements, const char *bytes, size_t length)
{
    if (elements->text.arena != NULL)
        buffer_bytes(&elements->text, bytes, length);
}

/* The text since the start of the element that ends here. */
static const char *text_taken(struct windows_elements *elements)
{
    const char *text = elements->text.bytes != NULL ? elements->text.bytes : "";
    elements->text = (struct buffer){0};
    return text;
}

static void end_match(struct windows_elements *elements)
{
    struct windows_match *match = &elements->acl.matches.items[elements->acl.matches.count - 1];
    match->excepts = elements->excepts.items;
    match->except_count = elements->excepts.count;
}

static void end_limit(struct windows_elements *elements)
{
    struct windows_names names = {elements->limit.items, elements->limit.count};
    VECTOR_PUSH(elements->arena, &elements->limits, names);
    elements->in_limit = false;
}

void windows_elements_end(struct windows_elements *elements, const char *name)
{
    if (strcmp(name, "match") == 0)
        end_match(elements);
    else if (strcmp(name, "limit") == 0)
        end_limit(elements);
    else if (strcmp(name, "control") == 0)
        elements->claims.items[elements->claims.count - 1].text = text_taken(elements);
    else if (strcmp(name, "accepted") == 0)
        elements->accepted.items[elements->accepted.count - 1].text = text_taken(elements);
    else if (strcmp(name, "open") == 0)
        elements->open.items[elements->open.count - 1] = text_taken(elements);
}

/* ---- the end ---- */

static bool token_fits(enum windows_tier tier, const struct token *token)
{
    static const struct token forms[WINDOWS_TIERS] = {
        [WINDOWS_RESTRICTED] = {WINDOWS_MEDIUM, true, true, true, false},
        [WINDOWS_RESTRICTED_LOW] = {WINDOWS_LOW, true, true, true, false},
        [WINDOWS_APPCONTAINER] = {WINDOWS_LOW, false, false, false, true},
    };
    const struct token *form = &forms[tier];
    return token->integrity == form->integrity && token->write_restricted == form->write_restricted &&
           token->run == form->run && token->logon == form->logon && token->container == form->container;
}

static struct windows_names names_of(const struct name_list *list)
{
    return (struct windows_names){list->items, list->count};
}

static void fill(const struct windows_elements *elements, struct windows_spec *spec)
{
    spec->claims = elements->claims.items;
    spec->claim_count = elements->claims.count;
    spec->accepted = elements->accepted.items;
    spec->accepted_count = elements->accepted.count;
    spec->open = elements->open.items;
    spec->open_count = elements->open.count;
    spec->environment.keep = names_of(&elements->keep);
    spec->environment.drop = names_of(&elements->drop);
    spec->environment.set = names_of(&elements->set);
    spec->environment.limits = elements->limits.items;
    spec->environment.limit_count = elements->limits.count;
    spec->requires = elements->acl.requires.items;
    spec->require_count = elements->acl.requires.count;
    spec->objects = elements->acl.objects.items;
    spec->object_count = elements->acl.objects.count;
    spec->matches = elements->acl.matches.items;
    spec->match_count = elements->acl.matches.count;
}

const struct windows_spec *windows_elements_finish(struct windows_elements *elements, const char **error)
{
    struct windows_spec *spec = elements->spec;
    int tier = 0;
    while (tier < WINDOWS_TIERS && strcmp(windows_tier_names[tier], elements->tier) != 0)
        tier++;
    if (tier == WINDOWS_TIERS) {
        *error = arena_format(elements->arena, "the tier %s is reserved: this version cannot hold it",
                              elements->tier);
        return NULL;
    }
    spec->tier = (enum windows_tier)tier;
    if (!token_fits(spec->tier, &elements->token)) {
        *error = arena_format(elements->arena, "line %u: this is not the token of the tier %s",
                              (unsigned)elements->token_line, elements->tier);
        return NULL;
    }
    fill(elements, spec);
    return spec;
}
