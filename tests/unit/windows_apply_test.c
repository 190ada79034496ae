/* What a launch does to objects of a Windows machine: what is opened, what stays closed, what refuses it. */
#include "runtime/windows/apply.h"

#include "tests/unit/journal_memory.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define USER "S-1-5-21-9-9-9-1001"
#define PACKAGE "S-1-15-2-1-2-3-4-5-6-7"
#define RUN "S-1-5-21-1-2-3-4"
#define ALL_PACKAGES "S-1-15-2-1"
/* A directory of the user, as profiles have them. */
#define USUAL "O:" USER "G:S-1-5-21-9-9-9-513D:AI(A;OICIID;0x1f01ff;;;S-1-5-18)(A;OICIID;0x1f01ff;;;" USER ")"
#define OWN "O:" USER "G:S-1-5-21-9-9-9-513D:AI"

enum { OBJECTS = 16 };

/* Somebody who meddles while a launch is being made: each hook is called before the operation on a path. */
struct meddler {
    struct acl_operations operations;
    const struct acl_operations *real;
    struct bench *bench;
    void (*at_open)(struct bench *bench, const char *path, unsigned access);
    bool (*at_make)(struct bench *bench);
    uint32_t links; /* of each file; 0: as it is */
};

struct bench {
    struct arena *arena;
    struct acl_fault fault;
    struct acl_memory *memory;
    struct disk *disk;
    const char *before;
    struct note_list notes;
    struct windows_object objects[OBJECTS];
    struct windows_match matches[2];
    struct windows_require requires[1];
    struct own_path own[2];
    struct windows_spec spec;
    struct windows_identity identity;
    struct windows_holder holders[3], packages[3], restricting[2];
    struct windows_token token, caller;
    struct journal *journal;
    const char *bad_volume;
    struct journal_sentences left;
    struct meddler meddler;
    bool meddled;
    uint32_t entries;
};

static uint32_t meddler_open(const struct acl_operations *acl, struct arena *arena, const char *path,
                             unsigned access, struct acl_object **opened)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    if (meddler->at_open != NULL)
        meddler->at_open(meddler->bench, path, access);
    return meddler->real->open(meddler->real, arena, path, access, opened);
}

static uint32_t meddler_identify(const struct acl_operations *acl, struct arena *arena, struct acl_object *of,
                                 struct acl_identity *identity)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    uint32_t error = meddler->real->identify(meddler->real, arena, of, identity);
    if (error == ACL_OK && meddler->links != 0 && !identity->directory)
        identity->links = meddler->links;
    return error;
}

static uint32_t meddler_make(const struct acl_operations *acl, struct arena *arena, const char *path,
                             const char *content, struct acl_object **made)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    if (meddler->at_make != NULL)
        assert_true(meddler->at_make(meddler->bench));
    return meddler->real->make(meddler->real, arena, path, content, made);
}

#define PASSED_ON(name, parameters, arguments)                                                               \
    static uint32_t meddler_##name parameters                                                                \
    {                                                                                                        \
        const struct meddler *meddler = (const struct meddler *)acl;                                         \
        return meddler->real->name arguments;                                                                \
    }

PASSED_ON(open_id,
          (const struct acl_operations *acl, struct arena *arena, const struct acl_identity *identity,
           unsigned access, struct acl_object **of),
          (meddler->real, arena, identity, access, of))
PASSED_ON(read,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of,
           struct windows_descriptor *descriptor),
          (meddler->real, arena, of, descriptor))
PASSED_ON(write_entries,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of,
           const struct windows_descriptor *descriptor),
          (meddler->real, arena, of, descriptor))
PASSED_ON(write_label,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of,
           const struct windows_descriptor *descriptor),
          (meddler->real, arena, of, descriptor))
PASSED_ON(list,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of,
           struct acl_names *names),
          (meddler->real, arena, of, names))
PASSED_ON(rename,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of, const char *path),
          (meddler->real, arena, of, path))
PASSED_ON(remove,
          (const struct acl_operations *acl, struct arena *arena, struct acl_object *of, const char *content),
          (meddler->real, arena, of, content))

static void meddler_close(const struct acl_operations *acl, struct acl_object *of)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    meddler->real->close(meddler->real, of);
}

static const struct acl_operations *meddle(struct bench *bench)
{
    bench->meddler.real = acl_memory_operations(bench->memory);
    bench->meddler.bench = bench;
    bench->meddler.operations = (struct acl_operations){
        .open = meddler_open,
        .open_id = meddler_open_id,
        .identify = meddler_identify,
        .read = meddler_read,
        .write_entries = meddler_write_entries,
        .write_label = meddler_write_label,
        .list = meddler_list,
        .make = meddler_make,
        .rename = meddler_rename,
        .remove = meddler_remove,
        .close = meddler_close,
    };
    return &bench->meddler.operations;
}

static uint64_t clock_now;
static uint64_t clock_step;

static uint64_t now(void)
{
    return clock_now += clock_step;
}

static const char *volume_good(struct arena *arena, const char *volume)
{
    (void)arena;
    (void)volume;
    return NULL;
}

static const char *volume_bad(struct arena *arena, const char *volume)
{
    (void)arena;
    (void)volume;
    return "its volume keeps no access control lists";
}

static bool package_gone(const char *name)
{
    (void)name;
    return true;
}

static struct windows_sid sid(const char *text)
{
    struct windows_sid sid;
    assert_true(windows_sid_parse(text, &sid));
    return sid;
}

static void put(struct bench *bench, const char *path, const char *content, const char *text)
{
    assert_true(acl_memory_add(bench->memory, path, content, text));
}

static void tokens_make(struct bench *bench)
{
    bench->holders[0] = (struct windows_holder){sid(USER), WINDOWS_ENABLED};
    bench->holders[1] = (struct windows_holder){sid("S-1-1-0"), WINDOWS_ENABLED};
    bench->packages[0] = (struct windows_holder){sid(PACKAGE), WINDOWS_ENABLED};
    bench->packages[1] = (struct windows_holder){sid(ALL_PACKAGES), WINDOWS_ENABLED};
    bench->packages[2] = (struct windows_holder){sid("S-1-1-0"), WINDOWS_UNCERTAIN};
    bench->restricting[0] = (struct windows_holder){sid(RUN), WINDOWS_ENABLED};
    bench->restricting[1] = (struct windows_holder){sid("S-1-5-5-0-7"), WINDOWS_ENABLED};
    bench->caller = (struct windows_token){
        .holders = {bench->holders, 2},
        .integrity = WINDOWS_LEVEL_MEDIUM,
    };
    bench->token = bench->caller;
    bench->token.integrity = WINDOWS_LEVEL_LOW;
    if (bench->spec.tier == WINDOWS_APPCONTAINER) {
        bench->token.package = (struct windows_holders){bench->packages, 3};
    } else {
        bench->token.restricting = (struct windows_holders){bench->restricting, 2};
        bench->token.write_restricted = true;
    }
}

/* The top of a drive as Windows sets it up. */
static void top_make(struct bench *bench)
{
    struct windows_descriptor top;
    assert_true(
        windows_descriptor_read(bench->arena,
                                "O:SYG:SYD:P(A;;0x4;;;AU)(A;OICIIO;0x1301bf;;;AU)(A;OICI;0x1f01ff;;;SY)"
                                "(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1200a9;;;BU)",
                                &top));
    assert_true(acl_memory_describe(bench->memory, "C:", &top));
}

static struct bench *bench_make(enum windows_tier tier)
{
    struct arena *arena = arena_create(0);
    struct bench *bench = arena_alloc(arena, sizeof *bench);
    bench->arena = arena;
    bench->fault.left = LONG_MAX;
    bench->memory = acl_memory_make(arena, &bench->fault);
    bench->disk = disk_make(arena);
    bench->notes = note_list_in(arena);
    bench->spec = (struct windows_spec){
        .tier = tier,
        .objects = bench->objects,
        .matches = bench->matches,
        .requires = bench->requires,
    };
    bench->identity = (struct windows_identity){
        .run = sid(RUN),
        .logon = sid("S-1-5-5-0-7"),
        .user = sid(USER),
        .package = sid(PACKAGE),
    };
    tokens_make(bench);
    clock_now = 0;
    clock_step = 0;
    top_make(bench);
    put(bench, "C:\\w", NULL, USUAL);
    put(bench, "C:\\w\\src", NULL, NULL);
    put(bench, "C:\\w\\src\\main.c", "text", NULL);
    put(bench, "C:\\w\\secret", NULL, NULL);
    put(bench, "C:\\w\\secret\\key", "text", NULL);
    put(bench, "C:\\home", NULL, USUAL);
    put(bench, "C:\\home\\notes", "text", NULL);
    return bench;
}

static enum windows_principal whom(const struct bench *bench)
{
    return bench->spec.tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN;
}

static struct windows_object *object(struct bench *bench, const char *path, const char *rule)
{
    struct windows_object *made = &bench->objects[bench->spec.object_count++];
    *made = (struct windows_object){.path = path, .rule = rule};
    return made;
}

static void ace(struct bench *bench, struct windows_object *made, bool deny, uint32_t mask, bool inherit)
{
    made->aces[made->ace_count++] = (struct windows_ace){deny, inherit, whom(bench), mask};
}

static struct windows_object *grant(struct bench *bench, const char *path, uint32_t mask)
{
    struct windows_object *made = object(bench, path, "grant");
    if (mask == WINDOWS_ALLOW_WRITE)
        ace(bench, made, true, WINDOWS_DENY_DELETE, false);
    ace(bench, made, false, mask, true);
    if (bench->spec.tier == WINDOWS_RESTRICTED_LOW)
        made->label = (struct windows_label){true, WINDOWS_LOW, WINDOWS_NO_WRITE_UP};
    return made;
}

static struct windows_object *deny(struct bench *bench, const char *path, uint32_t mask)
{
    struct windows_object *made = object(bench, path, "deny");
    made->cap = true;
    ace(bench, made, true, mask, true);
    ace(bench, made, true, WINDOWS_DENY_DELETE, false);
    if (bench->spec.tier == WINDOWS_RESTRICTED_LOW)
        made->label = (struct windows_label){
            true, WINDOWS_MEDIUM,
            mask == WINDOWS_DENY_ALL ? WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP
                                     : WINDOWS_NO_WRITE_UP};
    return made;
}

static bool run(struct bench *bench)
{
    struct process *process = process_start(bench->disk, &bench->fault);
    struct journal_place place = {
        .arena = bench->arena,
        .store = &process->store,
        .acl = meddle(bench),
        .remove_package = package_gone,
    };
    const char *error = NULL;
    bench->before = acl_memory_text(bench->arena, bench->memory);
    bench->journal = journal_begin(&place, &(struct journal_run){0}, &error);
    assert_non_null(bench->journal);
    struct apply apply = {
        .arena = bench->arena,
        .spec = &bench->spec,
        .identity = &bench->identity,
        .acl = place.acl,
        .journal = bench->journal,
        .notes = &bench->notes,
        .own = bench->own,
        .own_count = bench->own[0].path != NULL ? 1 + (bench->own[1].path != NULL) : 0,
        .token = &bench->token,
        .caller = &bench->caller,
        .judge_volume = bench->bad_volume != NULL ? volume_bad : volume_good,
        .now = now,
        .entries = bench->entries,
    };
    return apply_run(&apply);
}

/* Takes everything back: nothing of a run may stay. */
static void end(struct bench *bench)
{
    journal_end(bench->journal, &bench->left);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), bench->before);
    arena_destroy(bench->arena);
}

static void assert_runs(struct bench *bench)
{
    bool ran = run(bench);
    for (uint32_t i = 0; i < bench->notes.count && !ran; i++)
        print_message("%s\n", bench->notes.items[i].text);
    assert_true(ran);
}

static void assert_refused(struct bench *bench, enum code code, const char *words)
{
    assert_false(run(bench));
    assert_int_equal(bench->notes.errors, 1);
    const struct note *note = &bench->notes.items[bench->notes.count - 1];
    assert_int_equal(note->code, code);
    if (strstr(note->text, words) == NULL)
        print_message("%s\n", note->text);
    assert_non_null(strstr(note->text, words));
}

static bool has_note(const struct bench *bench, enum code code)
{
    for (uint32_t i = 0; i < bench->notes.count; i++)
        if (bench->notes.items[i].code == code)
            return true;
    return false;
}

static uint32_t rights(const struct bench *bench, const char *path, enum windows_reading reading)
{
    const struct windows_descriptor *descriptor = acl_memory_look(bench->memory, path);
    assert_non_null(descriptor);
    return windows_access(&bench->token, descriptor, reading);
}

enum { READ = 0x1, WRITE = 0x2, DELETE_RIGHT = 0x10000, ANY = 0x1f01ff & ~0x100000 };

static void assert_open(const struct bench *bench, const char *path, uint32_t mask)
{
    assert_int_equal(rights(bench, path, WINDOWS_STRICT) & mask, mask);
}

static void assert_closed(const struct bench *bench, const char *path, uint32_t mask)
{
    assert_int_equal(rights(bench, path, WINDOWS_LOOSE) & mask, 0);
}

/* --- what is opened and what is not --------------------------------------------------------------------- */

static void a_grant_opens_what_lies_below_and_nothing_else(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_open(bench, "C:\\w", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE | DELETE_RIGHT);
    assert_closed(bench, "C:\\w", DELETE_RIGHT);
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_denied_place_in_a_grant_is_closed_and_keeps_its_name(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret", ANY);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE);
    end(bench);
}

static void a_place_that_is_denied_for_writing_can_be_read(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_WRITE);
    assert_runs(bench);
    assert_open(bench, "C:\\w\\secret\\key", READ);
    assert_closed(bench, "C:\\w\\secret\\key", WINDOWS_DENY_WRITE);
    end(bench);
}

static void an_entry_of_an_object_that_would_undo_a_deny_is_denied_beside_it(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\open", "text",
        OWN "(A;;0x1f01ff;;;" ALL_PACKAGES ")(A;ID;0x1f01ff;;;" USER ")");
    put(bench, "C:\\w\\secret\\deep", NULL,
        OWN "(A;OICIIO;0x1200a9;;;S-1-1-0)(A;OICIID;0x1f01ff;;;" USER ")");
    put(bench, "C:\\w\\secret\\deep\\file", "text",
        OWN "(A;ID;0x1200a9;;;S-1-1-0)(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\open", ANY);
    assert_closed(bench, "C:\\w\\secret\\deep\\file", ANY);
    end(bench);
}

static void an_entry_without_what_is_denied_is_left_alone(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\tool", "text",
        OWN "(A;;0x1200a9;;;" ALL_PACKAGES ")(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_WRITE);
    assert_runs(bench);
    const struct windows_descriptor *tool = acl_memory_look(bench->memory, "C:\\w\\secret\\tool");
    for (uint32_t i = 0; i < tool->count; i++)
        assert_true(tool->entries[i].type != WINDOWS_ENTRY_DENY ||
                    (tool->entries[i].flags & WINDOWS_INHERITED) != 0);
    assert_open(bench, "C:\\w\\secret\\tool", READ);
    end(bench);
}

static void an_entry_with_a_condition_is_denied_beside_it(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\open", "text",
        OWN "(X;09001c00ff011f00010200000000000f020000000100000061727478)(A;ID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\open", ANY);
    end(bench);
}

static void what_takes_no_inheritance_is_denied_too(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\sealed", "text",
        "O:" USER "D:P(A;;0x1f01ff;;;" USER ")(A;;0x1f01ff;;;S-1-1-0)");
    put(bench, "C:\\w\\secret\\none", "text", "O:" USER "D:NO_ACCESS_CONTROL");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\sealed", ANY);
    assert_closed(bench, "C:\\w\\secret\\none", ANY);
    end(bench);
}

static void what_a_grant_lowers_another_can_raise_again(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\secret\\cache", NULL,
        OWN "(A;OICI;0x1f01ff;;;" ALL_PACKAGES ")(A;OICIID;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    struct windows_object *lower = grant(bench, "C:\\w\\secret", WINDOWS_ALLOW_READ);
    ace(bench, lower, true, WINDOWS_DENY_WRITE, true);
    grant(bench, "C:\\w\\secret\\cache", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\secret\\key", WINDOWS_DENY_WRITE);
    assert_open(bench, "C:\\w\\secret\\cache", READ | WRITE);
    end(bench);
}

static void a_label_hides_what_an_entry_cannot(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    deny(bench, "C:\\home\\notes", WINDOWS_DENY_ALL)->kind = WINDOWS_FILE;
    assert_runs(bench);
    assert_open(bench, "C:\\w\\src\\main.c", READ | WRITE);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_deny_where_everything_is_closed_changes_nothing(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    deny(bench, "C:\\home\\notes", WINDOWS_DENY_ALL);
    deny(bench, "C:\\home\\missing", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_runs(bench);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), bench->before);
    end(bench);
}

static void a_deny_on_what_every_package_may_read_is_made(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\tools", NULL, OWN "(A;OICI;0x1200a9;;;" ALL_PACKAGES ")(A;OICI;0x1f01ff;;;" USER ")");
    deny(bench, "C:\\tools", WINDOWS_DENY_ALL);
    assert_runs(bench);
    assert_closed(bench, "C:\\tools", ANY);
    end(bench);
}

/* --- what is judged afterwards -------------------------------------------------------------------------- */

static void a_name_that_everybody_may_delete_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\public", NULL, OWN "(A;OICI;0x1f01ff;;;S-1-1-0)(A;OICI;0x1f01ff;;;" USER ")");
    put(bench, "C:\\public\\in", NULL, USUAL);
    grant(bench, "C:\\public\\in", WINDOWS_ALLOW_WRITE);
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\public may be open to the command still (rights 0x40)");
    end(bench);
}

static void an_entry_that_closes_what_is_opened_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\shut", NULL, OWN "(D;OICI;0x1f01ff;;;" PACKAGE ")(A;OICI;0x1f01ff;;;" USER ")");
    grant(bench, "C:\\shut", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX485_STILL_OPEN, "another entry closes what the rule opens");
    arena_destroy(bench->arena);
}

static void what_the_caller_may_not_do_need_not_be_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\shared", NULL, OWN "(A;OICI;0x1200a9;;;" USER ")");
    grant(bench, "C:\\shared", WINDOWS_ALLOW_WRITE);
    assert_runs(bench);
    assert_closed(bench, "C:\\shared", WRITE);
    end(bench);
}

/* --- where a place may not lie -------------------------------------------------------------------------- */

static void a_place_behind_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\link\\notes", WINDOWS_DENY_ALL);
    assert_refused(bench, SBX483_PLACE_UNFIT, "leads through a link");
    end(bench);
}

static void a_place_that_is_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\link", "C:\\home"));
    grant(bench, "C:\\link", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    end(bench);
}

static void a_discovered_grant_on_a_junction_is_left_out(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\link", "C:\\home"));
    grant(bench, "C:\\link", WINDOWS_ALLOW_READ)->automatic = true;
    assert_runs(bench);
    assert_true(has_note(bench, SBX488_GRANT_LEFT_OUT));
    assert_closed(bench, "C:\\home\\notes", ANY);
    end(bench);
}

static void a_discovered_grant_that_lowers_is_never_left_out(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    struct windows_object *lower = grant(bench, "C:\\w\\link", WINDOWS_ALLOW_READ);
    lower->automatic = true;
    ace(bench, lower, true, WINDOWS_DENY_WRITE, true);
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    end(bench);
}

static void another_kind_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w\\src\\main.c", WINDOWS_ALLOW_READ)->kind = WINDOWS_DIRECTORY;
    assert_refused(bench, SBX483_PLACE_UNFIT, "is not a directory");
    end(bench);
}

static void a_volume_without_lists_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    bench->bad_volume = "yes";
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    assert_refused(bench, SBX483_PLACE_UNFIT, "keeps no access control lists");
    end(bench);
}

static void a_place_of_somebody_else_refuses_unless_it_was_discovered(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    acl_memory_refuse(bench->memory, "C:\\home", true);
    grant(bench, "C:\\home", WINDOWS_ALLOW_READ);
    assert_refused(bench, SBX484_CHANGE_REFUSED, "may not change");
    end(bench);
    bench = bench_make(WINDOWS_APPCONTAINER);
    acl_memory_refuse(bench->memory, "C:\\home", true);
    grant(bench, "C:\\home", WINDOWS_ALLOW_READ)->automatic = true;
    assert_runs(bench);
    assert_true(has_note(bench, SBX488_GRANT_LEFT_OUT));
    end(bench);
}

static void programs_that_are_open_to_every_package_need_no_change(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\tools", NULL, OWN "(A;OICI;0x1200a9;;;" ALL_PACKAGES ")(A;OICI;0x1200a9;;;" USER ")");
    acl_memory_refuse(bench->memory, "C:\\tools", true);
    grant(bench, "C:\\tools", WINDOWS_ALLOW_READ);
    assert_runs(bench);
    end(bench);
}

static void roots_that_lie_as_they_must_not_refuse(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    bench->requires[0] = (struct windows_require){.path = "C:\\w\\SRC", .below = "C:\\W"};
    bench->spec.require_count = 1;
    assert_refused(bench, SBX483_PLACE_UNFIT, "which the specification rules out");
    end(bench);
}

/* --- what is missing ------------------------------------------------------------------------------------ */

static void a_missing_denied_place_is_held_by_a_placeholder_and_pins(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\a\\b\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\a\\b\\secret", ANY);
    assert_closed(bench, "C:\\w\\a\\b", DELETE_RIGHT);
    assert_closed(bench, "C:\\w\\a", DELETE_RIGHT);
    assert_open(bench, "C:\\w\\a\\b", WRITE);
    end(bench);
}

static void nothing_is_made_where_the_command_could_make_nothing(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_READ);
    deny(bench, "C:\\w\\missing", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_DIRECTORY;
    grant(bench, "C:\\nowhere", WINDOWS_ALLOW_READ);
    assert_runs(bench);
    assert_null(acl_memory_look(bench->memory, "C:\\w\\missing"));
    assert_true(has_note(bench, SBX450_GRANT_MISSING));
    end(bench);
}

static void a_placeholder_is_not_made_through_a_junction(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\link\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_refused(bench, SBX483_PLACE_UNFIT, "is a link or a junction");
    assert_null(acl_memory_look(bench->memory, "C:\\home\\secret"));
    end(bench);
}

static void a_denied_path_below_a_file_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\src\\main.c\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    assert_refused(bench, SBX455_DENY_BELOW_FILE, "is a file");
    end(bench);
}

/* --- patterns ------------------------------------------------------------------------------------------- */

static void match(struct bench *bench, const char *pattern, const char *const *excepts, uint32_t count)
{
    bench->matches[bench->spec.match_count++] = (struct windows_match){
        .pattern = pattern,
        .excepts = excepts,
        .except_count = count,
        .ace = {true, true, whom(bench), WINDOWS_DENY_ALL},
        .label = {bench->spec.tier == WINDOWS_RESTRICTED_LOW, WINDOWS_MEDIUM,
                  WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP},
        .rule = "deny pattern",
    };
}

static void every_match_is_denied_and_keeps_its_name(void **state)
{
    (void)state;
    static const char *const excepts[] = {"C:\\w\\SRC\\keep", "C:\\w\\src\\*.env.example"};
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\.env", "text", NULL);
    put(bench, "C:\\w\\src\\a.ENV", "text", NULL);
    put(bench, "C:\\w\\src\\a.env.example", "text", NULL);
    put(bench, "C:\\w\\src\\keep", NULL, NULL);
    put(bench, "C:\\w\\src\\keep\\.env", "text", NULL);
    put(bench, "C:\\home\\.env", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\*.env*", excepts, 2);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\.env", ANY);
    assert_closed(bench, "C:\\w\\src\\a.ENV", ANY);
    assert_closed(bench, "C:\\w\\src", DELETE_RIGHT);
    assert_open(bench, "C:\\w\\src\\a.env.example", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\keep\\.env", READ | WRITE);
    assert_open(bench, "C:\\w\\src\\keep", DELETE_RIGHT);
    end(bench);
}

static void a_pattern_that_begins_above_is_looked_for_in_what_is_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\.env", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\w\\.env", ANY);
    end(bench);
}

static void a_match_that_a_label_hides_is_looked_for_everywhere(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    put(bench, "C:\\home\\.env", "text", NULL);
    match(bench, "C:\\home\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\.env", ANY);
    end(bench);
}

static void what_matches_an_exception_is_opened(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\a.pub", "text", NULL);
    put(bench, "C:\\home\\b.PUB", "text", NULL);
    put(bench, "C:\\home\\key", "text", NULL);
    assert_true(acl_memory_junction(bench->memory, "C:\\home\\c.pub", "C:\\w"));
    match(bench, "C:\\home\\*.pub", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){false, true, whom(bench), WINDOWS_ALLOW_READ};
    assert_runs(bench);
    assert_open(bench, "C:\\home\\a.pub", READ);
    assert_closed(bench, "C:\\home\\a.pub", WRITE);
    assert_closed(bench, "C:\\home\\b.PUB", ANY);
    assert_closed(bench, "C:\\home\\key", ANY);
    end(bench);
}

static void a_label_alone_can_hide_a_match(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    put(bench, "C:\\home\\keys", NULL, NULL);
    put(bench, "C:\\home\\keys\\one", "text", NULL);
    match(bench, "C:\\home\\k*", NULL, 0);
    bench->matches[0].ace.mask = 0;
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\keys\\one", ANY);
    end(bench);
}

static void open_below(struct bench *bench, const char *path, unsigned access);

static void what_loses_its_label_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_RESTRICTED_LOW);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = open_below;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret\\key may be open");
    arena_destroy(bench->arena);
}

static void a_match_that_is_a_junction_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\.env", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    assert_refused(bench, SBX483_PLACE_UNFIT, "C:\\w\\.env is a link or a junction");
    end(bench);
}

static void a_walk_does_not_follow_junctions(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\home\\.env", "text", NULL);
    assert_true(acl_memory_junction(bench->memory, "C:\\w\\link", "C:\\home"));
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    assert_runs(bench);
    assert_closed(bench, "C:\\home\\.env", ANY);
    assert_null(strstr(
        windows_descriptor_text(bench->arena, acl_memory_look(bench->memory, "C:\\home\\.env")), PACKAGE));
    end(bench);
}

static void looking_that_takes_too_long_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    clock_step = APPLY_TIME / 3;
    assert_refused(bench, SBX487_TOO_MUCH_TO_CHANGE, "takes too long");
    clock_step = 0;
    end(bench);
}

static void more_objects_than_can_be_looked_through_refuse(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\**\\.env", NULL, 0);
    bench->entries = 2;
    assert_refused(bench, SBX487_TOO_MUCH_TO_CHANGE, "more than 2 objects");
    end(bench);
}

static void a_file_that_must_not_be_executed_keeps_its_name(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\w\\tool.exe", "text", NULL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    match(bench, "C:\\w\\*.exe", NULL, 0);
    bench->matches[0].ace = (struct windows_ace){true, false, WINDOWS_PACKAGE, WINDOWS_DENY_EXECUTE};
    assert_runs(bench);
    assert_open(bench, "C:\\w\\tool.exe", READ | WRITE);
    assert_closed(bench, "C:\\w\\tool.exe", WINDOWS_DENY_EXECUTE | DELETE_RIGHT);
    end(bench);
}

/* --- what others do meanwhile ------------------------------------------------------------------------- */

static void replace_when_changed(struct bench *bench, const char *path, unsigned access)
{
    if (bench->meddled || (access & ACL_WRITE) == 0 || strcmp(path, "C:\\w") != 0)
        return;
    bench->meddled = true;
    assert_true(acl_memory_move(bench->memory, "C:\\w", "C:\\was"));
    assert_true(acl_memory_add(bench->memory, "C:\\w", NULL, USUAL));
}

static void an_object_that_was_replaced_is_not_changed(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    bench->meddler.at_open = replace_when_changed;
    assert_refused(bench, SBX483_PLACE_UNFIT, "was replaced");
    assert_closed(bench, "C:\\w", ANY);
    arena_destroy(bench->arena);
}

/* After the directory above was looked at. */
static bool swap_source(struct bench *bench)
{
    if (bench->meddled)
        return true;
    bench->meddled = true;
    return acl_memory_move(bench->memory, "C:\\w\\src", "C:\\was") &&
           acl_memory_junction(bench->memory, "C:\\w\\src", "C:\\home");
}

static void a_placeholder_that_ends_up_elsewhere_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\src\\secret", WINDOWS_DENY_ALL)->missing = WINDOWS_CREATE_FILE;
    bench->meddler.at_make = swap_source;
    assert_refused(bench, SBX483_PLACE_UNFIT, "was replaced while the placeholder was made");
    arena_destroy(bench->arena);
}

static bool names_package(const struct windows_descriptor *descriptor, uint8_t type)
{
    struct windows_sid package = sid(PACKAGE);
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (descriptor->entries[i].type == type && windows_sid_equal(&descriptor->entries[i].sid, &package))
            return true;
    return false;
}

/* Once everything has been written. */
static void open_below(struct bench *bench, const char *path, unsigned access)
{
    struct windows_descriptor open;
    static const char key[] = "C:\\w\\secret\\key";
    (void)path;
    (void)access;
    const struct windows_descriptor *now = acl_memory_look(bench->memory, key);
    if (bench->meddled || !(names_package(now, WINDOWS_ENTRY_DENY) || now->labelled))
        return;
    bench->meddled = true;
    assert_true(windows_descriptor_read(bench->arena, USUAL "(A;;0x1f01ff;;;" ALL_PACKAGES ")", &open));
    assert_true(acl_memory_describe(bench->memory, key, &open));
}

static void what_somebody_opens_below_a_denied_place_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.at_open = open_below;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret\\key may be open");
    arena_destroy(bench->arena);
}

/* The last object that is looked at before everything is judged. */
static void open_again(struct bench *bench, const char *path, unsigned access)
{
    struct windows_descriptor open;
    if (bench->meddled || strcmp(path, "C:\\z") != 0 || (access & ACL_WRITE) == 0)
        return;
    bench->meddled = true;
    assert_true(windows_descriptor_read(bench->arena, USUAL "(A;;0x1f01ff;;;" ALL_PACKAGES ")", &open));
    assert_true(acl_memory_describe(bench->memory, "C:\\w\\secret", &open));
}

static void a_denied_place_that_somebody_opens_meanwhile_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    put(bench, "C:\\z", NULL, USUAL);
    grant(bench, "C:\\w", WINDOWS_ALLOW_READ);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    grant(bench, "C:\\z", WINDOWS_ALLOW_READ);
    bench->meddler.at_open = open_again;
    assert_refused(bench, SBX485_STILL_OPEN, "C:\\w\\secret may be open");
    arena_destroy(bench->arena);
}

static void a_denied_file_with_further_names_has_a_deny_of_its_own(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
    bench->meddler.links = 2;
    assert_runs(bench);
    assert_true(has_note(bench, SBX454_DENIED_FILE_HAS_LINKS));
    const struct windows_descriptor *key = acl_memory_look(bench->memory, "C:\\w\\secret\\key");
    assert_int_equal(key->entries[0].type, WINDOWS_ENTRY_DENY);
    assert_int_equal(key->entries[0].flags, 0);
    bench->meddler.links = 0;
    end(bench);
}

/* --- the launcher's own --------------------------------------------------------------------------------- */

static void files_of_the_launcher_are_read_at_most_and_its_state_not_even_that(void **state)
{
    (void)state;
    struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
    grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
    bench->own[0] = (struct own_path){.path = "C:\\w\\src\\main.c", .what = "the policy file"};
    bench->own[1] = (struct own_path){.path = "C:\\w\\secret", .what = "its records", .hidden = true};
    assert_runs(bench);
    assert_open(bench, "C:\\w\\src\\main.c", READ);
    assert_closed(bench, "C:\\w\\src\\main.c", WINDOWS_DENY_WRITE);
    assert_closed(bench, "C:\\w\\src", DELETE_RIGHT);
    assert_closed(bench, "C:\\w\\secret\\key", ANY);
    end(bench);
}

/* --- order ---------------------------------------------------------------------------------------------- */

static void a_launch_that_dies_has_closed_before_it_has_opened(void **state)
{
    (void)state;
    bool ran = false;
    for (long steps = 0; !ran; steps++) {
        assert_true(steps < 2000);
        struct bench *bench = bench_make(WINDOWS_APPCONTAINER);
        grant(bench, "C:\\w", WINDOWS_ALLOW_WRITE);
        deny(bench, "C:\\w\\secret", WINDOWS_DENY_ALL);
        deny(bench, "C:\\w\\src\\main.c", WINDOWS_DENY_WRITE);
        bench->fault.left = steps + 3; /* journal_begin's own */
        ran = run(bench);
        bench->fault = (struct acl_fault){.left = LONG_MAX};
        if (names_package(acl_memory_look(bench->memory, "C:\\w"), WINDOWS_ENTRY_ALLOW)) {
            assert_true(names_package(acl_memory_look(bench->memory, "C:\\w\\secret"), WINDOWS_ENTRY_DENY));
            assert_true(
                names_package(acl_memory_look(bench->memory, "C:\\w\\src\\main.c"), WINDOWS_ENTRY_DENY));
        }
        arena_destroy(bench->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_opens_what_lies_below_and_nothing_else),
        cmocka_unit_test(a_denied_place_in_a_grant_is_closed_and_keeps_its_name),
        cmocka_unit_test(a_place_that_is_denied_for_writing_can_be_read),
        cmocka_unit_test(an_entry_of_an_object_that_would_undo_a_deny_is_denied_beside_it),
        cmocka_unit_test(an_entry_without_what_is_denied_is_left_alone),
        cmocka_unit_test(an_entry_with_a_condition_is_denied_beside_it),
        cmocka_unit_test(what_takes_no_inheritance_is_denied_too),
        cmocka_unit_test(what_a_grant_lowers_another_can_raise_again),
        cmocka_unit_test(a_label_hides_what_an_entry_cannot),
        cmocka_unit_test(a_deny_where_everything_is_closed_changes_nothing),
        cmocka_unit_test(a_deny_on_what_every_package_may_read_is_made),
        cmocka_unit_test(a_name_that_everybody_may_delete_refuses),
        cmocka_unit_test(an_entry_that_closes_what_is_opened_refuses),
        cmocka_unit_test(what_the_caller_may_not_do_need_not_be_opened),
        cmocka_unit_test(a_place_behind_a_junction_refuses),
        cmocka_unit_test(a_place_that_is_a_junction_refuses),
        cmocka_unit_test(a_discovered_grant_on_a_junction_is_left_out),
        cmocka_unit_test(a_discovered_grant_that_lowers_is_never_left_out),
        cmocka_unit_test(another_kind_refuses),
        cmocka_unit_test(a_volume_without_lists_refuses),
        cmocka_unit_test(a_place_of_somebody_else_refuses_unless_it_was_discovered),
        cmocka_unit_test(programs_that_are_open_to_every_package_need_no_change),
        cmocka_unit_test(roots_that_lie_as_they_must_not_refuse),
        cmocka_unit_test(a_missing_denied_place_is_held_by_a_placeholder_and_pins),
        cmocka_unit_test(nothing_is_made_where_the_command_could_make_nothing),
        cmocka_unit_test(a_placeholder_is_not_made_through_a_junction),
        cmocka_unit_test(a_denied_path_below_a_file_refuses),
        cmocka_unit_test(every_match_is_denied_and_keeps_its_name),
        cmocka_unit_test(a_pattern_that_begins_above_is_looked_for_in_what_is_opened),
        cmocka_unit_test(a_match_that_a_label_hides_is_looked_for_everywhere),
        cmocka_unit_test(what_matches_an_exception_is_opened),
        cmocka_unit_test(a_label_alone_can_hide_a_match),
        cmocka_unit_test(what_loses_its_label_meanwhile_refuses),
        cmocka_unit_test(a_match_that_is_a_junction_refuses),
        cmocka_unit_test(a_walk_does_not_follow_junctions),
        cmocka_unit_test(looking_that_takes_too_long_refuses),
        cmocka_unit_test(more_objects_than_can_be_looked_through_refuse),
        cmocka_unit_test(a_file_that_must_not_be_executed_keeps_its_name),
        cmocka_unit_test(an_object_that_was_replaced_is_not_changed),
        cmocka_unit_test(a_placeholder_that_ends_up_elsewhere_refuses),
        cmocka_unit_test(what_somebody_opens_below_a_denied_place_meanwhile_refuses),
        cmocka_unit_test(a_denied_place_that_somebody_opens_meanwhile_refuses),
        cmocka_unit_test(a_denied_file_with_further_names_has_a_deny_of_its_own),
        cmocka_unit_test(files_of_the_launcher_are_read_at_most_and_its_state_not_even_that),
        cmocka_unit_test(a_launch_that_dies_has_closed_before_it_has_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
