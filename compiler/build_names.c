#include "compiler/build.h"

#include "base/escape.h"

#include <string.h>
#include <strings.h>

static uint32_t name_slot(const struct name_table *table, const char *name, size_t length)
{
    uint32_t mask = table->capacity - 1, at = (uint32_t)hash_bytes(name, length) & mask;
    for (; table->slots[at] != NULL; at = (at + 1) & mask) {
        const char *known = table->slots[at]->name;
        if (strncmp(known, name, length) == 0 && known[length] == '\0')
            break;
    }
    return at;
}

const struct definition *name_find(const struct name_table *table, const char *name, size_t length)
{
    return table->capacity == 0 ? NULL : table->slots[name_slot(table, name, length)];
}

static uint32_t slot_of(const struct name_table *table, const struct definition *definition)
{
    return name_slot(table, definition->name, strlen(definition->name));
}

static void name_grow(struct arena *arena, struct name_table *table)
{
    struct name_table larger = {.count = table->count};
    larger.capacity = table->capacity == 0 ? 16 : table->capacity * 2;
    larger.slots = arena_array(arena, larger.capacity, sizeof *larger.slots);
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i] != NULL)
            larger.slots[slot_of(&larger, table->slots[i])] = table->slots[i];
    *table = larger;
}

void name_add(struct arena *arena, struct name_table *table, const struct definition *definition)
{
    if (table->count * 2 >= table->capacity)
        name_grow(arena, table);
    table->slots[slot_of(table, definition)] = definition;
    table->count++;
}

enum root root_named(const char *name, size_t length)
{
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        if (strlen(root_names[root]) == length && memcmp(root_names[root], name, length) == 0)
            return root;
    return ROOTS;
}

/* What shells and programs call the same thing. */
static const struct {
    const char *written, *meant;
} foreign_names[] = {
    {"PWD", "WORK"},
    {"CWD", "WORK"},
    {"WORKDIR", "WORK"},
    {"WORKSPACE", "WORK"},
    {"TMPDIR", "TMP"},
    {"TEMP", "TMP"},
    {"XDG_CONFIG_HOME", "CONFIG"},
    {"XDG_CACHE_HOME", "CACHE"},
    {"XDG_DATA_HOME", "DATA"},
    {"GIT_DIR", "GITDIR"},
    {"PATH", "env.PATH"},
    {"PYTHONPATH", "env.PYTHONPATH"},
    {"GOPATH", "env.GOPATH"},
    {"NODE_PATH", "env.NODE_PATH"},
    {"LD_LIBRARY_PATH", "env.LD_LIBRARY_PATH"},
};

const char *name_nearest(struct arena *arena, const struct name_table *table, const char *word)
{
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (strcasecmp(foreign_names[i].written, word) == 0)
            return foreign_names[i].meant;
    const char **names = arena_array(arena, (size_t)table->count + ROOTS + 1, sizeof *names);
    uint32_t count = 0;
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        names[count++] = root_names[root];
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->slots[i] != NULL)
            names[count++] = table->slots[i]->name;
    return nearest_word(word, names);
}

static bool let_name_free(struct builder *builder, const struct word *name)
{
    const char *shown = escape_text(builder->arena, name->bytes, name->length);
    if (root_named(name->bytes, name->length) != ROOTS || strcmp(name->bytes, "env") == 0) {
        build_error(builder, SBX116_NAME_RESERVED, name->span,
                    arena_format(builder->arena, "$%s already means something: it is a root", shown),
                    "choose another name");
        return false;
    }
    const struct definition *other = name_find(&builder->here->names, name->bytes, name->length);
    if (other != NULL) {
        diagnostic_add(builder->diagnostics,
                       (struct diagnostic){
                           .code = SBX115_NAME_TAKEN,
                           .at = name->span,
                           .more = {{other->at, "first defined here"}},
                           .text = arena_format(builder->arena, "$%s is defined twice", shown),
                           .help = "choose another name: a name keeps its meaning for the whole file",
                       });
        return false;
    }
    return true;
}

void build_let(struct builder *builder, const struct statement *statement)
{
    const struct word *name = &statement->parts->subject;
    if (builder->when_os != NULL || builder->when_command != NULL) {
        build_error(builder, SBX114_LET_UNDER_WHEN, statement->keyword, "`let` cannot stand under `when`",
                    "move it in front of the block; paths of another system are left out by themselves");
        return;
    }
    if (!let_name_free(builder, name))
        return;
    struct path_vector paths = {0};
    for (uint32_t i = 0; i < statement->words.count; i++)
        build_path(builder, &statement->words.items[i], PATH_DENY, &paths);
    struct definition *definition = arena_alloc(builder->arena, sizeof *definition);
    *definition = (struct definition){name->bytes, paths.items, paths.count, name->span};
    name_add(builder->arena, &builder->here->names, definition);
}
