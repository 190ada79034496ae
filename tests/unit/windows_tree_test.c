/* What is inherited, what a machine of Windows opens to whom, and that a specification carried out and taken back leaves
 * nothing. */
#include "base/vector.h"
#include "emitters/windows_applied.h"
#include "emitters/windows_fixture.h"
#include "emitters/windows_rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define ME "S-1-5-21-1-1-1-1001"

/* ---- inheritance ---- */

static const struct {
    const char *what, *parent, *directory, *file;
} handed[] = {
    {"what is handed on to nobody", "D:(A;;0x1;;;BU)", "D:AI", "D:AI"},
    {"to directories and files", "D:(A;OICI;0x1;;;BU)", "D:AI(A;OICIID;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)"},
    {"to directories", "D:(D;CI;0x1;;;BU)", "D:AI(D;CIID;0x1;;;BU)", "D:AI"},
    {"to files", "D:(A;OI;0x1;;;BU)", "D:AI(A;OIIOID;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)"},
    {"one level down", "D:(A;OICINP;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)"},
    {"one level down, to files", "D:(A;OINP;0x1;;;BU)", "D:AI", "D:AI(A;ID;0x1;;;BU)"},
    {"not for itself", "D:(A;OICIIO;0x1;;;BU)", "D:AI(A;OICIID;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)"},
    {"inherited before", "D:(A;OICIID;0x1;;;BU)", "D:AI(A;OICIID;0x1;;;BU)", "D:AI(A;ID;0x1;;;BU)"},
    {"generic rights", "D:(A;OICIIO;0x10000000;;;BU)", "D:AI(A;ID;0x1f01ff;;;BU)(A;OICIIOID;0x10000000;;;BU)",
     "D:AI(A;ID;0x1f01ff;;;BU)"},
    {"the creator's", "D:(A;OICIIO;0x1;;;CO)", "D:AI(A;ID;0x1;;;" ME ")(A;OICIIOID;0x1;;;CO)",
     "D:AI(A;ID;0x1;;;" ME ")"},
    {"in order", "D:(D;OICI;0x2;;;BU)(A;OICI;0x1;;;BU)(A;OICIID;0x4;;;SY)",
     "D:AI(D;OICIID;0x2;;;BU)(A;OICIID;0x1;;;BU)(A;OICIID;0x4;;;SY)",
     "D:AI(D;ID;0x2;;;BU)(A;ID;0x1;;;BU)(A;ID;0x4;;;SY)"},
    {"a label", "D:S:(ML;OICI;0x1;;;LW)", "D:AIS:(ML;OICIID;0x1;;;LW)", "D:AIS:(ML;ID;0x1;;;LW)"},
    {"a label for itself", "D:S:(ML;;0x1;;;LW)", "D:AI", "D:AI"},
};

static void assert_text(struct arena *arena, const char *what, struct windows_descriptor found,
                        const char *wanted)
{
    struct windows_descriptor read;
    assert_true(windows_descriptor_read(arena, wanted, &read));
    found.owner.length = 0;
    const char *text = windows_descriptor_text(arena, &found);
    if (strcmp(text, windows_descriptor_text(arena, &read)) != 0)
        fail_msg("%s: %s", what, text);
}

static void entries_are_handed_on_as_their_flags_say(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_sid me;
    (void)state;
    assert_true(windows_sid_parse(ME, &me));
    for (size_t i = 0; i < COUNT(handed); i++) {
        struct windows_descriptor parent;
        assert_true(windows_descriptor_read(arena, handed[i].parent, &parent));
        assert_text(arena, handed[i].what, windows_inherit(arena, &parent, &me, true), handed[i].directory);
        assert_text(arena, handed[i].what, windows_inherit(arena, &parent, &me, false), handed[i].file);
    }
    arena_destroy(arena);
}

static struct windows_node *put(struct windows_tree *tree, const char *path, const char *text)
{
    struct windows_descriptor descriptor;
    assert_true(windows_descriptor_read(tree->arena, text, &descriptor));
    return windows_tree_put(tree, path, true, &descriptor);
}

static void what_is_nearer_comes_first(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_tree tree = {.arena = arena};
    struct windows_node *top = put(&tree, "C:\\a", "D:P(D;OICI;0x1;;;BU)");
    put(&tree, "C:\\a\\b", "D:(A;OICI;0x2;;;BU)");
    struct windows_node *closed = put(&tree, "C:\\a\\b\\closed", "D:P(A;;0x8;;;BU)");
    struct windows_node *open = put(&tree, "C:\\a\\b\\open", "D:NO_ACCESS_CONTROL");
    struct windows_node *leaf = windows_tree_at(&tree, "C:\\a\\b\\c\\d", false);
    (void)state;
    assert_text(arena, "leaf", leaf->descriptor, "D:AI(A;ID;0x2;;;BU)(D;ID;0x1;;;BU)");
    struct windows_entry entry = {
        .type = WINDOWS_ENTRY_ALLOW, .flags = 3, .mask = 0x4, .sid = top->descriptor.entries[0].sid};
    top->descriptor = windows_descriptor_with(arena, &top->descriptor, &entry);
    windows_tree_propagate(&tree);
    assert_text(arena, "leaf", leaf->descriptor, "D:AI(A;ID;0x2;;;BU)(D;ID;0x1;;;BU)(A;ID;0x4;;;BU)");
    assert_text(arena, "protected", closed->descriptor, "D:P(A;;0x8;;;BU)");
    assert_text(arena, "without a DACL", open->descriptor, "D:NO_ACCESS_CONTROL");
    arena_destroy(arena);
}

static void names_are_found_without_case_and_in_order(void **state)
{
    static const char *const paths[] = {"C:\\a-b", "c:\\A\\z", "C:\\a\\b", "D:\\x", "$WORK\\q", "C:\\a b"};
    struct arena *arena = arena_create(0);
    struct windows_tree tree = {.arena = arena};
    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++)
        windows_tree_at(&tree, paths[i], false);
    assert_int_equal(tree.count, 10); /* C:\, C:\A, D:\ and $WORK too */
    for (uint32_t i = 1; i < tree.count; i++) {
        assert_true(windows_path_compare(tree.items[i - 1]->path, tree.items[i]->path) < 0);
        assert_true(tree.items[i]->parent == NULL ||
                    windows_path_covers(tree.items[i]->parent->path, tree.items[i]->path));
    }
    struct windows_node *node = windows_tree_find(&tree, "C:\\A\\B");
    assert_non_null(node);
    assert_ptr_equal(node, windows_tree_at(&tree, "c:\\a\\B", true));
    assert_string_equal(node->path, "C:\\A\\b");
    assert_true(node->parent->directory);
    assert_string_equal(node->parent->parent->path, "C:\\");
    assert_null(windows_tree_find(&tree, "C:\\b"));
    windows_tree_remove(&tree, node);
    assert_null(windows_tree_find(&tree, "C:\\a\\b"));
    assert_int_equal(tree.count, 9);
    arena_destroy(arena);
}

/* ---- the machine ---- */

#define R (1U << WINDOWS_OPERATION_READ)
#define W (1U << WINDOWS_OPERATION_WRITE)
#define C (1U << WINDOWS_OPERATION_CREATE)
#define D (1U << WINDOWS_OPERATION_DELETE | 1U << WINDOWS_OPERATION_RENAME)
#define X (1U << WINDOWS_OPERATION_EXECUTE)
#define A (1U << WINDOWS_OPERATION_CHANGE_DACL)

static const struct {
    const char *path;
    enum windows_tier tier;
    unsigned strict, loose;
} opened[] = {
    /* The user's own files can be read, deleted and, should Windows not call that writing, opened further. */
    {"C:\\Users\\me\\Documents\\a", WINDOWS_RESTRICTED, R | X, R | D | X | A},
    {"C:\\Users\\me\\AppData\\LocalLow\\a", WINDOWS_RESTRICTED, R | X, R | D | X | A},
    {"C:\\Windows\\a", WINDOWS_RESTRICTED, R | X, R | X},
    {"D:\\a", WINDOWS_RESTRICTED, R | X, R | D | X | A},
    /* Integrity keeps them, but for what is low anyway. */
    {"C:\\Users\\me\\Documents\\a", WINDOWS_RESTRICTED_LOW, R | X, R | X},
    {"C:\\Users\\me\\AppData\\Roaming\\a", WINDOWS_RESTRICTED_LOW, R | X, R | X},
    {"C:\\Users\\me\\AppData\\LocalLow\\a", WINDOWS_RESTRICTED_LOW, R | X, R | D | X | A},
    {"$HOME\\AppData\\Local\\Temp\\Low\\a", WINDOWS_RESTRICTED_LOW, R | X, R | D | X | A},
    {"D:\\share\\a", WINDOWS_RESTRICTED_LOW, R | X, R | X},
    {"$WORK\\a", WINDOWS_RESTRICTED_LOW, R | X, R | X},
    /* A package gets what names packages, and perhaps what names Everyone. */
    {"C:\\Users\\me\\Documents\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"C:\\Users\\me\\AppData\\LocalLow\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"$WORK\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"$HOME", WINDOWS_APPCONTAINER, 0, 0},
    {"C:\\Windows\\System32\\a.dll", WINDOWS_APPCONTAINER, R | X, R | X},
    {"C:\\Program Files\\a\\b.exe", WINDOWS_APPCONTAINER, R | X, R | X},
    {"C:\\ProgramData\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"C:\\Users\\Public\\a", WINDOWS_APPCONTAINER, 0, R | X},
    {"C:\\Users\\other\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"C:\\Users\\other\\a", WINDOWS_RESTRICTED, R | X, R | D | X | A},
    {"E:\\a", WINDOWS_RESTRICTED, R | X, R | D | X | A},
    {"C:\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"D:\\a", WINDOWS_APPCONTAINER, 0, 0},
    {"D:\\share\\a", WINDOWS_APPCONTAINER, 0, R | W | C | D | X | A},
};

static void the_machine_opens_to_each_tier_what_windows_does(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(opened); i++) {
        struct windows_token token = windows_fixture_token(arena, opened[i].tier, 0);
        const struct windows_node *node = windows_tree_at(tree, opened[i].path, false);
        unsigned found[2] = {0};
        for (int j = 0; j < WINDOWS_OPERATIONS; j++)
            for (int k = 0; k < 2; k++)
                if (windows_may(&token, node, (enum windows_operation)j, (enum windows_reading)k))
                    found[k] |= 1U << j;
        if (found[0] != opened[i].strict || found[1] != opened[i].loose) {
            print_error("%s for %s: %#x and %#x\n", opened[i].path, windows_tier_names[opened[i].tier],
                        found[0], found[1]);
            wrong++;
        }
    }
    arena_destroy(arena);
    assert_int_equal(wrong, 0);
}

static void a_directory_in_which_one_may_delete_gives_away_what_lies_in_it(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    struct windows_token token = windows_fixture_token(arena, WINDOWS_APPCONTAINER, 0);
    struct windows_node *above = windows_tree_at(tree, "$WORK\\a", true);
    struct windows_node *node = windows_tree_at(tree, "$WORK\\a\\b", false);
    struct windows_entry entry = {.mask = WINDOWS_RIGHT_DELETE_CHILD,
                                  .sid = windows_fixture_sid(WINDOWS_PACKAGE)};
    (void)state;
    assert_false(windows_may(&token, node, WINDOWS_OPERATION_DELETE, WINDOWS_LOOSE));
    above->descriptor = windows_descriptor_with(arena, &above->descriptor, &entry);
    assert_true(windows_may(&token, node, WINDOWS_OPERATION_DELETE, WINDOWS_STRICT));
    assert_true(windows_may(&token, node, WINDOWS_OPERATION_RENAME, WINDOWS_STRICT));
    assert_false(windows_may(&token, above, WINDOWS_OPERATION_DELETE, WINDOWS_LOOSE));
    assert_false(windows_may(&token, node, WINDOWS_OPERATION_WRITE, WINDOWS_LOOSE));
    arena_destroy(arena);
}

/* ---- a specification ---- */

#define ACE(is_deny, is_handed, rights)                                                                      \
    {                                                                                                        \
        .deny = is_deny, .inherit = is_handed, .principal = WINDOWS_PACKAGE, .mask = rights                  \
    }

static const struct windows_object objects[] = {
    {.path = "$WORK",
     .aces = {ACE(true, false, 0x10000), ACE(false, true, WINDOWS_ALLOW_WRITE)},
     .ace_count = 2},
    {.path = "$WORK\\.env",
     .kind = WINDOWS_FILE,
     .missing = WINDOWS_CREATE_FILE,
     .cap = true,
     .aces = {ACE(true, true, WINDOWS_DENY_ALL)},
     .ace_count = 1},
    {.path = "$WORK\\gone", .aces = {ACE(false, true, WINDOWS_ALLOW_READ)}, .ace_count = 1},
    {.path = "$WORK\\lib",
     .kind = WINDOWS_DIRECTORY,
     .missing = WINDOWS_CREATE_DIRECTORY,
     .aces = {ACE(true, true, WINDOWS_DENY_WRITE)},
     .ace_count = 1},
};
static const char *const excepts[] = {"$WORK\\tests"};
static const struct windows_match matches[] = {
    {.pattern = "$WORK\\**\\*.pem",
     .excepts = excepts,
     .except_count = 1,
     .ace = ACE(true, true, WINDOWS_DENY_ALL)},
};
static const struct windows_spec spec = {.tier = WINDOWS_APPCONTAINER,
                                         .objects = objects,
                                         .object_count = COUNT(objects),
                                         .matches = matches,
                                         .match_count = 1};

struct snapshot {
    const char **texts;
    uint32_t count;
};

static struct snapshot snapshot_of(const struct windows_tree *tree)
{
    struct snapshot snapshot = {arena_array(tree->arena, tree->count, sizeof(char *)), tree->count};
    for (uint32_t i = 0; i < tree->count; i++)
        snapshot.texts[i] = arena_format(tree->arena, "%s %s", tree->items[i]->path,
                                         windows_descriptor_text(tree->arena, &tree->items[i]->descriptor));
    return snapshot;
}

static unsigned rights_at(const struct windows_tree *tree, const char *path)
{
    struct windows_token token = windows_fixture_token(tree->arena, WINDOWS_APPCONTAINER, 0);
    const struct windows_node *node = windows_tree_find(tree, path);
    unsigned rights = 0;
    if (node == NULL)
        fail_msg("%s is not there", path);
    for (int i = 0; i < WINDOWS_OPERATIONS; i++)
        if (windows_may(&token, node, (enum windows_operation)i, WINDOWS_STRICT))
            rights |= 1U << i;
    return rights;
}

static void a_specification_is_carried_out_and_taken_back(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    struct windows_applied applied;
    (void)state;
    windows_tree_at(tree, "$WORK\\src\\key.pem", false);
    windows_tree_at(tree, "$WORK\\tests\\key.pem", false);
    windows_tree_at(tree, "$WORK\\lib\\a", false);
    put(tree, "$WORK\\lib\\shared", "D:(A;OICI;0x1f01ff;;;WD)(A;OICI;0x1f01ff;;;AC)");
    put(tree, "$WORK\\open", "D:NO_ACCESS_CONTROL");
    windows_tree_at(tree, "$WORK\\.env", false);
    struct snapshot before = snapshot_of(tree);
    assert_null(windows_apply(tree, &spec, &applied));
    assert_int_equal(rights_at(tree, "$WORK"), R | W | C | X);
    assert_int_equal(rights_at(tree, "$WORK\\src"), R | W | C | X); /* a match lies in it */
    assert_int_equal(rights_at(tree, "$WORK\\src\\key.pem"), 0);
    assert_int_equal(rights_at(tree, "$WORK\\tests\\key.pem"), R | W | C | D | X);
    assert_int_equal(rights_at(tree, "$WORK\\.env"), 0);
    assert_int_equal(rights_at(tree, "$WORK\\lib"), R | X);
    assert_int_equal(rights_at(tree, "$WORK\\lib\\a"), R | X);
    assert_int_equal(rights_at(tree, "$WORK\\lib\\shared"), R | X);
    assert_int_equal(rights_at(tree, "C:\\Users\\me"), 0);
    assert_null(windows_tree_find(tree, "$WORK\\gone"));
    windows_revert(&applied);
    struct snapshot after = snapshot_of(tree);
    assert_int_equal(after.count, before.count);
    for (uint32_t i = 0; i < after.count; i++)
        assert_string_equal(after.texts[i], before.texts[i]);
    arena_destroy(arena);
}

static void a_placeholder_is_made_and_removed(void **state)
{
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    struct windows_applied applied;
    (void)state;
    windows_tree_at(tree, "$WORK", true);
    uint32_t before = tree->count;
    assert_null(windows_apply(tree, &spec, &applied));
    assert_int_equal(rights_at(tree, "$WORK\\.env"), 0);
    assert_false(windows_tree_find(tree, "$WORK\\.env")->directory);
    assert_true(windows_tree_find(tree, "$WORK\\lib")->directory);
    assert_int_equal(tree->count, before + 2);
    windows_revert(&applied);
    assert_int_equal(tree->count, before);
    arena_destroy(arena);
}

static void what_the_launcher_refuses_is_refused(void **state)
{
    static const struct windows_require require = {.path = "C:\\a\\b", .below = "c:\\A"};
    static const struct windows_spec lying = {.requires = &require, .require_count = 1};
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    struct windows_applied applied;
    (void)state;
    windows_tree_at(tree, "$WORK\\lib", false);
    assert_string_equal(windows_apply(tree, &spec, &applied), "$WORK\\lib is of another kind");
    assert_string_equal(windows_apply(tree, &lying, &applied), "C:\\a\\b lies at or below c:\\A");
    arena_destroy(arena);
}

static void labels_reach_everything_that_is_there_and_go_again(void **state)
{
    static const struct windows_object labelled[] = {
        {.path = "$WORK", .label = {true, WINDOWS_LOW, WINDOWS_NO_WRITE_UP}},
        {.path = "$WORK\\keys", .label = {true, WINDOWS_MEDIUM, 7}},
    };
    static const struct windows_spec low = {
        .tier = WINDOWS_RESTRICTED_LOW, .objects = labelled, .object_count = COUNT(labelled)};
    struct arena *arena = arena_create(0);
    struct windows_tree *tree = windows_fixture(arena);
    struct windows_applied applied;
    (void)state;
    struct windows_node *file = windows_tree_at(tree, "$WORK\\src\\a.c", false);
    struct windows_node *key = windows_tree_at(tree, "$WORK\\keys\\k", false);
    struct windows_node *own = put(tree, "$WORK\\own", "D:AIS:(ML;OICI;0x3;;;HI)");
    struct snapshot before = snapshot_of(tree);
    assert_null(windows_apply(tree, &low, &applied));
    struct windows_node *later = windows_tree_at(tree, "$WORK\\src\\later", true);
    assert_non_null(strstr(windows_descriptor_text(arena, &file->descriptor), "S:(ML;;0x1;;;S-1-16-4096)"));
    assert_non_null(strstr(windows_descriptor_text(arena, &key->descriptor), "S:(ML;;0x7;;;S-1-16-8192)"));
    assert_non_null(
        strstr(windows_descriptor_text(arena, &own->descriptor), "S:(ML;OICI;0x1;;;S-1-16-4096)"));
    assert_non_null(
        strstr(windows_descriptor_text(arena, &later->descriptor), "S:(ML;OICIID;0x1;;;S-1-16-4096)"));
    windows_tree_remove(tree, later);
    windows_revert(&applied);
    struct snapshot after = snapshot_of(tree);
    for (uint32_t i = 0; i < after.count; i++)
        assert_string_equal(after.texts[i], before.texts[i]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_handed_on_as_their_flags_say),
        cmocka_unit_test(what_is_nearer_comes_first),
        cmocka_unit_test(names_are_found_without_case_and_in_order),
        cmocka_unit_test(the_machine_opens_to_each_tier_what_windows_does),
        cmocka_unit_test(a_directory_in_which_one_may_delete_gives_away_what_lies_in_it),
        cmocka_unit_test(a_specification_is_carried_out_and_taken_back),
        cmocka_unit_test(a_placeholder_is_made_and_removed),
        cmocka_unit_test(what_the_launcher_refuses_is_refused),
        cmocka_unit_test(labels_reach_everything_that_is_there_and_go_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
