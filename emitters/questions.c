#include "emitters/questions.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/pattern.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

struct query_set {
    struct arena *arena;
    unsigned kinds;
    enum system system;
    struct query *items;
    uint32_t count, capacity;
    uint32_t *slots; /* index + 1 of a question; 0: free */
    uint32_t slot_count;
    enum query_kind
        path_kind; /* the first kind that asks about a path: where its question is held, all are */
};

/* --- a set that holds each question once ---------------------------------------------------------------- */

static bool asks(const struct query_set *set, enum query_kind kind)
{
    return (set->kinds & 1U << kind) != 0;
}

static bool is_about_path(enum query_kind kind)
{
    return kind <= QUERY_RENAME;
}

struct query_set *query_set_create(struct arena *arena, unsigned kinds, enum system system)
{
    struct query_set *set = arena_alloc(arena, sizeof *set);
    set->arena = arena;
    set->kinds = kinds;
    set->system = system;
    set->slot_count = 1024;
    set->slots = arena_array(arena, set->slot_count, sizeof *set->slots);
    set->path_kind = QUERY_READ;
    while (is_about_path(set->path_kind) && !asks(set, set->path_kind))
        set->path_kind++;
    return set;
}

struct arena *queries_arena(const struct query_set *set)
{
    return set->arena;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3U;
    return hash;
}

static uint64_t hash_query(const struct query *query)
{
    uint64_t hash = 0xcbf29ce484222325U ^ (uint64_t)query->kind;
    hash = hash_bytes(hash, query->name, query->length);
    if (query->endpoint != NULL) {
        hash = hash_bytes(hash, query->endpoint->address, sizeof query->endpoint->address);
        hash = (hash ^ query->endpoint->port) * 0x100000001b3U;
        hash = (hash ^ query->endpoint->protocol) * 0x100000001b3U;
    }
    if (query->arguments != NULL)
        hash = hash_bytes(hash, query->arguments, QUERY_ARGUMENTS * sizeof *query->arguments);
    return hash ^ hash >> 29;
}

static bool same_query(const struct query *a, const struct query *b)
{
    if (a->kind != b->kind || a->length != b->length || memcmp(a->name, b->name, a->length) != 0)
        return false;
    if ((a->endpoint == NULL) != (b->endpoint == NULL) || (a->arguments == NULL) != (b->arguments == NULL))
        return false;
    if (a->arguments != NULL &&
        memcmp(a->arguments, b->arguments, QUERY_ARGUMENTS * sizeof *a->arguments) != 0)
        return false;
    return a->endpoint == NULL ||
           (a->endpoint->port == b->endpoint->port && a->endpoint->protocol == b->endpoint->protocol &&
            a->endpoint->has_address == b->endpoint->has_address &&
            memcmp(a->endpoint->address, b->endpoint->address, 16) == 0);
}

/* The slot of `query`: its own, or the free one where it belongs. */
static uint32_t *slot_of(const struct query_set *set, const struct query *query)
{
    uint32_t mask = set->slot_count - 1, at = (uint32_t)hash_query(query) & mask;
    while (set->slots[at] != 0 && !same_query(&set->items[set->slots[at] - 1], query))
        at = (at + 1) & mask;
    return &set->slots[at];
}

static void grow_slots(struct query_set *set)
{
    set->slot_count *= 2;
    set->slots = arena_array(set->arena, set->slot_count, sizeof *set->slots);
    for (uint32_t i = 0; i < set->count; i++)
        if (!is_about_path(set->items[i].kind) || set->items[i].kind == set->path_kind)
            *slot_of(set, &set->items[i]) = i + 1;
}

void queries_add(struct query_set *set, struct query query)
{
    if (!asks(set, query.kind))
        return;
    if (set->count >= set->slot_count / 2)
        grow_slots(set);
    uint32_t *slot = slot_of(set, &query);
    if (*slot != 0)
        return;
    VECTOR_PUSH(set->arena, set, query);
    *slot = set->count;
}

uint32_t query_count(const struct query_set *set)
{
    return set->count;
}

const struct query *query_at(const struct query_set *set, uint32_t index)
{
    return &set->items[index];
}

void queries_add_name(struct query_set *set, enum query_kind kind, const char *name)
{
    queries_add(set, (struct query){.kind = kind, .name = name, .length = strlen(name)});
}

/* --- paths ---------------------------------------------------------------------------------------------- */

enum { PATH_LIMIT = 4096 };

/* Whether a path can be asked about: it begins where paths begin, and no component is empty, "." or "..". */
static bool is_askable(const char *path)
{
    bool rooted = path[0] == '/' || path[0] == '$' || (path[0] != '\0' && path[1] == ':');
    if (!rooted || strlen(path) > PATH_LIMIT)
        return false;
    if (strcmp(path, "/") == 0)
        return true;
    for (const char *at = strchr(path, '/'); at != NULL; at = strchr(at, '/')) {
        size_t length = strcspn(++at, "/");
        if (length == 0 || (length <= 2 && strspn(at, ".") >= length))
            return false;
    }
    return true;
}

static void ask_spelling(struct query_set *set, const char *path, const char *plain)
{
    struct query query = {.kind = set->path_kind, .name = path, .length = strlen(path), .plain = plain};
    uint32_t before = set->count;
    if (!is_about_path(set->path_kind) || !is_askable(path))
        return;
    queries_add(set, query);
    for (query.kind++; before < set->count && is_about_path(query.kind); query.kind++)
        if (asks(set, query.kind))
            VECTOR_PUSH(set->arena, set, query);
}

static void ask_path(struct query_set *set, const char *path)
{
    ask_spelling(set, path, NULL);
}

/* `path` with the letters of its last component, or all, in the other case; NULL if it has none. */
static const char *other_case(struct arena *arena, const char *path, bool whole)
{
    char *other = arena_strdup(arena, path);
    const char *slash = strrchr(path, '/');
    bool changed = false;
    for (size_t i = whole || slash == NULL ? 0 : (size_t)(slash - path); other[i] != '\0'; i++) {
        bool letter = (other[i] >= 'a' && other[i] <= 'z') || (other[i] >= 'A' && other[i] <= 'Z');
        if (letter)
            other[i] = (char)(other[i] ^ 0x20);
        changed = changed || letter;
    }
    /* The name of a symbolic root and a drive's letter are no part of the path. */
    size_t fixed = path[0] == '$' ? strcspn(path, "/") : path[0] != '/' ? 2 : 0;
    memcpy(other, path, fixed);
    return changed && strcmp(other, path) != 0 ? other : NULL;
}

/* `path` in another form of Unicode, if that is another text. */
static const char *other_form(struct arena *arena, const char *path, utf8proc_option_t options)
{
    utf8proc_uint8_t *text = NULL;
    const char *result = NULL;
    ptrdiff_t length = utf8proc_map((const utf8proc_uint8_t *)path, (utf8proc_ssize_t)strlen(path), &text,
                                    options | UTF8PROC_STABLE);
    if (length > 0 && ((size_t)length != strlen(path) || memcmp(text, path, (size_t)length) != 0))
        result = arena_copy(arena, (const char *)text, (size_t)length);
    free(text);
    return result;
}

static bool is_ascii(const char *path)
{
    for (; *path != '\0'; path++)
        if ((unsigned char)*path >= 0x80)
            return false;
    return true;
}

static void ask_cases(struct query_set *set, const char *path)
{
    const char *last = other_case(set->arena, path, false), *whole = other_case(set->arena, path, true);
    if (last != NULL)
        ask_spelling(set, last, path);
    if (whole != NULL)
        ask_spelling(set, whole, path);
}

/* The other spellings that some file system takes for the same name. */
static void ask_spellings(struct query_set *set, const char *path)
{
    ask_cases(set, path);
    if (is_ascii(path))
        return;
    const char *forms[] = {other_form(set->arena, path, UTF8PROC_DECOMPOSE),
                           other_form(set->arena, path, UTF8PROC_COMPOSE)};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i] == NULL)
            continue;
        ask_path(set, forms[i]);
        ask_cases(set, forms[i]);
    }
    /* The last name in one form and those above it in the other. */
    const char *last = strrchr(path, '/');
    if (last == NULL || last == path)
        return;
    for (int i = 0; i < 2; i++) {
        utf8proc_option_t form = i == 0 ? UTF8PROC_DECOMPOSE : UTF8PROC_COMPOSE;
        utf8proc_option_t other = i == 0 ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
        const char *above = arena_copy(set->arena, path, (size_t)(last - path));
        const char *changed = other_form(set->arena, above, form),
                   *name = other_form(set->arena, last, other);
        ask_path(set, arena_join(set->arena, changed != NULL ? changed : above, name != NULL ? name : last));
    }
}

static const char *parent_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return NULL;
    if (slash == path)
        return path[1] != '\0' ? "/" : NULL;
    return arena_copy(arena, path, (size_t)(slash - path));
}

void queries_add_path(struct query_set *set, const char *path)
{
    struct arena *arena = set->arena;
    const char *parent = parent_of(arena, path);
    const char *below = strcmp(path, "/") == 0 ? "" : path;
    ask_path(set, path);
    ask_path(set, arena_format(arena, "%s/below", below));
    ask_path(set, arena_format(arena, "%s/below/it", below));
    ask_spellings(set, path);
    if (parent == NULL)
        return;
    ask_path(set, parent);
    ask_path(set, arena_format(arena, "%s/beside", strcmp(parent, "/") == 0 ? "" : parent));
    ask_path(set, arena_format(arena, "%s-longer", path));
    /* One byte less, where a name and whole characters remain. */
    size_t length = strlen(path), name = length - strlen(strrchr(path, '/')) + 1;
    if (length > name + 1 && (unsigned char)path[length - 1] < 0x80)
        ask_path(set, arena_copy(arena, path, length - 1));
}

/* --- patterns ------------------------------------------------------------------------------------------- */

/* How the signs of a pattern are filled in. */
struct filling {
    const char *run;       /* for a star */
    const char *character; /* for a question mark */
    const char *between;   /* for two stars and their slash */
    bool outside;          /* a set: a character that it does not hold */
};

/* The end of the set that starts at `set` ("[a-z]"), behind its bracket. */
static const char *set_end(const char *set)
{
    const char *at = set + 1;
    while (*at != '\0' && *at != ']')
        at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == ']' ? at + 1 : at;
}

static bool set_holds(const char *set, const char *end, char byte)
{
    bool negated = set[1] == '!', holds = false;
    const char *at = set + (negated ? 2 : 1);
    while (at < end - 1) {
        char low = *at == '\\' ? at[1] : *at, high = low;
        at += *at == '\\' ? 2 : 1;
        if (at < end - 2 && *at == '-') {
            high = at[1] == '\\' ? at[2] : at[1];
            at += at[1] == '\\' ? 3 : 2;
        }
        holds = holds ||
                ((unsigned char)byte >= (unsigned char)low && (unsigned char)byte <= (unsigned char)high);
    }
    return holds != negated;
}

/* A character that the set holds, or one that it does not. */
static char set_member(const char *set, const char *end, bool outside)
{
    for (char byte = '!'; byte < 127; byte++)
        if (byte != '/' && set_holds(set, end, byte) != outside)
            return byte;
    return 'x';
}

static const char *fill_pattern(struct arena *arena, const char *pattern, const struct filling *filling)
{
    struct buffer out = buffer_in(arena);
    for (const char *at = pattern; *at != '\0';) {
        bool starts = at == pattern || at[-1] == '/';
        if (starts && strncmp(at, "**", 2) == 0) {
            buffer_string(&out, at[2] == '\0' ? "below" : filling->between);
            at += at[2] == '/' ? 3 : 2;
        } else if (*at == '*') {
            buffer_string(&out, filling->run);
            at++;
        } else if (*at == '?') {
            buffer_string(&out, filling->character);
            at++;
        } else if (*at == '[') {
            buffer_byte(&out, set_member(at, set_end(at), filling->outside));
            at = set_end(at);
        } else {
            at += at[0] == '\\' && at[1] != '\0' ? 1 : 0;
            buffer_byte(&out, *at++);
        }
    }
    return out.length > 0 ? out.bytes : "";
}

void queries_add_pattern(struct query_set *set, const char *pattern)
{
    static const struct filling fillings[] = {
        {"", "q", "", false},
        {"run", "q", "", false},
        {"r.u n", "\xc3\xa9", "a/", false},
        {"\xc3\xa9", "Q", "a/b/", false},
        {"*", "?", "$^/", false},
        {"run", "q", "a/", true},
        {"r/un", "q", "", false},   /* misses from here on: a slash where none may be, */
        {"run", "", "a/", false},   /* no character where one must be, */
        {"run", "qq", "a/", false}, /* two of them, */
        {"run", "q", "a", false},   /* and a name that runs on */
    };
    struct arena *arena = set->arena;
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) {
        const char *path = fill_pattern(arena, pattern, &fillings[i]);
        if (i == 1)
            queries_add_path(set, path);
        ask_path(set, path);
        ask_path(set, arena_format(arena, "%s/below", path));
        ask_path(set, arena_format(arena, "%sx", path));
        ask_spellings(set, path);
    }
    queries_add_path(set, pattern_plain(arena, pattern, pattern_fixed_prefix(pattern)));
}

void queries_add_excepted(struct query_set *set, const char *pattern, const char *directory)
{
    static const struct filling filling = {"run", "q", "", false};
    struct arena *arena = set->arena;
    const char *match = fill_pattern(arena, pattern, &filling), *slash = strrchr(match, '/');
    const char *parent = parent_of(arena, directory);
    if (slash == NULL)
        return;
    ask_path(set, arena_format(arena, "%s%s", directory, slash));
    ask_path(set, arena_format(arena, "%s/below%s", directory, slash));
    ask_path(set, arena_format(arena, "%s-longer%s", directory, slash));
    if (parent != NULL)
        ask_path(set, arena_format(arena, "%s%s", strcmp(parent, "/") == 0 ? "" : parent, slash));
}

/* --- connections ---------------------------------------------------------------------------------------- */

static void ask_endpoint(struct query_set *set, const char *name, const uint8_t *address, uint32_t port,
                         uint8_t protocol)
{
    struct endpoint *endpoint = arena_alloc(set->arena, sizeof *endpoint);
    if (port < 1 || port > UINT16_MAX)
        return;
    *endpoint = (struct endpoint){.name = name, .port = (uint16_t)port, .protocol = protocol};
    if (address != NULL) {
        memcpy(endpoint->address, address, sizeof endpoint->address);
        endpoint->has_address = true;
    }
    const char *text = name != NULL ? name : "";
    queries_add(set, (struct query){
                         .kind = QUERY_CONNECT, .name = text, .length = strlen(text), .endpoint = endpoint});
    if (address != NULL)
        queries_add(set, (struct query){.kind = QUERY_LISTEN, .name = "", .endpoint = endpoint});
}

/* An address of each class that network rules tell apart. */
static const char *const sample_addresses[] = {
    "127.0.0.1",   "::1",        "127.0.0.2",   "0.0.0.0",   "::",          "10.0.0.1", "172.16.0.1",
    "192.168.1.1", "100.64.0.1", "169.254.1.1", "fd00::1",   "fe80::1",     "8.8.8.8",  "2606:4700::1111",
    "224.0.0.1",   "ff02::1",    "192.0.2.1",   "240.0.0.1", "2001:db8::1",
};

static void sample_address(size_t index, uint8_t address[16])
{
    uint8_t four[4];
    memset(address, 0, 16);
    if (inet_pton(AF_INET, sample_addresses[index], four) == 1) {
        address[10] = address[11] = 0xff;
        memcpy(address + 12, four, sizeof four);
    } else {
        inet_pton(AF_INET6, sample_addresses[index], address);
    }
}

static void ask_everywhere(struct query_set *set, uint32_t port)
{
    for (size_t i = 0; i < sizeof sample_addresses / sizeof *sample_addresses; i++) {
        uint8_t address[16];
        sample_address(i, address);
        ask_endpoint(set, NULL, address, port, PROTOCOL_BIT_TCP);
        ask_endpoint(set, NULL, address, port, PROTOCOL_BIT_UDP);
    }
    ask_endpoint(set, "localhost", NULL, port, PROTOCOL_BIT_TCP);
    ask_endpoint(set, "host.example", NULL, port, PROTOCOL_BIT_TCP);
}

void queries_add_ports(struct query_set *set, struct port_range range)
{
    ask_everywhere(set, range.low - 1U);
    ask_everywhere(set, range.low);
    ask_everywhere(set, range.high);
    ask_everywhere(set, range.high + 1U);
}

/* The address before or behind, as a number of 128 bits. */
static void step_address(uint8_t address[16], int step)
{
    for (int i = 15; i >= 0; i--) {
        address[i] = (uint8_t)(address[i] + step);
        if (address[i] != (step > 0 ? 0x00 : 0xff))
            return;
    }
}

void queries_add_block(struct query_set *set, const uint8_t address[16], uint8_t prefix, uint16_t port)
{
    uint8_t edges[4][16];
    memcpy(edges[0], address, 16);
    memcpy(edges[1], address, 16);
    for (int bit = prefix; bit < 128; bit++)
        edges[1][bit / 8] = (uint8_t)(edges[1][bit / 8] | 0x80 >> bit % 8);
    memcpy(edges[2], edges[0], 16);
    memcpy(edges[3], edges[1], 16);
    step_address(edges[2], -1);
    step_address(edges[3], 1);
    for (int i = 0; i < 4; i++) {
        ask_endpoint(set, NULL, edges[i], port, PROTOCOL_BIT_TCP);
        ask_endpoint(set, NULL, edges[i], port, PROTOCOL_BIT_UDP);
    }
}

void queries_add_host(struct query_set *set, const char *host, uint16_t port)
{
    struct arena *arena = set->arena;
    const char *apex = strncmp(host, "*.", 2) == 0 ? host + 2 : strcmp(host, "*") == 0 ? "example" : host;
    const char *names[] = {apex, arena_format(arena, "sub.%s", apex), arena_format(arena, "a.b.%s", apex),
                           arena_format(arena, "x%s", apex), arena_format(arena, "%s.x", apex)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ask_endpoint(set, names[i], NULL, port, PROTOCOL_BIT_TCP);
    ask_endpoint(set, names[0], NULL, port, PROTOCOL_BIT_UDP);
    ask_endpoint(set, names[0], NULL, port + 1U, PROTOCOL_BIT_TCP);
    ask_endpoint(set, names[0], NULL, port - 1U, PROTOCOL_BIT_TCP);
}
