/* What the canary is sent to try, and what its answers mean. */
#include "runtime/windows/canary.h"

#include "tests/unit/journal_memory.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define USER "S-1-5-21-9-9-9-1001"
#define USUAL "O:" USER "G:S-1-5-21-9-9-9-513D:AI(A;OICIID;0x1f01ff;;;" USER ")"
#define TOP "C:\\state\\canary-01000000020000000300000004000000"

/* A canary that answers as a table says, or by heart. */
struct bird {
    struct arena *arena;
    const struct acl_memory *memory;
    char *attempts;                              /* "WORD PATH\n" of each */
    const char *lie;                             /* the attempt that ends otherwise than it must */
    unsigned error;                              /* with which */
    const char *answer;                          /* all that it says, or NULL */
    const char *open, *denied, *closed, *secret; /* how the fresh objects looked */
};

struct bench {
    struct arena *arena;
    struct acl_fault fault;
    struct acl_memory *memory;
    struct note_list notes;
    struct windows_object objects[3];
    struct windows_spec spec;
    struct windows_identity identity;
    struct bird bird;
    const char *before;
};

static bool must_fail(const char *word, const char *path)
{
    return strcmp(word, "read") == 0 || strncmp(word, "open:", 5) == 0 || strstr(path, "closed") != NULL ||
           strstr(path, "denied") != NULL;
}

static const char *look(const struct bird *bird, const char *path)
{
    const struct windows_descriptor *descriptor = acl_memory_look(bird->memory, path);
    assert_non_null(descriptor);
    return windows_descriptor_text(bird->arena, descriptor);
}

static bool bird_start(void *context, const char *const *arguments, struct buffer *output,
                       struct note_list *notes)
{
    struct bird *bird = context;
    struct buffer attempts = buffer_in(bird->arena);
    (void)notes;
    assert_string_equal(arguments[0], "--canary");
    for (unsigned i = 1; arguments[i] != NULL; i += 2) {
        const char *attempt = arena_format(bird->arena, "%s %s", arguments[i], arguments[i + 1]);
        buffer_format(&attempts, "%s\n", attempt);
        unsigned error = must_fail(arguments[i], arguments[i + 1]) ? ACL_DENIED : ACL_OK;
        if (bird->lie != NULL && strcmp(bird->lie, attempt) == 0)
            error = bird->error;
        buffer_format(output, "%u %u\r\n", (i - 1) / 2, error);
    }
    buffer_string(output, "end\r\n");
    if (bird->answer != NULL) {
        *output = buffer_in(bird->arena);
        buffer_string(output, bird->answer);
    }
    bird->attempts = attempts.bytes;
    bird->open = look(bird, TOP "\\open");
    bird->denied = look(bird, TOP "\\open\\denied");
    bird->closed = look(bird, TOP "\\closed");
    bird->secret = look(bird, TOP "\\secret");
    return true;
}

static bool package_gone(const char *name)
{
    (void)name;
    return true;
}

static struct bench *bench_make(enum windows_tier tier)
{
    struct arena *arena = arena_create(0);
    struct bench *bench = arena_alloc(arena, sizeof *bench);
    bench->arena = arena;
    bench->fault.left = LONG_MAX;
    bench->memory = acl_memory_make(arena, &bench->fault);
    bench->notes = note_list_in(arena);
    bench->spec = (struct windows_spec){.tier = tier, .objects = bench->objects};
    assert_true(windows_sid_parse("S-1-5-21-1-2-3-4", &bench->identity.run));
    assert_true(windows_sid_parse("S-1-15-2-1-2-3-4-5-6-7", &bench->identity.package));
    bench->bird = (struct bird){.arena = arena, .memory = bench->memory};
    assert_true(acl_memory_add(bench->memory, "C:\\state", NULL, USUAL));
    assert_true(acl_memory_add(bench->memory, "C:\\w", NULL, USUAL));
    assert_true(acl_memory_add(bench->memory, "C:\\w\\secret", "text", NULL));
    return bench;
}

static void deny(struct bench *bench, const char *path, uint32_t mask)
{
    bench->objects[bench->spec.object_count++] = (struct windows_object){
        .path = path,
        .cap = true,
        .aces = {{true, true, WINDOWS_PACKAGE, mask}},
        .ace_count = 1,
        .rule = "deny it",
    };
}

static bool run(struct bench *bench)
{
    struct process *process = process_start(disk_make(bench->arena), &bench->fault);
    const struct acl_operations *acl = acl_memory_operations(bench->memory);
    struct journal_place place = {
        .arena = bench->arena, .store = &process->store, .acl = acl, .remove_package = package_gone};
    const struct journal_run described = {.package = NULL};
    const char *error = NULL;
    struct journal_sentences left = {0};
    const char *before = acl_memory_text(bench->arena, bench->memory);
    struct canary canary = {
        .arena = bench->arena,
        .spec = &bench->spec,
        .identity = &bench->identity,
        .acl = acl,
        .journal = journal_begin(&place, &described, &error),
        .directory = "C:\\state",
        .start = bird_start,
        .context = &bench->bird,
    };
    assert_non_null(canary.journal);
    bool held = canary_run(&canary, &bench->notes);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), before);
    journal_end(canary.journal, &left);
    assert_int_equal(left.count, 0);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), before);
    return held;
}

static void assert_refused(struct bench *bench, enum code code, const char *words)
{
    assert_false(run(bench));
    assert_int_equal(bench->notes.count, 1);
    assert_int_equal(bench->notes.items[0].code, code);
    if (strstr(bench->notes.items[0].text, words) == NULL)
        print_message("%s\n", bench->notes.items[0].text);
    assert_non_null(strstr(bench->notes.items[0].text, words));
    arena_destroy(bench->arena);
}

static void each_tier_tries_what_it_claims(void **state)
{
    (void)state;
    static const char writes[] = "create " TOP "\\closed\\new\n";
    static const char reads[] = "read " TOP "\\secret\n";
    static const char rest[] = "create " TOP "\\open\\new\n"
                               "create " TOP "\\open\\denied\\new\n";
    static const char list[] = "open:40000 " TOP "\\open\\denied\n";
    for (int tier = 0; tier < WINDOWS_TIERS; tier++) {
        struct bench *bench = bench_make((enum windows_tier)tier);
        assert_true(run(bench));
        bool closes = tier != WINDOWS_RESTRICTED;
        assert_string_equal(
            bench->bird.attempts,
            arena_format(bench->arena, "%s%s%s%s", writes, closes ? reads : "", rest, closes ? list : ""));
        arena_destroy(bench->arena);
    }
}

static void closed_places_of_the_policy_are_tried(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    deny(bench, "C:\\w\\missing", WINDOWS_DENY_ALL);
    deny(bench, "C:\\w", WINDOWS_DENY_WRITE);
    assert_true(run(bench));
    assert_non_null(strstr(bench->bird.attempts,
                           "open:2 C:\\w\\secret\nopen:1 C:\\w\\secret\nopen:40000 C:\\w\\secret\n"
                           "open:10000 C:\\w\\secret\nopen:2 C:\\w\nopen:40000 C:\\w\nopen:10000 C:\\w\n"));
    assert_null(strstr(bench->bird.attempts, "missing"));
    assert_null(strstr(bench->bird.attempts, "open:1 C:\\w\n"));
    arena_destroy(bench->arena);
}

static void what_is_open_and_must_not_be_refuses(void **state)
{
    (void)state;
    static const char *const lies[] = {
        "create " TOP "\\closed\\new", "read " TOP "\\secret", "create " TOP "\\open\\denied\\new",
        "open:2 C:\\w\\secret",        "open:1 C:\\w\\secret", "open:40000 " TOP "\\open\\denied"};
    /* Opened, in use by another program, gone: no answer but "access denied" shows that it is closed. */
    static const unsigned errors[] = {0, 32, 2};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (size_t j = 0; j < sizeof errors / sizeof *errors; j++) {
            struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
            deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
            bench->bird.lie = lies[i];
            bench->bird.error = errors[j];
            assert_refused(bench, SBX480_CANNOT_VERIFY, "is closed to the command");
        }
}

static void what_is_closed_and_must_not_be_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    bench->bird.lie = "create " TOP "\\open\\new";
    bench->bird.error = ACL_DENIED;
    assert_refused(bench, SBX480_CANNOT_VERIFY, "is open to the command");
}

static void an_answer_that_is_not_whole_refuses(void **state)
{
    (void)state;
    static const char *const answers[] = {"",
                                          "0 5\n",
                                          "0 5\n1 5\n2 0\n3 5\n4 5\n",
                                          "1 5\n0 5\n2 0\n3 5\n4 5\nend\n",
                                          "0 5\n1 5\n2 0\n3 5\n4 5\n5 5\nend\n",
                                          "0 5\n1 \n2 0\n3 5\n4 5\nend\n",
                                          "0 5x\n1 5\n2 0\n3 5\n4 5\nend\n",
                                          "hello"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
        bench->bird.answer = answers[i];
        assert_refused(bench, SBX486_CANARY, "did not come to its end");
    }
}

static void fresh_places_are_opened_and_closed_as_those_of_a_policy(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    assert_true(run(bench));
    assert_non_null(strstr(bench->bird.open, "(A;OICI;0x1301bf;;;S-1-5-21-1-2-3-4)"));
    assert_non_null(strstr(bench->bird.open, "S:(ML;OICI;0x1;;;S-1-16-4096)"));
    assert_non_null(strstr(bench->bird.denied, "(D;OICI;0x1f01ff;;;S-1-5-21-1-2-3-4)"));
    assert_non_null(strstr(bench->bird.denied, "S:(ML;OICI;0x7;;;S-1-16-8192)"));
    assert_non_null(strstr(bench->bird.secret, "S:(ML;;0x7;;;S-1-16-8192)"));
    assert_null(strstr(bench->bird.closed, "S-1-5-21-1-2-3-4"));
    arena_destroy(bench->arena);
    bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(run(bench));
    assert_non_null(strstr(bench->bird.open, "(A;OICI;0x1301bf;;;S-1-15-2-1-2-3-4-5-6-7)"));
    assert_null(strstr(bench->bird.secret, "S-1-15-2"));
    arena_destroy(bench->arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tier_tries_what_it_claims),
        cmocka_unit_test(closed_places_of_the_policy_are_tried),
        cmocka_unit_test(what_is_open_and_must_not_be_refuses),
        cmocka_unit_test(what_is_closed_and_must_not_be_refuses),
        cmocka_unit_test(an_answer_that_is_not_whole_refuses),
        cmocka_unit_test(fresh_places_are_opened_and_closed_as_those_of_a_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
