#include "policy/bind.h"

#include "base/buffer.h"
#include "base/escape.h"
#include "base/intern.h"
#include "base/vector.h"
#include "policy/names.h"

#include <ctype.h>
#include <string.h>

/* Variables whose value is a list of paths (language.md 3). */
static const char *const list_variables[] = {"PATH",      "PYTHONPATH",   "GOPATH",
                                             "NODE_PATH", "PSModulePath", "LD_LIBRARY_PATH"};

/* Places that the kernel makes up, and that a tool directory never is. */
static const char *const unsuitable[] = {"/proc", "/sys", "/dev", "/boot", "/run"};

struct job {
    const struct binder *binder;
    const struct rule *rule;
    const struct policy_path *path;
    enum path_use use;
    bool list;
    struct intern_pool *seen;
    struct path_texts *out;
};

static bool is_list(const char *name, enum system system)
{
    for (size_t i = 0; i < sizeof list_variables / sizeof *list_variables; i++)
        if (names_equal(list_variables[i], name, system))
            return true;
    return false;
}

static void note_dropped(const struct job *job, enum code code, const char *item, const char *why)
{
    struct arena *arena = job->binder->arena;
    binder_note(job->binder, code, job->rule,
                arena_format(arena, "\"%s\" of $env.%s %s and is left out (%s)", escape_string(arena, item),
                             job->path->name, why, rule_text(arena, job->rule)),
                NULL);
}

/* A variable must not choose which single files or sockets are opened. */
static void note_no_directory(const struct job *job, const char *item)
{
    struct arena *arena = job->binder->arena;
    const char *shown = escape_string(arena, item);
    binder_note(
        job->binder, SBX157_ENV_ITEM_DROPPED, job->rule,
        arena_format(arena, "\"%s\" of $env.%s is no directory and is left out (%s)", shown, job->path->name,
                     rule_text(arena, job->rule)),
        job->rule->kind == RULE_GRANT_SOCKET
            ? arena_format(arena, "name the socket, or the directory that holds it: grant socket %s", shown)
            : NULL);
}

static bool is_new(const struct job *job, const char *path)
{
    if (intern_find(job->seen, path, strlen(path)) != NULL)
        return false;
    intern_string(job->seen, path);
    return true;
}

static void keep(const struct job *job, const char *path)
{
    if (is_new(job, path))
        VECTOR_PUSH(job->binder->arena, job->out, (struct path_text){.path = path});
}

/* One way to a place may count where another does not, so each is kept, unless the place goes by its own
 * name. */
static void keep_found(const struct job *job, const char *found, const char *given)
{
    if (strcmp(found, given) == 0)
        keep(job, found);
    else if (intern_find(job->seen, found, strlen(found)) == NULL && is_new(job, given))
        VECTOR_PUSH(job->binder->arena, job->out, (struct path_text){found, given});
}

static bool is_absolute(const char *item, enum system system)
{
    if (system == SYSTEM_WINDOWS)
        return isalpha((unsigned char)item[0]) && item[1] == ':' && item[2] == '/';
    return item[0] == '/';
}

/* Windows writes \ and either case of the drive's letter. */
static const char *with_slashes(struct arena *arena, const char *item, enum system system)
{
    if (system != SYSTEM_WINDOWS)
        return item;
    char *copy = arena_strdup(arena, item);
    for (char *at = copy; *at != '\0'; at++)
        *at = *at == '\\' ? '/' : *at;
    if (isalpha((unsigned char)copy[0]) && copy[1] == ':')
        copy[0] = (char)toupper((unsigned char)copy[0]);
    return copy;
}

const char *binder_normalised(struct arena *arena, const char *path, size_t top, bool *climbs)
{
    struct buffer out = buffer_in(arena);
    buffer_bytes(&out, path, top);
    *climbs = false;
    for (const char *at = path + top; *at != '\0';) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            *climbs = true;
            while (out.length > top && out.bytes[--out.length] != '/')
                continue;
            out.bytes[out.length] = '\0';
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            buffer_byte(&out, '/');
            buffer_bytes(&out, at, length);
        }
        at += length + (at[length] == '/');
    }
    if (out.length == top && path[0] != '$')
        buffer_byte(&out, '/');
    return out.bytes;
}

static const char *canonical(const struct job *job, const char *path)
{
    const struct host_view *host = job->binder->bindings->host;
    return host != NULL && host->canonical != NULL ? host->canonical(host->context, job->binder->arena, path)
                                                   : path;
}

static bool is_directory(const struct job *job, const char *path)
{
    const struct host_view *host = job->binder->bindings->host;
    return host == NULL || host->is_directory == NULL || host->is_directory(host->context, path);
}

static bool is_unsuitable(const char *path)
{
    for (size_t i = 0; i < sizeof unsuitable / sizeof *unsuitable; i++)
        if (path_is_above(unsuitable[i], path))
            return true;
    return false;
}

/* What is granted, excepted or expected: only what is there, under its canonical name. */
static void open_item(const struct job *job, const char *item, const char *path, bool climbs)
{
    const struct host_view *host = job->binder->bindings->host;
    const char *found = canonical(job, path);
    bool granted = job->use == USE_GRANT;
    bool itself = job->path->rest[0] == '\0';

    if (host == NULL && climbs)
        note_dropped(job, SBX157_ENV_ITEM_DROPPED, item, "holds ..");
    else if (found == NULL && job->use != USE_EXPECT)
        note_dropped(job, SBX157_ENV_ITEM_DROPPED, item, "does not exist");
    else if (found == NULL)
        keep(job, path);
    else if (granted && !is_directory(job, found))
        note_no_directory(job, item);
    else if (granted && is_unsuitable(found))
        note_dropped(job, SBX157_ENV_ITEM_DROPPED, item, "lies where the kernel keeps its own files");
    else if (itself && (job->use == USE_EXCEPT || (granted && job->list)) &&
             binder_is_wide(job->binder, job->rule, found))
        note_dropped(job, SBX155_TOO_WIDE_DROPPED, item, "is too wide");
    else
        keep_found(job, found, path);
}

/* What is denied stays denied under the name as given too, and also if it does not exist. */
static void close_item(const struct job *job, const char *path, bool climbs)
{
    const char *found = canonical(job, path);
    if (found != NULL)
        keep(job, found);
    if (found == NULL || !climbs)
        keep(job, path);
}

/* Where relative items of a deny start: every path of $WORK, or NULL. */
static const char *work_of(const struct job *job)
{
    const struct root_value *work = binder_root(job->binder, job->rule, ROOT_WORK);
    return work->state == ROOT_SYMBOLIC                   ? "$WORK"
           : work->state == ROOT_BOUND && work->count > 0 ? work->paths[0]
                                                          : NULL;
}

static size_t top_of(const char *path)
{
    return path[0] == '$' ? strcspn(path, "/") : path[0] == '/' ? 0 : 2;
}

static void add_relative(const struct job *job, const char *item)
{
    const char *work = work_of(job);
    bool climbs;
    if (job->use != USE_DENY) {
        note_dropped(job, SBX157_ENV_ITEM_DROPPED, item, "is relative");
    } else if (work == NULL) {
        note_dropped(job, SBX151_DENY_ROOT_UNSET, item, "is relative, $WORK is not set,");
    } else {
        const char *path = arena_format(job->binder->arena, "%s/%s", work, item);
        path = binder_normalised(job->binder->arena, path, top_of(path), &climbs);
        if (path[0] == '$' && climbs)
            note_dropped(job, SBX151_DENY_ROOT_UNSET, item, "climbs above $WORK, which is not known,");
        else if (path[0] == '$')
            keep(job, path);
        else
            close_item(job, path, climbs);
    }
}

static void add_item(const struct job *job, const char *raw)
{
    enum system system = job->binder->bindings->system;
    const char *item = with_slashes(job->binder->arena, raw, system);
    bool climbs;
    if (item[0] == '\0') {
        note_dropped(job, SBX157_ENV_ITEM_DROPPED, item, "is empty");
    } else if (!is_absolute(item, system)) {
        add_relative(job, item);
    } else {
        const char *path = binder_normalised(job->binder->arena, item, top_of(item), &climbs);
        if (job->use == USE_DENY)
            close_item(job, path, climbs);
        else
            open_item(job, item, path, climbs);
    }
}

static void add_items(const struct job *job, const char *value)
{
    const char separator[] = {job->binder->bindings->system == SYSTEM_WINDOWS ? ';' : ':', '\0'};
    for (const char *at = value;; at++) {
        size_t length = job->list ? strcspn(at, separator) : strlen(at);
        add_item(job, arena_copy(job->binder->arena, at, length));
        at += length;
        if (*at == '\0')
            return;
    }
}

enum root_state binder_environment(const struct binder *binder, const struct rule *rule,
                                   const struct policy_path *path, enum path_use use, struct path_texts *out)
{
    const struct bindings *bindings = binder->bindings;
    struct job job = {
        .binder = binder,
        .rule = rule,
        .path = path,
        .use = use,
        .list = is_list(path->name, bindings->system),
        .out = out,
    };
    for (uint32_t i = 0; i < bindings->environment_count; i++) {
        if (!names_equal(bindings->environment[i].name, path->name, bindings->system))
            continue;
        job.seen = intern_create(binder->arena, 0);
        add_items(&job, bindings->environment[i].value);
        return ROOT_BOUND;
    }
    if (bindings->environment_known)
        return ROOT_UNSET;
    VECTOR_PUSH(binder->arena, out,
                (struct path_text){.path = arena_format(binder->arena, "$env.%s", path->name)});
    return ROOT_SYMBOLIC;
}
