#include "policy/prove.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/fold.h"
#include "policy/pattern.h"
#include "policy/prove_table.h"
#include "policy/question.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

/* Here a layer is decided from a table of whole paths, looked up for every ancestor of the asked path;
 * nothing is shared with the tries but the matching of a single pattern. */

/* Spaces of the table. Every layer's facts hang on the paths of SPACE_PATHS; paths that were folded for that stand in
 * SPACE_WRITTEN as they were; what is an exception stands in a space for each list. */
enum { SPACE_PATHS, SPACE_WRITTEN, SPACE_EXCEPT };

enum fact_bit {
    FACT_LIMIT_READ = 1,
    FACT_LIMIT_WRITE = 2,
    FACT_LIMIT_SOCKET = 4,
    FACT_GRANT_SOCKET = 8,
    FACT_NO_EXEC = 16,
    FACT_NO_SOCKET = 32,
    FACT_EXCEPT = 64
};

/* What one layer says at one path. */
struct fact {
    uint32_t side, next; /* next: the fact of another side at the same path, + 1 */
    bool configured, automatic;
    enum level configured_level, automatic_level, taken; /* taken: WRITE minus the cap */
    unsigned bits;
    uint32_t first_condition; /* + 1 */
};

/* A deny that holds only where its pattern and exceptions say so, or a pattern of an exception. */
struct condition {
    const struct bound_rule *rule;
    const struct pattern *pattern;
    uint32_t except_space, next; /* PROVE_NONE: no exceptions */
};

struct ancestors {
    const char *path;
    size_t length;
    uint32_t count;
    struct {
        uint64_t hash;
        uint32_t end, first_fact; /* first_fact: + 1, 0 where no layer says anything */
    } * items;
    uint32_t capacity;
};

/* Where decisions are compared. */
struct place {
    const char *path;
    uint32_t node; /* of SPACE_PATHS, or PROVE_NONE where it is not known */
};

struct prover {
    struct arena *arena;
    const struct bound_policy *bound;
    struct prove_table *table;
    struct {
        struct fact *items;
        uint32_t count, capacity;
    } facts;
    struct {
        struct condition *items;
        uint32_t count, capacity;
    } conditions;
    struct {
        struct place *items;
        uint32_t count, capacity;
    } places;
    struct question *question; /* what the index is asked */
    struct {
        uint32_t *items; /* of each path in the table: its first fact, + 1 */
        uint32_t count, capacity;
    } nodes;
    unsigned *limits; /* of each layer: which lists it has, as FACT_LIMIT_ bits */
    uint32_t spaces, last_except_space;
    const struct bound_path *last_except;
    bool folds, execs, sockets;
    struct ancestors exact, folded;
    char *buffer;
    struct buffer below; /* a name below the place that is compared */
};

/* What opens and what closes in each layer. */
static uint32_t open_side(uint32_t layer)
{
    return 2 * layer;
}

static uint32_t close_side(uint32_t layer)
{
    return 2 * layer + 1;
}

/* ---- collecting ---- */

static size_t plain_length(const char *path)
{
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/' ? length - 1 : length;
}

/* How many of the ancestors that stand in `ancestors` are also those of `path`, itself among them. */
static uint32_t shared_ancestors(const struct ancestors *ancestors, const char *path, size_t length)
{
    size_t shorter = length < ancestors->length ? length : ancestors->length, same = 0;
    uint32_t count = 0;
    while (same < shorter && path[same] == ancestors->path[same])
        same++;
    while (count < ancestors->count) {
        size_t end = ancestors->items[count].end;
        if (end > same || (end < length && path[end] != '/'))
            break;
        count++;
    }
    return count;
}

/* Puts the ancestors of `path` in place of those of another one, whose bytes are still there. Returns how many
 * both share; they stay as they are. */
static uint32_t cut_ancestors(struct prover *prover, struct ancestors *ancestors, const char *path,
                              size_t length)
{
    uint32_t shared = shared_ancestors(ancestors, path, length);
    uint64_t hash = shared > 0 ? ancestors->items[shared - 1].hash : prove_hash_start();
    ancestors->path = path;
    ancestors->length = length;
    ancestors->count = shared;
    for (size_t at = shared > 0 ? ancestors->items[shared - 1].end + 1 : 0; at <= length; at++) {
        const char *slash = memchr(path + at, '/', length - at);
        size_t end = slash != NULL ? (size_t)(slash - path) : length;
        hash = prove_hash_add(hash, path + at, end - at);
        at = end;
        VECTOR_RESERVE(prover->arena, ancestors, (size_t)ancestors->count + 1);
        ancestors->items[ancestors->count].hash = hash;
        ancestors->items[ancestors->count++].end = (uint32_t)end;
    }
    return shared;
}

/* The node of a path. A path that is new is a place to compare at. */
static uint32_t node_at(struct prover *prover, uint32_t space, const char *path)
{
    size_t length = plain_length(path);
    struct ancestors *own = &prover->exact;
    cut_ancestors(prover, own, path, length);
    uint32_t node = prove_table_put(prover->table, space, path, length, own->items[own->count - 1].hash);
    if (prover->nodes.count > node)
        return node;
    VECTOR_PUSH(prover->arena, &prover->nodes, 0);
    VECTOR_PUSH(prover->arena, &prover->places,
                ((struct place){path, space == SPACE_PATHS ? node : PROVE_NONE}));
    return node;
}

static const char *folded(struct prover *prover, const char *path)
{
    ptrdiff_t size = fold_text(path, strlen(path), prover->buffer, FOLD_CAPACITY);
    return size == FOLD_TOO_LONG ? path : arena_copy(prover->arena, prover->buffer, (size_t)size);
}

static struct fact *fact_at(struct prover *prover, uint32_t node, uint32_t side)
{
    for (uint32_t i = prover->nodes.items[node]; i != 0; i = prover->facts.items[i - 1].next)
        if (prover->facts.items[i - 1].side == side)
            return &prover->facts.items[i - 1];
    VECTOR_PUSH(prover->arena, &prover->facts,
                (struct fact){.side = side, .next = prover->nodes.items[node]});
    prover->nodes.items[node] = prover->facts.count;
    return &prover->facts.items[prover->facts.count - 1];
}

/* The path that a rule hangs on: its own, or a pattern's fixed prefix. */
static const char *place_of(struct prover *prover, const struct bound_path *at)
{
    return at->pattern ? pattern_plain(prover->arena, at->path, pattern_fixed_prefix(at->path)) : at->path;
}

static void add_condition(struct prover *prover, struct fact *fact, struct condition condition)
{
    condition.next = fact->first_condition;
    VECTOR_PUSH(prover->arena, &prover->conditions, condition);
    fact->first_condition = prover->conditions.count;
}

/* The space of a rule's exceptions; rules of one statement share their list and come one after the other. */
static uint32_t except_space(struct prover *prover, const struct bound_rule *rule)
{
    if (rule->except_count == 0)
        return PROVE_NONE;
    if (rule->except == prover->last_except)
        return prover->last_except_space;
    prover->last_except = rule->except;
    prover->last_except_space = prover->spaces++;
    for (uint32_t i = 0; i < rule->except_count; i++) {
        const char *place = place_of(prover, &rule->except[i]);
        struct fact *fact = fact_at(prover, node_at(prover, prover->last_except_space, place), 0);
        if (rule->except[i].pattern)
            add_condition(
                prover, fact,
                (struct condition){.pattern = pattern_compile(prover->arena, rule->except[i].path, false)});
        else
            fact->bits |= FACT_EXCEPT;
    }
    return prover->last_except_space;
}

static void close_with(struct fact *fact, const struct bound_rule *rule)
{
    enum level cap = rule->holds_as_deny_write ? LEVEL_READ : rule->rule->level;
    if (rule->rule->kind == RULE_DENY_EXEC)
        fact->bits |= FACT_NO_EXEC;
    else if (rule->rule->kind == RULE_DENY_SOCKET)
        fact->bits |= FACT_NO_SOCKET;
    else if (LEVEL_WRITE - cap > fact->taken)
        fact->taken = LEVEL_WRITE - cap;
}

static void add_close(struct prover *prover, const struct bound_rule *rule)
{
    uint32_t except = except_space(prover, rule);
    const char *place = place_of(prover, &rule->at);
    uint32_t node = node_at(prover, SPACE_PATHS, prover->folds ? folded(prover, place) : place);
    struct fact *fact = fact_at(prover, node, close_side(rule->rule->layer));
    prover->execs = prover->execs || rule->rule->kind == RULE_DENY_EXEC;
    if (!rule->at.pattern && rule->except_count == 0) {
        close_with(fact, rule);
        return;
    }
    struct condition condition = {.rule = rule, .except_space = except};
    if (rule->at.pattern)
        condition.pattern = pattern_compile(prover->arena, rule->at.path, prover->folds);
    add_condition(prover, fact, condition);
}

static void add_open(struct prover *prover, const struct bound_rule *rule)
{
    struct fact *fact =
        fact_at(prover, node_at(prover, SPACE_PATHS, rule->at.path), open_side(rule->rule->layer));
    enum level level = rule->rule->level;
    if (rule->rule->kind == RULE_LIMIT_READ)
        fact->bits |= FACT_LIMIT_READ;
    else if (rule->rule->kind == RULE_LIMIT_WRITE)
        fact->bits |= FACT_LIMIT_WRITE;
    else if (rule->rule->kind == RULE_LIMIT_SOCKET)
        fact->bits |= FACT_LIMIT_SOCKET;
    else if (rule->rule->kind == RULE_GRANT_SOCKET) {
        fact->bits |= FACT_GRANT_SOCKET;
        prover->sockets = true;
    } else if (rule->rule->automatic) {
        fact->automatic_level =
            fact->automatic && fact->automatic_level > level ? fact->automatic_level : level;
        fact->automatic = true;
    } else {
        fact->configured_level =
            fact->configured && fact->configured_level < level ? fact->configured_level : level;
        fact->configured = true;
    }
}

static unsigned limit_bit(enum rule_kind kind)
{
    return kind == RULE_LIMIT_READ     ? FACT_LIMIT_READ
           : kind == RULE_LIMIT_WRITE  ? FACT_LIMIT_WRITE
           : kind == RULE_LIMIT_SOCKET ? FACT_LIMIT_SOCKET
                                       : 0;
}

static void add_rule(struct prover *prover, const struct bound_rule *rule)
{
    enum rule_kind kind = rule->rule->kind;
    bool denies = kind == RULE_DENY || kind == RULE_DENY_EXEC || kind == RULE_DENY_SOCKET;
    prover->limits[rule->rule->layer] |= limit_bit(kind);
    if (rule->dropped || rule->at.path == NULL || kind == RULE_EXPECT)
        return;
    if (denies || rule->holds_as_deny_write)
        add_close(prover, rule);
    else
        add_open(prover, rule);
    /* A folded path is not the one that was written, and is compared too: once, however many patterns begin there. */
    if (prover->folds)
        (void)node_at(prover, SPACE_WRITTEN, place_of(prover, &rule->at));
}

/* ---- deciding one layer ---- */

/* Finds what is said at `path` and its ancestors. `node`: that of `path` itself, if it is known. */
static void find_ancestors(struct prover *prover, struct ancestors *ancestors, const char *path,
                           size_t length, uint32_t node)
{
    for (uint32_t i = cut_ancestors(prover, ancestors, path, length); i < ancestors->count; i++) {
        uint32_t at = node, end = ancestors->items[i].end;
        if (node == PROVE_NONE || end != length)
            at = prove_table_get(prover->table, SPACE_PATHS, path, end, ancestors->items[i].hash);
        ancestors->items[i].first_fact = at == PROVE_NONE ? 0 : prover->nodes.items[at];
    }
}

static const struct fact *fact_of(const struct prover *prover, uint32_t side,
                                  const struct ancestors *ancestors, uint32_t at)
{
    for (uint32_t i = ancestors->items[at].first_fact; i != 0; i = prover->facts.items[i - 1].next)
        if (prover->facts.items[i - 1].side == side)
            return &prover->facts.items[i - 1];
    return NULL;
}

static bool is_excepted(const struct prover *prover, uint32_t space)
{
    const struct ancestors *exact = &prover->exact;
    for (uint32_t i = 0; i < exact->count; i++) {
        uint32_t node =
            prove_table_get(prover->table, space, exact->path, exact->items[i].end, exact->items[i].hash);
        if (node == PROVE_NONE)
            continue;
        const struct fact *fact = &prover->facts.items[prover->nodes.items[node] - 1];
        if ((fact->bits & FACT_EXCEPT) != 0)
            return true;
        for (uint32_t at = fact->first_condition; at != 0; at = prover->conditions.items[at - 1].next)
            if (pattern_covers(prover->conditions.items[at - 1].pattern, exact->path, exact->length))
                return true;
    }
    return false;
}

static bool holds(const struct prover *prover, const struct condition *condition)
{
    const struct ancestors *exact = &prover->exact;
    return (condition->pattern == NULL || pattern_covers(condition->pattern, exact->path, exact->length)) &&
           (condition->except_space == PROVE_NONE || !is_excepted(prover, condition->except_space));
}

/* Everything that one layer says about the asked path, as one fact. */
static struct fact layer_says(const struct prover *prover, uint32_t layer)
{
    const struct ancestors *close = prover->folds ? &prover->folded : &prover->exact;
    struct fact said = {0};
    for (uint32_t i = 0; i < prover->exact.count; i++) {
        const struct fact *fact = fact_of(prover, open_side(layer), &prover->exact, i);
        if (fact == NULL)
            continue;
        said.bits |= fact->bits;
        if (fact->configured) {
            said.configured = true;
            said.configured_level = fact->configured_level;
        }
        if (fact->automatic && (!said.automatic || fact->automatic_level > said.automatic_level)) {
            said.automatic = true;
            said.automatic_level = fact->automatic_level;
        }
    }
    for (uint32_t i = 0; i < close->count; i++) {
        const struct fact *fact = fact_of(prover, close_side(layer), close, i);
        if (fact == NULL)
            continue;
        said.bits |= fact->bits;
        said.taken = fact->taken > said.taken ? fact->taken : said.taken;
        for (uint32_t at = fact->first_condition; at != 0; at = prover->conditions.items[at - 1].next)
            if (holds(prover, &prover->conditions.items[at - 1]))
                close_with(&said, prover->conditions.items[at - 1].rule);
    }
    return said;
}

static bool is_managed(const struct prover *prover, uint32_t layer)
{
    return prover->bound->policy->layers[layer].kind == LAYER_MANAGED;
}

static enum level level_of(const struct prover *prover, uint32_t layer, const struct fact *said)
{
    enum level cap = LEVEL_WRITE - said->taken, opened = LEVEL_NONE;
    if (is_managed(prover, layer)) {
        bool writes = (said->bits & FACT_LIMIT_WRITE) != 0;
        bool reads = writes || (said->bits & FACT_LIMIT_READ) != 0;
        opened = LEVEL_WRITE;
        if ((prover->limits[layer] & FACT_LIMIT_WRITE) != 0 && !writes)
            opened = LEVEL_READ;
        if ((prover->limits[layer] & FACT_LIMIT_READ) != 0 && !reads)
            opened = LEVEL_NONE;
    } else if (said->configured) {
        opened = said->configured_level;
    } else if (said->automatic) {
        opened = said->automatic_level;
    }
    return opened < cap ? opened : cap;
}

static bool leaves_socket(const struct prover *prover, uint32_t layer, const struct fact *said)
{
    if ((said->bits & FACT_NO_SOCKET) != 0 || said->taken > 0)
        return false;
    if (!is_managed(prover, layer))
        return (said->bits & FACT_GRANT_SOCKET) != 0;
    unsigned lists = prover->limits[layer] & (FACT_LIMIT_WRITE | FACT_LIMIT_SOCKET);
    return (said->bits & lists) == lists;
}

/* ---- comparing ---- */

static const char *too_much(const struct prover *prover, uint32_t layer, const char *what)
{
    return arena_format(prover->arena, "%s at %s is more than layer \"%s\" allows", what,
                        escape_text(prover->arena, prover->exact.path, prover->exact.length),
                        prover->bound->policy->layers[layer].name);
}

static const char *compare_at(struct prover *prover, const char *path, size_t length, uint32_t node)
{
    static const char *const levels[] = {"level none", "level read", "level write"};
    struct question *question = prover->question;
    index_ask_next(prover->bound->index, path, length, question);
    enum level level = question_level(prover->bound, question);
    bool exec = prover->execs && question_exec(prover->bound, question);
    bool socket = prover->sockets && question_socket(prover->bound, question);
    if (level == LEVEL_NONE && !exec && !socket)
        return NULL;
    find_ancestors(prover, &prover->exact, path, length, node);
    if (prover->folds) {
        ptrdiff_t size = fold_text(path, length, prover->buffer, FOLD_CAPACITY);
        if (size == FOLD_TOO_LONG)
            return too_much(prover, 0, levels[level]);
        prover->folded.count = 0;
        find_ancestors(prover, &prover->folded, prover->buffer, (size_t)size, PROVE_NONE);
    }
    for (uint32_t layer = 0; layer < prover->bound->policy->layer_count; layer++) {
        struct fact said = layer_says(prover, layer);
        enum level alone = level_of(prover, layer, &said);
        if (level > alone)
            return too_much(prover, layer, levels[level]);
        if (exec && (alone < LEVEL_READ || (said.bits & FACT_NO_EXEC) != 0))
            return too_much(prover, layer, "execution");
        if (socket && !leaves_socket(prover, layer, &said))
            return too_much(prover, layer, "the socket");
    }
    return NULL;
}

/* The place itself, and a name below it that no rule is likely to have. */
static const char *compare_around(struct prover *prover, const struct place *place)
{
    static const char child[] = "/new name";
    size_t length = plain_length(place->path);
    const char *wrong = compare_at(prover, place->path, length == 0 ? 1 : length, place->node);
    if (wrong != NULL)
        return wrong;
    prover->below.length = 0;
    buffer_bytes(&prover->below, place->path, length);
    buffer_string(&prover->below, child);
    wrong = compare_at(prover, prover->below.bytes, prover->below.length, PROVE_NONE);
    if (prover->exact.path == prover->below.bytes) {
        /* The buffer will hold another name. */
        prover->exact.path = place->path;
        prover->exact.length = length;
        prover->exact.count--;
    }
    return wrong;
}

/* What is wrong at the places from `from` on before `to`. Everything that was collected is only read; scratch memory
 * comes from `arena`. */
static const char *compare_range(const struct prover *collected, struct arena *arena, uint32_t from,
                                 uint32_t to)
{
    struct question question;
    struct prover prover = *collected;
    const char *wrong = NULL;
    prover.arena = arena;
    prover.question = &question;
    prover.exact = prover.folded = (struct ancestors){0};
    prover.buffer = arena_alloc(arena, FOLD_CAPACITY);
    prover.below = buffer_in(arena);
    index_ask(prover.bound->index, "", 0, &question);
    for (uint32_t i = from; i < to && wrong == NULL; i++)
        wrong = compare_around(&prover, &prover.places.items[i]);
    return wrong;
}

/* ---- two halves at a time ---- */

/* From so many places on starting a thread costs little beside what it saves. */
enum { PLACES_FOR_TWO = 20000 };

struct half {
    const struct prover *collected;
    struct arena *arena; /* of its own, for an arena is one thread's; NULL: out of memory */
    uint32_t from, to;
    const char *wrong;
    bool exhausted;
};

/* Memory that runs out here must not end the other half's job, which still reads what was collected. */
static void *compare_half(void *argument)
{
    struct half *half = argument;
    jmp_buf exhausted;
    half->exhausted = true;
    if (half->arena == NULL || setjmp(exhausted) != 0)
        return NULL;
    arena_on_exhausted(half->arena, &exhausted);
    half->wrong = compare_range(half->collected, half->arena, half->from, half->to);
    half->exhausted = false;
    return NULL;
}

static const char *compare_in_halves(const struct prover *collected)
{
    uint32_t count = collected->places.count, middle = count / 2;
    struct half first = {.collected = collected, .arena = arena_create(0), .from = 0, .to = middle};
    struct half second = {.collected = collected, .arena = arena_create(0), .from = middle, .to = count};
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, compare_half, &second) == 0;
    compare_half(&first);
    if (beside)
        pthread_join(thread, NULL);
    else
        compare_half(&second);

    bool exhausted = first.exhausted || second.exhausted;
    const char *wrong = first.wrong != NULL ? first.wrong : second.wrong;
    if (wrong != NULL && !exhausted)
        wrong = arena_strdup(collected->arena, wrong);
    arena_destroy(first.arena);
    arena_destroy(second.arena);
    if (exhausted)
        (void)arena_alloc(collected->arena, SIZE_MAX); /* counts as out of memory */
    return wrong;
}

const char *prove_paths(struct arena *arena, const struct bound_policy *bound)
{
    struct prover prover = {
        .arena = arena,
        .bound = bound,
        .table = prove_table_create(arena, bound->rules.count),
        .limits = arena_array(arena, bound->policy->layer_count, sizeof *prover.limits),
        .spaces = SPACE_EXCEPT,
        .folds = bound->bindings.system != SYSTEM_LINUX,
        .buffer = arena_alloc(arena, FOLD_CAPACITY),
    };
    for (uint32_t i = 0; i < bound->rules.count; i++)
        add_rule(&prover, &bound->rules.items[i]);
    return prover.places.count < PLACES_FOR_TWO ? compare_range(&prover, arena, 0, prover.places.count)
                                                : compare_in_halves(&prover);
}
