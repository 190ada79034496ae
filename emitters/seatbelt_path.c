#include "emitters/seatbelt_path.h"

#include "base/escape.h"
#include "emitters/bwrap_text.h"
#include "emitters/seatbelt_pattern.h"
#include "policy/pattern.h"

#include <string.h>

static const char data_volume[] = "/System/Volumes/Data";

/* ---- places ---- */

static void use_root(struct profile *profile, const char *name, size_t length, bool account)
{
    for (int root = 0; root < ROOTS; root++)
        if (strlen(root_names[root]) == length && strncmp(root_names[root], name, length) == 0)
            *(account ? &profile->account[root] : &profile->used[root]) = true;
}

struct place place_of(struct profile *profile, const struct rule *rule, const struct bound_path *path)
{
    if (path->path[0] != '$')
        return (struct place){NULL, strcmp(path->path, "/") == 0 ? "" : path->path, path->pattern};
    size_t length = strcspn(path->path + 1, "/");
    const char *name = arena_copy(profile->arena, path->path + 1, length);
    bool account = of_account(rule, name);
    use_root(profile, name, length, account);
    return (struct place){account ? arena_format(profile->arena, "ACCOUNT_%s", name) : name,
                          path->path + 1 + length, path->pattern};
}

bool place_is_unknown(const struct bound_path *path)
{
    return path_of_variable(path->path);
}

const char *place_text(struct arena *arena, struct place place)
{
    return place.root == NULL ? place.rest : arena_format(arena, "$%s%s", place.root, place.rest);
}

struct place place_read(struct arena *arena, const char *text)
{
    if (text[0] != '$')
        return (struct place){NULL, text, false};
    size_t length = strcspn(text + 1, "/");
    return (struct place){arena_copy(arena, text + 1, length), text + 1 + length, false};
}

/* ---- names of one place ---- */

/* What follows `prefix` in `path`, or NULL if the path does not lie below it. */
static const char *behind(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    bool below = strncmp(path, prefix, length) == 0 && (path[length] == '/' || path[length] == '\0');
    return below ? path + length : NULL;
}

static const char *const linked[] = {"/tmp", "/var", "/etc"};

static const char *without_volume(const char *path)
{
    const char *rest = behind(path, data_volume);
    return rest != NULL && *rest != '\0' ? rest : path;
}

static bool is_linked(const char *path)
{
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
        if (behind(path, linked[i]) != NULL)
            return true;
    return false;
}

struct place place_canonical(struct arena *arena, struct place place)
{
    if (place.root != NULL)
        return place;
    const char *path = without_volume(place.rest);
    place.rest = is_linked(path) ? arena_join(arena, "/private", path) : path;
    return place;
}

static void add_name(struct place out[], uint32_t *count, struct place place, const char *rest)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(out[i].rest, rest) == 0 && (out[i].root == NULL) == (place.root == NULL))
            return;
    out[*count] = place;
    out[(*count)++].rest = rest;
}

/* A root's second name is not known here; the mark before its name makes the expression say both parts. */
static const char volume_mark = '!';

static void add_volume(struct arena *arena, struct place out[], uint32_t *count, struct place place)
{
    if (place.root == NULL) {
        add_name(out, count, place, arena_join(arena, data_volume, place.rest));
        return;
    }
    const char *root = arena_format(arena, "%c%s", volume_mark, place.root);
    out[(*count)++] = (struct place){root, place.rest, place.pattern};
}

static bool is_ascii(const char *bytes)
{
    for (; *bytes != '\0'; bytes++)
        if ((unsigned char)*bytes >= 0x80)
            return false;
    return true;
}

uint32_t place_spellings(const struct profile *profile, struct place place, bool closes,
                         struct place out[PLACE_SPELLINGS])
{
    struct arena *arena = profile->arena;
    struct place canonical = place_canonical(arena, place);
    uint32_t count = 0;
    add_name(out, &count, place, place.rest);
    if (place.root == NULL) {
        add_name(out, &count, place, canonical.rest);
        const char *behind_private = behind(canonical.rest, "/private");
        if (behind_private != NULL && is_linked(behind_private))
            add_name(out, &count, place, behind_private);
        if (behind(canonical.rest, "/home") != NULL) /* a link as well */
            add_name(out, &count, place, arena_join(arena, data_volume, canonical.rest));
    }
    if (closes && profile->shows_data_volume)
        add_volume(arena, out, &count, canonical);
    return count;
}

/* ---- expressions ---- */

static bool on_volume(const char *root)
{
    return root[0] == volume_mark;
}

static void put_root(struct buffer *out, const char *root)
{
    if (on_volume(root))
        buffer_format(out, "\"%s\" %s_PATH", data_volume, root + 1);
    else
        buffer_format(out, "%s_PATH", root);
}

void place_expression(struct buffer *out, struct place place)
{
    const char *rest = place.root == NULL && *place.rest == '\0' ? "/" : place.rest;
    if (place.root == NULL) {
        profile_string(out, rest, strlen(rest));
        return;
    }
    bool joined = *rest != '\0' || on_volume(place.root);
    buffer_string(out, joined ? "(string-append " : "");
    put_root(out, place.root);
    if (*rest != '\0') {
        buffer_byte(out, ' ');
        profile_string(out, rest, strlen(rest));
    }
    buffer_string(out, joined ? ")" : "");
}

void place_filter(struct buffer *out, const char *kind, struct place place)
{
    buffer_format(out, "%s(%s ", out->length > 0 && out->bytes[out->length - 1] == ')' ? " " : "", kind);
    place_expression(out, place);
    buffer_byte(out, ')');
}

/* (regex "^/a/[^/]*$"), behind a parameter (regex (string-append "^" (regex-quote WORK_PATH) "/...")). */
void place_regex(struct buffer *out, struct place place, bool closes, bool exact)
{
    struct buffer text = buffer_in(out->arena);
    if (place.root == NULL)
        buffer_byte(&text, '^');
    pattern_regex(&text, place.rest, closes, exact);
    buffer_format(out, "%s(regex ", out->length > 0 && out->bytes[out->length - 1] == ')' ? " " : "");
    if (place.root != NULL) {
        buffer_string(out, "(string-append \"^");
        buffer_format(out, "%s\" (regex-quote ", on_volume(place.root) ? data_volume : "");
        buffer_format(out, "%s_PATH) ", place.root + on_volume(place.root));
    }
    profile_string(out, text.bytes, text.length);
    buffer_string(out, place.root != NULL ? "))" : ")");
}

void place_cases(struct buffer *out, struct place place, bool exact)
{
    if (is_ascii(place.rest))
        return;
    place.rest = pattern_escape(out->arena, place.rest, strlen(place.rest));
    place_regex(out, place, true, exact);
}

void place_opens(struct profile *profile, struct buffer *out, struct place place)
{
    struct place names[PLACE_SPELLINGS];
    uint32_t count = place_spellings(profile, place, false, names);
    for (uint32_t i = 0; i < count; i++)
        if (place.pattern)
            place_regex(out, names[i], false, false);
        else
            place_filter(out, "subpath", names[i]);
}

void place_closes(struct profile *profile, struct buffer *out, struct place place)
{
    struct place names[PLACE_SPELLINGS];
    uint32_t count = place_spellings(profile, place, true, names);
    for (uint32_t i = 0; i < count; i++) {
        if (place.pattern) {
            place_regex(out, names[i], true, false);
            continue;
        }
        place_filter(out, "literal", names[i]);
        place_filter(out, "subpath", names[i]);
        place_cases(out, names[i], false);
    }
}

void place_quote(struct buffer *out, struct place place)
{
    const char *name = place_text(out->arena, place_canonical(out->arena, place));
    const char *text = escape_string(out->arena, *name == '\0' ? "/" : name);
    buffer_byte(out, '"');
    for (; *text != '\0'; text++)
        if (*text == '"')
            buffer_string(out, "\\x22");
        else
            buffer_byte(out, *text);
    buffer_byte(out, '"');
}
