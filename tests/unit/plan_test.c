/* A plan, carried out in a model of mounts, must give every path the level that the places say: nothing more,
 * nothing less, and nothing that a rename inside a writable area could move away. */
#include "emitters/plan.h"

#include "base/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* What is mounted in the model. */
struct model_mount {
    const char *path;
    enum { MODEL_EMPTY, MODEL_HOST, MODEL_PROC, MODEL_FILE } kind;
    enum level level; /* of MODEL_HOST */
    bool sealed, device;
    uint32_t mode;
};

struct model {
    struct arena *arena;
    struct {
        struct model_mount *items;
        uint32_t count, capacity;
    } mounts;
    struct {
        const char **items;
        uint32_t count, capacity;
    } made; /* directories and links made in empty mounts */
};

static bool below(const char *top, const char *path)
{
    size_t length = strlen(top);
    return length == 1 || (strncmp(top, path, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

static struct model_mount *mount_at(struct model *model, const char *path)
{
    struct model_mount *found = NULL;
    for (uint32_t i = 0; i < model->mounts.count; i++)
        if (below(model->mounts.items[i].path, path) &&
            (found == NULL || strlen(model->mounts.items[i].path) >= strlen(found->path)))
            found = &model->mounts.items[i];
    return found;
}

static bool made(const struct model *model, const char *path)
{
    for (uint32_t i = 0; i < model->made.count; i++)
        if (strcmp(model->made.items[i], path) == 0)
            return true;
    return false;
}

static const char *parent_of(struct model *model, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : arena_copy(model->arena, path, (size_t)(slash - path));
}

/* Something can be put at `path`: it exists, or its parent does and is still open. */
static void assert_mountable(struct model *model, const char *path)
{
    struct model_mount *parent = mount_at(model, parent_of(model, path));
    assert_non_null(parent);
    assert_true(parent->kind != MODEL_FILE);
    if (parent->kind != MODEL_EMPTY || mount_at(model, path) != parent)
        return; /* the host has it, or something is mounted there already */
    assert_false(parent->sealed);
    assert_true(strcmp(parent_of(model, path), parent->path) == 0 || made(model, parent_of(model, path)));
}

static void mount_new(struct model *model, struct model_mount mount)
{
    uint32_t kept = 0;
    if (strcmp(mount.path, "/") != 0)
        assert_mountable(model, mount.path);
    for (uint32_t i = 0; i < model->mounts.count; i++)
        if (!below(mount.path, model->mounts.items[i].path))
            model->mounts.items[kept++] = model->mounts.items[i];
    model->mounts.count = kept;
    VECTOR_PUSH(model->arena, &model->mounts, mount);
}

static void model_operation(struct model *model, const struct plan_operation *operation)
{
    const char *path = operation->path;
    switch (operation->kind) {
    case PLAN_BIND_READ:
        if (mount_at(model, path)->kind != MODEL_PROC)
            mount_new(model, (struct model_mount){.path = path, .kind = MODEL_HOST, .level = LEVEL_READ});
        break;
    case PLAN_BIND_WRITE:
    case PLAN_BIND_DEVICE:
        mount_new(model, (struct model_mount){.path = path,
                                              .kind = MODEL_HOST,
                                              .level = LEVEL_WRITE,
                                              .device = operation->kind == PLAN_BIND_DEVICE});
        break;
    case PLAN_MASK_FILE:
        mount_new(model, (struct model_mount){
                             .path = path, .kind = MODEL_FILE, .sealed = true, .mode = operation->mode});
        break;
    case PLAN_MASK_DIRECTORY:
    case PLAN_SCRATCH:
        mount_new(model, (struct model_mount){.path = path, .kind = MODEL_EMPTY, .mode = operation->mode});
        break;
    case PLAN_DEV:
        mount_new(model, (struct model_mount){.path = path, .kind = MODEL_EMPTY});
        break;
    case PLAN_PROC:
        mount_new(model, (struct model_mount){.path = path, .kind = MODEL_PROC});
        break;
    case PLAN_DIRECTORY:
    case PLAN_LINK:
        assert_int_equal(mount_at(model, path)->kind, MODEL_EMPTY);
        assert_mountable(model, path);
        assert_false(made(model, path));
        VECTOR_PUSH(model->arena, &model->made, path);
        break;
    case PLAN_SEAL: {
        struct model_mount *mount = mount_at(model, path);
        assert_string_equal(mount->path, path);
        assert_int_equal(mount->kind, MODEL_EMPTY);
        assert_false(mount->sealed);
        mount->sealed = true;
        break;
    }
    }
}

static struct model carry_out(struct arena *arena, const struct plan *plan)
{
    struct model model = {.arena = arena};
    mount_new(&model, (struct model_mount){.path = "/", .kind = MODEL_EMPTY});
    for (uint32_t i = 0; i < plan->count; i++)
        model_operation(&model, &plan->items[i]);
    for (uint32_t i = 0; i < model.mounts.count; i++) {
        const struct model_mount *mount = &model.mounts.items[i];
        bool scratch = mount->kind == MODEL_EMPTY && mount->mode == 01777;
        assert_true(mount->sealed || mount->kind == MODEL_HOST || mount->kind == MODEL_PROC || scratch);
    }
    return model;
}

static enum level model_level(struct model *model, const char *path)
{
    const struct model_mount *mount = mount_at(model, path);
    return mount->kind == MODEL_HOST ? mount->level : LEVEL_NONE;
}

/* The reference: the nearest listed place at or above a path decides. */
static enum level level_of(const struct plan_input *input, const char *path)
{
    const struct plan_place *nearest = NULL;
    for (uint32_t i = 0; i < input->place_count; i++)
        if (below(input->places[i].path, path) &&
            (nearest == NULL || strlen(input->places[i].path) > strlen(nearest->path)))
            nearest = &input->places[i];
    return nearest != NULL ? nearest->level : LEVEL_NONE;
}

static void assert_same_level(struct model *model, const struct plan_input *input, const char *path)
{
    enum level wanted = level_of(input, path), got = model_level(model, path);
    if (wanted != got)
        fail_msg("%s is %d, not %d", path, (int)got, (int)wanted);
}

static bool is_mount_point(struct model *model, const char *path)
{
    return strcmp(mount_at(model, path)->path, path) == 0;
}

/* No rename in a writable area may move what holds a lower place: it and each directory above is a mount
 * point, up to the area's top. */
static void assert_pinned(struct model *model, const struct plan_input *input, const char *path)
{
    for (const char *at = path; strcmp(at, "/") != 0 && level_of(input, parent_of(model, at)) == LEVEL_WRITE;
         at = parent_of(model, at))
        assert_true(is_mount_point(model, at));
}

/* Each mount is there because of a level of its own, or because something lower lies below it in a writable
 * area. */
static void assert_needed(struct model *model, const struct plan_input *input, const char *path)
{
    enum level level = level_of(input, path);
    bool lower_below = false;
    if (strcmp(path, "/") == 0 || below("/dev", path) || below("/proc", path))
        return;
    for (uint32_t i = 0; i < input->place_count; i++)
        if (below(path, input->places[i].path) && input->places[i].level < LEVEL_WRITE)
            lower_below = true;
    if (level == level_of(input, parent_of(model, path)))
        assert_true(level == LEVEL_WRITE && lower_below);
}

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % limit;
}

static int compare_places(const void *a, const void *b)
{
    return plan_path_compare(((const struct plan_place *)a)->path, ((const struct plan_place *)b)->path);
}

/* Up to 6 components out of few names, so that paths nest and meet; names that sort around '/' are among
 * them. */
static const char *random_path(struct arena *arena, uint64_t *state)
{
    static const char *const names[] = {"a", "b", "a-b", "a.b", "ab"};
    struct buffer path = buffer_in(arena);
    uint32_t depth = 1 + random_below(state, 6);
    for (uint32_t i = 0; i < depth; i++)
        buffer_format(&path, "/%s", names[random_below(state, 5)]);
    return path.bytes;
}

/* Up to 12 places. */
static struct plan_input random_places(struct arena *arena, uint64_t *state, enum entry_kind directory_kind)
{
    struct plan_place *places = arena_array(arena, 12, sizeof *places);
    uint32_t count = 1 + random_below(state, 12), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        places[i] = (struct plan_place){.path = random_path(arena, state),
                                        .level = (enum level)random_below(state, 3),
                                        .kind = directory_kind};
    }
    qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(places[kept - 1].path, places[i].path) != 0)
            places[kept++] = places[i];
    return (struct plan_input){.places = places, .place_count = kept};
}

static void random_places_have_their_levels(void **state)
{
    (void)state;
    uint64_t seed = 20261130;
    for (int round = 0; round < 5000; round++) {
        struct arena *arena = arena_create(0);
        struct plan_input input =
            random_places(arena, &seed, round % 2 == 0 ? ENTRY_DIRECTORY : ENTRY_UNKNOWN);
        struct plan plan = plan_make(arena, &input);
        struct model model = carry_out(arena, &plan);
        for (uint32_t i = 0; i < input.place_count; i++) {
            const char *path = input.places[i].path;
            assert_same_level(&model, &input, path);
            assert_same_level(&model, &input, parent_of(&model, path));
            assert_same_level(&model, &input, arena_format(arena, "%s/child", path));
            assert_same_level(&model, &input, arena_format(arena, "%s/a", path));
            assert_same_level(&model, &input, arena_format(arena, "%s-sibling", path));
            if (input.places[i].level < level_of(&input, parent_of(&model, path)))
                assert_pinned(&model, &input, path);
        }
        for (uint32_t i = 0; i < model.mounts.count; i++)
            assert_needed(&model, &input, model.mounts.items[i].path);
        arena_destroy(arena);
    }
}

/* A random policy and managed layer over the same few names: grants, automatic grants, denies with
 * exceptions, limits. */
static struct bound_policy *random_policy(struct arena *arena, uint64_t *state)
{
    static const struct layer layers[] = {{.kind = LAYER_POLICY, .name = "t"},
                                          {.kind = LAYER_MANAGED, .name = "m"}};
    static const enum rule_kind kinds[] = {RULE_GRANT, RULE_GRANT, RULE_GRANT,
                                           RULE_DENY,  RULE_DENY,  RULE_LIMIT_WRITE};
    enum { RULES = 14 };
    struct rule *rules = arena_array(arena, RULES, sizeof *rules);
    uint32_t count = 2 + random_below(state, RULES - 2);
    for (uint32_t i = 0; i < count; i++) {
        struct rule *rule = &rules[i];
        rule->kind = kinds[random_below(state, COUNT(kinds))];
        rule->layer =
            rule->kind == RULE_LIMIT_WRITE || (rule->kind == RULE_DENY && random_below(state, 3) == 0);
        rule->systems = SYSTEM_ALL;
        rule->automatic = rule->kind == RULE_GRANT && random_below(state, 3) == 0;
        rule->level =
            (enum level)(rule->kind == RULE_GRANT ? 1 + random_below(state, 2) : random_below(state, 2));
        rule->path = (struct policy_path){.root = ROOT_SLASH, .rest = random_path(arena, state)};
        if (rule->kind == RULE_DENY && random_below(state, 2) == 0) {
            struct policy_path *items = arena_alloc(arena, sizeof *items);
            struct path_list *except = arena_alloc(arena, sizeof *except);
            *items = (struct policy_path){.root = ROOT_SLASH, .rest = random_path(arena, state)};
            *except = (struct path_list){items, 1};
            rule->except = except;
        }
    }
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    *policy = (struct policy){
        .arena = arena, .name = "t", .layers = layers, .layer_count = 2, .rules = rules, .rule_count = count};
    struct note_list notes = note_list_in(arena);
    struct bound_policy *bound =
        policy_bind(arena, policy, &(struct bindings){.system = SYSTEM_LINUX}, &notes);
    assert_int_equal(notes.errors, 0);
    bound_seal(bound, NULL);
    return bound;
}

static void assert_level_of(struct model *model, const struct bound_policy *bound, const char *path)
{
    enum level wanted = bound_level(bound, path, strlen(path)), got = model_level(model, path);
    if (wanted != got)
        fail_msg("%s is %d, not %d", path, (int)got, (int)wanted);
}

static void random_policies_have_their_levels(void **state)
{
    (void)state;
    uint64_t seed = 20261201;
    for (int round = 0; round < 3000; round++) {
        struct arena *arena = arena_create(0);
        struct bound_policy *bound = random_policy(arena, &seed);
        struct region_list regions = bound_regions(arena, bound, NULL, 0);
        struct plan_place *places = arena_array(arena, regions.count, sizeof *places);
        for (uint32_t i = 0; i < regions.count; i++)
            places[i] = (struct plan_place){
                .path = regions.items[i].path, .level = regions.items[i].level, .kind = ENTRY_DIRECTORY};
        struct plan plan =
            plan_make(arena, &(struct plan_input){.places = places, .place_count = regions.count});
        struct model model = carry_out(arena, &plan);
        for (uint32_t i = 0; i < bound->rules.count; i++) {
            const struct bound_rule *rule = &bound->rules.items[i];
            const char *except = rule->except_count > 0 ? rule->except[0].path : rule->at.path;
            assert_level_of(&model, bound, rule->at.path);
            assert_level_of(&model, bound, parent_of(&model, rule->at.path));
            assert_level_of(&model, bound, arena_format(arena, "%s/a", rule->at.path));
            assert_level_of(&model, bound, arena_format(arena, "%s-b", rule->at.path));
            assert_level_of(&model, bound, except);
            assert_level_of(&model, bound, arena_format(arena, "%s/new", except));
            assert_level_of(&model, bound, parent_of(&model, except));
        }
        arena_destroy(arena);
    }
}

static void assert_plan(struct arena *arena, const struct plan *plan, const char *expected)
{
    struct buffer printed = buffer_in(arena);
    plan_print(&printed, plan);
    assert_string_equal(printed.bytes, expected);
}

static void an_empty_policy_shows_only_the_sandboxes_own(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct plan plan = plan_make(arena, &(struct plan_input){.place_count = 0});
    assert_plan(arena, &plan,
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "own processes   /proc\n"
                "seal            /\n");
    arena_destroy(arena);
}

static void masks_are_sealed_after_what_they_show(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct plan_place places[] = {{"/w", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
                                        {"/w/x/d", LEVEL_NONE, ENTRY_DIRECTORY, false, false},
                                        {"/w/x/d/e/r", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/w/x/d/e/r/w", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
                                        {"/w/x/f", LEVEL_NONE, ENTRY_FILE, false, false}};
    struct plan plan = plan_make(arena, &(struct plan_input){.places = places, .place_count = COUNT(places)});
    assert_plan(arena, &plan,
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "own processes   /proc\n"
                "show writable   /w\n"
                "show writable   /w/x\n"
                "hide directory  /w/x/d\n"
                "directory       /w/x/d/e\n"
                "show read-only  /w/x/d/e/r\n"
                "show writable   /w/x/d/e/r/w\n"
                "seal            /w/x/d\n"
                "hide file       /w/x/f\n"
                "seal            /\n");
    assert_int_equal(plan.items[6].mode, 0111);
    assert_int_equal(plan.items[7].mode, 0111);
    assert_int_equal(plan.items[11].mode, 0);
    arena_destroy(arena);
}

static void scratch_hides_the_temporary_directories(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct plan_place places[] = {{"/tmp/a/b", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/var", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/var/tmp/mine", LEVEL_WRITE, ENTRY_DIRECTORY, false, false}};
    struct plan plan = plan_make(
        arena, &(struct plan_input){
                   .places = places, .place_count = COUNT(places), .scratch = true, .temporary = "/var/tmp"});
    assert_plan(arena, &plan,
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "own processes   /proc\n"
                "scratch         /tmp\n"
                "directory       /tmp/a\n"
                "show read-only  /tmp/a/b\n"
                "show read-only  /var\n"
                "hide directory  /var/tmp\n"
                "show writable   /var/tmp/mine\n"
                "seal            /var/tmp\n"
                "seal            /\n");
    arena_destroy(arena);
}

static void the_hosts_devices_and_processes_stay_outside(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const char *const covers[] = {"sys"};
    const struct plan_place places[] = {{"/dev", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
                                        {"/dev/null", LEVEL_WRITE, ENTRY_OTHER, false, false},
                                        {"/dev/dri/card0", LEVEL_WRITE, ENTRY_OTHER, false, false},
                                        {"/dev/pts", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
                                        {"/dev/shm/x", LEVEL_READ, ENTRY_FILE, false, false},
                                        {"/proc", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/proc/sys", LEVEL_NONE, ENTRY_DIRECTORY, false, false}};
    struct plan plan = plan_make(arena, &(struct plan_input){.places = places,
                                                             .place_count = COUNT(places),
                                                             .proc_read_only = covers,
                                                             .proc_read_only_count = 1});
    assert_plan(
        arena, &plan,
        "own devices     /dev\n"
        "directory       /dev/dri\n"
        "show device     /dev/dri/card0\n"
        "scratch         /dev/shm\n"
        "show read-only  /dev/shm/x\n"
        "seal            /dev\n"
        "own processes   /proc\n"
        "show read-only  /proc/sys (if it exists)\n"
        "hide directory  /proc/sys\n"
        "seal            /proc/sys\n"
        "seal            /\n"
        "not shown       /dev (the sandbox has its own /dev; grant single devices below it)\n"
        "not shown       /dev/pts (the sandbox has its own terminals; the host's would reach other "
        "sessions)\n"
        "not shown       /proc (the sandbox has its own /proc; the host's would show every process)\n");
    arena_destroy(arena);
}

static void links_are_made_where_nothing_is_granted(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct plan_link links[] = {
        {"/bin", "usr/bin"}, {"/usr/lib/x", "y"}, {"/w/d/l", "../r"}, {"/opt/a/l", "b"}};
    const struct plan_place places[] = {{"/usr", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/w", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
                                        {"/w/d", LEVEL_NONE, ENTRY_DIRECTORY, false, false}};
    struct plan plan = plan_make(
        arena, &(struct plan_input){
                   .places = places, .place_count = COUNT(places), .links = links, .link_count = 4});
    assert_plan(arena, &plan,
                "link            /bin -> usr/bin\n"
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "directory       /opt\n"
                "directory       /opt/a\n"
                "link            /opt/a/l -> b\n"
                "own processes   /proc\n"
                "show read-only  /usr\n"
                "show writable   /w\n"
                "hide directory  /w/d\n"
                "link            /w/d/l -> ../r\n"
                "seal            /w/d\n"
                "seal            /\n");
    arena_destroy(arena);
}

static void sockets_are_shown_writable_and_missing_places_not_at_all(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct plan_place places[] = {{"/r", LEVEL_READ, ENTRY_DIRECTORY, false, false},
                                        {"/r/s", LEVEL_READ, ENTRY_OTHER, false, true},
                                        {"/r/other", LEVEL_NONE, ENTRY_OTHER, false, false},
                                        {"/run/d", LEVEL_NONE, ENTRY_DIRECTORY, false, true},
                                        {"/run/s", LEVEL_NONE, ENTRY_OTHER, false, true},
                                        {"/w", LEVEL_WRITE, ENTRY_MISSING, false, false}};
    struct plan plan = plan_make(arena, &(struct plan_input){.places = places, .place_count = COUNT(places)});
    assert_plan(arena, &plan,
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "own processes   /proc\n"
                "show read-only  /r\n"
                "hide file       /r/other\n"
                "show writable   /r/s\n"
                "directory       /run\n"
                "show writable   /run/s\n"
                "seal            /\n");
    arena_destroy(arena);
}

static void what_is_not_known_is_optional_and_masked_by_its_hint(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct plan_place places[] = {{"/w", LEVEL_WRITE, ENTRY_UNKNOWN, false, false},
                                        {"/w/a/d", LEVEL_NONE, ENTRY_UNKNOWN, true, false},
                                        {"/w/a/f", LEVEL_NONE, ENTRY_UNKNOWN, false, false},
                                        {"/w/a/g", LEVEL_NONE, ENTRY_UNKNOWN, false, false},
                                        {"/w/a/g/h", LEVEL_READ, ENTRY_UNKNOWN, false, false}};
    struct plan plan = plan_make(arena, &(struct plan_input){.places = places, .place_count = COUNT(places)});
    assert_plan(arena, &plan,
                "own devices     /dev\n"
                "scratch         /dev/shm\n"
                "seal            /dev\n"
                "own processes   /proc\n"
                "show writable   /w (if it exists)\n"
                "show writable   /w/a (if it exists)\n"
                "hide directory  /w/a/d\n"
                "seal            /w/a/d\n"
                "hide file       /w/a/f\n"
                "hide directory  /w/a/g\n"
                "show read-only  /w/a/g/h (if it exists)\n"
                "seal            /w/a/g\n"
                "seal            /\n");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_places_have_their_levels),
        cmocka_unit_test(random_policies_have_their_levels),
        cmocka_unit_test(an_empty_policy_shows_only_the_sandboxes_own),
        cmocka_unit_test(masks_are_sealed_after_what_they_show),
        cmocka_unit_test(scratch_hides_the_temporary_directories),
        cmocka_unit_test(the_hosts_devices_and_processes_stay_outside),
        cmocka_unit_test(links_are_made_where_nothing_is_granted),
        cmocka_unit_test(sockets_are_shown_writable_and_missing_places_not_at_all),
        cmocka_unit_test(what_is_not_known_is_optional_and_masked_by_its_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
