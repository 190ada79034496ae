#include "emitters/reader.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/control.h"
#include "emitters/control_need.h"

#include <string.h>

/* What stands at a path after all operations. */
enum shown {
    SHOWN_NOTHING, /* not there, or an empty directory that leads on */
    SHOWN_MASK,    /* an empty file or directory that cannot be opened */
    SHOWN_READ,
    SHOWN_WRITE,
    SHOWN_SCRATCH, /* a private writable directory */
    SHOWN_OWN,     /* the sandbox's own /dev or /proc */
    SHOWN_LINK,
    SHOWN_OTHER /* another place of the host than the path says */
};

struct mount {
    const char *path; /* NUL-terminated, in the artifact's bytes */
    enum shown shown;
    bool sealed;
    uint32_t word;   /* number of the option's word, from 1 */
    uint32_t before; /* the mount at the same path before this one, + 1 */
};

struct arguments {
    struct arena *arena;
    const char **words;
    uint32_t count, at;
    struct {
        struct mount *items;
        uint32_t count, capacity;
    } mounts;
    uint32_t *slots; /* the newest mount of a path, + 1, hashed by the path */
    uint32_t slot_count;
    uint32_t mode; /* of the next operation; UINT32_MAX: not said */
    struct variable_list variables;
    const char *facts[32]; /* isolating options that were given */
    uint32_t fact_words[32], fact_count;
    const struct bound_policy *bound;
};

/* --- the mounts by path --------------------------------------------------------------------------------- */

static uint32_t *slot(const struct arguments *arguments, const char *path, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3U;
    uint32_t mask = arguments->slot_count - 1, at = (uint32_t)(hash ^ hash >> 32) & mask;
    while (arguments->slots[at] != 0) {
        const char *there = arguments->mounts.items[arguments->slots[at] - 1].path;
        if (strlen(there) == length && memcmp(there, path, length) == 0)
            break;
        at = (at + 1) & mask;
    }
    return &arguments->slots[at];
}

static void add_mount(struct arguments *arguments, const char *path, enum shown shown, uint32_t word)
{
    uint32_t *newest = slot(arguments, path, strlen(path));
    VECTOR_PUSH(arguments->arena, &arguments->mounts,
                (struct mount){.path = path, .shown = shown, .word = word, .before = *newest});
    *newest = arguments->mounts.count;
}

/* The mount that is seen at `path`: of those at it and above it, the one that came last hides the others. */
static const struct mount *covering(const struct arguments *arguments, const char *path, size_t length)
{
    uint32_t newest = *slot(arguments, "/", 1);
    for (size_t end = 1; end <= length; end++) {
        if (end < length && path[end] != '/')
            continue;
        uint32_t there = *slot(arguments, path, end);
        newest = there > newest ? there : newest;
    }
    return newest == 0 ? NULL : &arguments->mounts.items[newest - 1];
}

/* --- the words ------------------------------------------------------------------------------------------ */

static bool take(struct arguments *arguments, const char **word)
{
    if (arguments->at == arguments->count)
        return false;
    *word = arguments->words[arguments->at++];
    return true;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Options without a value that isolate, or undo that. */
static const char *const flags[] = {"--unshare-user",   "--unshare-pid", "--unshare-ipc",     "--unshare-uts",
                                    "--unshare-cgroup", "--unshare-net", "--die-with-parent", "--new-session",
                                    "--clearenv",       "--as-pid-1",    "--share-net",       NULL};

static void add_fact(struct arguments *arguments, const char *fact, uint32_t word)
{
    if (arguments->fact_count < sizeof arguments->facts / sizeof *arguments->facts) {
        arguments->facts[arguments->fact_count] = fact;
        arguments->fact_words[arguments->fact_count++] = word;
    }
}

/* Binds: what is shown under a path is what stands there on the host, or something else. */
static bool read_bind(struct arguments *arguments, enum shown shown, uint32_t word)
{
    const char *source, *target;
    if (!take(arguments, &source) || !take(arguments, &target))
        return false;
    add_mount(arguments, target, strcmp(source, target) == 0 ? shown : SHOWN_OTHER, word);
    return true;
}

static bool read_mask(struct arguments *arguments, uint32_t word)
{
    const char *descriptor, *target;
    if (!take(arguments, &descriptor) || !take(arguments, &target))
        return false;
    add_mount(arguments, target, arguments->mode == 0 ? SHOWN_MASK : SHOWN_NOTHING, word);
    return true;
}

static bool read_place(struct arguments *arguments, const char *option, uint32_t word)
{
    const char *path;
    if (!take(arguments, &path))
        return false;
    if (strcmp(option, "--tmpfs") == 0)
        add_mount(arguments, path, (arguments->mode & 0222) != 0 ? SHOWN_SCRATCH : SHOWN_MASK, word);
    else if (strcmp(option, "--dev") == 0 || strcmp(option, "--proc") == 0)
        add_mount(arguments, path, SHOWN_OWN, word);
    else if (strcmp(option, "--remount-ro") == 0 && *slot(arguments, path, strlen(path)) != 0)
        arguments->mounts.items[*slot(arguments, path, strlen(path)) - 1].sealed = true;
    return true;
}

static bool read_option(struct arguments *arguments, const char *option)
{
    static const char *const reads[] = {"--ro-bind", "--ro-bind-try", NULL};
    static const char *const writes[] = {"--bind", "--bind-try", "--dev-bind", "--dev-bind-try", NULL};
    static const char *const places[] = {"--tmpfs",      "--dir",   "--dev", "--proc",
                                         "--remount-ro", "--chdir", NULL};
    uint32_t word = arguments->at;
    const char *value, *second;
    if (strcmp(option, "--perms") == 0) {
        if (!take(arguments, &value) || strspn(value, "01234567") != strlen(value))
            return false;
        arguments->mode = 0;
        for (const char *digit = value; *digit != '\0'; digit++)
            arguments->mode = arguments->mode * 8 + (uint32_t)(*digit - '0');
        return true;
    }
    bool good = true;
    if (is_one_of(option, flags)) {
        add_fact(arguments, option, word);
    } else if (is_one_of(option, reads)) {
        good = read_bind(arguments, SHOWN_READ, word);
    } else if (is_one_of(option, writes)) {
        good = read_bind(arguments, SHOWN_WRITE, word);
    } else if (is_one_of(option, places)) {
        good = read_place(arguments, option, word);
    } else if (strcmp(option, "--ro-bind-data") == 0) {
        good = read_mask(arguments, word);
    } else if (strcmp(option, "--symlink") == 0) {
        good = take(arguments, &value) && take(arguments, &second);
        if (good)
            add_mount(arguments, second, SHOWN_LINK, word);
    } else if (strcmp(option, "--setenv") == 0) {
        good = take(arguments, &value) && take(arguments, &second);
        if (good)
            VECTOR_PUSH(arguments->arena, &arguments->variables, (struct variable){value, second});
    } else if (strcmp(option, "--cap-drop") == 0 || strcmp(option, "--cap-add") == 0) {
        good = take(arguments, &value);
        if (good)
            add_fact(arguments, arena_format(arguments->arena, "%s %s", option, value), word);
    } else {
        good = false;
    }
    arguments->mode = UINT32_MAX;
    return good;
}

static void cut_words(struct arguments *arguments, const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += bytes[i] == '\0';
    arguments->words = arena_array(arguments->arena, count + 1, sizeof *arguments->words);
    for (size_t at = 0; at < length; at += strlen(bytes + at) + 1)
        arguments->words[arguments->count++] = bytes + at;
}

/* --- answers -------------------------------------------------------------------------------------------- */

static const char *const words_of_answer[] = {"deny", "allow"};

/* Whether the sandbox has a writable directory of its own at `path`. */
static bool is_private(const struct arguments *arguments, const char *path)
{
    const struct root_value *temporary = &arguments->bound->bindings.roots[ROOT_TMP];
    if (strcmp(path, "/dev/shm") == 0)
        return true;
    return bound_scratch(arguments->bound) &&
           (strcmp(path, "/tmp") == 0 || (temporary->count > 0 && strcmp(path, temporary->paths[0]) == 0));
}

/* Whether a mount covers a part of the sandbox's own /proc with the kernel's, so that it cannot be
 * written. */
static bool covers_own(const struct mount *mount)
{
    return strncmp(mount->path, "/proc/", 6) == 0 && mount->path[6] > '9';
}

static const char *path_answer(const struct arguments *arguments, const struct mount *mount,
                               const struct query *query)
{
    bool sealed = mount != NULL && mount->sealed;
    switch (mount != NULL ? mount->shown : SHOWN_NOTHING) {
    case SHOWN_NOTHING:
    case SHOWN_MASK:
        return "deny";
    case SHOWN_READ:
        if (covers_own(mount))
            return NULL;
        return words_of_answer[query->kind != QUERY_WRITE && query->kind != QUERY_RENAME];
    case SHOWN_WRITE:
        /* What is a mount's own directory cannot be moved. */
        if (query->kind == QUERY_RENAME)
            return words_of_answer[!sealed && strlen(mount->path) != query->length];
        return words_of_answer[query->kind != QUERY_WRITE || !sealed];
    case SHOWN_OTHER:
        return "another place of the host";
    case SHOWN_LINK:
        return "a symbolic link";
    case SHOWN_SCRATCH:
        return is_private(arguments, mount->path) ? NULL : "an empty directory that can be written";
    case SHOWN_OWN:
        return strcmp(mount->path, "/dev") == 0 || strcmp(mount->path, "/proc") == 0 ? NULL
                                                                                     : "devices or processes";
    }
    return NULL;
}

static bool fact_of(const struct arguments *arguments, const char *fact, uint32_t *word)
{
    for (uint32_t i = 0; i < arguments->fact_count; i++) {
        if (strcmp(arguments->facts[i], fact) == 0) {
            *word = arguments->fact_words[i];
            return true;
        }
    }
    return false;
}

static const char *variable_of(const struct variable_list *list, const char *name)
{
    const char *value = NULL;
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            value = list->items[i].value;
    return value;
}

static const char *value_text(struct arena *arena, const char *value)
{
    return value == NULL ? "not set" : arena_format(arena, "\"%s\"", escape_string(arena, value));
}

static struct reply answer_arguments(const void *state, const struct query *query)
{
    const struct arguments *arguments = state;
    struct reply reply = {0};
    if (query->kind == QUERY_FACT) {
        if (strncmp(query->name, "variable ", 9) == 0)
            reply.text = value_text(arguments->arena, variable_of(&arguments->variables, query->name + 9));
        else if (strncmp(query->name, "--", 2) == 0)
            reply.text = fact_of(arguments, query->name, &reply.line) ? "given" : "not given";
        return reply;
    }
    /* Whoever may use a socket has to see it. */
    if (query->kind == QUERY_READ && bound_socket(arguments->bound, query->name, query->length))
        return reply;
    const struct mount *mount = covering(arguments, query->name, query->length);
    reply.text = query->name[0] == '/' ? path_answer(arguments, mount, query) : NULL;
    if (mount != NULL) {
        reply.line = mount->word;
        reply.source =
            escape_string(arguments->arena, arena_format(arguments->arena, "%s ... %s",
                                                         arguments->words[mount->word - 1], mount->path));
    }
    return reply;
}

/* --- what is promised ----------------------------------------------------------------------------------- */

/* What a rule excepts by its plain paths alone. */
static void keep_plain_excepts(struct arena *arena, struct bound_rule *rule)
{
    struct bound_path *plain = arena_array(arena, rule->except_count, sizeof *plain);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rule->except_count; i++)
        if (!rule->except[i].pattern)
            plain[count++] = rule->except[i];
    rule->except = plain;
    rule->except_count = count;
}

/* Patterns are not in the arguments: those that deny where the policy accepts that, those that except
 * because what remains denied is more. */
static void promise_arguments(struct bound_policy *bound)
{
    bool accepted = control_accept(bound, CONTROL_TARGET_BWRAP, CONTROL_FS_DENY_PATTERN) != NULL;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        struct bound_rule *rule = &bound->rules.items[i];
        if (rule->except_count > 0)
            keep_plain_excepts(bound->arena, rule);
        if (accepted && rule->at.pattern && rule->rule->kind == RULE_DENY)
            rule->dropped = true;
    }
}

/* Every option that isolates is given, and none that would undo it. */
static struct reply expect_facts(const void *state, const struct query *query)
{
    const struct arguments *arguments = state;
    struct note_list ignored = note_list_in(arguments->arena);
    if (query->kind != QUERY_FACT)
        return (struct reply){0};
    if (strncmp(query->name, "variable ", 9) == 0) {
        struct variable_list inside = bound_environment(arguments->arena, arguments->bound, &ignored);
        return (struct reply){.text = value_text(arguments->arena, variable_of(&inside, query->name + 9))};
    }
    bool wanted = strncmp(query->name, "--unshare-", 10) == 0 ||
                  strcmp(query->name, "--die-with-parent") == 0 ||
                  strcmp(query->name, "--new-session") == 0 || strcmp(query->name, "--clearenv") == 0 ||
                  strcmp(query->name, "--cap-drop ALL") == 0;
    if (strcmp(query->name, "--unshare-net") == 0)
        wanted = !network_is_shared(arguments->bound);
    return (struct reply){.text = wanted ? "given" : "not given"};
}

static void list_facts(const void *state, struct query_set *set)
{
    const struct arguments *arguments = state;
    struct note_list ignored = note_list_in(arguments->arena);
    struct variable_list inside = bound_environment(arguments->arena, arguments->bound, &ignored);
    static const char *const scratch[] = {"SBX_POLICY", "TMPDIR", "TMP", "TEMP", NULL};
    for (uint32_t i = 0; flags[i] != NULL; i++)
        queries_add_name(set, QUERY_FACT, flags[i]);
    queries_add_name(set, QUERY_FACT, "--cap-drop ALL");
    for (uint32_t i = 0; i < arguments->fact_count; i++)
        queries_add_name(set, QUERY_FACT, arguments->facts[i]);
    for (uint32_t i = 0; i < arguments->variables.count; i++)
        if (!is_one_of(arguments->variables.items[i].name, scratch))
            queries_add_name(
                set, QUERY_FACT,
                arena_format(arguments->arena, "variable %s", arguments->variables.items[i].name));
    for (uint32_t i = 0; i < inside.count; i++)
        if (!is_one_of(inside.items[i].name, scratch))
            queries_add_name(set, QUERY_FACT,
                             arena_format(arguments->arena, "variable %s", inside.items[i].name));
}

static void list_mounts(const void *state, struct query_set *set)
{
    const struct arguments *arguments = state;
    for (uint32_t i = 0; i < arguments->mounts.count; i++)
        queries_add_path(set, arguments->mounts.items[i].path);
}

bool read_bwrap_args(const struct read_request *request, struct reader_list *readers, const char **error)
{
    struct arguments *arguments = arena_alloc(request->arena, sizeof *arguments);
    *arguments = (struct arguments){.arena = request->arena, .bound = request->bound, .mode = UINT32_MAX};
    if (request->length == 0 || request->bytes[request->length - 1] != '\0') {
        *error = "it is not a list of words that each end with a zero byte";
        return false;
    }
    cut_words(arguments, request->bytes, request->length);
    arguments->slot_count = 64;
    while (arguments->slot_count < arguments->count * 2)
        arguments->slot_count *= 2;
    arguments->slots = arena_array(request->arena, arguments->slot_count, sizeof *arguments->slots);
    for (const char *option; take(arguments, &option);) {
        if (!read_option(arguments, option)) {
            *error = arena_format(request->arena,
                                  "word %u, %s, is not an option that verify knows, or lacks a value",
                                  arguments->at, escape_string(request->arena, option));
            return false;
        }
    }
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = arguments,
                                .kinds = 1U << QUERY_READ | 1U << QUERY_WRITE | 1U << QUERY_RENAME,
                                .answer = answer_arguments,
                                .list = list_mounts,
                                .promise = promise_arguments});
    VECTOR_PUSH(request->arena, readers,
                (struct reader){.state = arguments,
                                .kinds = 1U << QUERY_FACT,
                                .answer = answer_arguments,
                                .list = list_facts,
                                .expect = expect_facts});
    return true;
}
