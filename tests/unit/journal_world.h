/* journal_world.h - a small tree with every kind of descriptor, and runs that change all that a run can
 * change. */
#pragma once

#include "runtime/windows/journal.h"

#include "tests/unit/journal_memory.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OWNER "O:S-1-5-21-9-9-9-1001G:S-1-5-21-9-9-9-513"
#define USUAL OWNER "D:AI(A;OICIID;0x1f01ff;;;S-1-5-18)(A;OICIID;0x1f01ff;;;S-1-5-21-9-9-9-1001)"
#define LOW "S:(ML;OICI;0x1;;;S-1-16-4096)"

enum { INHERIT = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT };

struct world {
    struct arena *arena;
    struct acl_fault fault; /* of the one process that the memory obeys */
    struct acl_memory *memory;
    struct disk *disk;
    const char *before; /* what there was */
};

static inline bool packages_removed(const char *name)
{
    return strncmp(name, "sbx.", 4) == 0;
}

static inline struct journal_place place_of(struct world *world, struct process *process)
{
    return (struct journal_place){.arena = world->arena,
                                  .store = &process->store,
                                  .acl = acl_memory_operations(world->memory),
                                  .remove_package = packages_removed};
}

static inline void put(struct world *world, const char *path, const char *content, const char *text)
{
    assert_true(acl_memory_add(world->memory, path, content, text));
}

static inline struct world *world_make(void)
{
    struct arena *arena = arena_create(0);
    struct world *world = arena_alloc(arena, sizeof *world);
    world->arena = arena;
    world->fault.left = LONG_MAX;
    world->memory = acl_memory_make(arena, &world->fault);
    world->disk = disk_make(arena);
    put(world, "C:\\w", NULL, USUAL "(A;OICIIOID;0x1301bf;;;S-1-5-11)");
    put(world, "C:\\w\\a", NULL, NULL);
    put(world, "C:\\w\\a\\deep", NULL, NULL);
    put(world, "C:\\w\\a\\deep\\file", "text", NULL);
    put(world, "C:\\w\\a\\own", "text",
        OWNER "D:AI(D;;0x2;;;S-1-5-11)(A;;0x1200a9;;;S-1-1-0)(A;ID;0x1f01ff;;;S-1-5-18)");
    put(world, "C:\\w\\closed", NULL, OWNER "D:P(A;OICI;0x1f01ff;;;S-1-5-21-9-9-9-1001)");
    put(world, "C:\\w\\closed\\in", "text", NULL);
    put(world, "C:\\w\\none", "text", OWNER "D:NO_ACCESS_CONTROL");
    put(world, "C:\\w\\nothing", "text", OWNER "D:");
    put(world, "C:\\w\\low", NULL, USUAL LOW);
    put(world, "C:\\w\\low\\in", "text", NULL);
    put(world, "C:\\w\\git", NULL, NULL);
    put(world, "C:\\w\\git\\hooks", NULL, NULL);
    put(world, "C:\\w\\git\\hooks\\commit", "text", NULL);
    put(world, "C:\\away", NULL, USUAL);
    world->before = acl_memory_text(arena, world->memory);
    return world;
}

static inline struct windows_entry entry(unsigned run, uint8_t type, uint8_t flags, uint32_t mask)
{
    struct windows_entry entry = {.type = type, .flags = flags, .mask = mask};
    char text[64];
    snprintf(text, sizeof text, "S-1-5-21-%u-2-3-4", run);
    assert_true(windows_sid_parse(text, &entry.sid));
    return entry;
}

static inline struct windows_entry low_label(void)
{
    struct windows_entry label = {.type = WINDOWS_ENTRY_LABEL, .flags = INHERIT, .mask = WINDOWS_NO_WRITE_UP};
    assert_true(windows_sid_parse("S-1-16-4096", &label.sid));
    return label;
}

/* One entry, and Low if `labels`, on the object at `path`. */
static inline const char *give(struct journal *journal, struct world *world, const char *path,
                               struct windows_entry entry, bool labels)
{
    const struct acl_operations *acl = acl_memory_operations(world->memory);
    struct windows_entry label = low_label();
    struct journal_change change = {.entries = &entry, .count = 1, .label = labels ? &label : NULL};
    struct acl_object *object;
    if (acl->open(acl, world->arena, path, ACL_WRITE | ACL_WRITE_LABEL, &object) != ACL_OK)
        return "cannot be opened";
    const char *error = journal_apply(journal, object, &change);
    acl->close(acl, object);
    return error;
}

static inline const char *hold_place(struct journal *journal, struct world *world, const char *path,
                                     const char *content)
{
    const struct acl_operations *acl = acl_memory_operations(world->memory);
    struct acl_object *object;
    const char *error = NULL;
    if (journal_placeholder(journal, path, content, NULL, &object, &error) == ACL_OK)
        acl->close(acl, object);
    return error;
}

/* All that a run can do to a machine. */
static inline const char *run_changes(struct journal *journal, struct world *world, unsigned run, bool labels)
{
    struct journal_sentences notes = {0};
    const char *error = hold_place(journal, world, "C:\\w\\config", NULL);
    if (error == NULL)
        error = hold_place(journal, world, "C:\\w\\config\\commondir", ".\n");
    if (error == NULL)
        error =
            give(journal, world, "C:\\w\\config", entry(run, WINDOWS_ENTRY_DENY, INHERIT, 0x1f01ff), false);
    if (error == NULL)
        error = give(journal, world, "C:\\w\\git\\hooks", entry(run, WINDOWS_ENTRY_DENY, INHERIT, 0xd0156),
                     false);
    if (error == NULL)
        error = give(journal, world, "C:\\w\\git", entry(run, WINDOWS_ENTRY_DENY, 0, 0x10000), false);
    if (error == NULL)
        error = give(journal, world, "C:\\w\\none", entry(run, WINDOWS_ENTRY_DENY, 0, 0x20), false);
    if (error == NULL)
        error = give(journal, world, "C:\\w", entry(run, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf), labels);
    return error != NULL ? error : journal_spread(journal, &notes);
}

static const struct journal_run usual_run = {.package = "sbx.00112233445566778899aabbccddeeff"};

static inline void recover(struct world *world, struct process *process, struct journal_sentences *left)
{
    struct journal_place place = place_of(world, process);
    journal_recover(&place, NULL, left);
}

static inline void assert_as_before(const struct world *world)
{
    const char *now = acl_memory_text(world->arena, world->memory), *then = world->before;
    while (*now != '\0' && strcspn(now, "\n") == strcspn(then, "\n") &&
           strncmp(now, then, strcspn(now, "\n")) == 0) {
        then += strcspn(then, "\n") + 1;
        now += strcspn(now, "\n") + 1;
    }
    if (*now != '\0' || *then != '\0')
        fail_msg("\n%.*s\n%.*s", (int)strcspn(then, "\n"), then, (int)strcspn(now, "\n"), now);
}

static inline void assert_nothing_left(const struct world *world, const struct journal_sentences *left)
{
    if (left->count > 0)
        fail_msg("%s", left->items[0]);
    assert_as_before(world);
    assert_int_equal(disk_files(world->disk), 0);
}

/* One launcher of several, and its run. */
struct actor {
    struct process *process;
    struct journal_place place;
    struct journal *journal;
};

static inline struct actor start(struct world *world)
{
    const char *error = NULL;
    struct actor actor = {.process = process_start(world->disk, NULL)};
    actor.place = place_of(world, actor.process);
    actor.journal = journal_begin(&actor.place, &usual_run, &error);
    assert_non_null(actor.journal);
    return actor;
}

static inline void finish(struct actor *actor)
{
    struct journal_sentences left = {0};
    journal_end(actor->journal, &left);
    if (left.count > 0)
        fail_msg("%s", left.items[0]);
}

static inline void work(struct actor *actor, struct world *world, unsigned run)
{
    const char *error = run_changes(actor->journal, world, run, true);
    if (error != NULL)
        fail_msg("%s", error);
}

static inline bool is_there(const struct world *world, const char *path)
{
    return acl_memory_look(world->memory, path) != NULL;
}

static inline uint32_t entries_of(const struct world *world, const char *path, unsigned run)
{
    const struct windows_descriptor *descriptor = acl_memory_look(world->memory, path);
    const struct windows_entry own = entry(run, 0, 0, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; descriptor != NULL && i < descriptor->count; i++)
        count += windows_sid_equal(&descriptor->entries[i].sid, &own.sid);
    return count;
}
