#include "policy/pattern.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/fold.h"

#include <stdint.h>
#include <string.h>

enum token_kind { TOKEN_BYTES, TOKEN_ONE, TOKEN_SET, TOKEN_RUN };

struct token {
    enum token_kind kind;
    bool negated;      /* TOKEN_SET */
    uint64_t set[2];   /* TOKEN_SET: bits of ASCII characters */
    const char *bytes; /* TOKEN_BYTES */
    size_t byte_length;
};

/* What matches one component, or for `many` (**) any number of them. */
struct component {
    bool many, literal;
    int first, last; /* the byte that it starts and ends with, -1 if that is open */
    size_t least;    /* bytes, at least, of what it matches */
    struct token *items;
    uint32_t count, capacity;
};

struct sequence {
    struct component *items;
    uint32_t count, capacity;
    uint32_t fixed; /* components before the first one with a sign */
};

struct pattern {
    struct sequence exact;
    struct sequence folded; /* empty unless compiled with `fold` */
};

struct name {
    const char *bytes;
    size_t length;
};

/* ---- compiling ---- */

static bool is_sign(char byte)
{
    return byte == '*' || byte == '?' || byte == '[';
}

/* Where the component that starts at `at` ends. A '/' never stands in brackets, so any '/' ends it. */
static size_t component_end(const char *text, size_t at)
{
    while (text[at] != '\0' && text[at] != '/')
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    return at;
}

static bool component_has_sign(const char *text, size_t at, size_t end)
{
    for (; at < end; at += text[at] == '\\' ? 2 : 1)
        if (is_sign(text[at]))
            return true;
    return false;
}

static bool component_is_many(const char *text, size_t at, size_t end)
{
    return end - at == 2 && text[at] == '*' && text[at + 1] == '*';
}

static unsigned char set_byte(const char *text, size_t *at)
{
    if (text[*at] == '\\')
        ++*at;
    return (unsigned char)text[(*at)++];
}

/* Reads the brackets that start at `at` into `token`; returns the offset behind them. */
static size_t compile_set(struct token *token, const char *text, size_t at, size_t end)
{
    token->kind = TOKEN_SET;
    token->negated = text[++at] == '!';
    if (token->negated)
        at++;
    while (at < end && text[at] != ']') {
        unsigned low = set_byte(text, &at), high = low;
        if (at + 1 < end && text[at] == '-' && text[at + 1] != ']') {
            at++;
            high = set_byte(text, &at);
        }
        for (unsigned byte = low; byte <= high && byte < 128; byte++)
            token->set[byte / 64] |= (uint64_t)1 << (byte % 64);
    }
    return at + 1;
}

/* Reads bytes that mean themselves, from `at` to the next sign. */
static size_t compile_bytes(struct arena *arena, struct token *token, const char *text, size_t at, size_t end,
                            bool fold)
{
    char *bytes = arena_alloc(arena, end - at + 1);
    size_t length = 0;
    for (; at < end && !is_sign(text[at]); at++) {
        if (text[at] == '\\' && at + 1 < end)
            at++;
        bytes[length++] = text[at];
    }
    *token = (struct token){.kind = TOKEN_BYTES, .bytes = bytes, .byte_length = length};
    if (fold) {
        char folded[FOLD_CAPACITY];
        ptrdiff_t size = fold_text(bytes, length, folded, sizeof folded);
        if (size != FOLD_TOO_LONG) {
            token->bytes = arena_copy(arena, folded, (size_t)size);
            token->byte_length = (size_t)size;
        }
    }
    return at;
}

/* Notes what lets most names be refused at a glance. */
static void describe(struct component *component)
{
    component->literal = component->count == 1 && component->items[0].kind == TOKEN_BYTES;
    component->first = component->last = -1;
    for (uint32_t i = 0; i < component->count; i++) {
        const struct token *token = &component->items[i];
        if (token->kind == TOKEN_BYTES) {
            component->least += token->byte_length;
            if (i == 0)
                component->first = (unsigned char)token->bytes[0];
            if (i + 1 == component->count)
                component->last = (unsigned char)token->bytes[token->byte_length - 1];
        } else if (token->kind != TOKEN_RUN) {
            component->least++;
        }
    }
}

static struct component compile_component(struct arena *arena, const char *text, size_t at, size_t end,
                                          bool fold)
{
    struct component component = {.many = component_is_many(text, at, end)};
    while (!component.many && at < end) {
        struct token token = {.kind = TOKEN_RUN};
        if (text[at] == '*') {
            at++;
        } else if (text[at] == '?') {
            token.kind = TOKEN_ONE;
            at++;
        } else if (text[at] == '[') {
            at = compile_set(&token, text, at, end);
        } else {
            at = compile_bytes(arena, &token, text, at, end, fold);
        }
        VECTOR_PUSH(arena, &component, token);
    }
    describe(&component);
    return component;
}

static struct sequence compile_sequence(struct arena *arena, const char *text, bool fold)
{
    struct sequence sequence = {0};
    bool fixed = true;
    uint32_t components = 1;
    for (const char *slash = text; (slash = strchr(slash, '/')) != NULL; slash++)
        components++;
    VECTOR_RESERVE(arena, &sequence, components);
    for (size_t at = 0;; at++) {
        size_t end = component_end(text, at);
        struct component component = compile_component(arena, text, at, end, fold);
        bool repeated = component.many && sequence.count > 0 && sequence.items[sequence.count - 1].many;
        fixed = fixed && !component_has_sign(text, at, end);
        if (!repeated)
            VECTOR_PUSH(arena, &sequence, component);
        if (fixed)
            sequence.fixed = sequence.count;
        at = end;
        if (text[at] == '\0')
            return sequence;
    }
}

struct pattern *pattern_compile(struct arena *arena, const char *text, bool fold)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    pattern->exact = compile_sequence(arena, text, false);
    if (fold)
        pattern->folded = compile_sequence(arena, text, true);
    return pattern;
}

/* ---- matching ---- */

static bool set_has(const struct token *token, unsigned byte)
{
    return byte < 128 && (token->set[byte / 64] >> (byte % 64) & 1) != 0;
}

/* A folded name has lost its case: what either case of the character would match is matched. */
static bool set_matches(const struct token *token, unsigned char byte, bool folded)
{
    if (set_has(token, byte) != token->negated)
        return true;
    bool letter = byte >= 'a' && byte <= 'z';
    return folded && letter && set_has(token, byte - ('a' - 'A')) != token->negated;
}

static size_t character_length(const char *bytes, size_t length)
{
    size_t size = utf8_character(bytes, length);
    return size == 0 ? 1 : size;
}

/* How many bytes at the start of `name` (not empty for ONE and SET) the token takes; SIZE_MAX if it does
 * not match. */
static size_t token_takes(const struct token *token, struct name name, bool folded)
{
    if (token->kind == TOKEN_BYTES) {
        bool same =
            token->byte_length <= name.length && memcmp(token->bytes, name.bytes, token->byte_length) == 0;
        return same ? token->byte_length : SIZE_MAX;
    }
    if (name.length == 0)
        return SIZE_MAX;
    if (token->kind == TOKEN_SET && !set_matches(token, (unsigned char)name.bytes[0], folded))
        return SIZE_MAX;
    return character_length(name.bytes, name.length);
}

static struct name name_from(struct name name, size_t at)
{
    return (struct name){name.bytes + at, name.length - at};
}

/* Going back to the last * alone is enough: what an earlier one took is the shortest that fits, and a
 * longer one would leave less for the rest. So the cost is at most the product of the lengths. */
static bool tokens_match(const struct component *component, struct name name, bool folded)
{
    uint32_t at = 0, retry = UINT32_MAX;
    struct name retry_name = name;

    while (at < component->count || name.length > 0) {
        size_t takes = SIZE_MAX;
        if (at < component->count && component->items[at].kind == TOKEN_RUN) {
            retry = ++at;
            retry_name = name;
            if (at == component->count)
                return true;
            continue;
        }
        if (at < component->count)
            takes = token_takes(&component->items[at], name, folded);
        if (takes != SIZE_MAX) {
            name = name_from(name, takes);
            at++;
            continue;
        }
        if (retry == UINT32_MAX || retry_name.length == 0)
            return false;
        retry_name = name_from(retry_name, character_length(retry_name.bytes, retry_name.length));
        name = retry_name;
        at = retry;
    }
    return true;
}

static bool component_matches(const struct component *component, struct name name, bool folded)
{
    if (name.length < component->least)
        return false;
    if (component->literal)
        return name.length == component->least &&
               memcmp(name.bytes, component->items[0].bytes, name.length) == 0;
    if (component->first >= 0 && (unsigned char)name.bytes[0] != component->first)
        return false;
    if (component->last >= 0 && (unsigned char)name.bytes[name.length - 1] != component->last)
        return false;
    return tokens_match(component, name, folded);
}

static struct name name_at(const struct pattern_path *path, uint32_t at)
{
    uint32_t start = at == 0 ? 0 : path->ends[at - 1] + 1;
    return (struct name){path->path + start, path->ends[at] - start};
}

/* Matches the components of the pattern and of the path from number `from` on; `whole`: up to the path's
 * end, else up to the pattern's end. As inside a component, going back to the last ** alone is enough. */
static bool sequence_matches(const struct sequence *sequence, const struct pattern_path *path, uint32_t from,
                             bool whole, bool folded)
{
    uint32_t at = from, name = from, retry = UINT32_MAX, retry_name = 0;

    for (;;) {
        if (at == sequence->count && (!whole || name == path->count))
            return true;
        if (at < sequence->count && sequence->items[at].many) {
            if (at + 1 == sequence->count)
                return name < path->count; /* at the end ** stands for one or more */
            retry = ++at;
            retry_name = name;
            continue;
        }
        if (at < sequence->count) {
            if (name >= path->count)
                return false;
            if (component_matches(&sequence->items[at], name_at(path, name), folded)) {
                at++;
                name++;
                continue;
            }
        }
        if (retry == UINT32_MAX || retry_name >= path->count)
            return false;
        name = ++retry_name;
        at = retry;
    }
}

static bool sequence_may_match_below(const struct sequence *sequence, const struct pattern_path *path,
                                     bool folded)
{
    for (uint32_t at = 0; at < sequence->count; at++) {
        if (sequence->items[at].many || at >= path->count)
            return true;
        if (!component_matches(&sequence->items[at], name_at(path, at), folded))
            return false;
    }
    return false;
}

/* Cuts `path` with `ends` as room for PATTERN_DEPTH components; false if it has more. */
static bool cut(struct pattern_path *out, uint32_t *ends, const char *path, size_t length)
{
    if (length > 0 && path[length - 1] == '/')
        length--;
    *out = (struct pattern_path){path, ends, 0};
    if (length > UINT32_MAX - 1)
        return false;
    for (size_t at = 0;; at++) {
        const char *slash = memchr(path + at, '/', length - at);
        if (out->count == PATTERN_DEPTH)
            return false;
        at = slash != NULL ? (size_t)(slash - path) : length;
        ends[out->count++] = (uint32_t)at;
        if (slash == NULL)
            return true;
    }
}

enum question { COVERS, MATCHES, MATCHES_BELOW };

static bool answer(const struct sequence *sequence, const struct pattern_path *path, enum question question,
                   bool folded)
{
    return question == MATCHES_BELOW ? sequence_may_match_below(sequence, path, folded)
                                     : sequence_matches(sequence, path, 0, question == MATCHES, folded);
}

/* What cannot be folded counts as matching, since folded patterns only deny. */
static bool answer_folded(const struct pattern *pattern, const char *path, size_t length,
                          enum question question)
{
    char buffer[FOLD_CAPACITY];
    uint32_t ends[PATTERN_DEPTH];
    struct pattern_path folded;
    ptrdiff_t size = fold_text(path, length, buffer, sizeof buffer);
    return size == FOLD_TOO_LONG || !cut(&folded, ends, buffer, (size_t)size) ||
           answer(&pattern->folded, &folded, question, true);
}

static bool ask(const struct pattern *pattern, const char *path, size_t length, enum question question)
{
    uint32_t ends[PATTERN_DEPTH];
    struct pattern_path exact;
    return !cut(&exact, ends, path, length) || answer(&pattern->exact, &exact, question, false) ||
           (pattern->folded.count > 0 && answer_folded(pattern, path, length, question));
}

bool pattern_covers(const struct pattern *pattern, const char *path, size_t length)
{
    return ask(pattern, path, length, COVERS);
}

bool pattern_matches(const struct pattern *pattern, const char *path, size_t length)
{
    return ask(pattern, path, length, MATCHES);
}

bool pattern_may_match_below(const struct pattern *pattern, const char *path, size_t length)
{
    return ask(pattern, path, length, MATCHES_BELOW);
}

bool pattern_covers_cut(const struct pattern *pattern, const struct pattern_path *path,
                        const struct pattern_path *folded, uint32_t fixed)
{
    if (pattern->folded.count == 0)
        return sequence_matches(&pattern->exact, path, fixed, false, false);
    return sequence_matches(&pattern->folded, folded, fixed, false, true) ||
           sequence_matches(&pattern->exact, path, fixed, false, false);
}

/* ---- following a path down ---- */

enum { FOLLOWED_MOST = 62 };

static pattern_progress progress_bit(uint32_t component)
{
    return (pattern_progress)1 << component;
}

/* Component `at` may come next, and where it is ** in the middle, also what follows it. */
static pattern_progress progress_at(const struct sequence *sequence, uint32_t at)
{
    bool open = at + 1 < sequence->count && sequence->items[at].many;
    return progress_bit(at) | (open ? progress_bit(at + 1) : 0);
}

bool pattern_can_follow(const struct pattern *pattern)
{
    return pattern->folded.count == 0 && pattern->exact.count <= FOLLOWED_MOST;
}

pattern_progress pattern_step(const struct pattern *pattern, pattern_progress progress, const char *name,
                              size_t length)
{
    const struct sequence *sequence = &pattern->exact;
    struct name next_name = {name, length};
    pattern_progress next = PATTERN_NOWHERE;

    for (uint32_t at = 0; at < sequence->count; at++) {
        if ((progress & progress_bit(at)) == 0)
            continue;
        bool last = at + 1 == sequence->count;
        if (sequence->items[at].many)
            next |= progress_at(sequence, at) | (last ? progress_bit(sequence->count) : 0);
        else if (component_matches(&sequence->items[at], next_name, false))
            next |= progress_at(sequence, at + 1);
    }
    return next;
}

pattern_progress pattern_follow(const struct pattern *pattern, const char *path, size_t length)
{
    uint32_t ends[PATTERN_DEPTH];
    struct pattern_path parts;
    pattern_progress progress = progress_at(&pattern->exact, 0);

    if (!cut(&parts, ends, path, length))
        return progress;
    for (uint32_t i = 0; i < parts.count && progress != PATTERN_NOWHERE; i++) {
        struct name name = name_at(&parts, i);
        progress = pattern_step(pattern, progress, name.bytes, name.length);
    }
    return progress;
}

bool pattern_has_arrived(const struct pattern *pattern, pattern_progress progress)
{
    return (progress & progress_bit(pattern->exact.count)) != 0;
}

bool pattern_goes_on(const struct pattern *pattern, pattern_progress progress)
{
    return (progress & ~progress_bit(pattern->exact.count)) != 0;
}

/* ---- text ---- */

size_t pattern_fixed_prefix(const char *text)
{
    size_t prefix = 0;
    for (size_t at = 0;; at++) {
        size_t end = component_end(text, at);
        if (component_has_sign(text, at, end))
            return prefix;
        prefix = at = end;
        if (text[at] == '\0')
            return prefix;
    }
}

char *pattern_plain(struct arena *arena, const char *text, size_t length)
{
    char *plain = arena_alloc(arena, length + 1);
    for (size_t at = 0, to = 0; at < length; at++) {
        if (text[at] == '\\' && at + 1 < length)
            at++;
        plain[to++] = text[at];
    }
    return plain;
}

char *pattern_escape(struct arena *arena, const char *path, size_t length)
{
    char *text = arena_alloc(arena, 2 * length + 1);
    size_t to = 0;
    for (size_t at = 0; at < length; at++) {
        if (is_sign(path[at]) || path[at] == ']' || path[at] == '\\')
            text[to++] = '\\';
        text[to++] = path[at];
    }
    return text;
}
