#include "policy/canonical.h"

#include "base/intern.h"
#include "base/sort.h"
#include "base/vector.h"
#include "policy/bytes.h"

#include <stdlib.h>
#include <string.h>

struct string {
    const char *bytes;
    uint32_t index; /* in the table, once settled */
};

/* Something of variable length that rules share: its identity in memory, and where its canonical bytes
 * are. */
struct shared {
    const void *items;
    uint32_t count;
    uint32_t kept;  /* items left once duplicates are gone */
    uint32_t index; /* in the table */
    size_t offset;  /* of the bytes in table.bytes */
};

struct table {
    struct shared *items; /* sorted by identity once gathered */
    uint32_t count, capacity;
    struct buffer bytes;
    size_t item_size;
    const struct shared **sorted; /* by bytes, each content once */
    uint32_t sorted_count;
};

enum table_name { TABLE_PATHS, TABLE_COMMANDS, TABLE_PORTS, TABLES };

enum { SMALLEST_TABLE = 64 };

enum { PATH_SIZE = 10, COMMAND_SIZE = 4, PORTS_SIZE = 4 };

/* A grant or deny of a path, by far the most common rule. */
enum { ORIGIN_SIZE = 12, RECORD_USUAL = 4 + 1 + 1 + 1 + 4 + 1 + 9 + 4 + ORIGIN_SIZE };

struct canonical {
    struct arena *arena;
    const struct policy *policy;
    uint32_t layer;
    struct {
        struct string *items; /* in the order in which they came */
        uint32_t count, capacity;
    } strings;       /* each address once */
    uint32_t *slots; /* by address: string + 1; 0 is free; at most half full */
    uint32_t slot_mask;
    uint32_t *next; /* the string behind the one that was asked for last: most are asked for as they came */
    struct arena *sorting;
    const struct sort_item *sorted; /* all strings by their bytes, in `sorting` */
    uint32_t string_count;          /* each content once */
    size_t string_bytes;
    struct table tables[TABLES];
    uint32_t *source_index; /* of each policy source in the sorted list */
    const struct policy_source **sources;
    uint32_t source_count;
};

unsigned record_fields(enum rule_kind kind, unsigned flags, enum operation operation)
{
    static const unsigned by_kind[RULE_KINDS] = {
        [RULE_GRANT] = FIELD_LEVEL | FIELD_PATH,
        [RULE_DENY] = FIELD_LEVEL | FIELD_PATH | FIELD_EXCEPT,
        [RULE_DENY_EXEC] = FIELD_PATH | FIELD_EXCEPT,
        [RULE_GRANT_SOCKET] = FIELD_PATH,
        [RULE_DENY_SOCKET] = FIELD_PATH,
        [RULE_GRANT_NETWORK] = FIELD_NETWORK,
        [RULE_DENY_NETWORK] = FIELD_NETWORK,
        [RULE_GRANT_LISTEN] = FIELD_NETWORK,
        [RULE_DENY_LISTEN] = FIELD_NETWORK,
        [RULE_GRANT_ENV] = FIELD_NAME,
        [RULE_DENY_ENV] = FIELD_NAME,
        [RULE_SET_ENV] = FIELD_NAME | FIELD_VALUE,
        [RULE_GRANT_SERVICE] = FIELD_NAME,
        [RULE_DENY_SERVICE] = FIELD_NAME,
        [RULE_GRANT_SYSCALL] = FIELD_NAME,
        [RULE_DENY_SYSCALL] = FIELD_NAME,
        [RULE_LIMIT_READ] = FIELD_PATH,
        [RULE_LIMIT_WRITE] = FIELD_PATH,
        [RULE_LIMIT_SOCKET] = FIELD_PATH,
        [RULE_LIMIT_NETWORK] = FIELD_NETWORK,
        [RULE_LIMIT_ENV] = FIELD_NAME,
        [RULE_LIMIT_SERVICE] = FIELD_NAME,
        [RULE_LIMIT_PROCESSES] = FIELD_AMOUNT,
        [RULE_LIMIT_FILES] = FIELD_AMOUNT,
        [RULE_LIMIT_MEMORY] = FIELD_AMOUNT,
        [RULE_LIMIT_TIME] = FIELD_AMOUNT,
        [RULE_ACCEPT] = FIELD_NAME | FIELD_VALUE,
        [RULE_EXPECT] = FIELD_OPERATION,
    };
    static const unsigned by_operation[OPERATIONS] = {
        [OPERATION_READ] = FIELD_PATH,    [OPERATION_WRITE] = FIELD_PATH,   [OPERATION_EXEC] = FIELD_PATH,
        [OPERATION_CONNECT] = FIELD_NAME, [OPERATION_LISTEN] = FIELD_NAME,  [OPERATION_SOCKET] = FIELD_PATH,
        [OPERATION_ENV] = FIELD_NAME,     [OPERATION_SERVICE] = FIELD_NAME,
    };
    if (flags & FLAG_NOTHING)
        return 0;
    unsigned fields = by_kind[kind];
    if (kind == RULE_EXPECT)
        fields |= by_operation[operation] | (flags & FLAG_NETWORK ? FIELD_NETWORK : 0);
    if (kind == RULE_ACCEPT && flags & FLAG_TARGET)
        fields |= FIELD_TARGET;
    if (kind == RULE_DENY_SOCKET && flags & FLAG_EXCEPT)
        fields |= FIELD_EXCEPT;
    return fields;
}

static unsigned rule_flags(const struct rule *rule)
{
    bool connects = rule->operation == OPERATION_CONNECT || rule->operation == OPERATION_LISTEN;
    unsigned flags = 0;
    if (rule->automatic)
        flags |= FLAG_AUTOMATIC;
    if (rule->nothing)
        flags |= FLAG_NOTHING;
    if (rule->allow)
        flags |= FLAG_ALLOW;
    if (rule->kind == RULE_EXPECT && connects && rule->network != NULL)
        flags |= FLAG_NETWORK;
    if (rule->kind == RULE_ACCEPT && rule->target != NULL)
        flags |= FLAG_TARGET;
    if (rule->kind == RULE_DENY_SOCKET && rule->except != NULL && rule->except->count > 0)
        flags |= FLAG_EXCEPT;
    if (record_fields(rule->kind, flags, rule->operation) & FIELD_PATH) {
        if (rule->path.pattern)
            flags |= FLAG_PATTERN;
        if (rule->path.directory)
            flags |= FLAG_DIRECTORY;
    }
    return flags;
}

static unsigned fields_of(const struct rule *rule)
{
    return record_fields(rule->kind, rule_flags(rule), rule->operation);
}

static bool rule_counts(const struct canonical *canonical, const struct rule *rule)
{
    return (canonical->layer == ALL_LAYERS || rule->layer == canonical->layer) &&
           (rule->systems & SYSTEM_ALL) != 0 && (rule->commands == NULL || rule->commands->count > 0);
}

/* Strings */

/* The slot of an address, or the free one where it belongs. */
static uint32_t *string_slot(const struct canonical *canonical, const char *string)
{
    uint32_t at = (uint32_t)hash_bytes((const char *)&string, sizeof string);
    for (;; at++) {
        uint32_t *slot = &canonical->slots[at & canonical->slot_mask];
        if (*slot == 0 || canonical->strings.items[*slot - 1].bytes == string)
            return slot;
    }
}

static void slots_create(struct canonical *canonical, uint32_t size)
{
    canonical->slots = arena_array(canonical->arena, size, sizeof *canonical->slots);
    canonical->slot_mask = size - 1;
    for (uint32_t i = 0; i < canonical->strings.count; i++)
        *string_slot(canonical, canonical->strings.items[i].bytes) = i + 1;
}

static void gather_string(struct canonical *canonical, const char *string)
{
    if (string == NULL)
        return;
    if (canonical->strings.count > canonical->slot_mask / 2)
        slots_create(canonical, 2 * (canonical->slot_mask + 1));
    uint32_t *slot = string_slot(canonical, string);
    if (*slot != 0)
        return;
    VECTOR_PUSH(canonical->arena, &canonical->strings, (struct string){.bytes = string});
    *slot = canonical->strings.count;
}

static bool same_bytes(const struct sort_item *a, const struct sort_item *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Sorts what was gathered by its bytes and numbers each content. */
static void strings_settle(struct canonical *canonical)
{
    struct string *items = canonical->strings.items;
    uint32_t count = canonical->strings.count;
    canonical->sorting = arena_child(canonical->arena);
    struct sort_item *sorted = arena_array(canonical->sorting, count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct sort_item){
            .bytes = items[i].bytes, .length = (uint32_t)strlen(items[i].bytes), .number = i};
    sort_bytes(canonical->sorting, sorted, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || !same_bytes(&sorted[i - 1], &sorted[i])) {
            canonical->string_count++;
            canonical->string_bytes += sorted[i].length;
        }
        items[sorted[i].number].index = canonical->string_count - 1;
    }
    canonical->sorted = sorted;
}

uint32_t canonical_string(const struct canonical *canonical, const char *string)
{
    uint32_t *next = canonical->next;
    if (string == NULL)
        return INDEX_NONE;
    if (*next >= canonical->strings.count || canonical->strings.items[*next].bytes != string)
        *next = *string_slot(canonical, string) - 1;
    return canonical->strings.items[(*next)++].index;
}

/* Tables of what rules share */

static void table_add(struct canonical *canonical, enum table_name name, const void *items, uint32_t count)
{
    struct table *table = &canonical->tables[name];
    /* The rules of a statement follow each other and share what they have in common. */
    if (table->count > 0 && table->items[table->count - 1].items == items &&
        table->items[table->count - 1].count == count)
        return;
    VECTOR_PUSH(canonical->arena, table, (struct shared){.items = items, .count = count});
}

static int compare_identity(const void *left, const void *right)
{
    const struct shared *a = left, *b = right;
    uintptr_t a_items = (uintptr_t)a->items, b_items = (uintptr_t)b->items;
    if (a_items != b_items)
        return a_items < b_items ? -1 : 1;
    return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

static void table_identify(struct table *table)
{
    uint32_t kept = 0;
    if (table->count > 0)
        qsort(table->items, table->count, sizeof *table->items, compare_identity);
    for (uint32_t i = 0; i < table->count; i++)
        if (kept == 0 || compare_identity(&table->items[kept - 1], &table->items[i]) != 0)
            table->items[kept++] = table->items[i];
    table->count = kept;
}

static uint32_t table_index(const struct table *table, const void *items, uint32_t count)
{
    struct shared wanted = {.items = items, .count = count};
    const struct shared *found =
        bsearch(&wanted, table->items, table->count, sizeof *table->items, compare_identity);
    return found->index;
}

static void put_path(struct buffer *out, const struct canonical *canonical, const struct policy_path *path)
{
    bytes_put(out, path->root, 1);
    bytes_put(out, canonical_string(canonical, path->name), 4);
    bytes_put(out, canonical_string(canonical, path->rest), 4);
}

static void put_item(struct canonical *canonical, enum table_name name, const struct shared *shared,
                     uint32_t i)
{
    struct buffer *out = &canonical->tables[name].bytes;
    if (name == TABLE_COMMANDS) {
        const char *const *commands = shared->items;
        bytes_put(out, canonical_string(canonical, commands[i]), 4);
    } else if (name == TABLE_PORTS) {
        const struct port_range *ports = shared->items;
        bytes_put(out, ports[i].low, 2);
        bytes_put(out, ports[i].high, 2);
    } else {
        const struct policy_path *path = (const struct policy_path *)shared->items + i;
        bytes_put(out, (path->pattern ? FLAG_PATTERN : 0u) | (path->directory ? FLAG_DIRECTORY : 0u), 1);
        put_path(out, canonical, path);
    }
}

static int compare_path_items(const void *a, const void *b)
{
    return memcmp(a, b, PATH_SIZE);
}

static int compare_small_items(const void *a, const void *b)
{
    return memcmp(a, b, COMMAND_SIZE);
}

/* Sorts `count` items at `items` and drops repeated ones. Returns how many are left. */
static uint32_t items_sort(char *items, uint32_t count, size_t size)
{
    qsort(items, count, size, size == PATH_SIZE ? compare_path_items : compare_small_items);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || memcmp(items + (kept - 1) * size, items + i * size, size) != 0)
            memmove(items + size * kept++, items + i * size, size);
    return kept;
}

/* A table's bytes with what is needed to compare two entries, for qsort. */
struct entry {
    const char *bytes;
    size_t length;
    struct shared *shared;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

static void table_encode(struct canonical *canonical, enum table_name name)
{
    static const size_t sizes[TABLES] = {PATH_SIZE, COMMAND_SIZE, PORTS_SIZE};
    struct table *table = &canonical->tables[name];
    table->item_size = sizes[name];
    table->bytes = buffer_in(canonical->arena);
    buffer_string(&table->bytes, "");
    for (uint32_t i = 0; i < table->count; i++) {
        struct shared *shared = &table->items[i];
        shared->offset = table->bytes.length;
        for (uint32_t item = 0; item < shared->count; item++)
            put_item(canonical, name, shared, item);
        if (shared->count > 0)
            shared->kept = items_sort(table->bytes.bytes + shared->offset, shared->count, table->item_size);
        table->bytes.length = shared->offset + shared->kept * table->item_size;
    }
    if (table->count == 0)
        return;

    struct entry *entries = arena_array(canonical->arena, table->count, sizeof *entries);
    for (uint32_t i = 0; i < table->count; i++) {
        struct shared *shared = &table->items[i];
        entries[i] =
            (struct entry){table->bytes.bytes + shared->offset, shared->kept * table->item_size, shared};
    }
    qsort(entries, table->count, sizeof *entries, compare_entries);
    table->sorted = arena_array(canonical->arena, table->count, sizeof *table->sorted);
    for (uint32_t i = 0; i < table->count; i++) {
        if (i == 0 || compare_entries(&entries[i - 1], &entries[i]) != 0)
            table->sorted[table->sorted_count++] = entries[i].shared;
        entries[i].shared->index = table->sorted_count - 1;
    }
}

/* Sources */

static int compare_sources(const void *left, const void *right)
{
    const struct policy_source *a = *(const struct policy_source *const *)left;
    const struct policy_source *b = *(const struct policy_source *const *)right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sources_gather(struct canonical *canonical)
{
    const struct policy *policy = canonical->policy;
    uint32_t count = policy->source_count;
    if (count == 0)
        return;
    const struct policy_source **sorted = arena_array(canonical->arena, count, sizeof(void *));
    canonical->source_index = arena_array(canonical->arena, count, sizeof *canonical->source_index);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = &policy->sources[i];
        gather_string(canonical, policy->sources[i].name);
    }
    qsort(sorted, count, sizeof *sorted, compare_sources);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t source = (size_t)(sorted[i] - policy->sources);
        if (kept == 0 || compare_sources(&sorted[kept - 1], &sorted[i]) != 0)
            sorted[kept++] = sorted[i];
        canonical->source_index[source] = kept - 1;
    }
    canonical->sources = sorted;
    canonical->source_count = kept;
}

/* Gathering */

static void gather_shared(struct canonical *canonical, const struct rule *rule)
{
    unsigned fields = fields_of(rule);
    if (rule->commands != NULL)
        table_add(canonical, TABLE_COMMANDS, rule->commands->names, rule->commands->count);
    if (fields & FIELD_EXCEPT && rule->except != NULL && rule->except->count > 0)
        table_add(canonical, TABLE_PATHS, rule->except->items, rule->except->count);
    if (fields & FIELD_NETWORK)
        table_add(canonical, TABLE_PORTS, rule->network->ports, rule->network->port_count);
}

static void gather_rule_strings(struct canonical *canonical, const struct rule *rule)
{
    unsigned fields = fields_of(rule);
    if (fields & FIELD_PATH) {
        gather_string(canonical, rule->path.name);
        gather_string(canonical, rule->path.rest);
    }
    if (fields & FIELD_NETWORK)
        gather_string(canonical, rule->network->host);
    if (fields & FIELD_NAME)
        gather_string(canonical, rule->name);
    if (fields & FIELD_VALUE)
        gather_string(canonical, rule->value);
    if (fields & FIELD_TARGET)
        gather_string(canonical, rule->target);
}

static void gather_table_strings(struct canonical *canonical)
{
    const struct table *lists = &canonical->tables[TABLE_PATHS];
    for (uint32_t i = 0; i < lists->count; i++) {
        const struct policy_path *paths = lists->items[i].items;
        for (uint32_t item = 0; item < lists->items[i].count; item++) {
            gather_string(canonical, paths[item].name);
            gather_string(canonical, paths[item].rest);
        }
    }
    const struct table *sets = &canonical->tables[TABLE_COMMANDS];
    for (uint32_t i = 0; i < sets->count; i++) {
        const char *const *commands = sets->items[i].items;
        for (uint32_t item = 0; item < sets->items[i].count; item++)
            gather_string(canonical, commands[item]);
    }
}

struct canonical *canonical_gather(struct arena *arena, const struct policy *policy, uint32_t layer)
{
    struct canonical *canonical = arena_alloc(arena, sizeof *canonical);
    canonical->arena = arena;
    canonical->policy = policy;
    canonical->layer = layer;
    uint32_t slots = SMALLEST_TABLE;
    while (slots / 2 <= policy->rule_count && slots < UINT32_MAX / 4)
        slots *= 2;
    slots_create(canonical, slots);
    canonical->next = arena_alloc(arena, sizeof *canonical->next);
    VECTOR_RESERVE(arena, &canonical->strings, policy->rule_count);
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        if (!rule_counts(canonical, &policy->rules[i]))
            continue;
        gather_shared(canonical, &policy->rules[i]);
        gather_rule_strings(canonical, &policy->rules[i]);
    }
    for (enum table_name name = 0; name < TABLES; name++)
        table_identify(&canonical->tables[name]);
    gather_table_strings(canonical);
    if (layer == ALL_LAYERS) {
        gather_string(canonical, policy->name);
        for (uint32_t i = 0; i < policy->layer_count; i++)
            gather_string(canonical, policy->layers[i].name);
        sources_gather(canonical);
    }
    strings_settle(canonical);
    for (enum table_name name = 0; name < TABLES; name++)
        table_encode(canonical, name);
    return canonical;
}

size_t canonical_size(const struct canonical *canonical)
{
    return (size_t)canonical->policy->rule_count * RECORD_USUAL + (size_t)canonical->string_count * 4 +
           canonical->string_bytes;
}

/* Writing */

void canonical_tables(struct buffer *out, struct canonical *canonical)
{
    bytes_put(out, canonical->string_count, 4);
    for (uint32_t i = 0; i < canonical->strings.count; i++) {
        const struct sort_item *string = &canonical->sorted[i];
        if (i > 0 && same_bytes(string, string - 1))
            continue;
        bytes_put(out, string->length, 4);
        buffer_bytes(out, string->bytes, string->length);
    }
    arena_destroy(canonical->sorting);
    canonical->sorted = NULL;
    for (enum table_name name = 0; name < TABLES; name++) {
        const struct table *table = &canonical->tables[name];
        bytes_put(out, table->sorted_count, 4);
        for (uint32_t i = 0; i < table->sorted_count; i++) {
            const struct shared *shared = table->sorted[i];
            bytes_put(out, shared->kept, 4);
            buffer_bytes(out, table->bytes.bytes + shared->offset, shared->kept * table->item_size);
        }
    }
}

void canonical_sources(struct buffer *out, const struct canonical *canonical)
{
    bytes_put(out, canonical->source_count, 4);
    for (uint32_t i = 0; i < canonical->source_count; i++) {
        bytes_put(out, canonical->sources[i]->kind, 1);
        bytes_put(out, canonical_string(canonical, canonical->sources[i]->name), 4);
    }
}

static void put_network(struct buffer *out, const struct canonical *canonical, const struct network *network)
{
    bytes_put(out, network->target, 1);
    bytes_put(out, network->protocols, 1);
    bytes_put(out, network->prefix, 1);
    buffer_bytes(out, network->address, sizeof network->address);
    bytes_put(out, canonical_string(canonical, network->host), 4);
    bytes_put(out, table_index(&canonical->tables[TABLE_PORTS], network->ports, network->port_count), 4);
}

static void put_content(struct buffer *out, const struct canonical *canonical, const struct rule *rule)
{
    unsigned fields = fields_of(rule);
    const struct path_list *except = rule->except;
    const struct command_set *commands = rule->commands;
    const struct table *tables = canonical->tables;
    bytes_put(out, canonical->layer == ALL_LAYERS ? rule->layer : 0, 4);
    bytes_put(out, rule->kind, 1);
    bytes_put(out, rule->systems & (unsigned)SYSTEM_ALL, 1);
    bytes_put(out, rule_flags(rule), 1);
    bytes_put(out,
              commands == NULL ? INDEX_NONE
                               : table_index(&tables[TABLE_COMMANDS], commands->names, commands->count),
              4);
    if (fields & FIELD_LEVEL)
        bytes_put(out, rule->level, 1);
    if (fields & FIELD_OPERATION)
        bytes_put(out, rule->operation, 1);
    if (fields & FIELD_PATH)
        put_path(out, canonical, &rule->path);
    if (fields & FIELD_EXCEPT)
        bytes_put(out,
                  except == NULL || except->count == 0
                      ? INDEX_NONE
                      : table_index(&tables[TABLE_PATHS], except->items, except->count),
                  4);
    if (fields & FIELD_NETWORK)
        put_network(out, canonical, rule->network);
    if (fields & FIELD_NAME)
        bytes_put(out, canonical_string(canonical, rule->name), 4);
    if (fields & FIELD_VALUE)
        bytes_put(out, canonical_string(canonical, rule->value), 4);
    if (fields & FIELD_TARGET)
        bytes_put(out, canonical_string(canonical, rule->target), 4);
    if (fields & FIELD_AMOUNT)
        bytes_put(out, rule->amount, 8);
}

static void put_origin(struct buffer *out, const struct canonical *canonical, const struct origin *origin)
{
    bool known = origin->source < canonical->policy->source_count;
    bytes_put(out, known ? canonical->source_index[origin->source] : INDEX_NONE, 4);
    bytes_put(out, origin->line, 4);
    bytes_put(out, origin->column, 4);
}

void canonical_rules(struct buffer *out, const struct canonical *canonical)
{
    const struct policy *policy = canonical->policy;
    uint32_t origin = canonical->layer == ALL_LAYERS ? ORIGIN_SIZE : 0, count = 0, kept = 0;
    struct sort_item *records = arena_array(canonical->arena, policy->rule_count, sizeof *records);
    struct buffer bytes = buffer_in(canonical->arena);
    buffer_reserve(&bytes, (size_t)policy->rule_count * RECORD_USUAL);
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!rule_counts(canonical, rule))
            continue;
        size_t start = bytes.length;
        put_content(&bytes, canonical, rule);
        if (origin > 0)
            put_origin(&bytes, canonical, &rule->origin);
        records[count++].length = (uint32_t)(bytes.length - start);
    }
    const char *at = bytes.bytes;
    for (uint32_t i = 0; i < count; i++) {
        records[i].bytes = at;
        at += records[i].length;
    }
    /* No record is the beginning of another with other content, so the first differing byte decides. */
    sort_bytes(canonical->arena, records, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct sort_item *last = kept > 0 ? &records[kept - 1] : NULL;
        if (last == NULL || last->length != records[i].length ||
            memcmp(last->bytes, records[i].bytes, last->length - origin) != 0)
            records[kept++] = records[i];
    }
    bytes_put(out, kept, 4);
    for (uint32_t i = 0; i < kept; i++)
        buffer_bytes(out, records[i].bytes, records[i].length);
}
