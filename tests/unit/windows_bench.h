/* windows_bench.h - a Windows machine in memory, the specification of a launch, and somebody who meddles. */
#pragma once

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
    uint32_t fails; /* the next time that something is opened; 0: it does not */
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

static inline uint32_t meddler_open(const struct acl_operations *acl, struct arena *arena, const char *path,
                                    unsigned access, struct acl_object **opened)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    if (meddler->at_open != NULL)
        meddler->at_open(meddler->bench, path, access);
    uint32_t fails = meddler->fails;
    meddler->bench->meddler.fails = ACL_OK;
    if (fails != ACL_OK)
        return fails;
    return meddler->real->open(meddler->real, arena, path, access, opened);
}

static inline uint32_t meddler_identify(const struct acl_operations *acl, struct arena *arena,
                                        struct acl_object *of, struct acl_identity *identity)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    uint32_t error = meddler->real->identify(meddler->real, arena, of, identity);
    if (error == ACL_OK && meddler->links != 0 && !identity->directory)
        identity->links = meddler->links;
    return error;
}

static inline uint32_t meddler_make(const struct acl_operations *acl, struct arena *arena, const char *path,
                                    const char *content, const struct windows_descriptor *first,
                                    struct acl_object **made)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    if (meddler->at_make != NULL)
        assert_true(meddler->at_make(meddler->bench));
    return meddler->real->make(meddler->real, arena, path, content, first, made);
}

#define PASSED_ON(name, parameters, arguments)                                                               \
    static inline uint32_t meddler_##name parameters                                                         \
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

static inline void meddler_close(const struct acl_operations *acl, struct acl_object *of)
{
    const struct meddler *meddler = (const struct meddler *)acl;
    meddler->real->close(meddler->real, of);
}

static inline const struct acl_operations *meddle(struct bench *bench)
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

static inline uint64_t now(void)
{
    return clock_now += clock_step;
}

static inline const char *volume_good(struct arena *arena, const char *volume)
{
    (void)arena;
    (void)volume;
    return NULL;
}

static inline const char *volume_bad(struct arena *arena, const char *volume)
{
    (void)arena;
    (void)volume;
    return "its volume keeps no access control lists";
}

static inline bool package_gone(const char *name)
{
    (void)name;
    return true;
}

static inline struct windows_sid sid(const char *text)
{
    struct windows_sid sid;
    assert_true(windows_sid_parse(text, &sid));
    return sid;
}

static inline void put(struct bench *bench, const char *path, const char *content, const char *text)
{
    assert_true(acl_memory_add(bench->memory, path, content, text));
}

static inline void tokens_make(struct bench *bench)
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
static inline void top_make(struct bench *bench)
{
    struct windows_descriptor top;
    assert_true(
        windows_descriptor_read(bench->arena,
                                "O:SYG:SYD:P(A;;0x4;;;AU)(A;OICIIO;0x1301bf;;;AU)(A;OICI;0x1f01ff;;;SY)"
                                "(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1200a9;;;BU)",
                                &top));
    assert_true(acl_memory_describe(bench->memory, "C:", &top));
}

static inline struct bench *bench_make(enum windows_tier tier)
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

static inline enum windows_principal whom(const struct bench *bench)
{
    return bench->spec.tier == WINDOWS_APPCONTAINER ? WINDOWS_PACKAGE : WINDOWS_RUN;
}

static inline struct windows_object *object(struct bench *bench, const char *path, const char *rule)
{
    struct windows_object *made = &bench->objects[bench->spec.object_count++];
    *made = (struct windows_object){.path = path, .rule = rule};
    return made;
}

static inline void ace(struct bench *bench, struct windows_object *made, bool deny, uint32_t mask,
                       bool inherit)
{
    made->aces[made->ace_count++] = (struct windows_ace){deny, inherit, whom(bench), mask};
}

static inline struct windows_object *grant(struct bench *bench, const char *path, uint32_t mask)
{
    struct windows_object *made = object(bench, path, "grant");
    if (mask == WINDOWS_ALLOW_WRITE)
        ace(bench, made, true, WINDOWS_DENY_DELETE, false);
    ace(bench, made, false, mask, true);
    if (bench->spec.tier == WINDOWS_RESTRICTED_LOW)
        made->label = (struct windows_label){true, WINDOWS_LOW, WINDOWS_NO_WRITE_UP};
    return made;
}

static inline struct windows_object *deny(struct bench *bench, const char *path, uint32_t mask)
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

static inline void match(struct bench *bench, const char *pattern, const char *const *excepts, uint32_t count)
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

static inline bool run(struct bench *bench)
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
static inline void end(struct bench *bench)
{
    journal_end(bench->journal, &bench->left);
    assert_string_equal(acl_memory_text(bench->arena, bench->memory), bench->before);
    arena_destroy(bench->arena);
}

static inline void assert_runs(struct bench *bench)
{
    bool ran = run(bench);
    for (uint32_t i = 0; i < bench->notes.count && !ran; i++)
        print_message("%s\n", bench->notes.items[i].text);
    assert_true(ran);
}

static inline void assert_refused(struct bench *bench, enum code code, const char *words)
{
    assert_false(run(bench));
    assert_int_equal(bench->notes.errors, 1);
    const struct note *note = &bench->notes.items[bench->notes.count - 1];
    if (note->code != code)
        print_message("%s\n", note->text);
    assert_int_equal(note->code, code);
    if (strstr(note->text, words) == NULL)
        print_message("%s\n", note->text);
    assert_non_null(strstr(note->text, words));
}

static inline bool has_note(const struct bench *bench, enum code code)
{
    for (uint32_t i = 0; i < bench->notes.count; i++)
        if (bench->notes.items[i].code == code)
            return true;
    return false;
}

static inline uint32_t rights(const struct bench *bench, const char *path, enum windows_reading reading)
{
    const struct windows_descriptor *descriptor = acl_memory_look(bench->memory, path);
    assert_non_null(descriptor);
    return windows_access(&bench->token, descriptor, reading);
}

enum { READ = 0x1, WRITE = 0x2, DELETE_RIGHT = 0x10000, ANY = 0x1f01ff & ~0x100000 };

static inline void assert_open(const struct bench *bench, const char *path, uint32_t mask)
{
    assert_int_equal(rights(bench, path, WINDOWS_STRICT) & mask, mask);
}

static inline void assert_closed(const struct bench *bench, const char *path, uint32_t mask)
{
    assert_int_equal(rights(bench, path, WINDOWS_LOOSE) & mask, 0);
}
static inline bool names_package(const struct windows_descriptor *descriptor, uint8_t type)
{
    struct windows_sid package = sid(PACKAGE);
    for (uint32_t i = 0; i < descriptor->count; i++)
        if (descriptor->entries[i].type == type && windows_sid_equal(&descriptor->entries[i].sid, &package))
            return true;
    return false;
}
