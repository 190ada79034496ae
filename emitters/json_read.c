#include "emitters/json_read.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/json_place.h"

#include <inttypes.h>
#include <string.h>

/* --- text ----------------------------------------------------------------------------------------------- */

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* A path's bytes: where the entry says "raw", a backslash is doubled and \xHH is a byte. */
static const char *path_bytes(struct arena *arena, const char *text, bool raw)
{
    struct buffer out = buffer_in(arena);
    if (text == NULL || !raw)
        return text != NULL ? arena_strdup(arena, text) : NULL;
    while (*text != '\0') {
        unsigned byte = 0;
        if (text[0] == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
            buffer_byte(&out, (char)byte);
            text += 4;
        } else {
            text += text[0] == '\\' && text[1] == '\\' ? 1 : 0;
            buffer_byte(&out, *text++);
        }
    }
    return out.length > 0 ? out.bytes : "";
}

/* The line of each entry of the lists "paths" and "rules", in their order: where its brace opens. */
struct entry_lines {
    uint32_t *items;
    uint32_t count, capacity;
};

static void find_lines(struct arena *arena, const char *text, size_t length, struct entry_lines *paths,
                       struct entry_lines *rules)
{
    struct entry_lines *list = NULL;
    size_t start = 0;
    uint32_t line = 1, depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        line += text[i] == '\n';
        if (quoted) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                quoted = false;
            if (!quoted && depth == 1)
                list = i - start == 5 && memcmp(text + start, "paths", 5) == 0   ? paths
                       : i - start == 5 && memcmp(text + start, "rules", 5) == 0 ? rules
                                                                                 : NULL;
            continue;
        }
        if (text[i] == '"') {
            quoted = true;
            start = i + 1;
        } else if (text[i] == '{' || text[i] == '[') {
            if (text[i] == '{' && depth == 2 && list != NULL)
                VECTOR_PUSH(arena, list, line);
            depth++;
        } else if (text[i] == '}' || text[i] == ']') {
            depth--;
        }
    }
}

/* --- reading -------------------------------------------------------------------------------------------- */

static bool level_named(const char *text, enum level *level)
{
    static const char *const names[] = {"none", "read", "write"};
    for (int i = 0; text != NULL && i < 3; i++) {
        if (strcmp(names[i], text) == 0) {
            *level = (enum level)i;
            return true;
        }
    }
    return text == NULL;
}

static bool effect_named(const char *text, enum json_effect *effect)
{
    static const char *const names[JSON_EFFECTS] = {"grant", "deny", "limit", "set", "permit"};
    for (int i = 0; text != NULL && i < JSON_EFFECTS; i++) {
        if (strcmp(names[i], text) == 0) {
            *effect = (enum json_effect)i;
            return true;
        }
    }
    return false;
}

static struct json_place place_of(struct arena *arena, const json_t *object, bool raw)
{
    const char *path = member(object, "path"), *pattern = member(object, "pattern");
    return (struct json_place){path_bytes(arena, path != NULL ? path : pattern, raw), path == NULL};
}

static bool read_rule(struct json_document *document, const json_t *object, struct json_rule *rule)
{
    struct arena *arena = document->arena;
    const json_t *except = json_object_get(object, "except");
    bool raw = json_is_true(json_object_get(object, "raw"));
    json_int_t layer = json_integer_value(json_object_get(object, "layer"));
    struct json_place *places = arena_array(arena, json_array_size(except) + 1, sizeof *places);
    *rule = (struct json_rule){.class = member(object, "class"), .line = rule->line};
    if (!effect_named(member(object, "effect"), &rule->effect) ||
        !level_named(member(object, "level"), &rule->level) || rule->class == NULL || layer < 0 ||
        layer >= document->layer_count)
        return false;
    for (size_t i = 0; i < json_array_size(except); i++) {
        places[i] = place_of(arena, json_array_get(except, i), raw);
        if (places[i].text == NULL)
            return false;
    }
    rule->layer = (uint32_t)layer;
    rule->automatic = json_is_true(json_object_get(object, "auto"));
    rule->nothing = json_is_true(json_object_get(object, "nothing"));
    rule->place = place_of(arena, object, raw);
    rule->except = places;
    rule->except_count = (uint32_t)json_array_size(except);
    rule->name = member(object, "name");
    rule->value = member(object, "value");
    rule->network = object;
    return true;
}

uint32_t json_hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Whether the rule's place is compared with folded names. */
static bool rule_folds(const struct json_document *document, const struct json_rule *rule)
{
    return document->folds && rule->effect == JSON_DENY;
}

/* Where the rule hangs: its path, or the fixed start of its pattern. */
static const char *rule_key(const struct json_document *document, const struct json_rule *rule)
{
    const char *key =
        rule->place.pattern ? json_pattern_start(document->arena, rule->place.text) : rule->place.text;
    size_t length = strlen(key);
    if (length > 1 && key[length - 1] == '/')
        key = arena_copy(document->arena, key, length - 1); /* a drive: C:/ */
    return rule_folds(document, rule) ? json_fold(document->arena, key) : key;
}

static void index_rules(struct json_document *document)
{
    document->slot_count = 64;
    while (document->slot_count < document->rule_count * 2)
        document->slot_count *= 2;
    document->by_exact = arena_array(document->arena, document->slot_count, sizeof *document->by_exact);
    document->by_folded = arena_array(document->arena, document->slot_count, sizeof *document->by_folded);
    for (uint32_t i = 0; i < document->rule_count; i++) {
        struct json_rule *rule = &document->rules[i];
        bool path = strcmp(rule->class, "path") == 0, socket = strcmp(rule->class, "socket") == 0;
        if (rule->effect == JSON_LIMIT && path && rule->level == LEVEL_READ)
            document->limited_read[rule->layer] = true;
        if (rule->effect == JSON_LIMIT && path && rule->level == LEVEL_WRITE)
            document->limited_write[rule->layer] = true;
        if (rule->effect == JSON_LIMIT && socket)
            document->limited_socket[rule->layer] = true;
        if (rule->place.text == NULL)
            continue;
        const char *key = rule_key(document, rule);
        uint32_t *slots = rule_folds(document, rule) ? document->by_folded : document->by_exact;
        uint32_t *slot = &slots[json_hash_text(key, strlen(key)) & (document->slot_count - 1)];
        rule->next = *slot;
        *slot = i + 1;
    }
}

static const char *read_lists(struct json_document *document, const struct read_request *request)
{
    struct arena *arena = document->arena;
    const json_t *rules = json_object_get(document->root, "rules"),
                 *paths = json_object_get(document->root, "paths");
    struct entry_lines path_lines = {0}, rule_lines = {0};
    if (!json_is_array(rules) || !json_is_array(paths))
        return "it has no lists of paths and rules";
    find_lines(arena, request->bytes, request->length, &path_lines, &rule_lines);
    document->rule_count = (uint32_t)json_array_size(rules);
    document->rules = arena_array(arena, document->rule_count + 1U, sizeof *document->rules);
    for (uint32_t i = 0; i < document->rule_count; i++) {
        document->rules[i].line = i < rule_lines.count ? rule_lines.items[i] : 0;
        if (!read_rule(document, json_array_get(rules, i), &document->rules[i]))
            return arena_format(arena, "line %u is not a rule", document->rules[i].line);
    }
    document->listed_count = (uint32_t)json_array_size(paths);
    struct json_listed *listed = arena_array(arena, document->listed_count + 1U, sizeof *listed);
    for (uint32_t i = 0; i < document->listed_count; i++) {
        const json_t *entry = json_array_get(paths, i);
        listed[i] = (struct json_listed){
            path_bytes(arena, member(entry, "path"), json_is_true(json_object_get(entry, "raw"))),
            member(entry, "level"), i < path_lines.count ? path_lines.items[i] : 0};
        if (listed[i].level != NULL)
            listed[i].level = arena_strdup(arena, listed[i].level);
        if (listed[i].path == NULL || listed[i].level == NULL)
            return arena_format(arena, "line %u is not a path with its level", listed[i].line);
    }
    document->listed = listed;
    return NULL;
}

/* --- paths ---------------------------------------------------------------------------------------------- */

/* What the rules of one layer leave at a path. */
struct found {
    const struct json_rule *configured; /* the longest grant without `auto`, of equals the lower */
    const struct json_rule *automatic;  /* the highest with it */
    const struct json_rule *cap, *no_exec, *no_socket, *socket;
    bool in_read, in_write, in_socket; /* what limits name */
};

static bool is_excepted(const struct json_document *document, const struct json_rule *rule,
                        const struct json_path_text *path)
{
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (rule->except[i].pattern ? json_pattern_covers(document->arena, rule->except[i].text, path, false)
                                    : json_is_above(rule->except[i].text, path->exact))
            return true;
    return false;
}

static void apply_deny(const struct json_rule *rule, struct found *found)
{
    if (strcmp(rule->class, "exec") == 0)
        found->no_exec = rule;
    else if (strcmp(rule->class, "socket") == 0)
        found->no_socket = rule;
    else if (found->cap == NULL || rule->level < found->cap->level)
        found->cap = rule;
}

static void apply_grant(const struct json_rule *rule, struct found *found)
{
    if (strcmp(rule->class, "socket") == 0) {
        found->socket = rule;
    } else if (rule->automatic) {
        if (found->automatic == NULL || rule->level > found->automatic->level)
            found->automatic = rule;
    } else {
        size_t length = strlen(rule->place.text);
        size_t best = found->configured != NULL ? strlen(found->configured->place.text) : 0;
        if (found->configured == NULL || length > best ||
            (length == best && rule->level < found->configured->level))
            found->configured = rule;
    }
}

static void apply(const struct json_document *document, const struct json_rule *rule,
                  const struct json_path_text *path, struct found *all)
{
    struct found *found = &all[rule->layer];
    bool covered = rule->place.pattern ? json_pattern_covers(document->arena, rule->place.text, path,
                                                             rule_folds(document, rule))
                                       : true;
    if (!covered || is_excepted(document, rule, path))
        return;
    if (rule->effect == JSON_DENY) {
        apply_deny(rule, found);
    } else if (rule->effect == JSON_GRANT) {
        apply_grant(rule, found);
    } else if (rule->effect == JSON_LIMIT && strcmp(rule->class, "socket") == 0) {
        found->in_socket = true;
    } else if (rule->effect == JSON_LIMIT) {
        found->in_read = true;
        found->in_write = found->in_write || rule->level == LEVEL_WRITE;
    }
}

/* Applies each rule that hangs at one of the directories that lead to the path. */
static void look_along(const struct json_document *document, const uint32_t *slots, const char *key,
                       const struct json_path_text *path, struct found *all)
{
    size_t length = strlen(key);
    for (size_t end = 1; end <= length; end++) {
        if (end < length && key[end] != '/' && !(end == 1 && key[0] == '/'))
            continue;
        for (uint32_t i = slots[json_hash_text(key, end) & (document->slot_count - 1)]; i != 0;) {
            const struct json_rule *rule = &document->rules[i - 1];
            const char *there = rule_key(document, rule);
            if (strlen(there) == end && memcmp(there, key, end) == 0)
                apply(document, rule, path, all);
            i = rule->next;
        }
    }
}

static enum level layer_level(const struct json_document *document, uint32_t layer, const struct found *found,
                              uint32_t *line)
{
    const struct json_rule *grant = found->configured != NULL ? found->configured : found->automatic;
    enum level level = layer > 0 ? LEVEL_WRITE : grant != NULL ? grant->level : LEVEL_NONE;
    *line = layer == 0 && grant != NULL ? grant->line : *line;
    if (document->limited_read[layer] && !found->in_read)
        level = LEVEL_NONE;
    else if (document->limited_write[layer] && !found->in_write && level > LEVEL_READ)
        level = LEVEL_READ;
    if (found->cap != NULL && found->cap->level < level) {
        level = found->cap->level;
        *line = found->cap->line;
    }
    return level;
}

static bool layer_socket(const struct json_document *document, uint32_t layer, const struct found *found,
                         uint32_t *line)
{
    if (layer == 0 && found->socket == NULL)
        return false;
    *line = found->socket != NULL ? found->socket->line : *line;
    if (found->no_socket != NULL || found->cap != NULL) {
        *line = found->no_socket != NULL ? found->no_socket->line : found->cap->line;
        return false;
    }
    return (!document->limited_write[layer] || found->in_write) &&
           (!document->limited_socket[layer] || found->in_socket);
}

static struct reply answer_path(const struct json_document *document, const struct query *query)
{
    struct found *all = arena_array(document->arena, document->layer_count, sizeof *all);
    struct json_path_text path = {query->name,
                                  document->folds ? json_fold(document->arena, query->name) : NULL};
    struct reply reply = {0};
    look_along(document, document->by_exact, path.exact, &path, all);
    if (document->folds)
        look_along(document, document->by_folded, path.folded, &path, all);
    enum level level = LEVEL_WRITE;
    bool exec = true, socket = true;
    for (uint32_t i = 0; i < document->layer_count; i++) {
        uint32_t line = 0;
        enum level own = layer_level(document, i, &all[i], &line);
        if (query->kind == QUERY_SOCKET)
            socket = layer_socket(document, i, &all[i], &line) && socket;
        exec = exec && all[i].no_exec == NULL;
        if (query->kind == QUERY_EXEC && all[i].no_exec != NULL)
            line = all[i].no_exec->line;
        if (reply.line == 0 || own < level)
            reply.line = line;
        level = own < level ? own : level;
    }
    bool allows = query->kind == QUERY_READ    ? level >= LEVEL_READ
                  : query->kind == QUERY_WRITE ? level == LEVEL_WRITE
                  : query->kind == QUERY_EXEC  ? level >= LEVEL_READ && exec
                                               : socket;
    reply.text = allows ? "allow" : "deny";
    return reply;
}

/* --- names and facts ------------------------------------------------------------------------------------ */

/* A name of `class`: granted (or set), not denied, and in each layer's list. */
static struct reply answer_name(const struct json_document *document, const char *class, const char *name)
{
    bool fold = document->windows && strcmp(class, "env") == 0;
    bool *limited = arena_array(document->arena, document->layer_count, sizeof *limited);
    bool *listed = arena_array(document->arena, document->layer_count, sizeof *listed);
    bool granted = false, set = false, denied = false;
    struct reply reply = {0};
    for (uint32_t i = 0; i < document->rule_count; i++) {
        const struct json_rule *rule = &document->rules[i];
        if (strcmp(rule->class, class) != 0)
            continue;
        limited[rule->layer] = limited[rule->layer] || rule->effect == JSON_LIMIT;
        if (rule->name == NULL || rule->nothing || !json_name_matches(rule->name, name, fold))
            continue;
        if (rule->effect == JSON_LIMIT)
            listed[rule->layer] = true;
        else if (rule->effect == JSON_DENY && rule->layer > 0)
            return (struct reply){.text = "deny", .line = rule->line};
        denied = denied || rule->effect == JSON_DENY;
        set = set || rule->effect == JSON_SET;
        granted = granted || rule->effect == JSON_GRANT;
        reply.line = rule->line;
    }
    for (uint32_t i = 0; i < document->layer_count; i++)
        if (limited[i] && !listed[i])
            return (struct reply){.text = "deny"};
    reply.text = set || (granted && !denied) ? "allow" : "deny";
    return reply;
}

static const char *fact_text(const struct json_document *document, const char *fact)
{
    const json_t *object = document->root;
    if (strcmp(fact, "scratch") == 0 || strcmp(fact, "bypass") == 0)
        return json_is_true(json_object_get(object, fact)) ? "allow" : "deny";
    if (strncmp(fact, "limit ", 6) == 0) {
        const json_t *amount = json_object_get(json_object_get(object, "limits"), fact + 6);
        return amount == NULL
                   ? "none"
                   : arena_format(document->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(amount));
    }
    if (strncmp(fact, "set env ", 8) != 0)
        return NULL;
    const char *value = member(json_object_get(object, "set"), fact + 8);
    return value == NULL ? "not set" : arena_format(document->arena, "\"%s\"", value);
}

static struct reply answer_rules(const void *state, const struct query *query)
{
    const struct json_document *document = state;
    switch (query->kind) {
    case QUERY_READ:
    case QUERY_WRITE:
    case QUERY_EXEC:
    case QUERY_SOCKET:
        return answer_path(document, query);
    case QUERY_CONNECT:
        return json_connect(document, query->endpoint);
    case QUERY_LISTEN:
        return json_listen(document, query->endpoint);
    case QUERY_ENV:
        return answer_name(document, "env", query->name);
    case QUERY_SERVICE:
        return answer_name(document, "service", query->name);
    case QUERY_FACT:
        return (struct reply){.text = fact_text(document, query->name)};
    case QUERY_RENAME:
    case QUERY_LISTED:
    case QUERY_SYSCALL:
    case QUERY_KINDS:
        break;
    }
    return (struct reply){0};
}

/* The list of paths: the nearest entry above decides, and it is sorted so that this one is found by its
 * bytes. */
static struct reply answer_listed(const void *state, const struct query *query)
{
    const struct json_document *document = state;
    const struct json_listed *best = NULL;
    for (uint32_t i = 0; i < document->listed_count; i++) {
        const struct json_listed *entry = &document->listed[i];
        if (json_is_above(entry->path, query->name) &&
            (best == NULL || strlen(entry->path) >= strlen(best->path)))
            best = entry;
    }
    struct reply reply = {.text = "none"};
    if (best != NULL)
        reply = (struct reply){.text = best->level, .line = best->line};
    return reply;
}

/* --- the two parts -------------------------------------------------------------------------------------- */

/* Rules that services and links add stand in the list of paths alone. */
static void promise_rules(struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (bound->rules.items[i].because != NULL || bound->rules.items[i].service != NULL)
            bound->rules.items[i].dropped = true;
}

static void list_rules(const void *state, struct query_set *set)
{
    const struct json_document *document = state;
    for (uint32_t i = 0; i < document->rule_count; i++) {
        const struct json_place *place = &document->rules[i].place;
        if (place->text != NULL && place->pattern)
            queries_add_pattern(set, place->text);
        else if (place->text != NULL)
            queries_add_path(set, place->text);
        if (strcmp(document->rules[i].class, "env") == 0 && document->rules[i].name != NULL)
            queries_add_variable(set, document->rules[i].name);
    }
}

static void list_paths(const void *state, struct query_set *set)
{
    const struct json_document *document = state;
    for (uint32_t i = 0; i < document->listed_count; i++)
        queries_add_name(set, QUERY_LISTED, document->listed[i].path);
}

static void close_document(const void *state)
{
    json_decref(((const struct json_document *)state)->root);
}

bool read_json(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct json_document *document = arena_alloc(request->arena, sizeof *document);
    json_error_t problem;
    json_t *root = json_loadb(request->bytes, request->length, JSON_REJECT_DUPLICATES, &problem);
    *document = (struct json_document){.arena = request->arena, .root = root};
    if (root == NULL) {
        *error = arena_format(request->arena, "line %d: %s", problem.line,
                              escape_string(request->arena, problem.text));
        return false;
    }
    const char *system = member(root, "system");
    size_t layers = json_array_size(json_object_get(root, "layers"));
    document->windows = system != NULL && strcmp(system, "windows") == 0;
    document->folds = document->windows || (system != NULL && strcmp(system, "macos") == 0);
    document->layer_count = (uint32_t)layers;
    document->limited_read = arena_array(request->arena, layers + 1, sizeof(bool));
    document->limited_write = arena_array(request->arena, layers + 1, sizeof(bool));
    document->limited_socket = arena_array(request->arena, layers + 1, sizeof(bool));
    *error = read_lists(document, request);
    if (*error != NULL) {
        json_decref(root);
        return false;
    }
    index_rules(document);
    json_index_network(document);
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = document,
                                .kinds = 1U << QUERY_READ | 1U << QUERY_WRITE | 1U << QUERY_EXEC |
                                         1U << QUERY_SOCKET | 1U << QUERY_CONNECT | 1U << QUERY_LISTEN |
                                         1U << QUERY_ENV | 1U << QUERY_SERVICE | 1U << QUERY_FACT,
                                .answer = answer_rules,
                                .list = list_rules,
                                .close = close_document,
                                .promise = promise_rules});
    VECTOR_PUSH(
        request->arena, readers,
        (struct reader){
            .state = document, .kinds = 1U << QUERY_LISTED, .answer = answer_listed, .list = list_paths});
    return true;
}
