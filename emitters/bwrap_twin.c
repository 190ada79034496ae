#include "emitters/bwrap_twin.h"

#include <string.h>

/* The name that may be a link, and where it then leads. */
static const struct {
    const char *link, *place;
} twins[] = {
    {"/bin", "/usr/bin"},     {"/sbin", "/usr/sbin"},     {"/lib", "/usr/lib"}, {"/lib32", "/usr/lib32"},
    {"/lib64", "/usr/lib64"}, {"/libx32", "/usr/libx32"}, {"/var/run", "/run"}, {"/var/lock", "/run/lock"},
};

enum { TWINS = sizeof twins / sizeof *twins };

static bool covers(const char *top, const char *path)
{
    size_t length = strlen(top);
    return length == 1 || (strncmp(top, path, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

/* The other name of `path`, or NULL if it has none. A rule above `*below` says nothing of the other name: what
 * it closes is the link, not what lies behind. */
static const char *other_name(struct arena *arena, const char *path, const char **below)
{
    *below = "/";
    for (size_t i = 0; i < TWINS; i++) {
        if (covers(twins[i].link, path)) {
            *below = twins[i].link;
            return arena_format(arena, "%s%s", twins[i].place, path + strlen(twins[i].link));
        }
        if (covers(twins[i].place, path))
            return arena_format(arena, "%s%s", twins[i].link, path + strlen(twins[i].place));
    }
    return NULL;
}

static bool denies(const struct bound_rule *bound, const char *path)
{
    bool deny = bound->rule->kind == RULE_DENY || bound->holds_as_deny_write;
    if (!deny || bound->dropped || bound->at.pattern || !covers(bound->at.path, path))
        return false;
    for (uint32_t i = 0; i < bound->except_count; i++)
        if (!bound->except[i].pattern && covers(bound->except[i].path, path))
            return false;
    return true;
}

static enum level cap_of(const struct bound_rule *bound)
{
    return bound->holds_as_deny_write ? LEVEL_READ : bound->rule->level;
}

static void note_open(const struct emit_request *request, const struct bound_rule *bound, const char *path,
                      const char *other)
{
    note_add(request->notes,
             (struct note){
                 .code = SBX306_OTHER_NAME_OPEN,
                 .rule = bound->rule,
                 .text = arena_format(request->arena,
                                      "\"%s\" closes %s, which may be the same as %s, and that stays open",
                                      rule_text(request->arena, bound->rule), path, other),
                 .help = arena_format(request->arena,
                                      "deny %s too, or use -t bwrap-sh, which looks where links lead", other),
             });
}

/* Levels change only where a region begins, under one name or the other. */
static bool is_closed(const struct emit_request *request, const char *path)
{
    const char *below = NULL, *other = other_name(request->arena, path, &below);
    if (other == NULL)
        return true;
    enum level level = bound_level(request->bound, other, strlen(other));
    for (uint32_t i = 0; i < request->bound->rules.count; i++) {
        const struct bound_rule *bound = &request->bound->rules.items[i];
        if (bound->at.path == NULL || !covers(below, bound->at.path) || !denies(bound, path) ||
            cap_of(bound) >= level)
            continue;
        note_open(request, bound, path, other);
        return false;
    }
    return true;
}

bool twins_are_closed(const struct emit_request *request)
{
    struct region_list regions = bound_regions(request->arena, request->bound, NULL, 0);
    bool closed = true;
    for (uint32_t i = 0; i < regions.count; i++) {
        const char *below = NULL, *path = regions.items[i].path;
        const char *other = other_name(request->arena, path, &below);
        if (other != NULL && (!is_closed(request, path) || !is_closed(request, other)))
            closed = false;
    }
    return closed;
}
