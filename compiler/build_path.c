#include "compiler/build.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <ctype.h>
#include <string.h>

enum { PATH_LONGEST = 4096 };

/* A word being read as a path. */
struct reader {
    struct builder *builder;
    const struct word *word;
    unsigned uses;
    uint32_t at; /* where the part after the root begins */
    /* What stands before it: one place, or the paths of a name. */
    const struct policy_path *bases;
    uint32_t base_count;
    struct policy_path base;
};

/* The part after the root. */
struct rest {
    const char *text;
    bool pattern, directory;
};

static bool refuse(struct reader *reader, enum code code, uint32_t first, uint32_t last, const char *text,
                   const char *help)
{
    build_error(reader->builder, code, word_part(reader->builder, reader->word, first, last), text, help);
    return false;
}

static bool refuse_whole(struct reader *reader, enum code code, const char *text, const char *help)
{
    build_error(reader->builder, code, reader->word->span, text, help);
    return false;
}

/* --- roots ---------------------------------------------------------------------------------------------- */

static bool is_name_byte(const struct word *word, uint32_t at)
{
    return at < word->length && (isalnum((unsigned char)word->bytes[at]) || word->bytes[at] == '_') &&
           (word->literal == NULL || !word->literal[at]);
}

static uint32_t name_end(const struct word *word, uint32_t at)
{
    if (at < word->length && isdigit((unsigned char)word->bytes[at]))
        return at;
    while (is_name_byte(word, at))
        at++;
    return at;
}

static void base_is(struct reader *reader, enum root root, const char *name, uint32_t at)
{
    reader->base = (struct policy_path){.root = root, .name = name, .rest = ""};
    reader->bases = &reader->base;
    reader->base_count = 1;
    reader->at = at;
}

/* The spelling safe to show, its backslashes as they were written. */
static const char *spelling_shown(struct arena *arena, const char *spelling)
{
    struct buffer out = buffer_in(arena);
    buffer_string(&out, "");
    for (;;) {
        size_t plain = strcspn(spelling, "\\");
        buffer_string(&out, escape_text(arena, spelling, plain));
        if (spelling[plain] == '\0')
            return out.bytes;
        buffer_byte(&out, '\\');
        spelling += plain + 1;
    }
}

static bool goes_up(const struct word *word)
{
    for (uint32_t at = 0; at + 2 <= word->length; at++) {
        bool starts = at == 0 || word->bytes[at - 1] == '/';
        bool ends = at + 2 == word->length || word->bytes[at + 2] == '/';
        if (starts && ends && memcmp(word->bytes + at, "..", 2) == 0)
            return true;
    }
    return false;
}

static bool relative(struct reader *reader)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    const char *spelling = word_spelling(builder, word), *quote = word->quoted ? "\"" : "";
    spelling += word->quoted ? 1 : 0;
    while (spelling[0] == '.' && spelling[1] == '/')
        spelling += 2;
    if (word->length == 0)
        return refuse_whole(reader, SBX104_RELATIVE_PATH, "a path cannot be empty",
                            "write $WORK for the working directory");
    if (goes_up(word))
        return refuse_whole(reader, SBX104_RELATIVE_PATH,
                            "a path must start with /, ~ or a root such as $WORK",
                            "name the place from / or a root on: a path cannot go up with ..");
    return refuse_whole(
        reader, SBX104_RELATIVE_PATH, "a path must start with /, ~ or a root such as $WORK",
        arena_format(builder->arena, "write %s$WORK/%s", quote, spelling_shown(builder->arena, spelling)));
}

/* After `~` or a root's name comes / or the end. */
static bool root_ends(struct reader *reader, uint32_t at)
{
    const struct word *word = reader->word;
    if (at == word->length || word->bytes[at] == '/')
        return true;
    const char *start = escape_text(reader->builder->arena, word->bytes, at);
    return refuse(reader, SBX107_ROOT_END, at, at + 1,
                  arena_format(reader->builder->arena, "after %s comes / or the end of the path", start),
                  arena_format(reader->builder->arena, "write %s/...", start));
}

static bool read_home(struct reader *reader)
{
    const struct word *word = reader->word;
    if (word->length > 1 && word->bytes[1] != '/')
        return refuse_whole(reader, SBX102_OTHER_HOME, "~ stands for your own home directory alone",
                            "write ~/... for your home, or the whole path of another one");
    base_is(reader, ROOT_HOME, NULL, 1);
    return true;
}

static bool read_environment(struct reader *reader, uint32_t at)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    uint32_t start = at + 1, end = start;
    if (word_sign(word, at, '.'))
        end = name_end(word, start);
    if (end == start)
        return refuse(reader, SBX107_ROOT_END, 0, at, "$env needs the name of a variable",
                      "write $env.NAME, as in $env.GOPATH");
    if (!root_ends(reader, end))
        return false;
    if (builder->here->environment == NULL)
        builder->here->environment = builder->statement;
    if (builder->managed && builder->unit->syntax->kind != FILE_PRESET)
        return refuse(reader, SBX133_MANAGED_ENV, 0, end,
                      "a managed file cannot depend on the caller's environment",
                      "name the place itself, or a root such as $HOME");
    base_is(reader, ROOT_ENV, intern(builder->pool, word->bytes + start, end - start), end);
    return true;
}

/* Whether a line that did not parse looks as if it defined `name`. */
static bool is_defined_wrongly(const struct builder *builder, const char *name)
{
    const char *let = arena_format(builder->arena, "let %s", name);
    for (uint32_t i = 0; i < builder->load->unit_count; i++) {
        const struct unit *unit = builder->load->units[i];
        if (unit->syntax_errors && strstr(builder->load->sources->items[unit->source].text, let) != NULL)
            return true;
    }
    return false;
}

static bool unknown_name(struct reader *reader, uint32_t end)
{
    struct builder *builder = reader->builder;
    const char *name = arena_copy(builder->arena, reader->word->bytes + 1, end - 1);
    if (is_defined_wrongly(builder, name))
        return false; /* one mistake, one error */
    const char *nearest = name_nearest(builder->arena, &builder->here->names, name);
    if (builder->managed && nearest != NULL && strncmp(nearest, "env.", strlen("env.")) == 0)
        nearest = NULL;
    return refuse(
        reader, SBX105_UNKNOWN_NAME, 0, end, arena_format(builder->arena, "nothing is called $%s here", name),
        nearest != NULL ? arena_format(builder->arena, "write $%s", nearest)
                        : arena_format(builder->arena, "define it on a line above: let %s = ...", name));
}

static bool read_name(struct reader *reader)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    uint32_t end = name_end(word, 1);
    if (word_sign(word, 1, '{'))
        return refuse(reader, SBX103_BRACED_ROOT, 0, 2, "a root is written without braces",
                      "write $WORK/... instead of ${WORK}/...");
    if (end == 1)
        return refuse(reader, SBX106_DOLLAR, 0, 1, "$ starts the name of a root, and none follows",
                      "write \\$ for the character itself, behind / or a root");
    if (end == 4 && memcmp(word->bytes + 1, "env", 3) == 0)
        return read_environment(reader, end);
    enum root root = root_named(word->bytes + 1, end - 1);
    const struct definition *definition =
        root != ROOTS ? NULL : name_find(&builder->here->names, word->bytes + 1, end - 1);
    if (root == ROOTS && definition == NULL)
        return unknown_name(reader, end);
    if (!root_ends(reader, end))
        return false;
    base_is(reader, root, NULL, end);
    if (definition != NULL) {
        reader->bases = definition->paths;
        reader->base_count = definition->count;
    }
    return true;
}

static bool read_drive(struct reader *reader)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    if (word->length == 2 || word->bytes[2] != '/')
        return refuse_whole(reader, SBX104_RELATIVE_PATH, "a drive is followed by /",
                            arena_format(builder->arena, "write %c:/...", word->bytes[0]));
    char letter = (char)toupper((unsigned char)word->bytes[0]);
    base_is(reader, ROOT_DRIVE, intern(builder->pool, &letter, 1), 2);
    return true;
}

static bool read_root(struct reader *reader)
{
    const struct word *word = reader->word;
    if (word->length > 0 && word->bytes[0] == '/') {
        base_is(reader, ROOT_SLASH, NULL, 0);
        return true;
    }
    if (word_sign(word, 0, '~'))
        return read_home(reader);
    if (word_sign(word, 0, '$'))
        return read_name(reader);
    if (word->length > 1 && isalpha((unsigned char)word->bytes[0]) && word_sign(word, 1, ':'))
        return read_drive(reader);
    return relative(reader);
}

/* --- the part after the root ---------------------------------------------------------------------------- */

static bool is_pattern_sign(const struct word *word, uint32_t at)
{
    char byte = word->bytes[at];
    return (byte == '*' || byte == '?' || byte == '[') && word_sign(word, at, byte);
}

static void put(struct reader *reader, uint32_t at, bool escaped)
{
    struct builder *builder = reader->builder;
    for (int i = escaped ? 0 : 1; i < 2; i++) {
        VECTOR_PUSH(builder->arena, &builder->offsets, at);
        buffer_byte(&builder->bytes, i == 0 ? '\\' : reader->word->bytes[at]);
    }
}

/* Canonical text of the component [first, last) of a pattern: every byte that means itself though it could be
 * a sign gets its backslash. */
static void put_pattern_component(struct reader *reader, uint32_t first, uint32_t last)
{
    const struct word *word = reader->word;
    bool inside = false;
    for (uint32_t at = first; at < last; at++) {
        bool literal = word->literal != NULL && word->literal[at];
        char byte = word->bytes[at];
        if (inside && byte == ']' && !literal)
            inside = false, put(reader, at, false);
        else if (inside && literal)
            put(reader, at, strchr("*?[]\\!^-:", byte) != NULL);
        else if (inside)
            put(reader, at, strchr("*?", byte) != NULL || (byte == '[' && !word_sign(word, at + 1, ':')));
        else if (byte == ']' || literal)
            put(reader, at, strchr("*?[]\\", byte) != NULL);
        else
            inside = byte == '[', put(reader, at, false);
    }
}

static bool component_is(const struct word *word, uint32_t first, uint32_t last, const char *text)
{
    return last - first == strlen(text) && memcmp(word->bytes + first, text, last - first) == 0;
}

/* `**` behind `**` says nothing new. */
static bool repeats_stars(const struct reader *reader, uint32_t first, uint32_t last)
{
    const struct buffer *bytes = &reader->builder->bytes;
    return component_is(reader->word, first, last, "**") && word_sign(reader->word, first, '*') &&
           word_sign(reader->word, first + 1, '*') && bytes->length >= 3 &&
           memcmp(bytes->bytes + bytes->length - 3, "/**", 3) == 0;
}

static bool read_component(struct reader *reader, uint32_t first, uint32_t last, bool pattern)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    if (component_is(word, first, last, ".."))
        return refuse(reader, SBX101_PARENT, first, last, "a path cannot go up with ..",
                      "write the path that is meant");
    for (uint32_t at = first; at < last; at++)
        if (word->bytes[at] == '$' && word_sign(word, at, '$'))
            return refuse(reader, SBX106_DOLLAR, at, at + 1, "a root stands only at the start of a path",
                          "write \\$ for the character itself");
    if (component_is(word, first, last, ".") || (pattern && repeats_stars(reader, first, last)))
        return true;
    if (pattern) {
        VECTOR_PUSH(builder->arena, &builder->offsets, first);
        buffer_byte(&builder->bytes, '/');
        put_pattern_component(reader, first, last);
    } else {
        buffer_byte(&builder->bytes, '/');
        buffer_bytes(&builder->bytes, word->bytes + first, last - first);
    }
    return true;
}

static bool check_pattern(struct reader *reader)
{
    struct builder *builder = reader->builder;
    size_t at = 0;
    /* Whether a root stands before it does not matter here; check_path looks at what comes first. */
    const char *problem = pattern_check(arena_format(builder->arena, "$%s", builder->bytes.bytes), &at);
    if (problem == NULL)
        return true;
    at -= at > 0 ? 1 : 0;
    uint32_t byte = at < builder->offsets.count ? builder->offsets.items[at] : reader->word->length - 1;
    return refuse(reader, SBX110_PATTERN, byte, byte + 1, problem,
                  "write \\ before a sign that means itself");
}

static bool find_pattern(struct reader *reader, bool *pattern)
{
    *pattern = false;
    for (uint32_t at = reader->at; at < reader->word->length && !*pattern; at++) {
        *pattern = is_pattern_sign(reader->word, at);
        if (*pattern && (reader->uses & PATH_PATTERNS) == 0)
            return refuse(reader, SBX109_PATTERN_PLACE, at, at + 1,
                          "patterns stand only in deny, deny socket and except",
                          arena_format(reader->builder->arena,
                                       "name each path, or write \\%c for the character",
                                       reader->word->bytes[at]));
    }
    return true;
}

static bool read_rest(struct reader *reader, struct rest *rest)
{
    struct builder *builder = reader->builder;
    const struct word *word = reader->word;
    if (!find_pattern(reader, &rest->pattern))
        return false;
    builder->bytes.length = 0;
    builder->offsets.count = 0;
    rest->directory = false;
    for (uint32_t at = reader->at, first; at < word->length;) {
        for (first = at; first < word->length && word->bytes[first] == '/';)
            first++;
        for (at = first; at < word->length && word->bytes[at] != '/';)
            at++;
        rest->directory = first == word->length;
        if (first < at && !read_component(reader, first, at, rest->pattern))
            return false;
    }
    if (rest->pattern && !check_pattern(reader))
        return false;
    if (builder->bytes.length == 0)
        rest->text = "";
    else if (!rest->pattern && builder->bytes.length == word->length - reader->at)
        rest->text = word->bytes + reader->at; /* normal already */
    else
        rest->text = intern(builder->pool, builder->bytes.bytes, builder->bytes.length);
    return true;
}

/* --- both together -------------------------------------------------------------------------------------- */

/* The bytes of a plain path as canonical pattern text. */
static void escape_plain(struct buffer *out, const char *plain)
{
    for (; *plain != '\0'; plain++) {
        if (strchr("*?[]\\", *plain) != NULL)
            buffer_byte(out, '\\');
        buffer_byte(out, *plain);
    }
}

static struct policy_path join(struct builder *builder, const struct policy_path *base,
                               const struct rest *rest)
{
    struct policy_path path = *base;
    path.pattern = rest->pattern;
    if (rest->text[0] == '\0') {
        path.directory = base->directory || rest->directory;
    } else {
        path.directory = rest->directory;
        if (base->rest[0] == '\0') {
            path.rest = rest->text;
        } else {
            builder->bytes.length = 0;
            if (rest->pattern)
                escape_plain(&builder->bytes, base->rest);
            else
                buffer_string(&builder->bytes, base->rest);
            buffer_string(&builder->bytes, rest->text);
            path.rest = intern(builder->pool, builder->bytes.bytes, builder->bytes.length);
        }
    }
    bool top = path.root == ROOT_SLASH || path.root == ROOT_DRIVE;
    if (top && path.rest[0] == '\0')
        path.directory = false; /* it can be nothing else */
    return path;
}

static bool starts_fixed(const struct policy_path *path)
{
    for (const char *at = path->rest + 1; *at != '\0' && *at != '/'; at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if (strchr("*?[", *at) != NULL)
            return false;
    }
    return true;
}

static bool check_path(struct reader *reader, const struct policy_path *path)
{
    bool top = path->root == ROOT_SLASH || path->root == ROOT_DRIVE;
    if (top && path->rest[0] == '\0' && (reader->uses & PATH_GRANT) != 0)
        return refuse_whole(reader, SBX108_GRANT_EVERYTHING, "a grant cannot cover the whole file system",
                            "grant the directories that are needed, such as $WORK");
    if (root_is_found(path->root) && (reader->uses & PATH_DENY) == 0)
        return refuse_whole(
            reader, SBX117_FOUND_ROOT,
            arena_format(reader->builder->arena, "$%s can only be denied", root_names[path->root]),
            "the command itself can write what it is found by; name $REPO or $GITDIR");
    if (top && path->pattern && !starts_fixed(path))
        return refuse_whole(reader, SBX111_PATTERN_START, "a pattern must start below a fixed name or a root",
                            "write it below a root, as in $WORK/**/.env");
    if (strlen(path->rest) > PATH_LONGEST)
        return refuse_whole(
            reader, SBX112_PATH_LENGTH,
            arena_format(reader->builder->arena, "a path holds at most %d bytes", PATH_LONGEST), NULL);
    return true;
}

void build_path(struct builder *builder, const struct word *word, unsigned uses, struct path_vector *out)
{
    struct reader reader = {.builder = builder, .word = word, .uses = uses};
    struct rest rest;
    if (!read_root(&reader) || !read_rest(&reader, &rest))
        return;
    uint32_t start = out->count;
    if (start + reader.base_count > RULES_LIMIT) {
        build_too_many(builder, word->span);
        return;
    }
    VECTOR_RESERVE(builder->arena, out, (size_t)out->count + reader.base_count);
    for (uint32_t i = 0; i < reader.base_count; i++) {
        struct policy_path path = join(builder, &reader.bases[i], &rest);
        if (!check_path(&reader, &path)) {
            out->count = start;
            return;
        }
        VECTOR_PUSH(builder->arena, out, path);
    }
}

const struct path_list *build_path_list(struct builder *builder, const struct word_list *words, unsigned uses)
{
    struct path_vector paths = {0};
    for (uint32_t i = 0; i < words->count; i++)
        build_path(builder, &words->items[i], uses, &paths);
    if (paths.count == 0)
        return NULL;
    struct path_list *list = arena_alloc(builder->arena, sizeof *list);
    *list = (struct path_list){paths.items, paths.count};
    return list;
}
