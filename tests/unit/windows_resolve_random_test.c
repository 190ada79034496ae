/* Random policies on machines whose roots lie in each other: what holds there is no more than the policy allows. */
#include "tests/unit/windows_world.h"

enum { RANDOM_POLICIES = 4000 };

static uint32_t seed;

static uint32_t pick(uint32_t count)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % count;
}

static const char *random_path(struct arena *arena)
{
    static const char *const tops[] = {"$WORK", "$CONFIG", "$CACHE", "$GITDIR", "D:/x"};
    static const char *const names[] = {"a", "b", "c"};
    const char *path = tops[pick(5)];
    for (uint32_t depth = pick(3); depth > 0; depth--)
        path = arena_format(arena, "%s/%s", path, names[pick(3)]);
    return path;
}

static const char *random_statements(struct arena *arena)
{
    static const char *const kinds[] = {"grant read",       "grant write", "grant write", "auto grant read",
                                        "auto grant write", "deny",        "deny write"};
    struct buffer text = buffer_in(arena);
    for (uint32_t count = 2 + pick(4); count > 0; count--)
        buffer_format(&text, "%s %s\n", kinds[pick(7)], random_path(arena));
    return text.bytes;
}

static void random_roots(struct world *world)
{
    static const char *const places[] = {"D:/x",       "D:/x/a", "D:/x/a/b", "D:/x/b",
                                         "D:/x/a/b/c", "D:/y",   "D:/y/a"};
    static const enum root roots[] = {ROOT_WORK, ROOT_CONFIG, ROOT_CACHE, ROOT_GITDIR};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        root_set(world, roots[i], places[pick(7)]);
}

static const char *described(const struct world *world)
{
    const struct windows_spec *spec = world->resolved.spec;
    struct buffer text = buffer_in(world->arena);
    buffer_string(&text, world->statements);
    for (enum root root = ROOT_WORK; root <= ROOT_GITDIR; root++)
        buffer_format(&text, "$%s %s\n", root_names[root], world->bindings.roots[root].paths[0]);
    for (uint32_t i = 0; i < spec->object_count; i++) {
        buffer_format(&text, "%s%s", spec->objects[i].path, spec->objects[i].cap ? " cap" : "");
        for (uint32_t j = 0; j < spec->objects[i].ace_count; j++)
            buffer_format(&text, " %s %x", spec->objects[i].aces[j].deny ? "deny" : "allow",
                          (unsigned)spec->objects[i].aces[j].mask);
        buffer_format(&text, " (%s)\n", spec->objects[i].rule);
    }
    return text.bytes;
}

static const char *above(struct arena *arena, const char *path)
{
    return arena_copy(arena, path, (size_t)(strrchr(path, '\\') - path));
}

/* What is closed in a writable place can neither be renamed nor removed, nor what leads to it. */
static void check_pins(const struct world *world, const char *path)
{
    const struct windows_spec *spec = world->resolved.spec;
    const char *parent = above(world->arena, path);
    if (strrchr(parent, '\\') == NULL || level_at(spec, path) == LEVEL_WRITE ||
        level_at(spec, parent) != LEVEL_WRITE)
        return;
    for (; strrchr(path, '\\') != NULL && level_at(spec, above(world->arena, path)) == LEVEL_WRITE;
         path = above(world->arena, path))
        if (!is_pinned(spec, path))
            fail_msg("%s can be renamed\n%s", path, described(world));
}

/* Never more than the policy allows; of a .bin exactly that. Returns whether anything was compared. */
static bool compare(struct world *world, bool exactly)
{
    static const char *const starts[] = {"D:/x", "D:/y", "D:/z"};
    struct note_list notes = note_list_in(world->arena);
    const char *error = NULL;
    const struct policy *policy = policy_read(world->arena, world->bin, world->bin_length, &error);
    struct bound_policy *bound = policy_bind(world->arena, policy, &world->bindings, &notes);
    bound_seal(bound, NULL);
    for (uint32_t i = 0; i < 60; i++) {
        const char *path = starts[i % 3];
        for (uint32_t depth = pick(6); depth > 0; depth--)
            path = arena_format(world->arena, "%s/%c", path, (int)('a' + pick(4)));
        enum level meant = bound_level(bound, path, strlen(path));
        const char *native = windows_path_from_model(world->arena, path);
        enum level given = level_at(world->resolved.spec, native);
        check_pins(world, native);
        if (given > meant || (exactly && given != meant))
            fail_msg("%s: level %d, and the specification gives %d\n%s", path, (int)meant, (int)given,
                     described(world));
    }
    return true;
}

static void a_specification_gives_no_more_than_its_policy_wherever_roots_lie(void **state)
{
    uint32_t compared = 0, bins = 0;
    (void)state;
    for (seed = 1; seed < RANDOM_POLICIES * 7u; seed += 7) {
        uint32_t start = seed;
        struct world world;
        world_begin(&world);
        random_roots(&world);
        if (compile_both(&world, random_statements(world.arena), false)) {
            compared += take_xml(&world, false) && compare(&world, false);
            bins += take_bin(&world) && compare(&world, true);
        }
        world_end(&world);
        seed = start;
    }
    assert_true(compared > RANDOM_POLICIES / 4);
    assert_true(bins > RANDOM_POLICIES / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_specification_gives_no_more_than_its_policy_wherever_roots_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
