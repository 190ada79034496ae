/* facts_host.h - a small host in a temporary directory, and a policy gathered on it, for tests of facts. */
#pragma once

#include "runtime/facts.h"

#include "tests/unit/build_policy.h"
#include "tests/unit/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A host with the working directory TOP/w, a home TOP/home and other people's TOP/other. */
struct host {
    char top[PATH_MAX];
    struct arena *arena;
    struct bound_policy *bound;
    struct facts facts;
    struct note_list notes;
    const char *roots[ROOTS];
};

static inline int host_open(void **state)
{
    struct host *host = calloc(1, sizeof *host);
    host->arena = arena_create(0);
    temporary_make(host->top);
    chmod(host->top, 0755);
    make_directory(host->top, "w");
    make_directory(host->top, "home");
    make_directory(host->top, "other");
    make_file(host->top, "other/file", "x");
    *state = host;
    return 0;
}

static inline int host_close(void **state)
{
    struct host *host = *state;
    temporary_remove(host->top);
    arena_destroy(host->arena);
    free(host);
    return 0;
}

/* $TMP stands for TOP here, so that a policy can name anything on the host. */
static inline struct bindings bindings_of(struct host *host)
{
    host->roots[ROOT_WORK] = arena_strdup(host->arena, below(host->top, "w"));
    host->roots[ROOT_HOME] = arena_strdup(host->arena, below(host->top, "home"));
    host->roots[ROOT_TMP] = host->top;
    host->roots[ROOT_GITDIR] = arena_strdup(host->arena, below(host->top, "w/.git"));
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    for (int root = ROOT_WORK; root < ROOT_ENV; root++)
        if (host->roots[root] != NULL)
            bindings.roots[root].paths = bindings.managed_roots[root].paths = &host->roots[root];
    return bindings;
}

static inline void bind_host_with(struct host *host, const char *const *lines, struct bindings bindings)
{
    host->notes = note_list_in(host->arena);
    host->bound = policy_bind(host->arena, build_policy(host->arena, lines), &bindings, &host->notes);
    assert_int_equal(host->notes.errors, 0);
    bound_seal(host->bound, NULL);
}

static inline void bind_host(struct host *host, const char *const *lines)
{
    bind_host_with(host, lines, bindings_of(host));
}

static inline bool gather_bound(struct host *host, bool sockets)
{
    struct facts_request request = {.unix_sockets = sockets, .uid = geteuid()};
    return facts_gather(host->arena, host->bound, &request, &host->facts, &host->notes);
}

static inline bool gather_with(struct host *host, const char *const *lines, bool sockets)
{
    bind_host(host, lines);
    return gather_bound(host, sockets);
}

static inline bool gather(struct host *host, const char *const *lines)
{
    return gather_with(host, lines, false);
}

static inline bool noted(const struct host *host, enum code code)
{
    for (uint32_t i = 0; i < host->notes.count; i++)
        if (host->notes.items[i].code == code)
            return true;
    return false;
}

static inline enum level level_at(const struct host *host, const char *rest)
{
    const char *path = below(host->top, rest);
    return bound_level(host->bound, path, strlen(path));
}

static inline const struct plan_place *place_at(const struct host *host, const char *rest)
{
    for (uint32_t i = 0; i < host->facts.place_count; i++)
        if (strcmp(host->facts.places[i].path, below(host->top, rest)) == 0)
            return &host->facts.places[i];
    return NULL;
}

static inline const struct missing_path *missing_at(const struct host *host, const char *rest)
{
    for (uint32_t i = 0; i < host->facts.missing_count; i++)
        if (strcmp(host->facts.missing[i].path, below(host->top, rest)) == 0)
            return &host->facts.missing[i];
    return NULL;
}

#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, host_open, host_close)
