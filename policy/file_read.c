#include "base/sha256.h"
#include "policy/bytes.h"
#include "policy/canonical.h"
#include "policy/file.h"
#include "policy/file_check.h"
#include "policy/file_format.h"

#include <inttypes.h>
#include <string.h>

/* A place in the file. After the first problem every read gives zero and `problem` keeps what it was. */
struct reader {
    struct arena *arena;
    const uint8_t *bytes;
    size_t length, at; /* of the part before the final hash */
    const char *problem;
    struct policy *policy;
    const char **strings;
    uint16_t *forms; /* of each string: those that it was found to have */
    uint32_t string_count;
    struct path_list *lists;
    struct command_set *sets;
    struct port_list {
        struct port_range *items;
        uint32_t count;
    } * ports;
    uint32_t list_count, set_count, ports_count;
};

static void fail(struct reader *reader, const char *problem)
{
    if (reader->problem == NULL)
        reader->problem = problem;
}

static uint64_t take(struct reader *reader, size_t size)
{
    if (reader->problem != NULL || reader->length - reader->at < size) {
        fail(reader, "it ends in the middle of a record");
        return 0;
    }
    reader->at += size;
    return bytes_get(reader->bytes + reader->at - size, size);
}

/* A number below `limit`, of one byte. */
static unsigned take_below(struct reader *reader, unsigned limit, const char *problem)
{
    unsigned value = (unsigned)take(reader, 1);
    if (value < limit)
        return value;
    fail(reader, problem);
    return 0;
}

/* A count of things of at least `smallest` bytes each: never more than the bytes left could hold, so that
 * what is allocated for them is bounded by the file's size. */
static uint32_t take_count(struct reader *reader, size_t smallest)
{
    uint32_t count = (uint32_t)take(reader, 4);
    if (count <= (reader->length - reader->at) / smallest)
        return count;
    fail(reader, "a count is larger than the file");
    return 0;
}

static const char *take_string(struct reader *reader, enum string_form form)
{
    uint32_t index = (uint32_t)take(reader, 4);
    if (reader->problem != NULL)
        return "";
    if (index >= reader->string_count) {
        fail(reader, "a string that is not there");
        return "";
    }
    if (!(reader->forms[index] & form)) {
        if (!string_has_form(reader->strings[index], form))
            fail(reader, "a string that cannot stand where it does");
        reader->forms[index] |= (uint16_t)form;
    }
    return reader->strings[index];
}

/* The element of a table of `count` at an index; INDEX_NONE is NULL where `optional`. */
static const void *take_element(struct reader *reader, const void *table, uint32_t count, size_t size,
                                bool optional)
{
    uint32_t index = (uint32_t)take(reader, 4);
    if (optional && index == INDEX_NONE)
        return NULL;
    if (reader->problem == NULL && index >= count)
        fail(reader, "a list that is not there");
    return reader->problem == NULL ? (const char *)table + index * size : NULL;
}

static void read_strings(struct reader *reader)
{
    uint32_t count = take_count(reader, 4);
    reader->strings = arena_array(reader->arena, count, sizeof *reader->strings);
    reader->forms = arena_array(reader->arena, count, sizeof *reader->forms);
    for (; reader->string_count < count && reader->problem == NULL; reader->string_count++) {
        uint32_t length = take_count(reader, 1);
        const char *bytes = (const char *)reader->bytes + reader->at;
        if (memchr(bytes, '\0', length) != NULL)
            fail(reader, "a string with a NUL byte");
        reader->strings[reader->string_count] = arena_copy(reader->arena, bytes, length);
        reader->at += length;
    }
}

static void read_path(struct reader *reader, struct policy_path *path, unsigned flags)
{
    path->root = take_below(reader, ROOTS, "an unknown root");
    path->pattern = flags & FLAG_PATTERN;
    path->directory = flags & FLAG_DIRECTORY;
    if (path->root == ROOT_DRIVE)
        path->name = take_string(reader, FORM_DRIVE);
    else if (path->root == ROOT_ENV)
        path->name = take_string(reader, FORM_NAME);
    else if (take(reader, 4) != INDEX_NONE)
        fail(reader, "a name beside a root that has none");
    bool fixed = path->root == ROOT_SLASH || path->root == ROOT_DRIVE;
    enum string_form pattern = fixed ? FORM_FIXED_PATTERN : FORM_PATTERN;
    path->rest = take_string(reader, path->pattern ? pattern : FORM_REST);
}

static void read_lists(struct reader *reader)
{
    uint32_t count = take_count(reader, 4);
    reader->lists = arena_array(reader->arena, count, sizeof *reader->lists);
    for (; reader->list_count < count && reader->problem == NULL; reader->list_count++) {
        uint32_t items = take_count(reader, 10);
        struct policy_path *paths = arena_array(reader->arena, items, sizeof *paths);
        for (uint32_t i = 0; i < items && reader->problem == NULL; i++) {
            unsigned flags = (unsigned)take(reader, 1);
            if (flags & ~(unsigned)(FLAG_PATTERN | FLAG_DIRECTORY))
                fail(reader, "an unknown flag");
            read_path(reader, &paths[i], flags);
        }
        reader->lists[reader->list_count] = (struct path_list){paths, items};
    }
}

static void read_sets(struct reader *reader)
{
    uint32_t count = take_count(reader, 4);
    reader->sets = arena_array(reader->arena, count, sizeof *reader->sets);
    for (; reader->set_count < count && reader->problem == NULL; reader->set_count++) {
        uint32_t items = take_count(reader, 4);
        const char **names = arena_array(reader->arena, items, sizeof *names);
        for (uint32_t i = 0; i < items && reader->problem == NULL; i++)
            names[i] = take_string(reader, FORM_COMMAND);
        reader->sets[reader->set_count] = (struct command_set){names, items};
    }
}

static void read_ports(struct reader *reader)
{
    uint32_t count = take_count(reader, 4);
    reader->ports = arena_array(reader->arena, count, sizeof *reader->ports);
    for (; reader->ports_count < count && reader->problem == NULL; reader->ports_count++) {
        uint32_t items = take_count(reader, 4);
        struct port_range *ranges = arena_array(reader->arena, items, sizeof *ranges);
        for (uint32_t i = 0; i < items && reader->problem == NULL; i++) {
            ranges[i].low = (uint16_t)take(reader, 2);
            ranges[i].high = (uint16_t)take(reader, 2);
            /* Merged ranges do not even touch. */
            if (ranges[i].low == 0 || ranges[i].low > ranges[i].high ||
                (i > 0 && ranges[i].low <= ranges[i - 1].high + 1))
                fail(reader, "ports that are not in rising, separate ranges");
        }
        reader->ports[reader->ports_count] = (struct port_list){ranges, items};
    }
}

static void read_head(struct reader *reader)
{
    struct policy *policy = reader->policy;
    policy->name = take_string(reader, FORM_TITLE);
    for (size_t i = 0; i < sizeof policy->requested_hash; i++)
        policy->requested_hash[i] = (uint8_t)take(reader, 1);

    policy->layer_count = take_count(reader, 5);
    struct layer *layers = arena_array(reader->arena, policy->layer_count, sizeof *layers);
    for (uint32_t i = 0; i < policy->layer_count && reader->problem == NULL; i++) {
        layers[i].kind = take_below(reader, LAYER_MANAGED + 1, "an unknown kind of layer");
        layers[i].name = take_string(reader, FORM_TITLE);
        bool other = strcmp(layers[i].name, "policy") == 0 || strcmp(layers[i].name, "itself") == 0;
        if (layers[i].kind == LAYER_MANAGED && other)
            fail(reader, "a managed layer with a name that means other rules");
        if (i > 0 && layers[i].kind != LAYER_MANAGED)
            fail(reader, "a second policy among its layers");
    }
    policy->layers = layers;
    if (policy->layer_count == 0)
        fail(reader, "no layer");

    policy->source_count = take_count(reader, 5);
    struct policy_source *sources = arena_array(reader->arena, policy->source_count, sizeof *sources);
    for (uint32_t i = 0; i < policy->source_count && reader->problem == NULL; i++) {
        sources[i].kind = take_below(reader, SOURCE_PRESET_BUILTIN + 1, "an unknown kind of source");
        sources[i].name = take_string(reader, FORM_FILE);
    }
    policy->sources = sources;
}

static const struct network *read_network(struct reader *reader)
{
    struct network *network = arena_alloc(reader->arena, sizeof *network);
    network->target = take_below(reader, NETWORK_ANY + 1, "an unknown network target");
    network->protocols = (uint8_t)take(reader, 1);
    network->prefix = (uint8_t)take(reader, 1);
    for (size_t i = 0; i < sizeof network->address; i++)
        network->address[i] = (uint8_t)take(reader, 1);
    if (network->target == NETWORK_HOST)
        network->host = take_string(reader, FORM_HOST);
    else if (take(reader, 4) != INDEX_NONE)
        fail(reader, "a host where none belongs");
    const struct port_list *ports =
        take_element(reader, reader->ports, reader->ports_count, sizeof *reader->ports, false);
    if (ports != NULL) {
        network->ports = ports->items;
        network->port_count = ports->count;
    }
    return network;
}

static enum string_form name_form(const struct rule *rule)
{
    if (rule->kind == RULE_GRANT_ENV || rule->kind == RULE_DENY_ENV || rule->kind == RULE_LIMIT_ENV)
        return FORM_VARIABLES;
    if (rule->kind == RULE_SET_ENV)
        return FORM_NAME;
    if (rule->kind == RULE_EXPECT)
        return FORM_ARGUMENT;
    return FORM_WORD;
}

static void read_fields(struct reader *reader, struct rule *rule, unsigned flags)
{
    unsigned fields = record_fields(rule->kind, flags, OPERATION_READ);
    if (fields & FIELD_LEVEL)
        rule->level = take_below(reader, LEVEL_WRITE + 1, "an unknown level");
    if (fields & FIELD_OPERATION) {
        rule->operation = take_below(reader, OPERATIONS, "an unknown operation");
        fields = record_fields(rule->kind, flags, rule->operation);
    }
    if (fields & FIELD_PATH)
        read_path(reader, &rule->path, flags);
    if (fields & FIELD_EXCEPT)
        rule->except = take_element(reader, reader->lists, reader->list_count, sizeof *reader->lists, true);
    if (fields & FIELD_NETWORK)
        rule->network = read_network(reader);
    if (fields & FIELD_NAME)
        rule->name = take_string(reader, name_form(rule));
    if (fields & FIELD_VALUE)
        rule->value = take_string(reader, FORM_TEXT);
    if (fields & FIELD_TARGET)
        rule->target = take_string(reader, FORM_WORD);
    if (fields & FIELD_AMOUNT)
        rule->amount = take(reader, 8);
}

static void read_rule(struct reader *reader, struct rule *rule)
{
    const struct policy *policy = reader->policy;
    rule->layer = (uint32_t)take(reader, 4);
    if (rule->layer >= policy->layer_count)
        fail(reader, "a rule of a layer that is not there");
    rule->kind = take_below(reader, RULE_KINDS, "an unknown kind of rule");
    rule->systems = (uint8_t)take_below(reader, SYSTEM_ALL + 1, "an unknown operating system");
    unsigned flags = take_below(reader, FLAGS + 1, "an unknown flag");
    rule->automatic = flags & FLAG_AUTOMATIC;
    rule->nothing = flags & FLAG_NOTHING;
    rule->allow = flags & FLAG_ALLOW;
    rule->commands = take_element(reader, reader->sets, reader->set_count, sizeof *reader->sets, true);
    read_fields(reader, rule, flags);
    if (flags & FLAG_EXCEPT && (rule->kind != RULE_DENY_SOCKET || rule->except == NULL))
        fail(reader, "exceptions where there are none");
    rule->origin.source = (uint32_t)take(reader, 4);
    rule->origin.line = (uint32_t)take(reader, 4);
    rule->origin.column = (uint32_t)take(reader, 4);
    if (rule->origin.source != INDEX_NONE && rule->origin.source >= policy->source_count)
        fail(reader, "a rule from a source that is not there");
    if (reader->problem == NULL)
        reader->problem = rule_problem(rule, policy->layers[rule->layer].kind);
}

static void read_rules(struct reader *reader)
{
    enum { SMALLEST_RECORD = 4 + 1 + 1 + 1 + 4 + 12 };
    uint32_t count = take_count(reader, SMALLEST_RECORD);
    struct rule *rules = arena_array(reader->arena, count, sizeof *rules);
    for (uint32_t i = 0; i < count && reader->problem == NULL; i++)
        read_rule(reader, &rules[i]);
    reader->policy->rules = rules;
    reader->policy->rule_count = count;
    if (reader->problem == NULL && reader->at != reader->length)
        fail(reader, "it goes on after its last rule");
}

bool policy_is_compiled(const void *bytes, size_t length)
{
    return length >= FILE_MAGIC_SIZE && memcmp(bytes, FILE_MAGIC, FILE_MAGIC_SIZE) == 0;
}

/* What the head alone says: NULL if the body may be read. */
static const char *head_problem(struct arena *arena, const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return "it is empty";
    size_t magic = length < FILE_MAGIC_SIZE ? length : FILE_MAGIC_SIZE;
    if (memcmp(bytes, FILE_MAGIC, magic) != 0)
        return "it is not a .bin policy (it does not begin like one)";
    if (length < FILE_HEAD_SIZE + FILE_HASH_SIZE)
        return "it is truncated";
    uint64_t version = bytes_get(bytes + FILE_MAGIC_SIZE, 4);
    uint64_t whole = bytes_get(bytes + FILE_MAGIC_SIZE + 4, 8);
    if (version > FILE_VERSION)
        return arena_format(arena, "it needs a newer sbx: file version %" PRIu64 ", this build reads %d",
                            version, FILE_VERSION);
    if (version == 0)
        return "it is damaged: there is no file version 0";
    if (whole > length)
        return arena_format(arena, "it is truncated: %zu bytes of %" PRIu64, length, whole);
    if (whole < length)
        return arena_format(arena, "it is damaged: bytes follow after its end, at %" PRIu64, whole);

    unsigned char hash[FILE_HASH_SIZE];
    sha256(hash, bytes, length - FILE_HASH_SIZE);
    if (memcmp(hash, bytes + length - FILE_HASH_SIZE, FILE_HASH_SIZE) != 0)
        return "it is damaged: its SHA-256 does not fit its content";
    return NULL;
}

struct policy *policy_read(struct arena *arena, const void *bytes, size_t length, const char **error)
{
    const char *problem = head_problem(arena, bytes, length);
    if (problem != NULL) {
        *error = problem;
        return NULL;
    }
    struct reader reader = {.arena = arena,
                            .bytes = bytes,
                            .length = length - FILE_HASH_SIZE,
                            .at = FILE_HEAD_SIZE,
                            .policy = arena_alloc(arena, sizeof *reader.policy)};
    reader.policy->arena = arena;
    read_strings(&reader);
    read_lists(&reader);
    read_sets(&reader);
    read_ports(&reader);
    read_head(&reader);
    read_rules(&reader);
    if (reader.problem != NULL) {
        *error = arena_format(arena, "it is damaged at byte %zu: %s", reader.at, reader.problem);
        return NULL;
    }

    /* Order, repeated and unused entries: whatever differs from what would be written is not what sbxc
     * wrote. */
    struct buffer again = buffer_in(arena);
    policy_write(&again, reader.policy);
    if (again.length != length || memcmp(again.bytes, bytes, length) != 0) {
        *error = "it is damaged: its records are not in canonical form";
        return NULL;
    }
    policy_hash(reader.policy);
    return reader.policy;
}
