#include "compiler/load.h"

#include "base/escape.h"
#include "base/sha256_parts.h"
#include "base/vector.h"
#include "compiler/load_parse.h"
#include "policy/file.h"
#include "policy/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void unit_load(struct load *load, struct unit *unit, const char *name, const char *text,
                      uint32_t length, uint32_t depth);

static void complain(struct load *load, enum code code, const struct word *word, const char *text,
                     const char *help)
{
    diagnostic_add(load->diagnostics,
                   (struct diagnostic){.code = code, .at = word->span, .text = text, .help = help});
}

static struct unit *unit_add(struct load *load)
{
    struct unit *unit = arena_alloc(load->arena, sizeof *unit);
    struct {
        struct unit **items;
        uint32_t count, capacity;
    } units = {load->units, load->unit_count, load->unit_capacity};
    unit->index = units.count;
    VECTOR_PUSH(load->arena, &units, unit);
    load->units = units.items;
    load->unit_count = units.count;
    load->unit_capacity = units.capacity;
    return unit;
}

static void use_add(struct load *load, struct unit *unit, struct unit_use use)
{
    struct {
        struct unit_use *items;
        uint32_t count, capacity;
    } uses = {unit->uses, unit->use_count, unit->use_capacity};
    VECTOR_PUSH(load->arena, &uses, use);
    unit->uses = uses.items;
    unit->use_count = uses.count;
    unit->use_capacity = uses.capacity;
}

/* `name` as seen from the file `from`: both relative to the same directory. */
static const char *beside(struct arena *arena, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int directory = slash == NULL ? 0 : (int)(slash - from) + 1;
    return arena_format(arena, "%.*s%s", directory, from, name);
}

const struct builtin_preset *preset_named(const char *name)
{
    for (const struct builtin_preset *preset = builtin_presets; preset->name != NULL; preset++)
        if (strcmp(preset->name, name) == 0)
            return preset;
    return NULL;
}

static const char *nearest_preset(struct arena *arena, const char *name)
{
    uint32_t count = 0;
    while (builtin_presets[count].name != NULL)
        count++;
    const char **names = arena_array(arena, (size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        names[i] = builtin_presets[i].name;
    if (strchr(name, '/') == NULL)
        name = arena_format(arena, "std/%s", name);
    return nearest_word(name, names);
}

static struct unit *load_preset(struct load *load, const struct word *word, uint32_t depth)
{
    const struct builtin_preset *preset = preset_named(word->bytes);
    if (preset == NULL) {
        const char *nearest = nearest_preset(load->arena, word->bytes);
        complain(load, SBX118_UNKNOWN_PRESET, word,
                 arena_format(load->arena, "there is no built-in preset %s",
                              escape_string(load->arena, word->bytes)),
                 nearest != NULL ? arena_format(load->arena, "write %s", nearest)
                                 : "a file of your own is used by its quoted name: use \"base.sbx\"");
        return NULL;
    }
    for (uint32_t i = 0; i < load->unit_count; i++)
        if (load->units[i]->preset == preset)
            return load->units[i];
    struct unit *unit = unit_add(load);
    unit->preset = preset;
    unit->record = arena_strdup(load->arena, preset->name);
    unit_load(load, unit, preset->name, preset->text, preset->length, depth);
    return unit;
}

enum { LOOKED_AT = 4096, CONTROLS_MOST = 8 };

/* What a file is that cannot be meant as a policy's text; NULL if it can. A few wrong bytes are reported
 * where they stand instead. */
static const char *other_content(const char *bytes, size_t length)
{
    size_t looked_at = length < LOOKED_AT ? length : LOOKED_AT, controls = 0;
    if (policy_is_compiled(bytes, length))
        return "is a compiled policy: name the .sbx file that it was made from";
    for (size_t i = 0; i < looked_at; i++) {
        bool blank = bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r';
        controls += (unsigned char)bytes[i] < 0x20 && !blank;
    }
    return controls > CONTROLS_MOST && controls > looked_at / 32
               ? "is a binary file, not the text of a policy"
               : NULL;
}

/* file_read, but only what can be text. */
static const char *read_text(struct load *load, const char *path, size_t *length, const char **error)
{
    const char *text = file_read(load->arena, path, LOAD_FILE_LIMIT, length, error);
    const char *other = text != NULL ? other_content(text, *length) : NULL;
    if (other != NULL)
        *error = arena_format(load->arena, "%s %s", escape_string(load->arena, path), other);
    return other == NULL ? text : NULL;
}

/* What a managed file uses must be as hard to change as the managed file itself. */
static const char *owner_problem(const struct load *load, const char *path)
{
    struct stat status;
    if (!load->managed)
        return NULL;
    if (lstat(path, &status) != 0)
        return "cannot be looked at";
    if (S_ISLNK(status.st_mode))
        return "is a symbolic link";
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return "belongs neither to root nor to you";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "can be written by others";
    return NULL;
}

static const char *canonical(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = real != NULL ? arena_strdup(arena, real) : NULL;
    free(real);
    return copy;
}

static struct unit *load_file(struct load *load, const struct unit *from, const struct word *word,
                              uint32_t depth)
{
    const char *shown = escape_text(load->arena, word->bytes, word->length);
    if (word->length == 0 || word->bytes[0] == '/' || word->bytes[0] == '~' || word->bytes[0] == '$') {
        complain(load, SBX123_USE_NAME, word, "a used file is named relative to the file that uses it",
                 "name it relative to this file, such as \"../team/base.sbx\"");
        return NULL;
    }
    const char *path = from->path != NULL ? beside(load->arena, from->path, word->bytes)
                                          : arena_strdup(load->arena, word->bytes);
    const char *real = canonical(load->arena, path);
    for (uint32_t i = 0; real != NULL && i < load->unit_count; i++)
        if (load->units[i]->real != NULL && strcmp(load->units[i]->real, real) == 0)
            return load->units[i];
    const char *error = owner_problem(load, path);
    if (real != NULL && error != NULL) {
        complain(load, SBX119_USE_FILE, word, arena_format(load->arena, "%s %s", shown, error),
                 "a managed file uses only files that root or you own and nobody else can write");
        return NULL;
    }
    size_t length = 0;
    const char *text = read_text(load, path, &length, &error);
    if (text == NULL) {
        const char *preset =
            preset_named(word->bytes) != NULL ? arena_format(load->arena, "write %s", word->bytes) : NULL;
        complain(load, SBX119_USE_FILE, word, error, preset);
        return NULL;
    }
    struct unit *unit = unit_add(load);
    unit->path = path;
    unit->real = real;
    unit->record = beside(load->arena, from->record, word->bytes);
    unit_load(load, unit, path, text, (uint32_t)length, depth);
    return unit;
}

static struct unit *load_used(struct load *load, struct unit *from, const struct statement *use,
                              uint32_t depth)
{
    const struct word *word = &use->parts->subject;
    if (depth > LOAD_DEPTH) {
        complain(load, SBX122_USE_DEPTH, word,
                 arena_format(load->arena, "`use` goes more than %d files deep", LOAD_DEPTH), NULL);
        return NULL;
    }
    struct unit *unit = word->quoted ? load_file(load, from, word, depth) : load_preset(load, word, depth);
    if (unit == NULL)
        return NULL;
    if (unit->open) {
        complain(load, SBX121_USE_CYCLE, word,
                 arena_format(load->arena, "%s is being read already: it uses this file, or is it",
                              escape_text(load->arena, word->bytes, word->length)),
                 "move what both need into a third file");
        return NULL;
    }
    return unit;
}

/* What is used must be a preset, which its parsed text says. */
static void check_kinds(struct load *load, struct unit *unit)
{
    for (uint32_t i = 0; i < unit->use_count; i++) {
        struct unit_use *use = &unit->uses[i];
        if (use->unit == NULL || !use->unit->syntax->has_header || use->unit->syntax->kind == FILE_PRESET)
            continue;
        const struct word *word = &use->statement->parts->subject;
        complain(load, SBX120_USE_KIND, word,
                 arena_format(load->arena, "only a preset can be used, and %s is none",
                              escape_text(load->arena, word->bytes, word->length)),
                 "name that file with `preset \"NAME\"`, or move the shared rules into a preset");
        use->unit = NULL;
    }
}

static void load_uses(struct load *load, struct unit *unit, const struct statement *statement, uint32_t depth)
{
    for (; statement != NULL; statement = statement->next) {
        if (statement->kind == STATEMENT_USE)
            use_add(load, unit, (struct unit_use){statement, load_used(load, unit, statement, depth + 1)});
        else if (statement->kind == STATEMENT_WHEN)
            load_uses(load, unit, statement->children, depth);
    }
}

static void unit_load(struct load *load, struct unit *unit, const char *name, const char *text,
                      uint32_t length, uint32_t depth)
{
    uint32_t errors = load->diagnostics->errors;
    unit->source = source_add(load->sources, name, text, length);
    if (unit->index > 0 && parse_can_wait(text, length))
        return;
    unit->syntax =
        syntax_parse(load->syntax_arena, load->pool, load->sources, unit->source, load->diagnostics);
    unit->syntax_errors = load->diagnostics->errors != errors;
    if (unit->index == 0)
        load->managed = unit->syntax->kind == FILE_MANAGED;
    unit->open = true;
    load_uses(load, unit, unit->syntax->statements, depth);
    unit->open = false;
}

static void hash_texts(struct load *load)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    for (uint32_t i = 0; i < load->unit_count; i++) {
        const struct source *source = &load->sources->items[load->units[i]->source];
        sha256_add(&state, source->text, source->length);
    }
    crypto_hash_sha256_final(&state, load->hash);
}

bool load_files(struct load *load, const struct load_input *input, const char **error)
{
    const char *text = input->text;
    size_t length = input->length;
    bool standard_input = strcmp(input->file, "-") == 0;
    if (text == NULL)
        text = read_text(load, input->file, &length, error);
    if (text == NULL)
        return false;

    if (load->pool == NULL)
        load->pool = intern_create(load->arena, length / BYTES_A_WORD);
    const char *name = standard_input ? "<stdin>" : input->file, *slash = strrchr(name, '/');
    struct unit *unit = unit_add(load);
    unit->record = arena_strdup(load->arena, slash != NULL ? slash + 1 : name);
    if (input->text == NULL && !standard_input) {
        unit->path = arena_strdup(load->arena, input->file);
        unit->real = canonical(load->arena, input->file);
    }
    unit_load(load, unit, arena_strdup(load->arena, name), text, (uint32_t)length, 0);
    parse_waiting(load);
    for (uint32_t i = 0; i < load->unit_count; i++)
        check_kinds(load, load->units[i]);
    hash_texts(load);
    return true;
}
