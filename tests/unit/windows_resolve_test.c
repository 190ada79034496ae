/* From a policy or a specification to what holds on a machine: roots, how they lie in each other, managed layers. */
#include "runtime/windows/resolve.h"

#include "compiler/compile.h"
#include "emitters/windows.h"
#include "policy/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANDOM_POLICIES = 4000 };

struct root_at {
    enum root root;
    const char *path; /* NULL: unset */
};

struct world {
    struct arena *arena;
    struct bindings bindings;
    struct managed_list managed;
    struct note_list notes;
    struct resolve_request request;
    struct resolved_spec resolved;
    const char *statements, *bin, *xml;
    size_t bin_length, xml_length;
};

/* ---- a machine ---- */

static void root_set(struct world *world, enum root root, const char *path)
{
    const char **paths = arena_alloc(world->arena, sizeof *paths);
    *paths = path;
    struct root_value value = {
        .state = path == NULL ? ROOT_UNSET : ROOT_BOUND, .paths = paths, .count = path != NULL};
    if (root_of_repository(root)) {
        value.deny_paths = value.paths;
        value.deny_count = value.count;
    }
    world->bindings.roots[root] = world->bindings.managed_roots[root] = value;
}

static void world_begin(struct world *world)
{
    static const struct root_at usual[] = {
        {ROOT_WORK, "D:/w"},        {ROOT_HOME, "C:/h/me"},     {ROOT_TMP, "C:/h/me/l/Temp"},
        {ROOT_CONFIG, "C:/h/me/r"}, {ROOT_CACHE, "C:/h/me/l"},  {ROOT_DATA, "C:/h/me/l"},
        {ROOT_REPO, "D:/w"},        {ROOT_GITDIR, "D:/w/.git"}, {ROOT_SUBMODULES, NULL},
        {ROOT_GITDIRS, NULL},
    };
    *world = (struct world){.arena = arena_create(0)};
    world->notes = note_list_in(world->arena);
    world->bindings.system = SYSTEM_WINDOWS;
    world->bindings.environment_known = true;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        root_set(world, usual[i].root, usual[i].path);
    world->request = (struct resolve_request){.arena = world->arena,
                                              .bindings = &world->bindings,
                                              .managed = &world->managed,
                                              .notes = &world->notes};
}

static void world_end(struct world *world)
{
    arena_destroy(world->arena);
}

/* ---- policies ---- */

static const struct policy *policy_made(struct world *world, const char *kind, const char *statements)
{
    const char *text = arena_format(world->arena, "sbx 1\n%s \"t\"\n%s\n", kind, statements);
    const struct compile_input input = {.input = {"t.sbx", text, (uint32_t)strlen(text)}};
    const struct policy *policy = compile(world->arena, &input)->policy;
    assert_non_null(policy);
    return policy;
}

static void managed_add(struct world *world, const char *statements)
{
    struct managed_file *files = arena_array(world->arena, world->managed.count + 1, sizeof *files);
    if (world->managed.count > 0)
        memcpy(files, world->managed.items, world->managed.count * sizeof *files);
    files[world->managed.count] = (struct managed_file){"C:/ProgramData/sbx/managed.d/m.bin",
                                                        policy_made(world, "managed", statements)};
    world->managed.items = files;
    world->managed.count++;
}

/* What sbxc writes of it without a machine; false if it refuses. */
static bool compile_both(struct world *world, const char *statements, bool with_managed)
{
    const struct policy *policy = policy_made(world, "policy", statements);
    world->statements = statements;
    struct buffer bin = buffer_in(world->arena), xml = buffer_in(world->arena);
    policy_write(&bin, policy);
    world->bin = bin.bytes;
    world->bin_length = bin.length;
    const struct policy *layer = with_managed ? world->managed.items[0].policy : NULL;
    policy = policy_merge(world->arena, policy, &layer, with_managed);

    struct bindings symbolic = {.system = SYSTEM_WINDOWS};
    struct note_list notes = note_list_in(world->arena);
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS] = {0};
    for (uint32_t root = 0; root < ROOTS; root++)
        symbolic.roots[root].state = symbolic.managed_roots[root].state = ROOT_SYMBOLIC;
    struct bound_policy *bound = policy_bind(world->arena, policy, &symbolic, &notes);
    bound_seal(bound, NULL);
    controls_needed(bound, needs);
    if (!controls_check(bound, CONTROL_TARGET_WINDOWS, needs, accepted, &notes) ||
        !emit_windows(&(struct emit_request){.arena = world->arena,
                                             .policy = policy,
                                             .bound = bound,
                                             .version = SBX_VERSION,
                                             .architecture = "x86_64",
                                             .output_name = "t.xml",
                                             .accepted = accepted,
                                             .notes = &notes},
                      &xml))
        return false;
    world->xml = xml.bytes;
    world->xml_length = xml.length;
    return true;
}

static bool take_bin(struct world *world)
{
    world->notes = note_list_in(world->arena);
    return spec_of_bin(&world->request, world->bin, world->bin_length, &world->resolved);
}

static bool take_xml(struct world *world, bool beside)
{
    world->notes = note_list_in(world->arena);
    return spec_of_xml(&world->request, "t.xml", world->xml, world->xml_length, beside ? world->bin : NULL,
                       beside ? world->bin_length : 0, &world->resolved);
}

static bool was_said(const struct world *world, enum code code, const char *part)
{
    for (uint32_t i = 0; i < world->notes.count; i++)
        if (world->notes.items[i].code == code && strstr(world->notes.items[i].text, part) != NULL)
            return true;
    return false;
}

/* ---- what a specification gives ---- */

/* The rights at `path`: an object's own entries before those of what is above it, denies before allows. */
static uint32_t rights_at(const struct windows_spec *spec, const char *path)
{
    uint32_t allowed = 0, denied = 0;
    for (uint32_t i = spec->object_count; i-- > 0;) {
        const struct windows_object *object = &spec->objects[i];
        bool same = windows_path_equal(object->path, path);
        for (uint32_t j = 0; j < object->ace_count && windows_path_covers(object->path, path); j++) {
            const struct windows_ace *ace = &object->aces[j];
            if (!same && !ace->inherit)
                continue;
            *(ace->deny ? &denied : &allowed) |= ace->mask & ~(ace->deny ? allowed : denied);
        }
    }
    return allowed;
}

static enum level level_at(const struct windows_spec *spec, const char *path)
{
    uint32_t rights = rights_at(spec, path);
    return (rights & 0x116) != 0 ? LEVEL_WRITE : (rights & 0x1) != 0 ? LEVEL_READ : LEVEL_NONE;
}

static const struct windows_object *object_at(const struct windows_spec *spec, const char *path)
{
    for (uint32_t i = 0; i < spec->object_count; i++)
        if (windows_path_equal(spec->objects[i].path, path))
            return &spec->objects[i];
    return NULL;
}

static bool is_pinned(const struct windows_spec *spec, const char *path)
{
    const struct windows_object *object = object_at(spec, path);
    for (uint32_t i = 0; object != NULL && i < object->ace_count; i++)
        if (object->aces[i].deny && (object->aces[i].mask & WINDOWS_DENY_DELETE) != 0)
            return true;
    return false;
}

/* ---- tests ---- */

static void roots_of_a_specification_get_their_places(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\ndeny $WORK/.env, $WORK/keys/\ngrant read ~/notes", false));
    assert_true(take_xml(&world, false));
    const struct windows_spec *spec = world.resolved.spec;
    assert_int_equal(level_at(spec, "D:\\w\\a"), LEVEL_WRITE);
    assert_int_equal(level_at(spec, "D:\\w\\.env"), LEVEL_NONE);
    assert_int_equal(level_at(spec, "D:\\w\\keys\\a"), LEVEL_NONE);
    assert_int_equal(level_at(spec, "C:\\h\\me\\notes\\a"), LEVEL_READ);
    assert_int_equal(level_at(spec, "C:\\h\\me"), LEVEL_NONE);
    assert_int_equal(object_at(spec, "D:\\w\\keys")->missing, WINDOWS_CREATE_DIRECTORY);
    world_end(&world);
}

/* $GITDIR is not known to lie in $WORK before it does. */
static void what_comes_to_lie_in_a_writable_place_keeps_its_name(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\ndeny write $GITDIR/x/hooks/, $GITDIR/x/y/config", false));
    assert_true(take_xml(&world, false));
    const struct windows_spec *spec = world.resolved.spec;
    assert_int_equal(level_at(spec, "D:\\w\\.git\\x\\hooks\\a"), LEVEL_READ);
    assert_true(is_pinned(spec, "D:\\w\\.git"));
    assert_true(is_pinned(spec, "D:\\w\\.git\\x"));
    assert_true(is_pinned(spec, "D:\\w\\.git\\x\\y"));
    assert_int_equal(object_at(spec, "D:\\w\\.git\\x\\y\\config")->missing, WINDOWS_CREATE_FILE);
    assert_int_equal(object_at(spec, "D:\\w\\.git\\x\\y")->missing, WINDOWS_CREATE_DIRECTORY);
    world_end(&world);
}

static void names_are_kept_through_every_writable_place_around(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(
        compile_both(&world, "grant write $WORK\nauto grant write $GITDIR/a/b\ndeny $GITDIR/a/b/c/d", false));
    assert_true(take_xml(&world, false));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\a\\b\\c"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\a"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git"));
    root_set(&world, ROOT_CACHE, "D:/w/.git/c");
    assert_true(compile_both(
        &world, "auto grant write $WORK\nauto grant read $GITDIR/c\ngrant read $CACHE/a/b", false));
    assert_true(take_xml(&world, false));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\c\\a"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git\\c"));
    assert_true(is_pinned(world.resolved.spec, "D:\\w\\.git"));
    world_end(&world);
}

/* The deny itself is not written, since what it excepts is inside. */
static void nothing_may_open_what_a_deny_with_an_exception_closes(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world,
                             "grant read $WORK/c/known\ndeny $WORK/c except $WORK/c/known\n"
                             "grant write $CACHE/a",
                             false));
    assert_true(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_false(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/");
    root_set(&world, ROOT_WORK, "D:/a/w");
    assert_false(take_xml(&world, false));
    world_end(&world);
}

static void a_deny_of_one_root_closes_what_another_opens_inside_it(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_true(compile_both(&world, "grant write $CACHE/a\ndeny $WORK/c\ngrant write $WORK", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\c\\a\\b"), LEVEL_NONE);
    world_end(&world);
}

static void two_roots_at_one_place_have_the_lower_level(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK\ngrant read $REPO", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\a"), LEVEL_READ);
    root_set(&world, ROOT_REPO, "D:/");
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\a"), LEVEL_WRITE);
    world_end(&world);
}

/* An automatic grant counts only where no configured one covers it; the compiler did not know that it does. */
static void a_condition_that_does_not_hold_refuses(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant read $WORK\nauto grant write $CACHE/x", false));
    assert_true(take_xml(&world, false));
    root_set(&world, ROOT_CACHE, "D:/w/c");
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "must not lie at or below"));
    world_end(&world);
}

static void unset_roots_mean_what_they_mean_everywhere(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK, $CACHE/x\ndeny write $GITDIR/hooks/", false));
    root_set(&world, ROOT_CACHE, NULL);
    root_set(&world, ROOT_GITDIR, NULL);
    assert_true(take_xml(&world, false));
    assert_true(was_said(&world, SBX150_ROOT_UNSET, "$CACHE is not set"));
    assert_true(was_said(&world, SBX150_ROOT_UNSET, "t.xml:"));
    assert_int_equal(world.resolved.spec->object_count, 1);

    assert_true(compile_both(&world, "grant write $WORK\ndeny $CACHE/x", false));
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX151_DENY_ROOT_UNSET, "$CACHE is not set"));
    world_end(&world);
}

static void a_repository_that_is_not_the_callers_is_denied_and_not_granted(void **state)
{
    static const char *const both[] = {"D:/w/.git", "D:/.git"};
    struct world world;
    (void)state;
    world_begin(&world);
    world.bindings.roots[ROOT_GITDIR].deny_paths = both;
    world.bindings.roots[ROOT_GITDIR].deny_count = 2;
    assert_true(
        compile_both(&world, "grant write $GITDIR\ndeny write $GITDIR/hooks/\ngrant write $WORK", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\.git\\a"), LEVEL_WRITE);
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\.git\\hooks\\a"), LEVEL_READ);
    assert_int_equal(level_at(world.resolved.spec, "D:\\.git\\a"), LEVEL_NONE);
    assert_int_equal(level_at(world.resolved.spec, "D:\\.git\\hooks\\a"), LEVEL_NONE);
    assert_non_null(object_at(world.resolved.spec, "D:\\.git\\hooks"));
    world.bindings.roots[ROOT_GITDIR].unknown = "cannot be known";
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX167_DENY_UNKNOWN, "cannot be known"));
    world_end(&world);
}

static void over_wide_and_guarded_places_are_refused(void **state)
{
    static const char *const guarded[] = {"D:\\w\\profile\\AppData"};
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK", false));
    root_set(&world, ROOT_WORK, "C:/h");
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX154_TOO_WIDE, "$WORK is C:/h here"));
    root_set(&world, ROOT_WORK, "C:/Windows");
    assert_false(take_xml(&world, false));
    root_set(&world, ROOT_WORK, "D:/w");
    world.request.guarded = guarded;
    world.request.guarded_count = 1;
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "nothing may be granted"));
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX469_SPECIFICATION, "nothing may be granted"));
    root_set(&world, ROOT_WORK, "D:/w/profile/AppData/x");
    assert_true(take_xml(&world, false));
    world_end(&world);
}

static void patterns_take_the_place_of_their_root_as_it_is(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    root_set(&world, ROOT_WORK, "D:/[w]");
    assert_true(compile_both(&world, "grant write $WORK\ndeny $WORK/**/*.pem except $WORK/a", false));
    assert_true(take_xml(&world, false));
    assert_int_equal(world.resolved.spec->match_count, 1);
    assert_string_equal(world.resolved.spec->matches[0].pattern, "D:\\[[]w]\\**\\*.pem");
    assert_int_equal(world.resolved.spec->matches[0].except_count, 1);
    assert_string_equal(world.resolved.spec->matches[0].excepts[0], "D:\\[[]w]\\a");
    world_end(&world);
}

static void managed_layers_narrow_a_policy_and_refuse_a_foreign_specification(void **state)
{
    static const struct variable given[] = {{"WORK", "D:\\w"}};
    struct world world;
    (void)state;
    world_begin(&world);
    managed_add(&world, "deny $WORK/keys/");
    assert_true(compile_both(&world, "grant write $WORK", false));
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\keys\\a"), LEVEL_NONE);
    assert_int_equal(world.resolved.policy->layer_count, 2);
    assert_int_equal(world.resolved.own->layer_count, 1);

    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX470_SPECIFICATION_MANAGED, "not beside it"));
    assert_false(take_xml(&world, true));
    assert_true(was_said(&world, SBX470_SPECIFICATION_MANAGED, "another specification"));
    assert_true(compile_both(&world, "grant write $WORK", true));
    assert_false(take_xml(&world, false));
    assert_true(take_xml(&world, true));
    assert_int_equal(level_at(world.resolved.spec, "D:\\w\\keys\\a"), LEVEL_NONE);

    world.request.given_roots = given;
    world.request.given_root_count = 1;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX406_MANAGED_ROOT, "--root WORK"));
    assert_false(take_xml(&world, true));
    assert_true(was_said(&world, SBX406_MANAGED_ROOT, "--root WORK"));
    world_end(&world);
}

static bool never_trusted(struct arena *arena, const struct bound_policy *bound, const char *command,
                          const char *path)
{
    (void)arena, (void)bound, (void)command, (void)path;
    return false;
}

static bool trusted_in_tools(struct arena *arena, const struct bound_policy *bound, const char *command,
                             const char *path)
{
    (void)arena;
    return path != NULL && strcmp(path, "C:\\Tools") == 0 && strcmp(command, "git.exe") == 0 &&
           bound_level(bound, "C:/Data", strlen("C:/Data")) == LEVEL_READ;
}

static void rules_for_a_command_need_one_that_is_trusted(void **state)
{
    static const struct variable variables[] = {{"Path", "C:\\Tools"}};
    struct world world;
    (void)state;
    world_begin(&world);
    world.bindings.environment = variables;
    world.bindings.environment_count = 1;
    world.request.command = "git.exe";
    assert_true(compile_both(&world, "grant env PATH\nwhen command git {\ngrant read C:/Data\n}", false));
    world.request.command_trusted = never_trusted;
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_NONE);
    assert_true(was_said(&world, SBX427_COMMAND_NOT_TRUSTED, "git.exe"));
    world.request.command_trusted = trusted_in_tools;
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_READ);
    world.request.command = "C:\\Tools\\git.exe";
    assert_true(take_bin(&world));
    assert_int_equal(level_at(world.resolved.spec, "C:\\Data\\a"), LEVEL_NONE);
    world_end(&world);
}

static void expectations_hold_or_nothing_runs(void **state)
{
    static const struct own_path own[] = {{"D:\\w\\t.bin", "the policy file", false},
                                          {"D:\\w\\records", "the launcher's records", true}};
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(
        &world, "grant write $WORK\nexpect deny write $WORK/t.bin\nexpect deny read $WORK/records", false));
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX417_EXPECTATION, "does not hold"));
    world.request.own = own;
    world.request.own_count = 2;
    assert_true(take_bin(&world));
    world_end(&world);
}

static void what_is_no_policy_is_refused(void **state)
{
    struct world world;
    (void)state;
    world_begin(&world);
    assert_true(compile_both(&world, "grant write $WORK", false));
    world.bin_length--;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX402_POLICY_DAMAGED, ""));
    world.xml_length -= 3;
    assert_false(take_xml(&world, false));
    assert_true(was_said(&world, SBX469_SPECIFICATION, ""));
    struct buffer bin = buffer_in(world.arena);
    policy_write(&bin, policy_made(&world, "managed", "deny $WORK/a"));
    world.bin = bin.bytes;
    world.bin_length = bin.length;
    assert_false(take_bin(&world));
    assert_true(was_said(&world, SBX402_POLICY_DAMAGED, "managed"));
    world_end(&world);
}

/* ---- random policies on machines whose roots lie in each other ---- */

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
        cmocka_unit_test(roots_of_a_specification_get_their_places),
        cmocka_unit_test(what_comes_to_lie_in_a_writable_place_keeps_its_name),
        cmocka_unit_test(names_are_kept_through_every_writable_place_around),
        cmocka_unit_test(nothing_may_open_what_a_deny_with_an_exception_closes),
        cmocka_unit_test(a_deny_of_one_root_closes_what_another_opens_inside_it),
        cmocka_unit_test(two_roots_at_one_place_have_the_lower_level),
        cmocka_unit_test(a_condition_that_does_not_hold_refuses),
        cmocka_unit_test(unset_roots_mean_what_they_mean_everywhere),
        cmocka_unit_test(a_repository_that_is_not_the_callers_is_denied_and_not_granted),
        cmocka_unit_test(over_wide_and_guarded_places_are_refused),
        cmocka_unit_test(patterns_take_the_place_of_their_root_as_it_is),
        cmocka_unit_test(managed_layers_narrow_a_policy_and_refuse_a_foreign_specification),
        cmocka_unit_test(rules_for_a_command_need_one_that_is_trusted),
        cmocka_unit_test(expectations_hold_or_nothing_runs),
        cmocka_unit_test(what_is_no_policy_is_refused),
        cmocka_unit_test(a_specification_gives_no_more_than_its_policy_wherever_roots_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
