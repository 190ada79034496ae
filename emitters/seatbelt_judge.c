/* seatbelt_judge.c - what a Seatbelt profile answers to the questions of verify (reader.h), by the reader
 * of profiles (seatbelt_read.h). */
#include "emitters/seatbelt_judge.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/json_place.h"
#include "emitters/seatbelt_judge_parts.h"

#include <string.h>

/* --- one operation -------------------------------------------------------------------------------------- */

void judge_check(struct check *check, const struct seatbelt_question *question, enum wanted wanted)
{
    static const char *const words[] = {"deny", "allow", "unknown"};
    uint32_t line = 0;
    if (check->failed || wanted == WANT_NOTHING)
        return;
    enum seatbelt_answer answer = seatbelt_decide(check->judge->profile, question, &line);
    if (answer == (wanted == WANT_ALLOW ? SEATBELT_ALLOW : SEATBELT_DENY))
        return;
    check->failed = true;
    check->wanted = wanted;
    check->reply.line = line;
    check->reply.text = arena_format(check->judge->arena, "%s %s%s", words[answer], question->operation,
                                     question->fold_case ? " where case is ignored" : "");
}

enum wanted judge_want(bool allowed)
{
    return allowed ? WANT_ALLOW : WANT_DENY;
}

/* --- paths ---------------------------------------------------------------------------------------- */

static enum wanted wanted_level(const struct seatbelt_said *said, enum level level)
{
    return said->least >= level ? WANT_ALLOW : said->most < level ? WANT_DENY : WANT_NOTHING;
}

static void check_read(struct check *check, struct seatbelt_question *question, const struct place *place,
                       const struct seatbelt_said *said)
{
    static const char *const operations[] = {"file-read-data", "file-read-xattr"};
    static const char *const lookups[] = {"file-read-metadata", "file-test-existence"};
    bool passes = judge_is_leading(check->judge, place->folded) || judge_is_looked_up(place->folded);
    enum wanted wanted = wanted_level(said, LEVEL_READ);
    for (size_t i = 0; i < 2; i++) {
        question->operation = operations[i];
        judge_check(check, question, wanted);
        question->operation = lookups[i];
        judge_check(check, question, passes && wanted == WANT_DENY ? WANT_NOTHING : wanted);
    }
}

static void check_write(struct check *check, struct seatbelt_question *question,
                        const struct seatbelt_said *said, enum wanted moving)
{
    static const char *const operations[] = {"file-write-data",  "file-write-mode",       "file-write-owner",
                                             "file-write-flags", "file-write-times",      "file-write-xattr",
                                             "file-write-acl",   "file-write-finderinfo", "file-link",
                                             "file-clone"};
    enum wanted wanted = wanted_level(said, LEVEL_WRITE);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        question->operation = operations[i];
        judge_check(check, question, wanted);
    }
    if (wanted == WANT_ALLOW)
        wanted = moving == WANT_ALLOW ? WANT_ALLOW : WANT_NOTHING;
    question->operation = "file-write-create";
    judge_check(check, question, wanted);
    question->operation = "file-write-unlink";
    judge_check(check, question, wanted);
    question->operation = "file-write-setugid";
    judge_check(check, question, WANT_DENY);
}

static void check_socket(struct check *check, struct seatbelt_question *question,
                         const struct seatbelt_said *said)
{
    static const char *const operations[] = {"network-outbound", "network-bind", "network-inbound"};
    enum wanted wanted = said->opens ? WANT_ALLOW : said->may_open ? WANT_NOTHING : WANT_DENY;
    question->protocol = SEATBELT_PROTOCOL_UNIX;
    question->vnode = SEATBELT_VNODE_SOCKET;
    question->socket_domain = 1;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        question->operation = operations[i];
        judge_check(check, question, wanted);
    }
}

/* Whether a writable area begins here: whether it may be moved then depends on what is there. */
static bool begins_area(const struct judge *judge, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t above = slash != NULL ? (size_t)(slash - path) : 0;
    return bound_level(judge->bound, path, strlen(path)) == LEVEL_WRITE &&
           (above == 0 || bound_level(judge->bound, path, above) != LEVEL_WRITE);
}

/* What is known of whether the place may be moved, by enum comparing. */
static void find_moving(const struct judge *judge, struct place *place)
{
    const struct query query = {.kind = QUERY_RENAME, .name = place->valued, .length = strlen(place->valued)};
    struct reply reply = policy_answer(judge->answers, &query);
    place->moving[CASE_COUNTS] = place->moving[CASE_IGNORED] = WANT_NOTHING;
    if (!place->alone || reply.text == NULL)
        return;
    if (strcmp(reply.text, "deny") == 0)
        place->moving[CASE_IGNORED] = begins_area(judge, place->valued) ? WANT_NOTHING : WANT_DENY;
    else /* Above what a rule names a profile may hold more still. */
        place->moving[CASE_IGNORED] = judge_is_leading(judge, place->folded) ? WANT_NOTHING : WANT_ALLOW;
    struct reply exact = policy_answer(judge->exact_answers, &query);
    if (exact.text != NULL && strcmp(reply.text, exact.text) == 0)
        place->moving[CASE_COUNTS] = place->moving[CASE_IGNORED];
}

/* The place of `path`; good until the next call. */
static const struct place *place_at(const struct judge *judge, const char *path)
{
    struct place *place = judge->last;
    if (place->path == path)
        return place;
    *place = (struct place){.path = path, .valued = judge_valued_path(judge, path)};
    if (place->valued == NULL)
        return place;
    place->kernel = judge_kernel_path(judge, place->valued);
    place->folded = json_fold(judge->arena, place->kernel);
    seatbelt_says(judge->view, place->valued, place->said);
    place->alone = seatbelt_has_one_name(judge->view, place->valued);
    find_moving(judge, place);
    return place;
}

static enum wanted wanted_exec(const struct seatbelt_said *said)
{
    if (said->most < LEVEL_READ || !said->may_run)
        return WANT_DENY;
    return said->least >= LEVEL_READ && said->runs ? WANT_ALLOW : WANT_NOTHING;
}

/* Asks about `asked`, where what holds is what is said of `place`. */
static void check_path(struct check *check, enum query_kind kind, const struct place *place,
                       const char *asked, enum seatbelt_comparing how)
{
    const struct seatbelt_said *said = &place->said[how];
    bool unsure = said->least < LEVEL_WRITE && said->most == LEVEL_WRITE;
    enum wanted moving = unsure ? WANT_NOTHING : place->moving[how];
    bool fold = how == CASE_IGNORED;
    struct seatbelt_question question = {.path = asked, .fold_case = fold, .vnode = SEATBELT_VNODE_FILE};
    switch (kind) {
    case QUERY_READ:
        check_read(check, &question, place, said);
        break;
    case QUERY_WRITE:
        check_write(check, &question, said, moving);
        break;
    case QUERY_EXEC:
        question.operation = "process-exec*";
        judge_check(check, &question, wanted_exec(said));
        break;
    case QUERY_SOCKET:
        check_socket(check, &question, said);
        break;
    case QUERY_RENAME:
        question.vnode = SEATBELT_VNODE_DIRECTORY;
        question.operation = "file-write-unlink";
        judge_check(check, &question, moving == WANT_DENY ? WANT_DENY : WANT_NOTHING);
        break;
    case QUERY_LISTED:
    case QUERY_CONNECT:
    case QUERY_LISTEN:
    case QUERY_ENV:
    case QUERY_SERVICE:
    case QUERY_SYSCALL:
    case QUERY_FACT:
    case QUERY_KINDS:
        break;
    }
}

/* --- connections ---------------------------------------------------------------------------------- */

/* 0: another host; 1: this machine as Seatbelt knows it; 2: all addresses; 3: an address of this machine
 * that Seatbelt takes for another. */
static int host_kind(const uint8_t address[16])
{
    static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff}, six[15] = {0};
    if (memcmp(address, four, sizeof four) == 0) {
        if (memcmp(address + 12, (const uint8_t[]){127, 0, 0, 1}, 4) == 0)
            return 1;
        if (memcmp(address + 12, (const uint8_t[]){0, 0, 0, 0}, 4) == 0)
            return 2;
        return address[12] == 127 || address[12] == 0 ? 3 : 0;
    }
    if (memcmp(address, six, sizeof six) != 0)
        return 0;
    return address[15] == 1 ? 1 : address[15] == 0 ? 2 : 0;
}

static void check_connection(struct check *check, const struct query *query)
{
    static const enum seatbelt_host hosts[] = {SEATBELT_HOST_OTHER, SEATBELT_HOST_LOOPBACK,
                                               SEATBELT_HOST_UNSPECIFIED, SEATBELT_HOST_OTHER};
    static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};
    const struct judge *judge = check->judge;
    const struct endpoint *endpoint = query->endpoint;
    if (!endpoint->has_address)
        return;
    int kind = host_kind(endpoint->address);
    bool listen = query->kind == QUERY_LISTEN;
    bool allowed = listen ? bound_listen(judge->bound, endpoint)
                          : bound_connect(judge->bound, endpoint) == VERDICT_ALLOW;
    const struct seatbelt_address far = {hosts[kind], endpoint->port}, none = {SEATBELT_HOST_UNSPECIFIED, 0};
    struct seatbelt_question question = {
        .protocol = endpoint->protocol == PROTOCOL_BIT_UDP ? SEATBELT_PROTOCOL_UDP : SEATBELT_PROTOCOL_TCP,
        .version = memcmp(endpoint->address, four, sizeof four) == 0 ? 4 : 6,
        .local = listen ? far : none,
        .remote = listen ? none : far,
        .socket_domain = memcmp(endpoint->address, four, sizeof four) == 0 ? 2 : 30,
        .socket_type = endpoint->protocol == PROTOCOL_BIT_UDP ? 2 : 1,
    };
    enum wanted wanted = judge_want(allowed);
    /* Who may reach a listener on all addresses cannot be said; addresses like 127.0.0.2 stay closed. */
    if ((listen && kind == 2) || (kind == 3 && allowed))
        return;
    question.operation = listen ? "network-bind" : "network-outbound";
    judge_check(check, &question, wanted);
    if (listen) {
        question.operation = "network-inbound";
        judge_check(check, &question, wanted);
    }
}

/* --- both sides ----------------------------------------------------------------------------------- */

static bool is_about_path(const struct query *query)
{
    return query->kind <= QUERY_RENAME;
}

static bool is_left_to_others(const struct judge *judge, const struct place *place, enum query_kind kind)
{
    return place->kernel == NULL || judge_is_of_system(place->folded, kind) ||
           judge_is_of_service(judge, place->folded) || strcmp(place->folded, "/system/volumes/data") == 0 ||
           (kind == QUERY_SOCKET && bound_network_open(judge->bound, NULL) &&
            json_is_above(place->folded, "/private/var/run/mdnsresponder"));
}

/* What the policy wants of the operation that the answer names. */
static struct reply expect_profile(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    if (judge->unmet->query != query)
        return (struct reply){0};
    return (struct reply){.text = judge->unmet->wanted == WANT_ALLOW ? "allow" : "deny"};
}

/* Nothing where every operation is as wanted; else what the first one is that is not. */
static struct reply answer_profile(const void *state, const struct query *query)
{
    const struct judge *judge = state;
    struct check check = {.judge = judge};
    if (is_about_path(query)) {
        const struct place *place = place_at(judge, query->name);
        if (is_left_to_others(judge, place, query->kind))
            return (struct reply){0};
        const char *asked = place->kernel;
        check_path(&check, query->kind, place, asked, CASE_COUNTS);
        /* Where case is ignored, a spelling in another case is the same file. */
        const char *folded = place->folded;
        if (query->plain != NULL)
            place = place_at(judge, query->plain);
        if (strcmp(folded, place->folded) == 0)
            check_path(&check, query->kind, place, asked, CASE_IGNORED);
    } else if (query->kind == QUERY_CONNECT || query->kind == QUERY_LISTEN) {
        check_connection(&check, query);
    } else if (query->kind == QUERY_FACT) {
        judge_check_door(&check, query->name);
    }
    *judge->unmet = (struct unmet){check.failed ? query : NULL, check.wanted};
    return check.reply;
}

/* --- what a profile lists ------------------------------------------------------------------------- */

/* What an expression begins with, up to its first sign; NULL if that is no path. */
static const char *start_of(const struct judge *judge, const char *expression)
{
    struct buffer out = buffer_in(judge->arena);
    const char *at = expression;
    for (at += *at == '^' ? 1 : 0; *at != '\0' && strchr("[(*+?^$|.", *at) == NULL; at++) {
        at += at[0] == '\\' && at[1] != '\0' ? 1 : 0;
        buffer_byte(&out, *at);
    }
    while (out.length > 1 && out.bytes[out.length - 1] == '/')
        out.bytes[--out.length] = '\0';
    return out.length > 0 && out.bytes[0] == '/' ? out.bytes : NULL;
}

struct listing {
    const struct judge *judge;
    struct query_set *set;
};

static void list_one(void *context, const struct seatbelt_listed *listed)
{
    const struct listing *listing = context;
    const struct judge *judge = listing->judge;
    const char *path = listed->text;
    switch (listed->kind) {
    case SEATBELT_LISTED_EXPRESSION:
        path = start_of(judge, path);
        break;
    case SEATBELT_LISTED_PORT:
        queries_add_ports(listing->set, (struct port_range){listed->port, listed->port});
        return;
    case SEATBELT_LISTED_NAME:
        if (listed->allow && listed->name == SEATBELT_NAME_GLOBAL)
            queries_add_name(listing->set, QUERY_FACT, judge_mach_question(judge->arena, listed->text));
        return;
    case SEATBELT_LISTED_PATH:
    case SEATBELT_LISTED_TREE:
    case SEATBELT_LISTED_PREFIX:
        break;
    case SEATBELT_LISTED_NAME_PREFIX:
    case SEATBELT_LISTED_NAME_EXPRESSION:
        return;
    }
    if (path != NULL && path[0] == '/')
        queries_add_path(listing->set, judge_rooted_path(judge, path));
}

static void list_profile(const void *state, struct query_set *set)
{
    struct listing listing = {state, set};
    seatbelt_list(listing.judge->profile, list_one, &listing);
    judge_add_doors(set);
}

/* --- making it ------------------------------------------------------------------------------------ */

/* The policy with a value for every root. */
static const struct bound_policy *bind_with(const struct read_request *request,
                                            const struct bindings *bindings, const char **error)
{
    struct note_list notes = note_list_in(request->arena);
    struct bound_policy *bound = policy_bind(request->arena, request->bound->policy, bindings, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        if (notes.items[i].severity == SEVERITY_ERROR) {
            *error = notes.items[i].text;
            return NULL;
        }
    }
    bound_seal(bound, NULL);
    return bound;
}

bool judge_seatbelt(const struct read_request *request, const struct judge_value *values,
                    uint32_t value_count, struct reader_list *readers, const char **error)
{
    struct judge *judge = arena_alloc(request->arena, sizeof *judge);
    struct seatbelt_parameter parameters[2 * ROOTS + 1];
    struct seatbelt_error problem = {0};
    uint32_t count = 0;
    *judge = (struct judge){.arena = request->arena};
    judge->last = arena_alloc(request->arena, sizeof *judge->last);
    judge->unmet = arena_alloc(request->arena, sizeof *judge->unmet);
    struct bindings bindings = request->bound->bindings;
    for (uint32_t i = 0; i < value_count; i++) {
        enum root root = values[i].root;
        const char *name = root_names[root], **paths = arena_array(request->arena, 1, sizeof *paths);
        paths[0] = values[i].path;
        parameters[count++] = (struct seatbelt_parameter){name, values[i].path};
        parameters[count++] =
            (struct seatbelt_parameter){arena_format(request->arena, "ACCOUNT_%s", name), values[i].path};
        if (bindings.managed_roots[root].state == ROOT_SYMBOLIC)
            bindings.managed_roots[root] =
                (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
        if (bindings.roots[root].state != ROOT_SYMBOLIC)
            continue;
        judge->root_values[root] = values[i].path;
        bindings.roots[root] = (struct root_value){.state = ROOT_BOUND, .paths = paths, .count = 1};
    }
    judge->bound = bind_with(request, &bindings, error);
    if (judge->bound == NULL)
        return false;
    judge->profile = seatbelt_read(request->arena, request->bytes, request->length, parameters, count, NULL,
                                   NULL, &problem);
    if (judge->profile == NULL) {
        *error = arena_format(request->arena, "line %u, column %u: %s", problem.line, problem.column,
                              escape_string(request->arena, problem.text));
        return false;
    }
    judge->view = seatbelt_view_create(request->arena, judge->bound);
    judge->answers = policy_answers_create(request->arena, judge->bound);
    struct bound_policy *exact = arena_alloc(request->arena, sizeof *exact);
    *exact = *judge->bound;
    exact->bindings.system = SYSTEM_LINUX;
    bound_seal(exact, NULL);
    judge->exact_answers = policy_answers_create(request->arena, exact);
    judge_find_places(judge);
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = judge,
                                .kinds = 1U << QUERY_READ | 1U << QUERY_WRITE | 1U << QUERY_EXEC |
                                         1U << QUERY_SOCKET | 1U << QUERY_RENAME | 1U << QUERY_CONNECT |
                                         1U << QUERY_LISTEN | 1U << QUERY_FACT,
                                .answer = answer_profile,
                                .expect = expect_profile,
                                .list = list_profile});
    return true;
}

/* Roots that are parameters lie apart from each other and from everything else. */
bool read_seatbelt(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct judge_value values[ROOTS];
    uint32_t count = 0;
    for (enum root root = ROOT_WORK; root < ROOT_ENV; root++)
        values[count++] =
            (struct judge_value){root, arena_format(request->arena, "/sbx.%s", root_names[root])};
    return judge_seatbelt(request, values, count, readers, error);
}
